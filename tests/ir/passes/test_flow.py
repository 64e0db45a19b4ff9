"""Branches and loops whose course is known, as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import vyre_wgpu.ir as vw
from tests.ir.passes.texts import after, body, lines, statements
from vyre_wgpu.ir.passes.dce import remove_dead
from vyre_wgpu.ir.passes.flow import settle_flow
from vyre_wgpu.ir.passes.fold import fold

CASES: dict[str, tuple[Callable[..., None], str]] = {}


def case(expected: str) -> Callable[[Callable[..., None]], None]:
    def note(write: Callable[..., None]) -> None:
        CASES[write.__name__] = write, expected

    return note


@case("""
    y[0] = 1
    y[3] = 4
""")
def an_if_that_is_true_is_its_block(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.if_(vw.u32(1) == vw.u32(1) * (i * 0 + 1)):
        y[0] = 1
    with b.else_():
        y[1] = 2
    y[3] = 4


@case("""
    y[1] = 2
    y[3] = 4
""")
def an_if_that_is_false_is_its_else_block(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.if_(i != i):
        y[0] = 1
    with b.else_():
        y[1] = 2
    y[3] = 4


@case("""
    y[3] = 4
""")
def an_if_that_is_false_goes(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.if_(i < i), b.for_range(0, x[i]) as k, b.if_(k > 3):
        b.trap("never")
    y[3] = 4


@case("""
    t0 = global_id()
    if x[t0] > 3:
        y[2] = x[t0]
""")
def blocks_in_blocks(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.if_(i == i):
        with b.if_(x[i] > 3):
            with b.if_(i != i):
                y[1] = 1
            with b.else_(), b.if_(i <= i):
                y[2] = x[i]
        with b.else_(), b.if_(i < i):
            y[3] = 3


@case("""
    y[0] = x[global_id()]
    return
""")
def what_follows_a_return_goes(b: Any, i: Any, x: Any, y: Any) -> None:
    y[0] = x[i]
    with b.if_(i == i):
        b.return_()
        y[1] = 1
    y[2] = 2
    with b.for_range(0, x[i]):
        y[3] = 3


@case("""
    for t0 in range(0, x[global_id()], 1):
        if t0 == 3:
            y[t0] = 1
            break
        if t0 == 2:
            continue
        trap "three" at t0
    y[7] = 7
""")
def what_follows_a_leap_or_a_trap_goes(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.for_range(0, x[i]) as k:
        with b.if_(k == 3):
            y[k] = 1
            b.break_()
            y[k] = 2
        with b.if_(k == 2):
            b.continue_()
            y[k] = 2
        b.trap("three", k)
        y[k] = 3
    y[7] = 7


@case("""
    for t0 in range(0, x[global_id()], 1):
        if t0 == 3:
            break
        else:
            return
    y[7] = 7
""")
def what_follows_an_if_that_no_lane_passes_goes(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.for_range(0, x[i]) as k:
        with b.if_(k == 3):
            b.break_()
        with b.else_():
            b.return_()
        y[k] = 3
    y[7] = 7


@case("""
    y[7] = 7
""")
def loops_over_nothing_go(b: Any, i: Any, x: Any, y: Any) -> None:
    for bounds in ((3, 3), (4, 3), (i, i), (3, 4, i * 0), (vw.i32(-1), vw.i32(-2), vw.i32(1))):
        with b.for_range(*bounds):
            y[0] = 1
    y[7] = 7


@case("""
    for t0 in range(0, 1, 1):
        y[t0] = 1
    for t1 in range(i32(5), 2, -2):
        y[t1] = 2
""")
def loops_over_something_stay(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.for_range(0, 1) as k:
        y[k] = 1
    with b.for_range(vw.i32(5), 2, -2) as k:
        y[k] = 2


@case("""
    atomic_add(y, 0, 1)
    y[7] = 7
""")
def a_while_that_is_false_leaves_its_condition_block(b: Any, i: Any, x: Any, y: Any) -> None:
    def condition() -> Any:
        b.atomic_add(y, 0, 1)
        return i != i

    with b.while_(condition):
        y[0] = 1
        b.break_()
    y[7] = 7


@case("""
    while true:
        if x[global_id()] > 3:
            break
    y[7] = 7
""")
def a_while_that_is_true_stays(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.while_(lambda: i == i), b.if_(x[i] > 3):
        b.break_()
    y[7] = 7


@pytest.mark.parametrize("name", CASES)
def test_statements(name: str) -> None:
    write, expected = CASES[name]
    program = statements(write)
    assert body(after(program, fold, settle_flow, remove_dead)) == lines(expected)


def test_names_of_a_dissolved_block_do_not_clash() -> None:
    """A local of a block may have the name of a later one outside of it."""

    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        with b.if_(i == i):
            v = b.var("v", vw.u32, x[i])
            v.set(v + 1)
            y[0] = v
        w = b.var("v", vw.u32, x[i])
        w.set(w + 2)
        y[1] = w

    assert body(after(statements(write), fold, settle_flow, remove_dead)) == lines("""
        t0 = global_id()
        var t1: u32 = x[t0]
        t1 = t1 + 1
        y[0] = t1
        var v: u32 = x[t0]
        v = v + 2
        y[1] = v
    """)


def test_comments_move_to_what_is_left() -> None:
    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        b.comment("one")
        with b.if_(i != i):
            b.comment("two")
            y[0] = 1
        b.comment("three")
        y[1] = 2
        b.comment("end")

    assert body(after(statements(write), fold, settle_flow, remove_dead)) == lines("""
        # one
        # two
        # three
        y[1] = 2
        # end
    """)
