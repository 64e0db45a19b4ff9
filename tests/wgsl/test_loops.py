"""Loops that a driver ends silently, and loops that are bounded on request, trap."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.wgsl.loops import UNBOUNDED, most_iterations
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.target import Target

LIMITED = Target(loop_iterations=65_535)

Body = Callable[[vw.ProgramBuilder, Any, Any], None]


def program_of(body: Body) -> vw.Program:
    """A program with an input x, an output y like it, and a body given b, x[i], a counter."""
    b = vw.ProgramBuilder(body.__name__, workgroup_size=64)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    n = b.var("n", vw.u32)
    body(b, x[b.global_id()], n)
    y[b.global_id()] = n
    return b.build()


def single(b: vw.ProgramBuilder, x: Any, n: Any) -> None:
    with b.for_range(0, x):
        n += 1


def nested(b: vw.ProgramBuilder, x: Any, n: Any) -> None:
    with b.for_range(0, x), b.for_range(0, 1000):
        n += 1


def in_a_row(b: vw.ProgramBuilder, x: Any, n: Any) -> None:
    for _ in range(4):
        with b.for_range(0, x * 250):
            n += 1


def by_break(b: vw.ProgramBuilder, x: Any, n: Any) -> None:
    with b.while_(lambda: vw.bool_(True)):
        n += 1
        with b.if_(n >= x):
            b.break_()


def by_continue(b: vw.ProgramBuilder, x: Any, n: Any) -> None:
    with b.for_range(0, x) as k:
        n += 1
        with b.if_(k % 2 == 0):
            b.continue_()


def split(b: vw.ProgramBuilder, x: Any, n: Any) -> None:
    """A body so long that it is divided into functions, with the break in one of them."""
    t = b.var("t", vw.u32)
    with b.while_(lambda: vw.bool_(True)):
        n += 1
        for step in range(600):
            t.set(t * 3 + step)
        with b.if_(n >= x):
            b.break_()
        for step in range(600):
            t.set(t * 5 + step)


@pytest.mark.gpu
@pytest.mark.parametrize("body", [single, nested, in_a_row, by_break, by_continue, split])
@pytest.mark.parametrize("many", ["all lanes", "one lane"])
def test_a_loop_is_right_or_traps(body: Body, many: str, backend: Any) -> None:
    """Whatever number of iterations lanes need, the result is exact or the dispatch raises."""
    pipe = backend.compile(program_of(body))
    factor = {nested: 1000, in_a_row: 1000}.get(body, 1)
    limit = backend.device.quirks.loop_iterations
    for iterations in (10, 1000) if body is split else (10, 60_000, 70_000, 300_000):
        x = np.full(64, 2, np.uint32)
        chosen = slice(None) if many == "all lanes" else slice(21, 22)
        x[chosen] = max(1, iterations // factor)
        error = None
        try:
            np.testing.assert_array_equal(pipe.fn(x), x * factor)
        except vw.TrapError as trap:
            error = trap
        if error is not None:
            assert limit is not None
            assert iterations >= limit * 0.9
            assert error.tag == "loop-limit"
            assert error.source is not None
            assert error.source[0] == __file__
            assert x[error.lane] * factor == iterations
    np.testing.assert_array_equal(pipe.fn(np.full(3, 2, np.uint32)), [2 * factor] * 3)


@pytest.mark.gpu
def test_trip_counts_that_differ_between_lanes_of_a_vector(backend: Any) -> None:
    """Lanes that would end normally are right even if a neighbour runs long."""
    pipe = backend.compile(program_of(single))
    x = (np.arange(64, dtype=np.uint32) % 8) * 9_000
    np.testing.assert_array_equal(pipe.fn(x), x)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "trips", [(20, 20, 162), (40, 40, 39), (255, 256), (3, 21_844), (65_534,), (65_535,)], ids=str
)
def test_literal_loops_just_below_the_limit_are_right_or_trap(
    trips: tuple[int, ...], backend: Any
) -> None:
    """Loops in loops are left many times, and a driver counts those rounds too."""
    b = vw.ProgramBuilder("deep", workgroup_size=64)
    x = b.read_write("x", vw.u32)
    t = b.var("t", vw.u32, x[b.global_id()])
    with ExitStack() as loops:
        for count in trips:
            loops.enter_context(b.for_range(0, count))
        t.set(t * 3 + 1)
    x[b.global_id()] = t
    given = np.arange(64, dtype=np.uint32)
    expected = given.copy()
    for _ in range(math.prod(trips)):
        expected = expected * np.uint32(3) + np.uint32(1)
    pipe = backend.compile(b.build())
    error = None
    try:
        np.testing.assert_array_equal(pipe.fn(given), expected)
    except vw.TrapError as trap:
        error = trap
    if error is not None:
        assert error.tag == "loop-limit"
        assert math.prod(trips) >= backend.device.quirks.loop_iterations * 0.9


@pytest.mark.gpu
@pytest.mark.parametrize("body", [single, nested, by_break, by_continue])
def test_max_iterations_bounds_every_lane(body: Body, backend: Any) -> None:
    """At most that many iterations over all loops, else the trap; an endless loop too."""
    pipe = backend.compile(program_of(body), vw.CompileOptions(max_iterations=5000))
    factor = 1000 if body is nested else 1
    np.testing.assert_array_equal(pipe.fn(np.full(9, 4, np.uint32)), [4 * factor] * 9)
    with pytest.raises(vw.TrapError, match="loop-limit"):
        pipe.fn(np.full(9, 20_000 // factor, np.uint32))
    np.testing.assert_array_equal(pipe.fn(np.full(9, 4, np.uint32)), [4 * factor] * 9)


@pytest.mark.gpu
def test_an_endless_loop_with_max_iterations_traps(backend: Any) -> None:
    """It does not hang, also in a program with barriers."""
    for barrier in (False, True):
        b = vw.ProgramBuilder("endless", workgroup_size=64)
        out = b.output("out", vw.u32, 64)
        b.extent(64)
        n = b.var("n", vw.u32)
        with b.while_(lambda: vw.bool_(True)):
            n += 1
        if barrier:
            b.barrier()
        out[b.global_id()] = n
        pipe = backend.compile(b.build(), vw.CompileOptions(max_iterations=1000))
        with pytest.raises(vw.TrapError, match="loop-limit"):
            pipe()


def rounds_and_own() -> vw.Program:
    """Each lane makes x[i] iterations of its own, then three with a barrier, two more in each."""
    b = vw.ProgramBuilder("rounds_and_own", workgroup_size=64)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    tile = b.workgroup("tile", vw.u32, 64)
    i, lane = b.global_id(), b.local_id()
    n = b.var("n", vw.u32)
    with b.for_range(0, x[i]):
        n += 1
    with b.for_range(0, 3):
        with b.for_range(0, 2):
            n += 1
        tile[lane] = n
        b.barrier()
        n += tile[63 - lane] // 1000
        b.barrier()
    y[i] = n
    return b.build()


@pytest.mark.parametrize(("own", "fits"), [(91, True), (92, False), (99, False), (500, False)])
def test_max_iterations_counts_loops_with_barriers_too(
    own: int, fits: bool, any_backend: Any
) -> None:
    """A lane with too many iterations traps; the others are not kept waiting at a barrier."""
    pipe = any_backend.compile(rounds_and_own(), vw.CompileOptions(max_iterations=100))
    x = np.arange(128, dtype=np.uint32) % 64
    x[70] = own
    if fits:
        np.testing.assert_array_equal(pipe(x)[0], x + 6)
    else:
        with pytest.raises(vw.TrapError) as caught:
            pipe(x)
        assert (caught.value.tag, caught.value.lane) == ("loop-limit", (70,))


def test_lanes_leave_loops_with_barriers_together() -> None:
    """No lane's own count ends a loop in which others wait for it at a barrier."""
    text = lower(rounds_and_own(), vw.CompileOptions(max_iterations=100)).wgsl
    own, shared = r"if \(iterations >= 100u - rounds\)", r"if \(rounds >= 100u\)"
    assert re.findall(f"{own}|{shared}", text) == [
        "if (iterations >= 100u - rounds)",  # x[i] of its own
        "if (rounds >= 100u)",
        "if (rounds >= 100u)",  # the two within, which all lanes make
    ]


