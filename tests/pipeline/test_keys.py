"""Keys: every fact that decides what a program becomes is a part, and any other value is a miss."""

from __future__ import annotations

import dataclasses
import functools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import wgpu
import wgpu.backends.wgpu_native as native

import vyre_wgpu as vw
from tests.pipeline.cached import MIB, OPTIONS, adder, device, lowered
from vyre_wgpu.cli.catalog import shipped
from vyre_wgpu.pipeline import keys, lowering_version as versions
from vyre_wgpu.pipeline.compile import target_of
from vyre_wgpu.pipeline.disk_cache import DiskCache
from vyre_wgpu.pipeline.keys import Key, Keys, decode_parts, options_of
from vyre_wgpu.runtime.quirks import Quirks
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.options import CompileOptions
from vyre_wgpu.wgsl.target import Target

PROGRAM = adder(1)
BASE = Keys(device(), Target()).of(PROGRAM, OPTIONS, indirect=False)


def other_value(value: Any) -> Any:
    """A value that is not the given one, of a kind that the field may have."""
    match value:
        case None:
            return 7
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return {"total": "trap"}.get(value, value + "?")
        case tuple():
            return (value[0] + 1, *value[1:])
    raise AssertionError(value)


def changed(record: Any, field: str) -> Any:
    return dataclasses.replace(record, **{field: other_value(getattr(record, field))})


def with_target(target: Target) -> Key:
    return Keys(device(), target).of(PROGRAM, OPTIONS, indirect=False)


def with_device(**changes: Any) -> Key:
    return Keys(device(**changes), Target()).of(PROGRAM, OPTIONS, indirect=False)


def with_options(options: CompileOptions, *, indirect: bool = False) -> Key:
    return Keys(device(), Target()).of(PROGRAM, options, indirect=indirect)


LIMITED = {
    "has_immediates": True,
    "limits": SimpleNamespace(
        max_immediate_size=128,
        max_storage_buffers=8,
        max_workgroup_storage=16384,
        max_workgroup_size=(256, 256, 64),
        max_workgroup_invocations=256,
        max_uniform_size=16384,
    ),
}
QUIRKS = ("loop_iterations", "reorders_floats")
OWN_PARTS = ("features", *QUIRKS)
LIMITS = [f.name for f in dataclasses.fields(Target) if f.name not in OWN_PARTS]
CHANGES: list[tuple[str, Callable[[], Key]]] = [
    ("program", lambda: Keys(device(), Target()).of(adder(2), OPTIONS, indirect=False)),
    ("variant", lambda: with_options(OPTIONS, indirect=True)),
    ("vendor", lambda: with_device(vendor="another")),
    ("vendor", lambda: with_device(vendor_id=9)),
    ("device", lambda: with_device(name="another")),
    ("device", lambda: with_device(device_id=9)),
    ("driver", lambda: with_device(driver="d 2")),
    ("api", lambda: with_device(api="Metal")),
    ("features", lambda: with_device(features=frozenset({"a", "b"}))),
    *(("limits", lambda f=f: with_target(changed(Target(), f))) for f in LIMITS),
    *(("quirks", lambda f=f: with_target(changed(Target(), f))) for f in QUIRKS),
    *(
        ("options", lambda f=f: with_options(changed(OPTIONS, f.name)))
        for f in dataclasses.fields(CompileOptions)
    ),
]


def check_miss(part: str, key: Key, folder: Path) -> None:
    """That part, and no other, is another one; and an entry of the base is not found with it."""
    differing = [a[0] for a, b in zip(BASE.parts, key.parts, strict=True) if a != b]
    assert differing == [part]
    assert key.digest != BASE.digest
    disk = DiskCache(folder, max_bytes=MIB)
    assert disk.store(BASE, PROGRAM, lowered(PROGRAM))
    assert disk.load(BASE, PROGRAM, OPTIONS) == lowered(PROGRAM)
    assert disk.load(key, PROGRAM, OPTIONS) is None
    assert disk.statistics().misses == 1


@pytest.mark.parametrize(("part", "make"), CHANGES)
def test_each_part_changed_in_turn_is_a_miss(
    part: str, make: Callable[[], Key], tmp_path: Path
) -> None:
    check_miss(part, make(), tmp_path)


@pytest.mark.parametrize("part", ["lowering", "wgpu-py", "wgpu-native"])
def test_another_version_of_what_is_installed_is_a_miss(
    part: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    match part:
        case "lowering":
            monkeypatch.setattr(keys, "lowering_version", lambda: "sources of tomorrow")
        case "wgpu-py":
            monkeypatch.setattr(wgpu, "__version__", "99.0")
        case "wgpu-native":
            monkeypatch.setattr(native, "lib_version_info", (99, 0, 0, 0))
    check_miss(part, with_options(OPTIONS), tmp_path)


def test_every_part_was_changed() -> None:
    covered = {part for part, _ in CHANGES} | {"lowering", "wgpu-py", "wgpu-native"}
    assert covered == {name for name, _ in BASE.parts}


def test_what_is_moved_from_one_part_to_the_next_is_another_key() -> None:
    assert Key.of((("a", "xy"), ("b", "z"))).digest != Key.of((("a", "x"), ("b", "yz"))).digest
    assert Key.of((("a", "x"),)).digest != Key.of((("ax", ""),)).digest


def test_names_of_any_kind_have_a_key() -> None:
    key = with_device(name="lone \ud800, nul \0, \N{SNOWMAN}")
    assert decode_parts(key.encoded) == key.parts


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[1]",
        b'[["a"]]',
        b'[["a","b","c"]]',
        b'[["a",1]]',
        b'["ab"]',
        b"[" * 100_000,
        b'[["a","' + b"b" * (1 << 16) + b'"]]',
        b"\xff\xfe",
    ],
    ids=range(10),
)
def test_bytes_that_are_no_parts_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        decode_parts(data)


