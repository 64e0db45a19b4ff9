"""Device profiles: whatever stands in their place, a device opens, and with the probed facts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.runtime.quirks import (
    PROFILES,
    Quirks,
    find_quirks,
    probe,
    profile_path,
    remove_profiles,
)

pytestmark = pytest.mark.gpu


def deep(path: Path, _: Path) -> None:
    path.write_text("[" * 4000)


def deep_and_whole(path: Path, _: Path) -> None:
    path.write_text("[" * 1500 + "]" * 1500)


def no_text(path: Path, _: Path) -> None:
    path.write_bytes(b"\xff\xfe")


def long(path: Path, _: Path) -> None:
    path.write_text(path.read_text() + " " * 5000)


def more_fields(path: Path, _: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"more": True}))


def wrong_types(path: Path, _: Path) -> None:
    path.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text()), 1)))


def pipe(path: Path, _: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def link(path: Path, outside: Path) -> None:
    outside.write_bytes(path.read_bytes().replace(b"false", b"true"))
    path.unlink()
    path.symlink_to(outside)


posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX's")


@pytest.mark.parametrize(
    "fault",
    [deep, deep_and_whole, no_text, long, more_fields, wrong_types,
     pytest.param(pipe, marks=posix), pytest.param(link, marks=posix)],
)  # fmt: skip
def test_what_is_no_profile_is_probed_again_and_replaced(
    fault: Callable[[Path, Path], None], backend: WgpuBackend, cache_folder: Path, tmp_path: Path
) -> None:
    info, device = backend.adapter_info, backend.device.wgpu
    found = find_quirks(info, device)
    path = profile_path(info, cache_folder)
    good = path.read_bytes()
    fault(path, tmp_path / "outside")
    assert find_quirks(info, device) == found == backend.device.quirks
    assert path.read_bytes() == good
    assert path.is_file()
    assert not path.is_symlink()


def test_a_stored_profile_is_believed(backend: WgpuBackend, cache_folder: Path) -> None:
    info, device = backend.adapter_info, backend.device.wgpu
    find_quirks(info, device)
    path = profile_path(info, cache_folder)
    other = {"loop_iterations": 777, "equal_floats_fold": False, "floats_are_reordered": False}
    path.write_text(json.dumps(other))
    assert find_quirks(info, device) == Quirks(777, False, False)


def test_the_probe_finds_the_same_each_time(backend: WgpuBackend) -> None:
    """What lowering reads of it is part of every key."""
    assert {probe(backend.device.wgpu) for _ in range(5)} == {backend.device.quirks}


def test_profiles_are_removed_with_what_was_left_of_writing_them(tmp_path: Path) -> None:
    folder = tmp_path / PROFILES
    assert remove_profiles(folder) == (0, 0, 0)
    folder.mkdir()
    for name, size in ((f"{1:032x}.json", 10), ("tmp_ab12345.tmp", 5), ("notes.json", 1)):
        (folder / name).write_bytes(b"x" * size)
    (folder / f"{2:032x}.json").mkdir()
    assert remove_profiles(folder) == (2, 15, 0)
    assert sorted(p.name for p in folder.iterdir()) == [f"{2:032x}.json", "notes.json"]