@pytest.mark.parametrize("own", [94, 95, 97, 99, 500])
def test_what_bounds_a_loop_with_barriers_is_the_same_in_lanes_that_ended(
    own: int, any_backend: Any
) -> None:
    """A lane that made too many iterations still counts with the others how many rounds follow."""
    b = vw.ProgramBuilder("bounded", workgroup_size=64)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    tile = b.workgroup("tile", vw.u32, 64)
    i, lane = b.global_id(), b.local_id()
    n, rounds = b.var("n", vw.u32), b.var("rounds", vw.u32)
    with b.for_range(0, x[i]):
        n += 1
    with b.for_range(0, x.length // 43):
        rounds += 1
    with b.for_range(0, rounds):
        tile[lane] = n
        b.barrier()
        n += tile[63 - lane] // 1000
        b.barrier()
    y[i] = n
    pipe = any_backend.compile(b.build(), vw.CompileOptions(max_iterations=100))
    x_array = np.arange(129, dtype=np.uint32) % 64
    x_array[70] = own
    if own == 94:
        np.testing.assert_array_equal(pipe(x_array)[0], x_array)
    else:
        with pytest.raises(vw.TrapError) as caught:
            pipe(x_array)
        assert (caught.value.tag, caught.value.lane) == ("loop-limit", (70,))


def test_short_loops_are_not_guarded() -> None:
    """Literal bounds whose product is small need no flag, others do on a driver with a limit."""

    def short(b: vw.ProgramBuilder, x: Any, n: Any) -> None:
        with b.for_range(0, 100), b.for_range(10, 0, -1, dtype=vw.i32):
            n += x

    assert most_iterations(program_of(short), 64) == 101 + 100 * 11
    assert "done" not in lower(program_of(short), target=LIMITED).wgsl

    def long(b: vw.ProgramBuilder, x: Any, n: Any) -> None:
        with b.for_range(0, 300), b.for_range(0, 300):
            n += x

    assert most_iterations(program_of(long), 64) == 301 + 300 * 301
    assert len(re.findall(r"var done", lower(program_of(long), target=LIMITED).wgsl)) == 2
    assert most_iterations(program_of(single), 64) == UNBOUNDED
    assert "done" not in lower(program_of(single)).wgsl


def test_a_guarded_program_binds_trap_words() -> None:
    """It can trap without a trap statement."""
    assert lower(program_of(single), target=LIMITED).descriptor.trap_binding == 2
    assert lower(program_of(single)).descriptor.trap_binding is None
