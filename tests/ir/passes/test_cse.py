"""Common subexpressions, as text: what is computed once, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import vyre_wgpu.ir as vw
from tests.ir.passes.texts import after, again, body, lines, statements
from vyre_wgpu.ir import Op, Program
from vyre_wgpu.ir.passes.cse import merge_equal
from vyre_wgpu.ir.passes.dce import remove_dead

MERGED: dict[str, tuple[Callable[..., None], str]] = {}
LEFT: dict[str, Callable[..., None]] = {}


def merged(expected: str) -> Callable[[Callable[..., None]], None]:
    def note(write: Callable[..., None]) -> None:
        MERGED[write.__name__] = write, expected

    return note


def left(write: Callable[..., None]) -> None:
    LEFT[write.__name__] = write


@merged("""
    t0 = global_id()
    t1 = t0 * t0
    y[t0] = t1 - t1
""")
def rows_that_the_builder_did_not_share(b: Any, i: Any, x: Any, y: Any) -> None:
    y[i] = i * i - again(Op.MUL, i, i)


@merged("""
    t0 = global_id()
    t1 = t0 + x[t0]
    y[t0] = t1 - t1
""")
def commuted_operands(b: Any, i: Any, x: Any, y: Any) -> None:
    v = x[i]
    y[i] = (i + v) - (v + i)


@merged("""
    t0 = global_id()
    t1 = x[t0]
    y[t0] = t1 * t1 * t1
""")
def loads_of_a_read_buffer(b: Any, i: Any, x: Any, y: Any) -> None:
    first = x[i]
    y[i] = first * x[i] * x[i]


@merged("""
    t0 = global_id()
    t1 = x[t0] + 1
    if t1 > 7:
        y[t0] = t1
    else:
        for t2 in range(0, t1, 1):
            y[t2] = t1
""")
def values_of_the_blocks_around(b: Any, i: Any, x: Any, y: Any) -> None:
    v = x[i] + 1
    with b.if_(v > 7):
        y[i] = x[i] + 1
    with b.else_(), b.for_range(0, v) as k:
        y[k] = x[i] + 1


@merged("""
    t0 = global_id()
    while:
        t1 = x[t0]
        t2 = t1 * t1
    do t2 > 3:
        y[t0] = t2 * 2
""")
def values_of_a_condition_in_its_body(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.while_(lambda: x[i] * x[i] > 3):
        y[i] = x[i] * x[i] * 2


@merged("""
    t0 = global_id()
    t1 = x[t0]
    t2 = t1 + t1
    y[t0] = t2 * t2
""")
def values_behind_a_name(b: Any, i: Any, x: Any, y: Any) -> None:
    v = b.let("v", x[i])
    w = b.let("w", again(Op.ADD, v, x[i]))
    y[i] = w * (v + v)


@left
def blocks_beside_each_other(b: Any, i: Any, x: Any, y: Any) -> None:
    v = x[i]
    with b.if_(v > 7):
        y[i] = v * 3
    with b.else_():
        y[i] = v * 3
    y[0] = v * 3


@left
def a_loop_body_and_what_follows(b: Any, i: Any, x: Any, y: Any) -> None:
    v = x[i]
    with b.for_range(0, v):
        y[i] = v * 3
    y[0] = v * 3


@left
def subtraction_the_other_way_round(b: Any, i: Any, x: Any, y: Any) -> None:
    v = x[i]
    y[i] = (v - i) * (i - v)


@left
def loads_of_what_the_program_writes(b: Any, i: Any, x: Any, y: Any) -> None:
    v = y[i]
    y[i] = v + 1
    y[0] = v + y[i]


@left
def reads_of_a_variable(b: Any, i: Any, x: Any, y: Any) -> None:
    n = b.var("n", vw.u32, x[i])
    before = n + 0
    n.set(7)
    y[i] = before * (n + 0)


@left
def atomics(b: Any, i: Any, x: Any, y: Any) -> None:
    y[i] = b.atomic_add(y, 0, 1) + b.atomic_add(y, 0, 1)


@left
def subgroup_operations(b: Any, i: Any, x: Any, y: Any) -> None:
    v = x[i]
    y[i] = b.subgroup_add(v) * b.subgroup_add(v)


@left
def literals_of_two_types(b: Any, i: Any, x: Any, y: Any) -> None:
    y[i] = (x[i].cast(vw.u8) + 1).cast(vw.u32) + (i + 1)


@pytest.mark.parametrize("name", MERGED)
def test_merged(name: str) -> None:
    write, expected = MERGED[name]
    assert body(after(statements(write), merge_equal, remove_dead)) == lines(expected)


@pytest.mark.parametrize("name", LEFT)
def test_left_alone(name: str) -> None:
    program = statements(LEFT[name])
    assert body(after(program, merge_equal)) == body(program)


def test_an_access_that_may_trap_is_merged_into_the_one_that_traps_first() -> None:
    """The second cannot trap where the first has not; one into another block is kept."""

    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        v = x[i] // x[i + 1]
        with b.if_(v > 3):
            y[i] = again(Op.FLOOR_DIV, v, v)
        y[i] = again(Op.FLOOR_DIV, v, v) + x[i]

    program = statements(write)
    result = after(program, merge_equal, remove_dead, traps=may_trap(program))
    assert body(result) == lines("""
        t0 = global_id()
        t1 = x[t0]
        t2 = t1 // x[t0 + 1]
        if t2 > 3:
            y[t0] = t2 // t2
        y[t0] = t2 // t2 + t1
    """)


def may_trap(program: Program) -> bytes:
    return bytes(op in (Op.LOAD, Op.STORE, Op.FLOOR_DIV) for op in program.table.op)
