"""Compiling with all caches: memory, memo, disk; what shares an entry and what does not."""

from __future__ import annotations

import dataclasses
import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.pipeline.cached import MIB, OPTIONS, adder
from vyre_wgpu import settings
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.errors import InputError
from vyre_wgpu.ir.program import Program
from vyre_wgpu.pipeline.cache_files import list_files
from vyre_wgpu.pipeline.compile import Compiler
from vyre_wgpu.pipeline.counters import Counters
from vyre_wgpu.pipeline.disk_cache import DiskCache
from vyre_wgpu.pipeline.memo import PER_KERNEL, Memo
from vyre_wgpu.wgsl.options import CompileOptions

pytestmark = pytest.mark.gpu

X = np.arange(100, dtype=np.uint32)


@pytest.fixture
def open_backend(cache_folder: Path) -> Iterator[Callable[[], WgpuBackend]]:
    """Opens backends that share a cache folder of the test's own."""
    opened: list[WgpuBackend] = []

    def begin() -> WgpuBackend:
        opened.append(WgpuBackend())
        return opened[-1]

    yield begin
    for backend in opened:
        backend.close()


def trapping(name: str, local: str, lines: int, tag: str = "too large") -> tuple[Program, int]:
    """A program that traps, and the line of its trap; comments and names as told."""
    b = vw.ProgramBuilder(name)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id(0)
    v = b.let(local, x[i] + 1)
    for n in range(lines):
        b.comment(f"remark {n}")
    with b.if_(v > 10):
        b.comment("inner")
        at = _here() + 2
        if lines:
            b.trap(tag, address=i)
        else:
            at += 3
            b.trap(tag, address=i)
    y[i] = v
    return b.build(), at


def _here() -> int:
    """The line of the caller."""
    return sys._getframe(1).f_lineno


def test_a_program_that_differs_in_names_only_shares_the_entry_and_traps_as_itself(
    open_backend: Callable[[], WgpuBackend], cache_folder: Path
) -> None:
    first, first_line = trapping("first", "v", 0)
    second, second_line = trapping("second", "other", 3)
    assert first_line != second_line
    open_backend().compile(first)
    for backend in (open_backend(), open_backend()):
        for program, line in ((second, second_line), (first, first_line)):
            with pytest.raises(vw.TrapError) as raised:
                backend.compile(program).fn(X)
            assert raised.value.tag == "too large"
            assert raised.value.program == program.name
            assert raised.value.source == (__file__, line)
        assert backend.stats().lowerings == 0
        assert backend.stats().modules_created == 1
    assert len(list_files(cache_folder).entries) == 1


def test_another_tag_is_another_program(
    open_backend: Callable[[], WgpuBackend], cache_folder: Path
) -> None:
    for tag in ("one", "two"):
        with pytest.raises(vw.TrapError) as raised:
            open_backend().compile(trapping("p", "v", 0, tag)[0]).fn(X)
        assert raised.value.tag == tag
    assert len(list_files(cache_folder).entries) == 2


def test_array_sizes_are_no_part_of_the_key(
    open_backend: Callable[[], WgpuBackend], cache_folder: Path
) -> None:
    for size in (0, 1, 5000, 100_000):
        x = np.arange(size, dtype=np.uint32)
        backend = open_backend()
        np.testing.assert_array_equal(backend.compile(adder(1)).fn(x), x + 1)
        assert backend.stats().lowerings == (size == 0)
    assert len(list_files(cache_folder).entries) == 1


def test_a_second_backend_lowers_nothing_indirect_variants_included(
    open_backend: Callable[[], WgpuBackend],
) -> None:
    counts = []
    for _ in range(2):
        backend = open_backend()
        grid = backend.upload(np.array([2, 1, 1], np.uint32))
        pipe = backend.compile(adder(1), CompileOptions(workgroup_size=64))
        config = vw.DispatchConfig(grid=vw.Indirect(grid, 0))
        np.testing.assert_array_equal(pipe.dispatch([X], config=config)[0], X + 1)
        np.testing.assert_array_equal(pipe.fn(X), X + 1)
        stats = backend.stats()
        counts.append((stats.lowerings, stats.disk_hits, stats.disk_writes))
    assert counts == [(2, 0, 2), (0, 2, 0)]


