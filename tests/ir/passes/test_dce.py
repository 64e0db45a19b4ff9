"""Dead code, as text: what goes, and what stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import vyre_wgpu.ir as vw
from tests.ir.passes.texts import after, body, lines, statements
from vyre_wgpu.ir import Op
from vyre_wgpu.ir.passes.dce import remove_dead

SHORTER: dict[str, tuple[Callable[..., None], str]] = {}
KEPT: dict[str, Callable[..., None]] = {}


def becomes(expected: str) -> Callable[[Callable[..., None]], None]:
    def note(write: Callable[..., None]) -> None:
        SHORTER[write.__name__] = write, expected

    return note


def stays(write: Callable[..., None]) -> None:
    KEPT[write.__name__] = write


@becomes("y[global_id()] = 1")
def unused_values_loads_and_names(b: Any, i: Any, x: Any, y: Any) -> None:
    v = b.let("v", x[i] * 3)
    b.let("w", v + y[i])
    y[i] = 1


@becomes("y[global_id()] = 1")
def variables_that_nobody_reads(b: Any, i: Any, x: Any, y: Any) -> None:
    n = b.var("n", vw.u32, x[i])
    m = b.var("m", vw.u32, 0)
    n.set(n + m)
    m.set(n * 2)
    with b.if_(x[i] > 3):
        m.set(m + 1)
    y[i] = 1


@becomes("""
    t0 = global_id()
    var n: u32 = 0
    if x[t0] > 3:
        n = x[t0]
    y[t0] = n
""")
def of_several_variables_the_one_that_is_read_stays(b: Any, i: Any, x: Any, y: Any) -> None:
    n, m = b.var("n", vw.u32, 0), b.var("m", vw.u32, 0)
    with b.if_(x[i] > 3):
        n.set(x[i])
        m.set(n)
    y[i] = n


@becomes("y[global_id()] = 1")
def empty_branches(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.if_(x[i] > 3):
        with b.if_(i > 3):
            b.let("v", i + 1)
        with b.else_():
            b.let("v", i + 2)
    with b.else_():
        pass
    y[i] = 1


@becomes("""
    t0 = global_id()
    if x[t0] > 3:
        y[t0] = 1
    if x[t0] > 4:
        pass
    else:
        y[t0] = 1
""")
def an_empty_part_of_a_branch(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.if_(x[i] > 3):
        y[i] = 1
    with b.else_():
        b.let("v", i + 2)
    with b.if_(x[i] > 4):
        b.let("v", i + 2)
    with b.else_():
        y[i] = 1


@becomes("y[global_id()] = 1")
def loops_without_effects_that_end(b: Any, i: Any, x: Any, y: Any) -> None:
    n = b.var("n", vw.u32, 0)
    with b.for_range(0, x[i]) as k, b.for_range(0, k, i) as m:
        with b.if_(m == 7):
            b.break_()
        with b.if_(m == 8):
            b.continue_()
        n.set(n + m)
    y[i] = 1


@stays
def loops_with_effects_and_what_steers_them(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.for_range(0, x[i]) as k:
        with b.if_(x[k] == 7):
            b.break_()
        with b.if_(x[k] == 8), b.if_(k == 4):
            b.continue_()
        y[k] = 1


@stays
def a_while_may_not_end(b: Any, i: Any, x: Any, y: Any) -> None:
    n = b.var("n", vw.u32, x[i])
    with b.while_(lambda: n != 1):
        n.set(n * 3 + 1)


@stays
def a_while_in_a_for_and_in_an_if(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.for_range(0, x[i]) as k, b.if_(k == 3), b.while_(lambda: x[i] > 1):
        pass


@stays
def effects(b: Any, i: Any, x: Any, y: Any) -> None:
    b.atomic_add(y, i, 1)
    b.subgroup_add(i)
    b.barrier()
    with b.if_(x[i] == 1):
        b.trap("one")
    with b.if_(x[i] == 2):
        b.return_()


@stays
def what_a_lane_that_ends_does_not_do(b: Any, i: Any, x: Any, y: Any) -> None:
    with b.for_range(0, x[i]) as k, b.if_(x[k] == 7):
        b.return_()
    y[i] = 1


@pytest.mark.parametrize("name", SHORTER)
def test_shorter(name: str) -> None:
    write, expected = SHORTER[name]
    assert body(after(statements(write), remove_dead)) == lines(expected)


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    program = statements(KEPT[name])
    assert body(after(program, remove_dead)) == body(program)


def test_rows_that_may_trap_stay() -> None:
    """Under checks="trap" an unused load or division is an effect, and so is what it needs."""

    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        b.let("v", x[i + 1] + 1)
        with b.if_(i > 3):
            b.let("w", i // (i - 4))

    program = statements(write)
    traps = bytes(op in (Op.LOAD, Op.FLOOR_DIV) for op in program.table.op)
    assert body(after(program, remove_dead, traps=traps)) == lines("""
        t0 = global_id()
        _ = x[t0 + 1]
        if t0 > 3:
            _ = t0 // (t0 - 4)
    """)
    assert body(after(program, remove_dead)) == []


def test_loops_that_are_counted_stay() -> None:
    """Under max_iterations a loop may trap, however little it does."""

    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        n = b.var("n", vw.u32, 0)
        with b.for_range(0, x[i]) as k:
            n.set(n + k)
            with b.if_(k == 3):
                b.break_()

    program = statements(write)
    assert body(after(program, remove_dead, keep_loops=True)) == lines("""
        for t0 in range(0, x[global_id()], 1):
            if t0 == 3:
                break
    """)
    assert body(after(program, remove_dead)) == []


def test_the_interface_stays() -> None:
    """Buffers and params that nothing uses are still those of the program."""
    b = vw.ProgramBuilder("interface", workgroup_size=(4, 2))
    p, q = b.param("p", vw.f32), b.param("q", vw.u32)
    x = b.read("x", vw.f32)
    b.output("y", vw.u32, count=q)
    b.workgroup("w", vw.u32, 4)
    b.extent(x.length, 3)
    b.let("v", p * x[0])
    program = b.build()
    result = after(program, remove_dead)
    assert len(result.table) == 0
    for part in ("buffers", "params", "extent", "workgroup_size", "name"):
        assert getattr(result, part) == getattr(program, part)
