"""Branches, loops, variables and returns have their defined meaning on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.wgsl.running import run


@pytest.fixture
def backend(any_backend: Any) -> Any:
    """These tests say what programs mean, so they run on every backend."""
    return any_backend


def test_if_else_and_nesting(backend: Any) -> None:
    """Both branches run for the right lanes, nested ones too."""
    x = np.arange(-50, 50, dtype=np.int32)
    b = vw.ProgramBuilder("branches")
    a = b.read("a", vw.i32)
    out = b.output("out", vw.i32, like=a)
    i = b.global_id(0)
    v = b.let("v", a[i])
    with b.if_(v < 0):
        with b.if_(v % 2 == 0):
            out[i] = -v
        with b.else_():
            out[i] = v * 10
    with b.else_():
        out[i] = v + 1
    (got,) = run(backend, b, x)
    np.testing.assert_array_equal(got, np.where(x < 0, np.where(x % 2 == 0, -x, x * 10), x + 1))


LOOPS = [
    (0, 5, 1),
    (5, 5, 1),
    (7, 3, 1),
    (0, 10, 3),
    (0, 9, 3),
    (10, 0, -1),
    (10, 0, -3),
    (-3, 4, 2),
    (2**31 - 3, 2**31 - 1, 1),
    (2**31 - 5, 2**31 - 1, 3),
    (-(2**31) + 5, -(2**31), -3),
    (2**31 - 1, -(2**31), -(2**31)),
]


def test_for_ranges(backend: Any) -> None:
    """Signed loops run over what Python's range gives, also at the ends of the type."""
    bounds = np.array(LOOPS, np.int32)
    b = vw.ProgramBuilder("ranges")
    start, stop, step = (b.read(n, vw.i32) for n in ("start", "stop", "step"))
    count, last = b.output("count", vw.u32, like=start), b.output("last", vw.i32, like=start)
    i = b.global_id(0)
    n = b.var("n", vw.u32)
    with b.for_range(start[i], stop[i], step[i]) as k:
        n += 1
        last[i] = k
    count[i] = n
    got_count, got_last = run(backend, b, *(bounds[:, c].copy() for c in range(3)))
    for (a, z, s), c, e in zip(LOOPS, got_count, got_last, strict=True):
        expected = range(a, z, s)
        assert (c, e) == (len(expected), expected[-1] if len(expected) else 0), (a, z, s)


@pytest.mark.parametrize("bounds", LOOPS, ids=str)
def test_for_with_literal_bounds(bounds: tuple[int, int, int], backend: Any) -> None:
    """The same with literals."""
    start, stop, step = bounds
    b = vw.ProgramBuilder("literal_range")
    out = b.output("out", vw.i32, 2)
    b.extent(1)
    n = b.var("n", vw.i32)
    with b.for_range(start, stop, step, dtype=vw.i32) as k:
        n += 1
        out[1] = k
    out[0] = n
    (got,) = run(backend, b)
    expected = range(start, stop, step)
    assert got.tolist() == [len(expected), expected[-1] if len(expected) else 0]


def test_unsigned_and_narrow_loops(backend: Any) -> None:
    """u32 at the end of its type, u8 and i8 indices, a zero step."""
    b = vw.ProgramBuilder("narrow")
    zero = b.param("zero", vw.u32)
    out = b.output("out", vw.u32, 8)
    b.extent(1)
    for slot, (bounds, dtype) in enumerate(
        [
            ((2**32 - 4, 2**32 - 1, 1), vw.u32),
            ((2**32 - 4, 2**32 - 1, 2), vw.u32),
            ((250, 255, 2), vw.u8),
            ((-128, 127, 100), vw.i8),
            ((127, -128, -100), vw.i8),
        ]
    ):
        n = b.var(f"n{slot}", vw.u32)
        with b.for_range(*bounds, dtype=dtype):
            n += 1
        out[slot] = n
    with b.for_range(0, 10, zero):
        out[5] = 99
    (got,) = run(backend, b, zero=0)
    assert got.tolist() == [3, 2, 3, 3, 3, 0, 0, 0]