@pytest.mark.parametrize(("mode", "count"), [("rw", 1), ("ro", 1), ("off", 0)])
def test_without_a_home_programs_are_kept_in_memory_only(
    mode: str, count: int, no_home: None, caplog: pytest.LogCaptureFixture
) -> None:
    settings.replace_current(dataclasses.replace(settings.current(), cache=mode))
    with WgpuBackend() as backend:
        for amount in (1, 2, 1):
            np.testing.assert_array_equal(backend.compile(adder(amount)).fn(X), X + amount)
        assert (backend.stats().lowerings, backend.stats().disk_writes) == (2, 0)
        assert backend.explain(adder(3)).found == "nowhere"
    warnings = [m for m in caplog.messages if "in memory only" in m]
    assert len(warnings) == count
    assert all("Fix: set VYRE_WGPU_CACHE_DIR" in m for m in warnings)


def test_precompile_takes_a_list(backend: WgpuBackend) -> None:
    for given in (None, adder(1), 7):
        with pytest.raises(InputError, match=r"programs is .*, not a list of programs. Fix: "):
            vw.precompile(given, backend=backend)  # type: ignore[arg-type]  # that is the test
    with pytest.raises(InputError, match="not a Program"):
        vw.precompile([None], backend=backend)  # type: ignore[list-item]  # that is the test
    assert vw.precompile(iter([]), backend=backend) == []


def test_shaders_are_dumped_whether_lowered_or_found(backend: WgpuBackend, tmp_path: Path) -> None:
    for folder in (tmp_path / "lowered", tmp_path / "found"):
        disk = DiskCache(tmp_path / "cache", max_bytes=MIB)
        compiler = Compiler(backend.device, Counters(), max_entries=1, dump=folder, disk=disk)
        kernel = compiler.compile(adder(1), OPTIONS)
        (file,) = folder.iterdir()
        assert file.read_text(encoding="utf-8") == kernel.artifact.wgsl


def test_a_cold_program_is_compiled_once_over_threads_and_stored_once(
    backend: WgpuBackend, tmp_path: Path
) -> None:
    counters, disk = Counters(), DiskCache(tmp_path, max_bytes=MIB)
    compiler = Compiler(backend.device, counters, max_entries=9, disk=disk)
    with ThreadPoolExecutor(16) as pool:
        kernels = list(pool.map(lambda _: compiler.compile(adder(7), OPTIONS), range(64)))
    assert len(set(map(id, kernels))) == 1
    counts = counters.snapshot()
    assert (counts.lowerings, counts.modules_created, counts.disk_writes) == (1, 1, 1)
    assert compiler.memory_statistics().hits == 63


def test_what_cannot_be_compiled_fails_everyone_and_leaves_no_trace(
    backend: WgpuBackend, tmp_path: Path
) -> None:
    counters, disk = Counters(), DiskCache(tmp_path, max_bytes=MIB)
    compiler = Compiler(backend.device, counters, max_entries=9, disk=disk)
    too_large = CompileOptions(workgroup_size=1 << 20)

    def attempt(_: int) -> str:
        with pytest.raises(vw.LimitError) as raised:
            compiler.compile(adder(7), too_large)
        return str(raised.value)

    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(attempt, range(32)))) == 1
    assert list_files(tmp_path).entries == []
    assert compiler.memory_statistics().entries == 0
    assert counters.snapshot().disk_writes == 0


