"""Of which buffers lanes touch their own element only, and which programs run in parts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import vyre_wgpu as vw
from vyre_wgpu.ir import BufferHandle, ProgramBuilder, Value
from vyre_wgpu.ir.elementwise import can_run_in_parts, shared_accesses, split_buffers

Body = Callable[[ProgramBuilder, BufferHandle, BufferHandle, Value], object]


def own(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[i] = x[i]


def guarded(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    with b.if_(i < y.length):
        y[i] = y[i] + x[i]


def named(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[b.let("again", b.let("j", i))] = x[i]


def wide(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[i.cast(vw.i64)] = x[i.cast(vw.i32).cast(vw.u64)]


def in_a_loop(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    with b.for_range(0, 3):
        y[i] = y[i] + x[i]


def nothing(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    pass


def neighbour(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[i] = x[i + 1]


def both(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[i] = x[i] + x[0]


def narrow(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[i] = x[i.cast(vw.u8)]


def by_a_float(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[i] = x[i.cast(vw.f32).cast(vw.u32)]


def by_a_variable(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[i] = x[b.var("j", vw.u32, i)]


def by_local_id(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[i] = x[b.local_id(0)]


def casts_of_casts(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    index = i
    for _ in range(10):
        index = index.cast(vw.i64).cast(vw.u32)
    y[i] = x[index]


def scatter(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    y[x[i]] = 1


def sum_up(b: ProgramBuilder, x: BufferHandle, y: BufferHandle, i: Value) -> None:
    b.atomic_add(y, 0, x[i])


CASES: list[tuple[Body, set[str]]] = [
    (own, {"x", "y"}),
    (guarded, {"x", "y"}),
    (named, {"x", "y"}),
    (wide, {"x", "y"}),
    (in_a_loop, {"x", "y"}),
    (nothing, {"x", "y"}),
    (neighbour, {"y"}),
    (both, {"y"}),
    (narrow, {"y"}),
    (by_a_float, {"y"}),
    (by_a_variable, {"y"}),
    (by_local_id, {"y"}),
    (casts_of_casts, {"y"}),
    (scatter, {"x"}),
    (sum_up, {"x"}),
]


def program(body: Body) -> vw.Program:
    b = ProgramBuilder("cut")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    b.extent(x.length)
    body(b, x, y, b.global_id(0))
    return b.build()


@pytest.mark.parametrize(("body", "names"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_buffers_that_are_cut(body: Body, names: set[str]) -> None:
    built = program(body)
    assert {built.buffers[i].name for i in split_buffers(built)} == names
    assert {built.buffers[i].name for i in shared_accesses(built)} == {"x", "y"} - names


def test_the_first_access_elsewhere_is_named() -> None:
    built = program(both)
    row = shared_accesses(built)[0]
    assert built.table.op[row] == built.table.op[shared_accesses(program(neighbour))[0]]
    first = next(r for r in range(len(built.table)) if built.table.op[r] == built.table.op[row])
    assert row > first  # x[i] comes before x[0]


def test_memory_of_a_workgroup_or_lane_is_no_matter() -> None:
    b = ProgramBuilder("memory", workgroup_size=64)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    shared, mine = b.workgroup("shared", vw.u32, 64), b.private("mine", vw.u32, 4)
    i = b.global_id(0)
    shared[b.local_id(0)] = x[i]
    mine[2] = 3
    b.barrier()
    y[i] = shared[63 - b.local_id(0)] + mine[2]
    assert split_buffers(b.build()) == {0, 1}


def test_programs_of_two_axes_have_no_parts() -> None:
    b = ProgramBuilder("plane")
    x = b.read_write("x", vw.u32)
    b.extent(x.length, 2)
    x[b.global_id(0)] = 1
    assert not can_run_in_parts(b.build())
    assert split_buffers(b.build()) == frozenset()


def test_who_reads_the_number_of_workgroups_has_no_parts() -> None:
    b = ProgramBuilder("count")
    x = b.read_write("x", vw.u32)
    x[b.global_id(0)] = b.num_workgroups(0)
    assert not can_run_in_parts(b.build())
    assert split_buffers(b.build()) == frozenset()
