"""Every entry that is not what it should be is a slower start, with one warning."""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.cached import OPTIONS, adder
from tests.pipeline.disk_machine import Machine, Process, refuse
from vyre_wgpu.pipeline.cache_files import list_files
from vyre_wgpu.pipeline.entry import decode_entry, encode_entry
from vyre_wgpu.wgsl.descriptor import ShaderArtifact
from vyre_wgpu.wgsl.options import CompileOptions

pytestmark = pytest.mark.gpu


# An entry that is not what it should be


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def another_version(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[8] = 77
    path.write_bytes(data)


def foreign(path: Path) -> None:
    path.write_text("someone else's file, longer than an entry's header\n" * 20)


@pytest.mark.parametrize("fault", [cut, empty, flip, another_version, foreign])
def test_a_bad_entry_is_replaced(fault: Callable[[Path], None], machine: Machine) -> None:
    first = machine.start()
    for amount in (1, 2, 3):
        first.run(amount)
        fault(first.entry_path(amount))
    second = machine.start()
    second.run_all(1, 2, 3)
    assert second.counts.lowerings == 3
    assert second.disk.statistics().refused == 3
    (warning,) = machine.warnings()
    assert "is no good" in warning
    third = machine.start()
    third.run_all(1, 2, 3)
    assert (third.counts.lowerings, third.counts.disk_hits) == (0, 3)
    assert len(machine.warnings()) == 1


def a_folder(path: Path, outside: Path) -> None:
    path.mkdir()
    (path / "kept").write_text("x")


def a_link_to_a_file(path: Path, outside: Path) -> None:
    outside.write_text("kept")
    path.symlink_to(outside)


def a_link_to_nothing(path: Path, outside: Path) -> None:
    path.symlink_to(outside.parent / "nothing")


def a_pipe(path: Path, outside: Path) -> None:
    os.mkfifo(path)


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX's")
@pytest.mark.parametrize(
    ("fault", "stays"),
    [(a_folder, True), (a_link_to_a_file, False), (a_link_to_nothing, False), (a_pipe, False)],
)
def test_what_is_no_plain_file_is_never_followed(
    fault: Callable[[Path, Path], None], stays: bool, machine: Machine, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    first = machine.start()
    first.run()
    path = first.entry_path(1)
    path.unlink()
    fault(path, outside)
    for _ in range(2):
        second = machine.start()
        second.run()
        if stays:
            assert second.counts.lowerings == 1
            assert (path / "kept").read_text() == "x"
    if not stays:
        assert second.counts.disk_hits == 1, "the new entry took the place of the link"
        assert path.is_file()
        assert not path.is_symlink()
    if outside.exists():
        assert outside.read_text() == "kept"
    found = machine.warnings()
    assert len(found) == (2 if stays else 1), "one for each process that met it"
    assert all("is no plain file" in text for text in found)
    assert list_files(path.parents[1]).temporaries == []


def test_a_folder_in_place_of_one_entry_does_not_hide_later_trouble(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = machine.start()
    process.entry_path(1).mkdir(parents=True)
    process.run(1)
    process.run(2)
    assert process.counts.disk_writes == 1, "the others are written"
    with monkeypatch.context() as patch:
        refuse(patch, errno.ENOSPC)
        process.run(3)
    first, second = machine.warnings()
    assert "is no plain file" in first
    assert "memory only" not in first
    assert "cannot be written" in second


def test_a_damaged_entry_that_cannot_be_removed_is_said_to_stay(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = machine.start()
    first.run()
    cut(first.entry_path(1))

    def refused(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "refused", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refused)
        refuse(patch, errno.EACCES)
        machine.start().run()
    damaged, unwritable = machine.warnings()
    assert "it cannot be removed" in damaged
    assert "it is removed" not in damaged
    assert "memory only" in unwritable


def test_an_entry_that_may_not_be_read_is_replaced(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.start().run()
    with monkeypatch.context() as patch:
        refuse(patch, errno.EACCES, reading=True)
        process = machine.start()
        process.run_all(1, 2, 1)
        assert process.counts.lowerings == 2
    (warning,) = machine.warnings()
    assert "cannot be read" in warning
    again = machine.start()
    again.run()
    assert again.counts.disk_hits == 1


# Entries that were crafted: the checksum matches, the content does not


def crafted(process: Process, amount: int, donor: int, **sections: Any) -> None:
    """Puts an entry with a matching checksum in place of a program's, made from another's."""
    path, given = process.entry_path(amount), process.entry_path(donor)
    donated, own = decode_entry(given.read_bytes()), decode_entry(path.read_bytes())
    parts = sections.get("parts", own.parts_bytes)
    program = sections.get("program", own.program)
    artifact = sections.get("artifact", donated.artifact())
    path.write_bytes(encode_entry(parts, program, artifact))


@pytest.fixture
def two(machine: Machine) -> Process:
    """A process that has compiled two programs."""
    process = machine.start()
    process.run_all(1, 2)
    return process


def check_refused(machine: Machine, why: str) -> None:
    process = machine.start()
    process.run()
    assert (process.counts.lowerings, process.counts.disk_hits) == (1, 0)
    (warning,) = machine.warnings()
    assert why in warning
    assert "\n" not in warning, "a shader compiler's message too is put into one line"


def test_an_entry_with_another_programs_bytes_is_refused(two: Process, machine: Machine) -> None:
    crafted(two, 1, 2, program=adder(2).erased_bytes)
    check_refused(machine, "another program")


def test_an_entry_with_another_programs_key_is_refused(two: Process, machine: Machine) -> None:
    shutil.copy(two.entry_path(2), two.entry_path(1))
    check_refused(machine, "another program")


def test_an_entry_of_other_options_than_its_name_says_is_refused(
    two: Process, machine: Machine
) -> None:
    other = two.compiler.key_of(adder(1), CompileOptions(workgroup_size=32)).encoded
    crafted(two, 1, 1, parts=other)
    check_refused(machine, "device or option")


def test_an_entry_compiled_with_other_options_than_its_key_says_is_refused(
    machine: Machine,
) -> None:
    asked, done = CompileOptions(workgroup_size=64), CompileOptions(workgroup_size=32)
    first = machine.start()
    for options in (asked, done):
        first.run(1, options)
    entry = decode_entry(first.entry_path(1, done).read_bytes())
    path = first.entry_path(1, asked)
    parts = first.compiler.key_of(adder(1), asked).encoded
    path.write_bytes(encode_entry(parts, entry.program, entry.artifact()))
    second = machine.start()
    second.run(1, asked)
    assert second.counts.lowerings == 1
    (warning,) = machine.warnings()
    assert "workgroup size" in warning


@pytest.mark.parametrize(
    "change",
    [{"length_words": ()}, {"workgroup_size": (32, 1, 1)}, {"block_words": 1 << 20},
     {"workgroup_size": (1 << 20, 1, 1)}, {"whole_workgroups": True}],
    ids=str,
)  # fmt: skip
def test_an_entry_with_another_launch_contract_is_refused(
    change: dict[str, Any], two: Process, machine: Machine
) -> None:
    artifact = two.compiler.compile(adder(1), OPTIONS).artifact
    descriptor = dataclasses.replace(artifact.descriptor, **change)
    crafted(two, 1, 1, artifact=ShaderArtifact(artifact.wgsl, descriptor))
    check_refused(machine, "does not fit its program")


def test_an_entry_that_would_crash_the_shader_compiler_is_refused(
    two: Process, machine: Machine
) -> None:
    artifact = two.compiler.compile(adder(1), OPTIONS).artifact
    nested = f"const deep = {'(' * 30_000}1{')' * 30_000};\n"
    crafted(two, 1, 1, artifact=ShaderArtifact(nested + artifact.wgsl, artifact.descriptor))
    check_refused(machine, "brackets")


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("no shader", {}),
        ("", {"features": ("a feature of tomorrow",)}),
    ],
)
def test_what_the_device_refuses_is_compiled_again(
    text: str, change: dict[str, Any], two: Process, machine: Machine
) -> None:
    artifact = two.compiler.compile(adder(1), OPTIONS).artifact
    descriptor = dataclasses.replace(artifact.descriptor, **change)
    crafted(two, 1, 1, artifact=ShaderArtifact(text or artifact.wgsl, descriptor))
    check_refused(machine, "device refused")
    again = machine.start()
    again.run()
    assert again.counts.disk_hits == 1