def test_memory_is_bounded_by_bytes_too(backend: WgpuBackend) -> None:
    counters = Counters()
    one = Compiler(backend.device, Counters(), max_entries=9)
    one.compile(adder(1), OPTIONS)
    size = one.memory_statistics().bytes
    assert size > len(one.compile(adder(1), OPTIONS).artifact.wgsl)
    compiler = Compiler(backend.device, counters, max_entries=99, max_bytes=3 * size + size // 2)
    for amount in range(1, 9):
        compiler.compile(adder(amount), OPTIONS)
    statistics = compiler.memory_statistics()
    assert (statistics.entries, statistics.misses, statistics.evictions) == (3, 8, 5)
    assert statistics.bytes <= 3 * size + size // 2


def test_nothing_is_stored_when_the_sources_are_not_those_of_the_key(
    backend: WgpuBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vyre_wgpu.pipeline import compile as compiling

    monkeypatch.setattr(compiling, "is_current", lambda: False)
    counters, disk = Counters(), DiskCache(tmp_path, max_bytes=MIB)
    Compiler(backend.device, counters, max_entries=9, disk=disk).compile(adder(1), OPTIONS)
    assert (counters.snapshot().lowerings, counters.snapshot().disk_writes) == (1, 0)


# The same object again


def test_the_same_object_gives_the_same_pipeline_without_a_fingerprint(
    backend: WgpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, options = adder.__wrapped__(1), CompileOptions(max_iterations=5)
    for _ in range(2):  # the second time it is remembered, if an equal one was there before it
        pipe, other = backend.compile(program), backend.compile(program, options)
    assert other is not pipe
    before = backend.stats().memory_hits

    def no_fingerprint(_: Program) -> str:
        raise AssertionError("the fingerprint of a seen object was asked for")

    monkeypatch.setattr(Program, "fingerprint", property(no_fingerprint))
    assert backend.compile(program) is pipe
    assert vw.compile(program, backend=backend, options=CompileOptions()) is pipe
    assert backend.compile(program, CompileOptions(max_iterations=5)) is other
    assert backend.stats().memory_hits == before + 3


def test_an_equal_object_gives_a_pipeline_of_its_own(backend: WgpuBackend) -> None:
    one, two = adder.__wrapped__(1, "one"), adder.__wrapped__(1, "two")
    assert backend.compile(one).program is one
    assert backend.compile(two).program is two
    assert backend.compile(one).program is one


def test_a_closed_backend_compiles_no_seen_object(
    open_backend: Callable[[], WgpuBackend],
) -> None:
    backend = open_backend()
    backend.compile(adder(1))
    backend.close()
    with pytest.raises(vw.DeviceLostError):
        backend.compile(adder(1))


class Seen:
    """A program, as far as `Memo` knows."""


class Remembered:
    """A pipeline, as far as `Memo` knows."""


def test_a_dropped_kernel_takes_its_pipelines_with_it() -> None:
    memo: Memo[Remembered] = Memo(10)
    kernels = [object(), object()]
    for n, kernel in enumerate(kernels):
        memo.add(n, Remembered(), Seen(), kernel)
    memo.drop(kernels[0])
    memo.drop(object())
    assert memo.pipelines.get(0) is None
    assert memo.pipelines.get(1) is not None
    memo.hit()
    assert [memo.hits, memo.hits] == [1, 1]
    memo.hit()
    assert memo.hits == 2
    memo.clear()
    assert memo.pipelines.get(1) is None


def test_a_memo_keeps_few_objects_of_one_kernel_and_few_kernels() -> None:
    memo: Memo[Remembered] = Memo(3)
    kernel, programs = object(), [Seen() for _ in range(100)]
    for n, program in enumerate(programs):
        memo.add(n, Remembered(), program, kernel)
    assert [n for n in range(100) if memo.pipelines.get(n)] == [0], "others when they come again"
    for n in range(100):
        memo.add(n, Remembered(), Seen(), kernel)
    assert [n for n in range(100) if memo.pipelines.get(n)] == [0], "an equal id, another object"
    for n, program in enumerate(programs):
        memo.add(n, Remembered(), program, kernel)
        memo.add(n, Remembered(), program, kernel)
    assert [n for n in range(100) if memo.pipelines.get(n)] == list(range(100 - PER_KERNEL, 100))
    kernels = [object() for _ in range(5)]
    for n, other in enumerate(kernels, 1000):
        memo.add(n, Remembered(), Seen(), other)
    assert [n for n in range(1010) if memo.pipelines.get(n)] == [1002, 1003, 1004]


def test_what_memory_evicts_is_not_kept_alive(
    open_backend: Callable[[], WgpuBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    import dataclasses

    from vyre_wgpu import settings

    before = settings.current()
    settings.replace_current(dataclasses.replace(before, pipelines=2))
    try:
        backend = open_backend()
    finally:
        settings.replace_current(before)
    pipe: Any = backend.compile(adder.__wrapped__(1))
    gone = weakref.ref(pipe)
    del pipe
    gc.collect()
    assert gone() is not None
    for amount in (2, 3):
        backend.compile(adder(amount))
    gc.collect()
    assert gone() is None


# Explaining


def test_explain_says_where_a_program_is_and_what_differs(
    open_backend: Callable[[], WgpuBackend],
) -> None:
    backend = open_backend()
    found = vw.explain(adder(1), backend=backend)
    assert (found.found, found.nearest, found.differences) == ("nowhere", None, ())
    assert str(found) == f"not found, key {found.key}: nothing is stored"
    backend.compile(adder(1))
    assert backend.explain(adder(1, "another name")).found == "memory"
    second = open_backend()
    assert second.explain(adder(1)).found == "disk"
    assert second.stats().disk_hits == 0
    miss = second.explain(adder(1), CompileOptions("trap"))
    assert [d.part for d in miss.differences] == ["options"]
    assert miss.nearest == found.key
    assert '"checks":"total"' in str(miss)
    assert '"checks":"trap"' in str(miss)
    other = second.explain(adder(2))
    assert [d.part for d in other.differences] == ["program"]
    assert "not compiled here before" in str(other)


def test_explain_finds_the_nearest_of_the_same_program_first(
    open_backend: Callable[[], WgpuBackend],
) -> None:
    backend = open_backend()
    backend.compile(adder(1), CompileOptions("trap", max_iterations=3))
    backend.compile(adder(2))
    parts = [d.part for d in backend.explain(adder(1)).differences]
    assert parts == ["options"]


@pytest.mark.parametrize("damage", [b"", b"x" * 1000])
def test_explain_passes_over_what_cannot_be_read(
    damage: bytes, open_backend: Callable[[], WgpuBackend], cache_folder: Path
) -> None:
    open_backend().compile(adder(1))
    (entry,) = (cache_folder / "pipelines").iterdir()
    entry.write_bytes(damage)
    assert open_backend().explain(adder(1)).nearest is None


def test_explain_needs_a_backend_that_keeps_programs() -> None:
    with pytest.raises(vw.InputError, match="keeps no compiled programs"):
        vw.explain(adder(1), backend="reference")
    with pytest.raises(vw.InputError, match="not a Program"):
        vw.explain("adder")  # type: ignore[arg-type]


# Precompiling


def test_precompile_gives_pipelines_in_order(open_backend: Callable[[], WgpuBackend]) -> None:
    backend = open_backend()
    pipes = vw.precompile((adder(n) for n in range(8)), backend=backend, threads=3)
    for n, pipe in enumerate(pipes):
        np.testing.assert_array_equal(pipe.fn(X), X + np.uint32(n))
    assert backend.stats().lowerings == backend.stats().disk_writes == 8
    warm = open_backend()
    vw.precompile([adder(n) for n in range(8)], backend=warm)
    assert (warm.stats().lowerings, warm.stats().disk_hits) == (0, 8)


def test_precompile_tries_all_and_raises_the_first_failure(
    open_backend: Callable[[], WgpuBackend],
) -> None:
    backend = open_backend()
    given: list[Any] = [adder(1), "no program", 7, adder(2)]
    with pytest.raises(vw.InputError, match="'no program' is not a Program"):
        vw.precompile(given, backend=backend)
    assert backend.stats().lowerings == 2
    assert vw.precompile([], backend=backend) == []


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2"])
def test_precompile_takes_a_number_of_threads(threads: Any) -> None:
    with pytest.raises(vw.InputError, match="threads is"):
        vw.precompile([adder(1)], backend="reference", threads=threads)


def test_precompile_works_on_the_reference_backend() -> None:
    (pipe,) = vw.precompile([adder(3)], backend="reference")
    np.testing.assert_array_equal(pipe.fn(X), X + 3)
