"""A cache folder that cannot be used, vanishes or is full is a slower start, with one warning."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.cached import OPTIONS, adder
from tests.pipeline.disk_machine import Machine, refuse
from vyre_wgpu.pipeline import cache_files
from vyre_wgpu.pipeline.cache_files import FOLDER, list_files

pytestmark = pytest.mark.gpu


# A folder that cannot be written


def check_memory_only(machine: Machine) -> None:
    process = machine.start()
    process.run_all(1, 2, 3, 1)
    counts = process.counts
    assert (counts.lowerings, counts.disk_writes) == (3, 0)
    assert process.compiler.memory_statistics().hits == 1
    (warning,) = machine.warnings()
    assert "kept in memory only" in warning
    assert not any((machine.root / FOLDER).glob("*.tmp"))


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
def test_a_folder_that_refuses_new_files(
    code: int, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, code)
    check_memory_only(machine)


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="the superuser may write everywhere"
)
def test_a_folder_without_write_permission(machine: Machine) -> None:
    (machine.root / FOLDER).mkdir(parents=True)
    (machine.root / FOLDER).chmod(0o500)
    try:
        check_memory_only(machine)
    finally:
        (machine.root / FOLDER).chmod(0o700)


def test_a_rename_that_is_refused(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "refused", str(target))

    monkeypatch.setattr(Path, "replace", refused)
    check_memory_only(machine)


@pytest.mark.parametrize("place", ["", FOLDER])
def test_a_file_where_the_folder_should_be(place: str, machine: Machine) -> None:
    path = machine.root / place
    path.parent.mkdir(parents=True)
    path.write_text("kept")
    check_memory_only(machine)
    assert path.read_text() == "kept"


def test_explain_survives_a_folder_that_cannot_be_read(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = machine.start()
    process.run()

    def refused(path: Path) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(cache_files.os, "scandir", refused)
    for _ in range(2):
        assert process.compiler.explain(adder(2), OPTIONS).found == "nowhere"
    (warning,) = machine.warnings()
    assert "the cache folder cannot be read" in warning


def test_the_folder_is_removed_while_in_use(machine: Machine) -> None:
    process = machine.start()
    for amount in (1, 2, 3):
        process.run(amount)
        shutil.rmtree(machine.root)
    process.run(4)
    assert process.counts.lowerings == 4
    assert len(list_files(machine.root).entries) == 1
    assert machine.warnings() == []


def test_the_folder_is_removed_before_the_rename(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_replace, removed = Path.replace, []

    def remove_first(path: Path, target: Path) -> Path:
        if target.suffix == ".entry" and not removed:
            removed.append(path)
            shutil.rmtree(machine.root)
        return really_replace(path, target)

    monkeypatch.setattr(Path, "replace", remove_first)
    process = machine.start()
    process.run()
    assert process.counts.disk_writes == 1
    assert removed


# A disk that is full: for real, in a process of its own

_FULL = """
    import json, logging, sys
    from pathlib import Path

    from tests.pipeline.cached import adder, key_of, load, lowered
    from vyre_wgpu.pipeline.cache_files import list_files
    from vyre_wgpu.pipeline.disk_cache import DiskCache

    root, limit = Path(sys.argv[1]), int(sys.argv[2])
    if limit:
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    messages = []
    logger = logging.getLogger("vyre_wgpu")
    logger.addHandler(type("Keep", (logging.Handler,), {
        "emit": lambda self, record: messages.append(record.getMessage())})())
    logger.propagate = False
    disk = DiskCache(root, max_bytes=1 << 30)
    stored = [disk.store(key_of(adder(n)), adder(n), lowered(adder(n))) for n in range(100)]
    good = [load(disk, adder(n)) in (lowered(adder(n)), None) for n in range(100)]
    listing = list_files(root)
    print(json.dumps({"stored": sum(stored), "good": all(good), "messages": messages,
                      "entries": len(listing.entries), "temporaries": len(listing.temporaries)}))
"""


def fill_the_disk(root: Path, limit: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_FULL), str(root), str(limit)],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2], timeout=120,
    )  # fmt: skip
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_a_write_that_ends_half_way_leaves_nothing(tmp_path: Path) -> None:
    """The limit for the size of a file cuts every write short, as a full disk does."""
    report = fill_the_disk(tmp_path / "cache", 600)
    assert report["stored"] == report["entries"] == report["temporaries"] == 0
    assert report["good"]
    assert len(report["messages"]) == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("file systems may not be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_keeps_what_fits(small_disk: Path) -> None:
    report = fill_the_disk(small_disk / "cache", 0)
    assert 0 < report["stored"] < 100
    assert report["entries"] == report["stored"]
    assert report["temporaries"] == 0
    assert report["good"]
    assert len(report["messages"]) == 1
    assert "No space left" in report["messages"][0]
