"""Every trouble of the disk is a slower start: the pipeline is right, and one warning is logged."""

from __future__ import annotations

import dataclasses
import errno
import json
import logging
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.pipeline.cached import MIB, OPTIONS, adder
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.ir.program import Program
from vyre_wgpu.pipeline import cache_files
from vyre_wgpu.pipeline.cache_files import FOLDER, entry_name, list_files
from vyre_wgpu.pipeline.compile import Compiler
from vyre_wgpu.pipeline.counters import Counters, Counts
from vyre_wgpu.pipeline.disk_cache import DiskCache
from vyre_wgpu.pipeline.entry import decode_entry, encode_entry
from vyre_wgpu.pipeline.generation import Generation
from vyre_wgpu.pipeline.pipeline import WgpuPipeline
from vyre_wgpu.wgsl.descriptor import ShaderArtifact
from vyre_wgpu.wgsl.options import CompileOptions

pytestmark = pytest.mark.gpu

X = np.arange(100, dtype=np.uint32)


class Process(NamedTuple):
    """A compiler with an empty memory, as a new process has it, and its cache."""

    compiler: Compiler
    disk: DiskCache
    counters: Counters

    @property
    def counts(self) -> Counts:
        return self.counters.snapshot()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "cache"


@pytest.fixture
def start(backend: WgpuBackend, root: Path) -> Callable[..., Process]:
    """Starts a process, as far as compiling goes."""

    def started(**changes: Any) -> Process:
        counters, disk = Counters(), DiskCache(root, **({"max_bytes": MIB} | changes))
        return Process(
            Compiler(backend.device, counters, max_entries=99, disk=disk), disk, counters
        )

    return started


def run(
    backend: WgpuBackend, process: Process, amount: int = 1, options: CompileOptions = OPTIONS
) -> None:
    """Compiles a program and checks its result."""
    program = adder(amount)
    kernel = process.compiler.compile(program, options)
    generation = Generation(process.compiler, backend._generations.current.submitter)
    pipe = WgpuPipeline(program, options, kernel, generation, _never, _never)
    np.testing.assert_array_equal(pipe.fn(X), X + np.uint32(amount))


def _never(*_: object) -> Any:
    raise AssertionError


def entry_path(process: Process, program: Program, options: CompileOptions = OPTIONS) -> Path:
    digest = process.compiler.key_of(program, options).digest
    return process.disk.root / FOLDER / entry_name(digest)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


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
def test_a_bad_entry_is_replaced(
    fault: Callable[[Path], None],
    backend: WgpuBackend,
    start: Callable[..., Process],
    caplog: pytest.LogCaptureFixture,
) -> None:
    first = start()
    for amount in (1, 2, 3):
        run(backend, first, amount)
        fault(entry_path(first, adder(amount)))
    second = start()
    for amount in (1, 2, 3):
        run(backend, second, amount)
    assert second.counts.lowerings == 3
    assert second.disk.statistics().refused == 3
    (warning,) = warnings(caplog)
    assert "is no good" in warning
    third = start()
    for amount in (1, 2, 3):
        run(backend, third, amount)
    assert (third.counts.lowerings, third.counts.disk_hits) == (0, 3)
    assert len(warnings(caplog)) == 1


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
    fault: Callable[[Path, Path], None],
    stays: bool,
    backend: WgpuBackend,
    start: Callable[..., Process],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    outside = tmp_path / "outside"
    first = start()
    run(backend, first)
    path = entry_path(first, adder(1))
    path.unlink()
    fault(path, outside)
    for _ in range(2):
        second = start()
        run(backend, second)
        if stays:
            assert second.counts.lowerings == 1
            assert (path / "kept").read_text() == "x"
    if not stays:
        assert second.counts.disk_hits == 1, "the new entry took the place of the link"
        assert path.is_file()
        assert not path.is_symlink()
    if outside.exists():
        assert outside.read_text() == "kept"
    found = warnings(caplog)
    assert len(found) == (2 if stays else 1), "one for each process that met it"
    assert all("is no plain file" in text for text in found)
    assert list_files(path.parents[1]).temporaries == []