def test_bounds_are_evaluated_once(backend: Any) -> None:
    """Changing a variable that was a bound does not change the loop."""
    b = vw.ProgramBuilder("once")
    out = b.output("out", vw.u32, 1)
    b.extent(1)
    n, total = b.var("n", vw.u32, 3), b.var("total", vw.u32)
    with b.for_range(0, n):
        n += 5
        total += 1
    out[0] = total
    assert run(backend, b)[0].tolist() == [3]


def test_while_break_continue(backend: Any) -> None:
    """Collatz steps, with a break at a limit and a continue in every other iteration."""
    x = np.arange(1, 300, dtype=np.uint32)
    b = vw.ProgramBuilder("collatz")
    a = b.read("a", vw.u32)
    out = b.output("out", vw.u32, like=a)
    i = b.global_id(0)
    v, n = b.var("v", vw.u32, a[i]), b.var("n", vw.u32)
    with b.while_(lambda: v != 1):
        n += 1
        with b.if_(n >= 100):
            b.break_()
        with b.if_(v % 2 == 0):
            v.set(v // 2)
            b.continue_()
        v.set(v * 3 + 1)
    out[i] = n

    def steps(value: int) -> int:
        count = 0
        while value != 1 and count < 100:
            count += 1
            value = value // 2 if value % 2 == 0 else value * 3 + 1
        return count

    (got,) = run(backend, b, x)
    assert got.tolist() == [steps(int(v)) for v in x]


def test_values_are_taken_where_they_are_written(backend: Any) -> None:
    """A read of a variable or element keeps its value when that changes later."""
    b = vw.ProgramBuilder("points")
    data = b.read_write("data", vw.i32)
    out = b.output("out", vw.i32, 4)
    b.extent(1)
    n = b.var("n", vw.i32, 5)
    before = n + 0
    n += 10
    loaded = data[0]
    data[0] = 77
    out[0] = before
    out[1] = n
    out[2] = loaded
    out[3] = data[0]
    changed, got = run(backend, b, np.array([3, 4], np.int32))
    assert got.tolist() == [5, 15, 3, 77]
    assert changed.tolist() == [77, 4]


def test_return_ends_the_lane(backend: Any) -> None:
    """Nothing after a return runs, also out of nested loops."""
    x = np.arange(40, dtype=np.uint32)
    b = vw.ProgramBuilder("returns")
    a = b.read("a", vw.u32)
    out = b.output("out", vw.u32, like=a)
    i = b.global_id(0)
    out[i] = 1
    with b.for_range(0, 5) as k, b.for_range(0, 5) as j:
        with b.if_(k * 5 + j == a[i]):
            b.return_()
        out[i] = 2 + k * 5 + j
    out[i] = 1000
    (got,) = run(backend, b, x)
    assert got.tolist() == [1 if v == 0 else v + 1 if v < 25 else 1000 for v in range(40)]


@pytest.mark.parametrize(
    "name", ["main", "fn", "d", "b0", "x\n}", "π", "__dunder__", "if", "array", "a b", "0", "load0"]
)
def test_any_name_works(name: str, backend: Any) -> None:
    """User names never reach the shader."""
    b = vw.ProgramBuilder(name)
    x = b.read(name, vw.f32)
    scale = b.param(name + "_p", vw.f32)
    y = b.output(name + "_o", vw.f32, like=x)
    i = b.global_id(0)
    b.comment("*/ } \0 " + name)
    y[i] = b.let(name + "_v", x[i] * scale)
    (got,) = backend.compile(b.build()).dispatch({name: np.ones(3, np.float32)}, {name + "_p": 2.0})
    assert got.tolist() == [2, 2, 2]


def test_many_nested_blocks(backend: Any) -> None:
    """Sixty levels of nesting compile."""
    b = vw.ProgramBuilder("nested")
    x = b.read("x", vw.u32)
    out = b.output("out", vw.u32, like=x)
    i = b.global_id(0)
    blocks = []
    for level in range(60):
        block = b.if_(x[i] > level) if level % 3 else b.for_range(0, 1)
        block.__enter__()
        blocks.append(block)
        out[i] = level
    for block in reversed(blocks):
        block.__exit__(None, None, None)
    (got,) = run(backend, b, np.array([0, 5, 100], np.uint32))
    # Level 3k always opens; the first level that does not is the first n >= x with n % 3.
    assert got.tolist() == [0, 4, 59]
