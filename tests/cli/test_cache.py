"""``vyre-wgpu cache``: what it shows, checks, fills and removes."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import vyre_wgpu as vw
from tests.pipeline.cached import MIB, adder, key_of, lowered, stored
from vyre_wgpu import settings
from vyre_wgpu.backends.registry import get_backend
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.cli import main
from vyre_wgpu.cli.human import age_text, bytes_text
from vyre_wgpu.errors import InputError
from vyre_wgpu.pipeline.cache_files import FOLDER
from vyre_wgpu.pipeline.disk_cache import DiskCache
from vyre_wgpu.pipeline.entry import decode_entry, encode_entry
from vyre_wgpu.runtime.quirks import PROFILES
from vyre_wgpu.wgsl.descriptor import ShaderArtifact

DAY = 86_400


@pytest.fixture
def disk(cache_folder: Path) -> DiskCache:
    """A cache of the test's own; the commands use its folder."""
    return DiskCache(cache_folder, max_bytes=MIB)


def said(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> str:
    """What a command prints."""
    capsys.readouterr()
    assert main(["cache", *argv]) == status
    return capsys.readouterr().out


def report(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> dict[str, Any]:
    """What a command prints as JSON."""
    found: dict[str, Any] = json.loads(said(capsys, *argv, "--json", status=status))
    return found


def set_cache(**changes: Any) -> None:
    settings.replace_current(dataclasses.replace(settings.current(), **changes))


def old(path: Path, days: float) -> None:
    when = time.time() - days * DAY
    os.utime(path, (when, when))


# Without a device


def test_info_of_no_folder(cache_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "info")
    assert found["folder"] == str(cache_folder / FOLDER)
    assert (found["entries"], found["bytes"], found["used_last_s"]) == (0, 0, None)
    assert not cache_folder.exists()


def test_info_says_where_and_how_much(disk: DiskCache, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [stored(disk, adder(n)) for n in range(3)]
    old(paths[0], 5)
    found = report(capsys, "info")
    assert found["entries"] == 3
    assert found["bytes"] == sum(p.stat().st_size for p in paths)
    assert found["used_last_s"] < 100 < 5 * DAY <= found["used_first_s"] < 5 * DAY + 100
    assert (found["mode"], found["max_bytes"]) == ("rw", 256 * MIB)
    text = said(capsys, "info")
    assert "KiB of 256.0 MiB" in text
    assert "the oldest 5 days ago" in text


@pytest.mark.skipif(os.name != "posix", reason="permission bits are POSIX's")
def test_info_warns_of_a_folder_that_others_may_write(
    disk: DiskCache, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(disk, adder(1))
    assert report(capsys, "info")["others_may_write"] is False
    disk.root.chmod(0o777)
    assert report(capsys, "info")["others_may_write"] is True
    assert "other users may write there" in said(capsys, "info")


def test_list_has_each_entry_the_last_used_first(
    disk: DiskCache, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "empty" in said(capsys, "list")
    paths = [stored(disk, adder(n)) for n in range(2)]
    old(paths[1], 3)
    bad = stored(disk, adder(2))
    bad.write_bytes(b"x" * 300)
    old(bad, 9)
    rows = report(capsys, "list")["entries"]
    assert [row["key"] for row in rows] == [p.stem for p in (*paths, bad)]
    assert rows[1]["parts"]["program"] == adder(1).fingerprint
    assert rows[1]["bytes"] == paths[1].stat().st_size
    assert rows[2]["problem"] == "it is not a file of ours"
    lines = said(capsys, "list").splitlines()
    assert adder(0).fingerprint[:12] in lines[0]
    assert "3 days ago" in lines[1]
    assert "not a file of ours" in lines[2]


def test_prune_removes_what_is_damaged_and_left_over(
    disk: DiskCache, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = (stored(disk, adder(n)) for n in range(2))
    bad.write_bytes(bad.read_bytes()[:-1])
    leftover = disk.root / FOLDER / f"{1:032x}.tmp"
    leftover.write_bytes(b"x" * 100)
    old(leftover, 1)
    found = report(capsys, "prune")
    assert (found["removed"], found["entries"]) == (2, 1)
    assert good.exists()
    assert not bad.exists()
    assert not leftover.exists()


def test_prune_by_age_size_and_version(disk: DiskCache, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [stored(disk, adder(n)) for n in range(10)]
    size = sum(path.stat().st_size for path in paths[6:])
    for n, path in enumerate(paths):
        old(path, 10 - n)
    assert report(capsys, "prune")["removed"] == 0
    assert report(capsys, "prune", "--older-than", "8.5")["removed"] == 2
    assert report(capsys, "prune", "--max-bytes", str(size))["entries"] == 4
    assert [p.exists() for p in paths] == [False] * 6 + [True] * 4
    assert report(capsys, "prune", "--other-versions")["removed"] == 0
    other = tuple(
        (name, "sources of yesterday" if name == "lowering" else value)
        for name, value in key_of(adder(1)).parts
    )
    key = type(key_of(adder(1))).of(other)
    assert disk.store(key, adder(1), lowered(adder(1)))
    assert "of another version" in said(capsys, "list")
    assert report(capsys, "prune", "--other-versions")["removed"] == 1


@pytest.mark.parametrize(
    "argv", [["--older-than", "x"], ["--older-than", "-1"], ["--older-than", "nan"],
             ["--max-bytes", "0"], ["--max-bytes", "5X"], ["--max-bytes", "M"]],
)  # fmt: skip
def test_prune_refuses_wrong_numbers(argv: list[str]) -> None:
    assert main(["cache", "prune", *argv]) == 2


def test_clear_removes_only_what_is_ours(
    disk: DiskCache, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for n in range(3):
        stored(disk, adder(n))
    notes = disk.root / FOLDER / "notes.txt"
    notes.write_text("mine")
    (disk.root / PROFILES).mkdir()
    profile = disk.root / PROFILES / f"{3:032x}.json"
    profile.write_text("{}")
    outside = tmp_path / "outside.entry"
    outside.write_text("mine")
    link = disk.root / FOLDER / f"{4:032x}.entry"
    link.symlink_to(outside)
    assert report(capsys, "clear")["removed"] == 3
    assert profile.exists()
    assert report(capsys, "clear", "--profiles")["removed"] == 1
    assert not profile.exists()
    assert notes.read_text() == outside.read_text() == "mine"
    assert "the cache is empty" in said(capsys, "list")


@pytest.mark.parametrize("command", ["clear", "prune"])
def test_a_cache_that_is_only_read_is_not_changed(
    command: str, disk: DiskCache, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stored(disk, adder(1))
    set_cache(cache="ro")
    assert main(["cache", command]) == 1
    assert "'ro'" in capsys.readouterr().err
    assert path.exists()


@pytest.mark.parametrize("command", ["", "fly"])
def test_wrong_usage(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", command] if command else ["cache"]) == 2
    assert "usage: vyre-wgpu cache" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1536, "1.5 KiB"),
                        (3 << 20, "3.0 MiB"), (5 << 30, "5.0 GiB")],
)  # fmt: skip
def test_sizes(count: int, text: str) -> None:
    assert bytes_text(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "just now"), (59, "just now"), (60, "1 minute ago"),
                          (7199, "1 hour ago"), (2 * DAY, "2 days ago")],
)  # fmt: skip
def test_ages(seconds: float, text: str) -> None:
    assert age_text(seconds) == text


@pytest.mark.parametrize(("text", "count"), [("4096", 4096), ("2K", 2048), ("1G", 1 << 30)])
def test_the_limit_takes_units(text: str, count: int) -> None:
    environment = {"VYRE_WGPU_CACHE_MAX_BYTES": text}
    assert settings.Settings.from_environment(environment).cache_max_bytes == count
    with pytest.raises(InputError, match="VYRE_WGPU_CACHE_MAX_BYTES"):
        settings.Settings.from_environment({"VYRE_WGPU_CACHE_MAX_BYTES": "1T"})


# With a device


@pytest.fixture
def fresh_backend(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WgpuBackend]:
    """A backend with an empty memory that the commands use, on a folder of the test's own."""
    from vyre_wgpu.cli import device

    with WgpuBackend() as backend:
        monkeypatch.setattr(
            device, "get_backend", lambda name: backend if name == "wgpu" else get_backend(name)
        )
        yield backend


@pytest.mark.gpu
def test_warm_compiles_what_is_missing(
    fresh_backend: WgpuBackend, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kernel.vyre"
    file.write_bytes(adder(1).to_bytes())
    found = report(capsys, "warm", "saxpy", str(file))
    assert (found["lowered"], found["found"], found["written"]) == (2, 0, 2)
    assert [p["problem"] for p in found["programs"]] == [None, None]
    assert found["programs"][1]["fingerprint"] == adder(1).fingerprint
    assert "0 compiled" in said(capsys, "warm", "saxpy", "--threads", "2")
    assert report(capsys, "info")["entries"] == 2
    assert report(capsys, "warm", "saxpy", "--checks", "trap")["lowered"] == 1
    assert "checks='trap'" in said(capsys, "list")


@pytest.mark.gpu
def test_warm_tells_of_what_cannot_be_compiled_and_does_the_rest(
    fresh_backend: WgpuBackend, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "warm", "no such program"]) == 1
    b = vw.ProgramBuilder("wide", workgroup_size=1 << 14)
    x = b.read_write("x", vw.u32)
    x[b.global_id(0)] = 1
    file = tmp_path / "wide.vyre"
    file.write_bytes(b.build().to_bytes())
    found = report(capsys, "warm", str(file), "saxpy", status=1)
    problems = [row["problem"] for row in found["programs"]]
    assert "16384 lanes" in problems[0]
    assert problems[1] is None
    assert found["written"] == 1
    assert main(["cache", "warm", str(file)]) == 1
    assert "wide.vyre: " in capsys.readouterr().err


@pytest.mark.gpu
@pytest.mark.parametrize("mode", ["ro", "off"])
def test_warm_needs_a_cache_that_is_written(
    mode: str, cache_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_cache(cache=mode)
    assert main(["cache", "warm", "saxpy"]) == 1
    assert f"VYRE_WGPU_CACHE is {mode!r}" in capsys.readouterr().err


@pytest.mark.gpu
def test_explain_says_whether_a_program_is_found(
    fresh_backend: WgpuBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    before = report(capsys, "explain", "saxpy")
    assert (before["found"], before["nearest"]) == ("nowhere", None)
    said(capsys, "warm", "saxpy")
    found = report(capsys, "explain", "saxpy")
    assert found["found"] == "memory"
    assert found["key"] == before["key"]
    missed = report(capsys, "explain", "saxpy", "--max-iterations", "7")
    assert missed["nearest"] == found["key"]
    (difference,) = missed["differences"]
    assert difference["part"] == "options"
    assert '"max_iterations":7' in difference["wanted"]
    assert "compiled with other options" in said(capsys, "explain", "saxpy", "--checks", "trap")


@pytest.mark.gpu
def test_verify_compiles_every_entry_anew(
    fresh_backend: WgpuBackend, cache_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "warm", "saxpy", "crc32")
    stored(DiskCache(cache_folder, max_bytes=MIB), adder(1))  # of another device
    found = report(capsys, "verify")
    assert found == {"entries": 3, "compared": 2, "only_read": 1, "bad": []}
    assert "all are good" in said(capsys, "verify")


def change_shader(path: Path) -> None:
    entry = decode_entry(path.read_bytes())
    artifact = entry.artifact()
    changed = ShaderArtifact(artifact.wgsl + "\n// changed", artifact.descriptor)
    path.write_bytes(encode_entry(entry.parts_bytes, entry.program, changed))


def change_contract(path: Path) -> None:
    entry = decode_entry(path.read_bytes())
    artifact = entry.artifact()
    descriptor = dataclasses.replace(artifact.descriptor, workgroup_size=(32, 1, 1))
    changed = ShaderArtifact(artifact.wgsl, descriptor)
    path.write_bytes(encode_entry(entry.parts_bytes, entry.program, changed))


def change_program(path: Path) -> None:
    entry = decode_entry(path.read_bytes())
    other = adder(5).erased_bytes
    path.write_bytes(encode_entry(entry.parts_bytes, other, entry.artifact()))


def make_program_unreadable(path: Path) -> None:
    entry = decode_entry(path.read_bytes())
    path.write_bytes(encode_entry(entry.parts_bytes, b"no program", entry.artifact()))


def move(path: Path) -> None:
    path.rename(path.with_name(f"{7:032x}.entry"))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("change", "problem"),
    [(change_shader, "its shader is not"), (change_contract, "its launch contract is not"),
     (change_program, "not the one of its key"), (make_program_unreadable, "cannot be read"),
     (move, "its name is not"), (cut, "cut short")],
)  # fmt: skip
def test_verify_finds_what_is_not_as_it_should_be(
    change: Any,
    problem: str,
    fresh_backend: WgpuBackend,
    cache_folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    said(capsys, "warm", "saxpy")
    (path,) = (cache_folder / FOLDER).iterdir()
    change(path)
    found = report(capsys, "verify", status=1)
    (bad,) = found["bad"]
    assert problem in bad["problem"]
    assert problem in said(capsys, "verify", status=1)
