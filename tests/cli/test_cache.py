"""``vyre-wgpu cache``: what it shows, checks, fills and removes."""

from __future__ import annotations

import dataclasses
import errno
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
             ["--max-bytes", "-1"], ["--max-bytes", "5X"], ["--max-bytes", "M"]],
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


@pytest.mark.parametrize("text", ["0", "1k", "1K"])
def test_prune_to_a_size(text: str, disk: DiskCache, capsys: pytest.CaptureFixture[str]) -> None:
    for n in range(3):
        stored(disk, adder(n))
    left = report(capsys, "prune", f"--max-bytes={text}")
    assert left["bytes"] <= int(text[0]) * 1024
    assert left["removed"] + left["entries"] == 3


def test_prune_removes_what_verify_finds_without_compiling(
    disk: DiskCache, capsys: pytest.CaptureFixture[str]
) -> None:
    good = stored(disk, adder(0))
    for n, change in enumerate((change_program, make_program_unreadable, move, forget_a_length), 1):
        change(stored(disk, adder(n)))
    found = report(capsys, "prune")
    assert (found["removed"], found["entries"]) == (4, 1)
    assert good.exists()


def test_a_time_in_the_future_is_named_and_is_not_old(
    disk: DiskCache, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stored(disk, adder(1))
    old(path, -1825)
    assert "in the future" in said(capsys, "info")
    assert "in the future" in said(capsys, "list")
    assert report(capsys, "list")["entries"][0]["used_s"] < -1800 * DAY
    assert report(capsys, "prune", "--older-than", "30")["removed"] == 0
    assert path.exists()


def refuse_to_remove(patch: pytest.MonkeyPatch, *names: str) -> None:
    """Lets the system refuse to remove files, as in a folder that the user may not write."""
    really_unlink = Path.unlink

    def unlink(path: Path, missing_ok: bool = False) -> None:
        if not names or path.name in names:
            raise PermissionError(errno.EACCES, "refused", str(path))
        really_unlink(path, missing_ok=missing_ok)

    patch.setattr(Path, "unlink", unlink)


@pytest.mark.parametrize(
    "argv", [["clear"], ["prune", "--max-bytes", "0"], ["prune", "--older-than", "0"]]
)
def test_what_cannot_be_removed_is_not_counted(
    argv: list[str],
    disk: DiskCache,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept, gone = (stored(disk, adder(n)) for n in range(2))
    size = gone.stat().st_size
    with monkeypatch.context() as patch:
        refuse_to_remove(patch, kept.name)
        assert main(["cache", *argv, "--json"]) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["removed"], found["removed_bytes"], found["entries"]) == (1, size, 1)
    assert found["complete"] is False
    assert "Fix: make the folder writable" in err
    assert kept.exists()
    assert not gone.exists()


def test_a_file_that_is_being_written_is_no_failure(
    disk: DiskCache, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(disk, adder(1))
    path = disk.root / FOLDER / f"{1:032x}.tmp"
    path.write_bytes(b"x" * 100)
    assert report(capsys, "prune", "--max-bytes", "0")["removed"] == 1
    assert path.exists()
    old(path, 1)
    with monkeypatch.context() as patch:
        refuse_to_remove(patch)
        assert report(capsys, "prune", status=1)["removed"] == 0
    assert report(capsys, "prune")["removed"] == 1


def test_profiles_that_cannot_be_removed_are_told_of(
    disk: DiskCache, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (disk.root / PROFILES).mkdir(parents=True)
    profile = disk.root / PROFILES / f"{3:032x}.json"
    profile.write_bytes(b"x" * 70)
    with monkeypatch.context() as patch:
        refuse_to_remove(patch)
        assert report(capsys, "clear", "--profiles", status=1)["removed"] == 0
    assert report(capsys, "clear", "--profiles")["removed_bytes"] == 70


@pytest.mark.parametrize("command", ["info", "list", "prune", "clear"])
def test_a_folder_that_cannot_be_read_says_what_to_do(
    command: str,
    disk: DiskCache,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored(disk, adder(1))

    def refused(path: Path) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refused)
    assert main(["cache", command]) == 1
    err = capsys.readouterr().err
    assert "cannot be read: Permission denied" in err
    assert "Fix: make it" in err


@pytest.mark.skipif(os.name != "posix", reason="links are POSIX's")
@pytest.mark.parametrize("place", ["", FOLDER])
@pytest.mark.parametrize("kind", ["file", "link"])
def test_info_says_why_a_folder_is_not_used(
    place: str, kind: str, cache_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cache_folder / place
    path.parent.mkdir(exist_ok=True)
    if kind == "file":
        path.write_text("x")
    else:
        (tmp_path / "elsewhere").mkdir()
        path.symlink_to(tmp_path / "elsewhere")
    problem = report(capsys, "info")["problem"]
    if kind == "link" and not place:
        assert problem is None, "the cache folder itself may be a link"
    else:
        assert problem.startswith(f"{path} is no folder")
        assert "Fix: remove it" in said(capsys, "info")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs to give files away")
def test_info_warns_of_a_folder_of_another_user(
    disk: DiskCache, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(disk, adder(1))
    os.chown(disk.root / FOLDER, 54321, -1)
    assert report(capsys, "info")["others_may_write"] is True


def test_info_tells_what_is_being_written_from_what_is_left_over(
    disk: DiskCache, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(disk, adder(1))
    for n in range(3):
        path = disk.root / FOLDER / f"{n:032x}.tmp"
        path.write_bytes(b"x")
        if n:
            old(path, 1)
    found = report(capsys, "info")
    assert (found["temporaries"], found["left_over"]) == (3, 2)
    lines = [line.split() for line in said(capsys, "info").splitlines()]
    assert ["being", "written", "1"] in lines
    assert ["left", "over", "2"] in lines


def test_without_a_home_there_is_no_folder(
    no_home: None, capsys: pytest.CaptureFixture[str]
) -> None:
    found = report(capsys, "info")
    assert (found["folder"], found["entries"]) == (None, 0)
    assert "no home folder" in found["problem"]
    assert "no home folder" in said(capsys, "info")
    for command in (["list"], ["clear"], ["prune"], ["verify"], ["warm", "saxpy"]):
        assert main(["cache", *command]) == 1
        assert "Fix: set VYRE_WGPU_CACHE_DIR" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["info", "prune", "warm"])
def test_unknown_arguments_show_the_usage_of_the_command(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", command, "--fly", *(["saxpy"] if command == "warm" else [])]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"usage: vyre-wgpu cache {command} ")
    assert "unrecognized arguments: --fly" in err


def test_a_file_that_is_too_large_for_a_program_has_one_fix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / "huge.vyre").open("wb") as file:
        file.truncate((64 << 20) + 1)
    assert main(["cache", "explain", str(tmp_path / "huge.vyre")]) == 1
    err = capsys.readouterr().err
    assert err.count("Fix:") == 1
    assert "bytes are more than" in err


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
                          (-59, "just now"), (-60, "in the future"), (7199, "1 hour ago"),
                          (2 * DAY, "2 days ago")],
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
    b = vw.ProgramBuilder("wide", workgroup_size=1 << 14)
    x = b.read_write("x", vw.u32)
    x[b.global_id(0)] = 1
    file = tmp_path / "wide.vyre"
    file.write_bytes(b.build().to_bytes())
    found = report(capsys, "warm", str(file), "saxpy", "no such program", status=1)
    problems = [row["problem"] for row in found["programs"]]
    assert "16384 lanes" in problems[0]
    assert problems[1] is None
    assert "no program file" in problems[2]
    assert found["programs"][2]["fingerprint"] is None
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
def test_verify_of_a_folder_that_cannot_be_read_says_what_to_do(
    fresh_backend: WgpuBackend, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said(capsys, "warm", "saxpy")

    def refused(path: Path) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refused)
    assert main(["cache", "verify"]) == 1
    assert "Fix: make it" in capsys.readouterr().err


@pytest.mark.gpu
def test_explain_says_that_the_cache_is_off(
    fresh_backend: WgpuBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    set_cache(cache="off")
    assert "VYRE_WGPU_CACHE is off" in said(capsys, "explain", "saxpy")
    assert report(capsys, "explain", "saxpy")["mode"] == "off"


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
    descriptor = dataclasses.replace(artifact.descriptor, features=("subgroup",))
    changed = ShaderArtifact(artifact.wgsl, descriptor)
    path.write_bytes(encode_entry(entry.parts_bytes, entry.program, changed))


def change_program(path: Path) -> None:
    entry = decode_entry(path.read_bytes())
    other = adder(5).erased_bytes
    path.write_bytes(encode_entry(entry.parts_bytes, other, entry.artifact()))


def make_program_unreadable(path: Path) -> None:
    entry = decode_entry(path.read_bytes())
    path.write_bytes(encode_entry(entry.parts_bytes, b"no program", entry.artifact()))


def forget_a_length(path: Path) -> None:
    entry = decode_entry(path.read_bytes())
    artifact = entry.artifact()
    descriptor = dataclasses.replace(artifact.descriptor, length_words=())
    changed = ShaderArtifact(artifact.wgsl, descriptor)
    path.write_bytes(encode_entry(entry.parts_bytes, entry.program, changed))


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
    assert main(["cache", "verify"]) == 1
    out, err = capsys.readouterr()
    assert problem in out
    assert "Fix: 'vyre-wgpu cache prune'" in err