@pytest.mark.parametrize(
    "options", [OPTIONS, CompileOptions("trap", (8, 4), 99), CompileOptions(workgroup_size=32)]
)
def test_options_come_back_from_their_part(options: CompileOptions) -> None:
    assert options_of(with_options(options).parts) == options


@pytest.mark.parametrize("value", ["{}x", "[]", '{"unknown":1}', '{"checks":"none"}', "[" * 99_999])
def test_options_of_another_version_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        options_of((("options", value),))
    with pytest.raises(ValueError, match="options"):
        options_of(())


# What is not a part


def test_what_lowering_does_not_read_of_a_profile_is_no_part() -> None:
    """Two probes that differ in it find the same entry; what it does read reaches the key."""
    read = {"loop_iterations", "floats_are_reordered"}
    for field in dataclasses.fields(Quirks):
        probed = device(quirks=changed(Quirks(), field.name), **LIMITED)
        key = Keys(probed, target_of(probed)).of(PROGRAM, OPTIONS, indirect=False)
        usual = device(**LIMITED)
        base = Keys(usual, target_of(usual)).of(PROGRAM, OPTIONS, indirect=False)
        assert (key != base) == (field.name in read), field.name


def test_names_comments_and_places_share_key_and_shader() -> None:
    """And their rows are the same, so that a trap of the one's shader finds the other's line."""

    def made(name: str, local: str, comments: int) -> vw.Program:
        b = vw.ProgramBuilder(name)
        x = b.read("x", vw.u32)
        y = b.output("y", vw.u32, like=x)
        i = b.global_id(0)
        for n in range(comments):
            b.comment(f"remark {n}")
        v = b.let(local, x[i] + 1)
        n = b.var(local + "2", vw.u32, 3)
        with b.if_(v > 10):
            for _ in range(comments):
                b.comment("another")
            b.trap("too large", address=i)
        y[i] = v * n
        return b.build()

    first, second = made("first", "v", 0), made("second", "other", 3)
    assert first.debug != second.debug
    assert first.table.op == second.table.op
    keys_of = Keys(device(), Target())
    assert keys_of.of(first, OPTIONS, indirect=False) == keys_of.of(second, OPTIONS, indirect=False)
    assert lowered(first) == lowered(second)


@pytest.mark.parametrize("name", sorted(shipped()))
def test_the_erased_bytes_alone_decide_what_a_program_becomes(name: str) -> None:
    program = shipped()[name]()
    stored = vw.Program.from_bytes(program.erased_bytes)
    target = Target(max_storage_buffers=32)
    for options in (OPTIONS, CompileOptions("trap")):
        assert lower(stored, options, target) == lower(program, options, target)


# The version of lowering


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        (folder / "sub").mkdir(parents=True)
        (folder / "a.py").write_text("x = 1\n")
        (folder / "sub" / "b.py").write_text("y = 1\n")
    return folders


def edit(folders: list[Path]) -> None:
    (folders[1] / "sub" / "b.py").write_text("y = 2\n")


def add(folders: list[Path]) -> None:
    (folders[0] / "c.py").write_text("")


def rename(folders: list[Path]) -> None:
    (folders[0] / "a.py").rename(folders[0] / "aa.py")


def swap(folders: list[Path]) -> None:
    (folders[0] / "a.py").write_text("y = 1\n")
    (folders[0] / "sub" / "b.py").write_text("x = 1\n")


def move(folders: list[Path]) -> None:
    shutil.move(folders[0] / "a.py", folders[0] / "sub" / "a.py")


@pytest.mark.parametrize("change", [edit, add, rename, swap, move])
def test_any_change_of_the_sources_is_another_version(
    change: Callable[[list[Path]], None], sources: list[Path]
) -> None:
    before = versions.digest_of(sources)
    (sources[0] / "note.txt").write_text("no source")
    assert versions.digest_of(sources) == before
    change(sources)
    assert versions.digest_of(sources) != before


def test_the_version_is_that_of_the_lowering_in_use() -> None:
    root = Path(vw.__file__).parent
    assert (
        versions.lowering_version.__wrapped__()
        == f"sources {versions.digest_of([root / 'ir', root / 'wgsl'])}"
    )
    assert len(list((root / "wgsl").rglob("*.py"))) > 10


def test_without_source_files_the_release_is_the_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(vw.ir, "__path__", [str(tmp_path / "archive.zip" / "ir")])
    monkeypatch.setattr(versions.wgsl, "__path__", [str(tmp_path / "archive.zip" / "wgsl")])
    assert versions.lowering_version.__wrapped__().startswith(f"release {vw.__version__}.")


def test_sources_that_were_edited_after_they_were_read_are_noticed(
    monkeypatch: pytest.MonkeyPatch, sources: list[Path]
) -> None:
    version = functools.cache(lambda: f"sources {versions.digest_of(sources)}")
    monkeypatch.setattr(versions, "lowering_version", version)
    assert version()
    assert versions.is_current.__wrapped__()
    edit(sources)
    assert not versions.is_current.__wrapped__()


def test_encoded_parts_are_canonical() -> None:
    assert json.loads(BASE.encoded) == [list(part) for part in BASE.parts]
    assert Key.of(decode_parts(BASE.encoded)) == BASE
