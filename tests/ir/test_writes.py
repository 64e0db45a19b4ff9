"""Which outputs a program is known to write from end to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.ir import BufferHandle, ProgramBuilder, Value
from vyre_wgpu.ir.writes import written_by_every_lane, written_in_loops

Body = Callable[[ProgramBuilder, BufferHandle, BufferHandle, Value], object]


def branches(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    with b.if_(x[i] > 3):
        y[i] = 1
    with b.else_():
        y[i] = 2


def nested_branches(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    with b.if_(x[i] > 3):
        with b.if_(x[i] > 5):
            y[i] = 1
        with b.else_():
            y[i] = 3
    with b.else_():
        y[i] = 2


def named_index(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[b.let("again", b.let("j", i))] = x[i]


def after_a_loop(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    total = b.var("total", vw.u32, 0)
    with b.for_range(0, x[i] & 7) as k:
        with b.if_(k > 3):
            b.break_()
        total.set(total + k)
    y[i] = total


def after_a_trap(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    with b.if_(x[i] > 1000):
        b.trap("large", address=i)
    y[i] = x[i]


def before_a_return(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[i] = x[i]
    with b.if_(x[i] > 3):
        b.return_()
    y[i] = 9


def twice(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[0] = 0
    y[i] = x[i]


WRITES_ALL: list[Body] = [
    lambda b, x, y, i: y.__setitem__(i, x[i]),
    branches,
    nested_branches,
    named_index,
    after_a_loop,
    after_a_trap,
    before_a_return,
    twice,
]


def one_branch(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    with b.if_(x[i] > 3):
        y[i] = x[i]


def other_branch(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    with b.if_(x[i] > 3):
        b.comment("nothing")
    with b.else_():
        y[i] = x[i]


def in_a_loop(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    with b.for_range(0, x[i] & 1):
        y[i] = 5


def behind_a_return(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    with b.if_(x[i] > 3):
        b.return_()
    y[i] = x[i]


def behind_a_return_in_a_loop(
    b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value
) -> None:
    with b.for_range(0, x[i]) as k, b.if_(k > 3):
        b.return_()
    y[i] = x[i]


def else_behind_a_return(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    with b.if_(x[i] > 3):
        b.return_()
    with b.else_():
        y[i] = x[i]


def reads_a_neighbour(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[i] = y[i] + x[i]


def adds_atomically(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    b.atomic_add(y, i & 1, x[i])
    y[i] = 1


WRITES_SOME: list[Body] = [
    lambda b, x, y, i: y.__setitem__(i + 1, x[i]),
    lambda b, x, y, i: y.__setitem__(i * 2, x[i]),
    lambda b, x, y, i: y.__setitem__(b.local_id(0), 5),
    lambda b, x, y, i: y.__setitem__(0, 5),
    one_branch,
    other_branch,
    in_a_loop,
    behind_a_return,
    behind_a_return_in_a_loop,
    else_behind_a_return,
    reads_a_neighbour,
    adds_atomically,
]


def build(body: Body) -> vw.Program:
    b = ProgramBuilder("written", workgroup_size=64)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    b.extent(x.length)
    body(b, x, y, b.global_id(0))
    return b.build()


@pytest.mark.parametrize("body", WRITES_ALL, ids=range(len(WRITES_ALL)))
def test_programs_that_write_all(body: Body) -> None:
    assert written_by_every_lane(build(body)) == {1}


@pytest.mark.parametrize("body", WRITES_SOME, ids=range(len(WRITES_SOME)))
def test_programs_that_may_leave_elements(body: Body) -> None:
    assert written_by_every_lane(build(body)) == frozenset()


def test_stores_in_loops_are_found_however_deep() -> None:
    b = ProgramBuilder("loops", workgroup_size=64)
    x = b.read("x", vw.u32)
    names = ("before", "within", "deep", "other", "after", "turns")
    before, within, deep, other, after, turns = (b.output(n, vw.u32, like=x) for n in names)
    b.extent(x.length)
    i = b.global_id(0)
    before[i] = 1
    with b.for_range(0, 3):
        within[i] = 1
        with b.if_(x[i] > 3):
            deep[i] = 1
        with b.else_():
            other[i] = 2
    with b.if_(x[i] > 3):
        after[i] = 2
    n = b.var("n", vw.u32, 0)
    with b.while_(lambda: n < 3):
        turns[i] = 1
        n.set(n + 1)
    program = b.build()
    found = {program.buffers[index].name for index in written_in_loops(program)}
    assert found == {"within", "deep", "other", "turns"}


def test_another_axis_covers_nothing() -> None:
    b = ProgramBuilder("axes", workgroup_size=(8, 8))
    y = b.output("y", vw.u32, count=64)
    b.extent(8, 8)
    y[b.global_id(1)] = 1
    assert written_by_every_lane(b.build()) == frozenset()


def dirty(backend: WgpuBackend, x: np.ndarray[Any, Any], length: int) -> None:
    """Leaves ones in the buffers that the next dispatch gets: same bindings, same sizes."""
    for has_trap in (False, True):
        b = ProgramBuilder("dirty")
        source = b.read("x", vw.u32)
        y = b.output("y", vw.u32, count=length)
        b.extent(y.length)
        if has_trap:
            with b.if_(source[0] == 0xFFFFFFFF):
                b.trap("never", address=0)
        y[b.global_id(0)] = 0xFFFFFFFF
        backend.compile(b.build()).dispatch([x])


@pytest.mark.gpu
@pytest.mark.parametrize("body", WRITES_ALL + WRITES_SOME)
def test_elements_that_are_not_written_are_zeros(backend: WgpuBackend, body: Body) -> None:
    if body is adds_atomically:
        pytest.skip("its result depends on the order of lanes")
    program = build(body)
    x = np.arange(300, dtype=np.uint32) % 8
    dirty(backend, x, x.size)
    got = backend.compile(program).dispatch([x])[0]
    expected = vw.compile(program, backend="reference").dispatch([x])[0]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("config", "written"),
    [
        (vw.DispatchConfig(extent=100), 100),
        (vw.DispatchConfig(grid=2), 128),
        (vw.DispatchConfig(extent=299), 299),
        (vw.DispatchConfig(extent=400), 300),
        (None, 300),
    ],
)
def test_an_extent_that_is_too_short_leaves_zeros(
    backend: WgpuBackend, config: vw.DispatchConfig | None, written: int
) -> None:
    pipe = backend.compile(build(WRITES_ALL[0]))
    x = np.arange(1, 301, dtype=np.uint32)
    dirty(backend, x, x.size)
    got = pipe.dispatch([x], config=config)[0]
    np.testing.assert_array_equal(got, np.where(np.arange(300) < written, x, 0))


@pytest.mark.gpu
def test_a_count_beyond_the_extent_leaves_zeros(backend: WgpuBackend) -> None:
    b = ProgramBuilder("longer")
    x = b.read("x", vw.u8)
    y = b.output("y", vw.u8, count=x.length * 2 + 1)
    b.extent(x.length)
    y[b.global_id(0)] = x[b.global_id(0)]
    data = np.full(77, 200, np.uint8)
    dirty(backend, np.zeros(20, np.uint32), 39)
    got = backend.compile(b.build()).dispatch([data])[0]
    np.testing.assert_array_equal(got, [200] * 77 + [0] * 78)


@pytest.mark.gpu
def test_a_grid_of_the_device_leaves_zeros(backend: WgpuBackend) -> None:
    pipe = backend.compile(build(WRITES_ALL[0]))
    x = np.arange(1, 301, dtype=np.uint32)
    dirty(backend, x, x.size)
    with backend.upload(np.array([2, 1, 1], np.uint32)) as grid:
        config = vw.DispatchConfig(grid=vw.Indirect(grid))
        got = pipe.dispatch([x], config=config)[0]
    np.testing.assert_array_equal(got, np.where(np.arange(300) < 128, x, 0))