def test_a_folder_in_place_of_one_entry_does_not_hide_later_trouble(
    backend: WgpuBackend,
    start: Callable[..., Process],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    process = start()
    entry_path(process, adder(1)).mkdir(parents=True)
    run(backend, process, 1)
    run(backend, process, 2)
    assert process.counts.disk_writes == 1, "the others are written"
    with monkeypatch.context() as patch:
        refuse(patch, errno.ENOSPC)
        run(backend, process, 3)
    first, second = warnings(caplog)
    assert "is no plain file" in first
    assert "memory only" not in first
    assert "cannot be written" in second


def test_a_damaged_entry_that_cannot_be_removed_is_said_to_stay(
    backend: WgpuBackend,
    start: Callable[..., Process],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    first = start()
    run(backend, first)
    cut(entry_path(first, adder(1)))

    def refused(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "refused", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refused)
        refuse(patch, errno.EACCES)
        run(backend, start())
    damaged, unwritable = warnings(caplog)
    assert "it cannot be removed" in damaged
    assert "it is removed" not in damaged
    assert "memory only" in unwritable


def test_an_entry_that_may_not_be_read_is_replaced(
    backend: WgpuBackend,
    start: Callable[..., Process],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    run(backend, start())
    with monkeypatch.context() as patch:
        refuse(patch, errno.EACCES, reading=True)
        process = start()
        for amount in (1, 2, 1):
            run(backend, process, amount)
        assert process.counts.lowerings == 2
    (warning,) = warnings(caplog)
    assert "cannot be read" in warning
    again = start()
    run(backend, again)
    assert again.counts.disk_hits == 1


# Entries that were crafted: the checksum matches, the content does not


def crafted(process: Process, amount: int, donor: int, **sections: Any) -> None:
    """Puts an entry with a matching checksum in place of a program's, made from another's."""
    path, given = entry_path(process, adder(amount)), entry_path(process, adder(donor))
    donated, own = decode_entry(given.read_bytes()), decode_entry(path.read_bytes())
    parts = sections.get("parts", own.parts_bytes)
    program = sections.get("program", own.program)
    artifact = sections.get("artifact", donated.artifact())
    path.write_bytes(encode_entry(parts, program, artifact))


@pytest.fixture
def two(backend: WgpuBackend, start: Callable[..., Process]) -> Process:
    """A process that has compiled two programs."""
    process = start()
    for amount in (1, 2):
        run(backend, process, amount)
    return process


def check_refused(
    backend: WgpuBackend, process: Process, caplog: pytest.LogCaptureFixture, why: str
) -> None:
    run(backend, process, 1)
    assert (process.counts.lowerings, process.counts.disk_hits) == (1, 0)
    (warning,) = warnings(caplog)
    assert why in warning
    assert "\n" not in warning, "a shader compiler's message too is put into one line"


def test_an_entry_with_another_programs_bytes_is_refused(
    backend: WgpuBackend,
    start: Callable[..., Process],
    two: Process,
    caplog: pytest.LogCaptureFixture,
) -> None:
    crafted(two, 1, 2, program=adder(2).erased_bytes)
    check_refused(backend, start(), caplog, "another program")


def test_an_entry_with_another_programs_key_is_refused(
    backend: WgpuBackend,
    start: Callable[..., Process],
    two: Process,
    caplog: pytest.LogCaptureFixture,
) -> None:
    shutil.copy(entry_path(two, adder(2)), entry_path(two, adder(1)))
    check_refused(backend, start(), caplog, "another program")


def test_an_entry_of_other_options_than_its_name_says_is_refused(
    backend: WgpuBackend,
    start: Callable[..., Process],
    two: Process,
    caplog: pytest.LogCaptureFixture,
) -> None:
    other = two.compiler.key_of(adder(1), CompileOptions(workgroup_size=32)).encoded
    crafted(two, 1, 1, parts=other)
    check_refused(backend, start(), caplog, "device or option")


def test_an_entry_compiled_with_other_options_than_its_key_says_is_refused(
    backend: WgpuBackend,
    start: Callable[..., Process],
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked, done = CompileOptions(workgroup_size=64), CompileOptions(workgroup_size=32)
    first = start()
    for options in (asked, done):
        run(backend, first, 1, options)
    entry = decode_entry(entry_path(first, adder(1), done).read_bytes())
    path = entry_path(first, adder(1), asked)
    parts = first.compiler.key_of(adder(1), asked).encoded
    path.write_bytes(encode_entry(parts, entry.program, entry.artifact()))
    second = start()
    run(backend, second, 1, asked)
    assert second.counts.lowerings == 1
    (warning,) = warnings(caplog)
    assert "workgroup size" in warning


@pytest.mark.parametrize(
    "change",
    [{"length_words": ()}, {"workgroup_size": (32, 1, 1)}, {"block_words": 1 << 20},
     {"workgroup_size": (1 << 20, 1, 1)}, {"whole_workgroups": True}],
    ids=str,
)  # fmt: skip
def test_an_entry_with_another_launch_contract_is_refused(
    change: dict[str, Any],
    backend: WgpuBackend,
    start: Callable[..., Process],
    two: Process,
    caplog: pytest.LogCaptureFixture,
) -> None:
    artifact = two.compiler.compile(adder(1), OPTIONS).artifact
    descriptor = dataclasses.replace(artifact.descriptor, **change)
    crafted(two, 1, 1, artifact=ShaderArtifact(artifact.wgsl, descriptor))
    check_refused(backend, start(), caplog, "does not fit its program")


def test_an_entry_that_would_crash_the_shader_compiler_is_refused(
    backend: WgpuBackend,
    start: Callable[..., Process],
    two: Process,
    caplog: pytest.LogCaptureFixture,
) -> None:
    artifact = two.compiler.compile(adder(1), OPTIONS).artifact
    nested = f"const deep = {'(' * 30_000}1{')' * 30_000};\n"
    crafted(two, 1, 1, artifact=ShaderArtifact(nested + artifact.wgsl, artifact.descriptor))
    check_refused(backend, start(), caplog, "brackets")


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("no shader", {}),
        ("", {"features": ("a feature of tomorrow",)}),
    ],
)
def test_what_the_device_refuses_is_compiled_again(
    text: str,
    change: dict[str, Any],
    backend: WgpuBackend,
    start: Callable[..., Process],
    two: Process,
    caplog: pytest.LogCaptureFixture,
) -> None:
    artifact = two.compiler.compile(adder(1), OPTIONS).artifact
    descriptor = dataclasses.replace(artifact.descriptor, **change)
    crafted(two, 1, 1, artifact=ShaderArtifact(text or artifact.wgsl, descriptor))
    check_refused(backend, start(), caplog, "device refused")
    again = start()
    run(backend, again)
    assert again.counts.disk_hits == 1


# A folder that cannot be written


def refuse(patch: pytest.MonkeyPatch, code: int, *, reading: bool = False) -> None:
    """Makes the system refuse to open files of the cache for writing, or for reading."""
    really_open = os.open

    def refused(path: Any, flags: int, *rest: Any, **options: Any) -> int:
        if str(path).endswith((".entry", ".tmp")) and bool(flags & os.O_WRONLY) != reading:
            raise OSError(code, os.strerror(code), str(path))
        return really_open(path, flags, *rest, **options)

    patch.setattr(cache_files.os, "open", refused)


def check_memory_only(
    backend: WgpuBackend, process: Process, caplog: pytest.LogCaptureFixture
) -> None:
    for amount in (1, 2, 3, 1):
        run(backend, process, amount)
    counts = process.counts
    assert (counts.lowerings, counts.disk_writes) == (3, 0)
    assert process.compiler.memory_statistics().hits == 1
    (warning,) = warnings(caplog)
    assert "kept in memory only" in warning
    assert not any((process.disk.root / FOLDER).glob("*.tmp"))


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
def test_a_folder_that_refuses_new_files(
    code: int,
    backend: WgpuBackend,
    start: Callable[..., Process],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    refuse(monkeypatch, code)
    check_memory_only(backend, start(), caplog)


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="the superuser may write everywhere"
)
def test_a_folder_without_write_permission(
    backend: WgpuBackend,
    start: Callable[..., Process],
    root: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (root / FOLDER).mkdir(parents=True)
    (root / FOLDER).chmod(0o500)
    try:
        check_memory_only(backend, start(), caplog)
    finally:
        (root / FOLDER).chmod(0o700)


def test_a_rename_that_is_refused(
    backend: WgpuBackend,
    start: Callable[..., Process],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refused(path: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "refused", str(target))

    monkeypatch.setattr(Path, "replace", refused)
    check_memory_only(backend, start(), caplog)


@pytest.mark.parametrize("place", ["", FOLDER])
def test_a_file_where_the_folder_should_be(
    place: str,
    backend: WgpuBackend,
    start: Callable[..., Process],
    root: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = root / place
    path.parent.mkdir(parents=True)
    path.write_text("kept")
    check_memory_only(backend, start(), caplog)
    assert path.read_text() == "kept"


def test_explain_survives_a_folder_that_cannot_be_read(
    backend: WgpuBackend,
    start: Callable[..., Process],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    process = start()
    run(backend, process)

    def refused(path: Path) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(cache_files.os, "scandir", refused)
    for _ in range(2):
        assert process.compiler.explain(adder(2), OPTIONS).found == "nowhere"
    (warning,) = warnings(caplog)
    assert "the cache folder cannot be read" in warning


def test_the_folder_is_removed_while_in_use(
    backend: WgpuBackend,
    start: Callable[..., Process],
    root: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    process = start()
    for amount in (1, 2, 3):
        run(backend, process, amount)
        shutil.rmtree(root)
    run(backend, process, 4)
    assert process.counts.lowerings == 4
    assert len(list_files(root).entries) == 1
    assert warnings(caplog) == []


def test_the_folder_is_removed_before_the_rename(
    backend: WgpuBackend, start: Callable[..., Process], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_replace, removed = Path.replace, []

    def remove_first(path: Path, target: Path) -> Path:
        if target.suffix == ".entry" and not removed:
            removed.append(path)
            shutil.rmtree(root)
        return really_replace(path, target)

    monkeypatch.setattr(Path, "replace", remove_first)
    process = start()
    run(backend, process)
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
