"""Data races are found, with both source lines; programs that have none are not accused."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu import programs
from vyre_wgpu.backends.reference import Examination, ReferenceBackend, UnwrittenReadWarning


def examine(b: vw.ProgramBuilder, *arrays: Any, seed: int | None = None) -> Examination:
    return ReferenceBackend(seed=seed).compile(b.build()).examine(list(arrays))


def line() -> int:
    """The caller's line."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_missing_barrier(seed: int | None) -> None:
    b = vw.ProgramBuilder("missing", workgroup_size=8)
    out = b.output("out", vw.u32, 16)
    shared = b.workgroup("shared", vw.u32, 8)
    b.extent(16)
    i, k = b.global_id(), b.local_id()
    shared[k] = i; wrote = line()  # noqa: E702 # fmt: skip
    out[i] = shared[k ^ 1]; read = line()  # noqa: E702 # fmt: skip
    (race,) = examine(b, seed=seed).races
    assert (race.buffer, race.elements) == ("shared", 16)
    assert 0 <= race.index < 8
    assert (race.first.kind, race.first.source) == ("write", (__file__, wrote))
    assert (race.second.kind, race.second.source) == ("read", (__file__, read))
    assert race.first.lane[0] ^ 1 == race.second.lane[0]
    assert f"write by lane {race.first.lane[0]} at {__file__}:{wrote}" in str(race)


def test_a_dispatch_raises_where_races_are_looked_for() -> None:
    b = vw.ProgramBuilder("racy")
    out = b.output("out", vw.u32, 1)
    b.extent(2)
    out[0] = b.global_id()
    assert ReferenceBackend().compile(b.build()).fn().tolist() == [1]
    with pytest.raises(vw.RaceError, match="program 'racy' has 1 data race") as caught:
        ReferenceBackend(detect_races=True).compile(b.build()).fn()
    (race,) = caught.value.races
    assert str(race) in str(caught.value)


Body = Callable[[vw.ProgramBuilder, Any, Any, Any, Any], None]


def by_barrier(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    shared[k] = i
    b.barrier()
    data[i] = shared[k ^ 1]


def in_a_loop(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    with b.for_range(0, 3):
        shared[k] = i
        b.barrier()
        data[i] = shared[k ^ 1]
        b.barrier()


def in_a_loop_with_one_barrier(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    """The read of one iteration and the write of the next are not ordered."""
    with b.for_range(0, 3) as r:
        shared[k] = i + r
        b.barrier()
        data[i] = shared[k ^ 1]


def same_value(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    data[0] = 5


def same_value_read(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    data[0] = 5
    data[i + 1] = data[0]


def other_value(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    data[i // 2] = i


def only_atomics(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    b.atomic_add(data, 0, 1)
    b.atomic_max(shared, 0, i)


def atomic_and_write(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    b.atomic_add(shared, 0, 1)
    with b.if_(k == 0):
        shared[0] = 0


def write_barrier_atomic(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    with b.if_(k == 0):
        shared[0] = 7
    b.barrier()
    b.atomic_add(shared, 0, 1)


def own_element_again(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    data[i] = i
    data[i] = data[i] + 1


def through_storage_in_a_workgroup(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    data[i] = i
    b.barrier()
    data[i ^ 1] = data[i ^ 1] + 1


def across_workgroups(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    """A barrier orders the lanes of one workgroup only."""
    data[i] = i
    b.barrier()
    shared[k] = data[(i + 4) % 8]


def shared_is_of_each_workgroup(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    with b.if_(k == 0):
        shared[0] = i


def out_of_bounds(b: Any, i: Any, k: Any, data: Any, shared: Any) -> None:
    data[99] = i
    shared[99] = i


CASES: list[tuple[Body, set[tuple[str, str]]]] = [
    (by_barrier, set()),
    (in_a_loop, set()),
    (in_a_loop_with_one_barrier, {("shared", "read")}),
    (same_value, set()),
    (same_value_read, {("data", "read")}),
    (other_value, {("data", "write")}),
    (only_atomics, set()),
    (atomic_and_write, {("shared", "atomic")}),
    (write_barrier_atomic, set()),
    (own_element_again, set()),
    (through_storage_in_a_workgroup, set()),
    (across_workgroups, {("data", "read")}),
    (shared_is_of_each_workgroup, set()),
    (out_of_bounds, set()),
]


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize(("body", "expected"), CASES, ids=[body.__name__ for body, _ in CASES])
def test_what_is_a_race(body: Body, expected: set[tuple[str, str]], seed: int | None) -> None:
    """Buffers and kinds of the access that meets a plain write."""
    b = vw.ProgramBuilder(body.__name__, workgroup_size=4)
    data = b.read_write("data", vw.u32, 16)
    shared = b.workgroup("shared", vw.u32, 4)
    b.extent(8)
    body(b, b.global_id(), b.local_id(), data, shared)
    races = examine(b, np.zeros(16, np.uint32), seed=seed).races
    assert {(race.buffer, race.second.kind) for race in races} == expected


def test_a_race_counts_even_if_the_order_hides_it() -> None:
    """The reader runs long after the writer here, and finds what it should."""
    b = vw.ProgramBuilder("hidden", workgroup_size=1)
    data = b.read_write("data", vw.u32, 2)
    b.extent(2)
    with b.if_(b.global_id() == 0):
        data[0] = 1
    with b.else_():
        data[1] = data[0]
    assert len(examine(b, np.zeros(2, np.uint32)).races) == 1


def test_reads_of_unwritten_memory() -> None:
    """Workgroup memory starts as zeros, so this is a warning with its line."""
    b = vw.ProgramBuilder("unwritten", workgroup_size=4)
    out = b.output("out", vw.u32, 4)
    shared = b.workgroup("shared", vw.u32, 5)
    b.extent(4)
    k = b.local_id()
    shared[k] = k
    b.barrier()
    out[k] = shared[k + 1]; at = line()  # noqa: E702 # fmt: skip
    report = examine(b)
    (read,) = report.unwritten_reads
    assert report.races == ()
    assert (read.buffer, read.index, read.access.lane) == ("shared", 4, (3,))
    assert read.access.source == (__file__, at)
    with pytest.warns(UnwrittenReadWarning, match="buffer 'shared', element 4, nothing written"):
        (got,) = ReferenceBackend(detect_races=True).compile(b.build())()
    assert got.tolist() == [1, 2, 3, 0]


@pytest.mark.parametrize("seed", [None, 0])
def test_shipped_programs_have_no_races(seed: int | None) -> None:
    backend = ReferenceBackend(seed=seed, detect_races=True)
    data = np.random.default_rng(3).integers(0, 256, 20_000, np.uint8)
    with np.errstate(all="raise"):
        report = backend.compile(programs.first_of(lambda v: v == 3)).examine([data])
        assert report.races == ()
        report = backend.compile(programs.byte_histogram()).examine([data])
        assert report.races == ()
