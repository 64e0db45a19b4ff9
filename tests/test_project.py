"""What the project promises about itself: its dependencies, and what its files do not contain."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# Written in pieces, so that this file does not contain what it forbids.
REGISTRIES = ("pypi" + ".org", "python" + "hosted.org", "npmjs" + ".org", "crates" + ".io")
HOMES = ("root", "work", "home", "Users")
FORBIDDEN = re.compile(
    "|".join(re.escape(host) for host in REGISTRIES)
    # An absolute path, not the middle of a relative one or of a URL.
    + r"|(?<![\w.~/\-])/(?:" + "|".join(HOMES) + r")/\w"
)  # fmt: skip


def name_of(requirement: str) -> str:
    """Return the name in a requirement such as ``wgpu>=0.32``."""
    match = re.match(r"[\w.\-]+", requirement)
    assert match, requirement
    return match[0].lower()


def project_files() -> Iterator[Path]:
    """Yield the files in git, and those that would be with ``git add``."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    for name in listing.decode().split("\0"):
        if name and (ROOT / name).is_file():
            yield ROOT / name


def test_run_time_dependencies_are_exactly_five() -> None:
    names = {name_of(requirement) for requirement in PROJECT["dependencies"]}
    assert names == {"wgpu", "numpy", "xxhash", "platformdirs", "cachetools"}
    assert len(PROJECT["dependencies"]) == 5


def test_every_dependency_has_a_lower_bound() -> None:
    extras = PROJECT["optional-dependencies"].values()
    requirements = [*PROJECT["dependencies"], *(r for extra in extras for r in extra)]
    assert [r for r in requirements if ">=" not in r] == []


def test_package_says_that_it_is_typed() -> None:
    assert (ROOT / "vyre_wgpu" / "py.typed").is_file()


@pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("git") is None, reason="not a git checkout"
)
def test_no_file_names_a_package_registry_or_somebodys_home() -> None:
    found = []
    for file in project_files():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a binary
        found += [
            f"{file.relative_to(ROOT)}:{number}: {match[0]}"
            for number, line in enumerate(text.splitlines(), 1)
            if (match := FORBIDDEN.search(line))
        ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [f"see https://{REGISTRIES[0]}/project/x", f"open('/{HOMES[0]}/x')", f"/{HOMES[2]}/me/x"],
)
def test_forbidden_text_is_recognised(text: str) -> None:
    assert FORBIDDEN.search(text)


@pytest.mark.parametrize("text", ["~/work/x", "./root/x", "https://example.com/home/x", "a/work/b"])
def test_other_paths_are_not(text: str) -> None:
    assert not FORBIDDEN.search(text)
