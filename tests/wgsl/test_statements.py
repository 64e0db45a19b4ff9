"""Statements, memory and launches have their defined meaning on every backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw


@pytest.fixture
def backend(any_backend: Any) -> Any:
    """These tests say what programs mean, so they run on every backend."""
    return any_backend


def run(backend: Any, b: vw.ProgramBuilder, *arrays: Any, **params: Any) -> list[np.ndarray]:
    result: list[np.ndarray] = backend.compile(b.build()).dispatch(list(arrays), params)
    return result


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


@pytest.mark.parametrize("dtype", [vw.u8, vw.i8, vw.u16, vw.i16, vw.bool_], ids=str)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 63, 64, 65, 257, 1000])
def test_packed_elements(dtype: vw.DType, length: int, backend: Any) -> None:
    """Packed loads and stores at every offset, neighbours written by other lanes at once."""
    rng = np.random.default_rng(length)
    raw = rng.integers(0, 256, length * dtype.itemsize, np.uint8)
    x = (raw & 1).astype(bool) if dtype is vw.bool_ else raw.view(dtype.numpy)
    b = vw.ProgramBuilder("packed")
    a = b.read("a", dtype)
    out = b.output("out", dtype, like=a)
    inout = b.read_write("inout", dtype)
    i = b.global_id(0)
    out[i] = a[i]
    flipped = ~inout[i]
    with b.if_(i % 3 == 1):
        inout[i] = flipped
    b.extent(a.length)
    got, changed = run(backend, b, x, x)
    np.testing.assert_array_equal(got, x)
    expected = x.copy()
    expected[1::3] = ~x[1::3]
    np.testing.assert_array_equal(changed, expected)


def test_same_value_races_on_packed_elements(backend: Any) -> None:
    """Many lanes that store one value to one byte leave that value, and the neighbours alone."""
    b = vw.ProgramBuilder("race")
    out = b.output("out", vw.u8, 8)
    b.extent(4096)
    out[3] = vw.u8(7)
    out[5] = (b.global_id(0) * 0 + 9).cast(vw.u8)
    for _ in range(20):
        (got,) = run(backend, b)
        assert got.tolist() == [0, 0, 0, 7, 0, 9, 0, 0]


def test_out_of_bounds(backend: Any) -> None:
    """Loads give 0, stores are dropped, atomics do nothing and give 0; negative indices too."""
    b = vw.ProgramBuilder("bounds")
    data, out = b.read_write("data", vw.u32), b.output("out", vw.u32, 6)
    local = b.private("local", vw.u32, 2)
    index, negative = b.param("index", vw.u32), b.param("negative", vw.i32)
    b.extent(1)
    out[0] = data[index] + 1
    out[1] = data[negative] + 1
    data[index] = 5
    data[negative] = 5
    out[2] = b.atomic_add(data, index, 5) + 1
    out[3] = b.atomic_compare_exchange(data, negative, 0, 5) + 1
    local[index] = 3
    out[4] = local[index] + local[-1] + 1
    out[99] = 4
    out[5] = data[2] + 1
    changed, got = run(backend, b, np.array([7, 8, 9], np.uint32), index=np.uint32(3), negative=-1)
    assert changed.tolist() == [7, 8, 9]
    assert got.tolist() == [1, 1, 1, 1, 1, 10]


ATOMICS: list[tuple[str, Callable[[int, int], int]]] = [
    ("add", lambda a, v: a + v),
    ("sub", lambda a, v: a - v),
    ("and", lambda a, v: a & v),
    ("or", lambda a, v: a | v),
    ("xor", lambda a, v: a ^ v),
    ("min", min),
    ("max", max),
    ("exchange", lambda a, v: v),
]


@pytest.mark.parametrize(("name", "function"), ATOMICS, ids=[n for n, _ in ATOMICS])
@pytest.mark.parametrize("dtype", [vw.i32, vw.u32, vw.i64, vw.u64], ids=str)
def test_atomics_return_the_old_value(
    name: str, function: Callable[[int, int], int], dtype: vw.DType, backend: Any
) -> None:
    """One lane at a time: old value returned, new value stored, wrapping."""
    top = dtype.bits - 1
    starts = np.array([0, 1, 5, 2**top - 1, -(2**top), -7], np.int64).astype(dtype.numpy)
    values = np.array([3, 1, 12, 1, 1, 5], np.int64).astype(dtype.numpy)
    b = vw.ProgramBuilder(name)
    data, value = b.read_write("data", dtype), b.read("value", dtype)
    old = b.output("old", dtype, like=data)
    i = b.global_id(0)
    old[i] = getattr(b, f"atomic_{name}")(data, i, value[i])
    b.extent(data.length)
    try:
        changed, before = run(backend, b, starts, values)
    except vw.UnsupportedFeatureError as error:
        assert dtype.bits == 64
        pytest.skip(str(error))
    assert before.tolist() == starts.tolist()
    for a, v, new in zip(starts.tolist(), values.tolist(), changed.tolist(), strict=True):
        assert new == (function(a, v) - dtype.min) % 2**dtype.bits + dtype.min


@pytest.mark.parametrize("dtype", [vw.i32, vw.u64], ids=str)
def test_compare_exchange_returns_the_old_value(dtype: vw.DType, backend: Any) -> None:
    """Replaced only where it equals the expected one."""
    b = vw.ProgramBuilder("cas")
    data = b.read_write("data", dtype)
    old = b.output("old", dtype, like=data)
    i = b.global_id(0)
    old[i] = b.atomic_compare_exchange(data, i, 5, 9)
    b.extent(data.length)
    try:
        changed, before = run(backend, b, np.array([4, 5, 6], dtype.numpy))
    except vw.UnsupportedFeatureError as error:
        pytest.skip(str(error))
    assert (changed.tolist(), before.tolist()) == ([4, 9, 6], [4, 5, 6])


def test_float_atomic_add(backend: Any) -> None:
    """Sums of integers in f32 are exact in any order."""
    b = vw.ProgramBuilder("float_sum", workgroup_size=64)
    x = b.read("x", vw.f32)
    total = b.output("total", vw.f32, 2)
    b.extent(x.length)
    i = b.global_id(0)
    b.atomic_add(total, 0, x[i])
    with b.if_(i == 0):
        total[1] = 0.5
    values = np.arange(1000, dtype=np.float32)
    try:
        (got,) = run(backend, b, values)
    except vw.UnsupportedFeatureError as error:
        pytest.skip(str(error))
    assert got.tolist() == [values.sum(), 0.5]


def test_float_atomic_add_in_workgroup_memory(backend: Any) -> None:
    """Each lane adds to a sum of its workgroup and takes what was there before; 8 elements."""
    b = vw.ProgramBuilder("float_sums", workgroup_size=64)
    x = b.read("x", vw.f32)
    before = b.output("before", vw.f32, like=x)
    sums = b.output("sums", vw.f32, 16)
    shared = b.workgroup("shared", vw.f32, 8)
    b.extent(x.length)
    i, lane = b.global_id(0), b.local_id(0)
    with b.if_(lane == 1):
        shared[1] = 1.0
    b.barrier()
    before[i] = b.atomic_add(shared, lane % 8, x[i])
    b.atomic_add(shared, lane + 8, x[i])  # out of bounds
    b.barrier()
    with b.if_(lane < 8):
        sums[b.workgroup_id(0) * 8 + lane] = shared[lane]
    values = np.arange(128, dtype=np.float32)
    got, totals = run(backend, b, values)
    want = values.reshape(2, 8, 8).sum(axis=1) + np.float32([0, 1, 0, 0, 0, 0, 0, 0])
    assert totals.tolist() == want.ravel().tolist()
    for group in range(2):
        for element in range(8):
            lanes = slice(group * 64 + element, group * 64 + 64, 8)
            steps = np.sort(got[lanes])
            assert steps[0] == (1.0 if element == 1 else 0.0)
            assert set(np.diff(np.append(steps, totals[group * 8 + element]))) <= set(values[lanes])


def test_atomics_add_up_over_workgroups(backend: Any) -> None:
    """A sum by atomics in workgroup memory and then in storage is exact."""
    x = np.random.default_rng(1).integers(0, 1000, 10_007, np.uint32)
    b = vw.ProgramBuilder("sum", workgroup_size=64)
    a = b.read("a", vw.u32)
    total = b.output("total", vw.u32, 1)
    part = b.workgroup("part", vw.u32, 1)
    b.extent(a.length)
    i = b.global_id(0)
    b.atomic_add(part, 0, a[i])
    b.barrier()
    with b.if_(b.local_id(0) == 0):
        b.atomic_add(total, 0, part[0])
    assert run(backend, b, x)[0].tolist() == [int(x.sum()) % 2**32]


def test_compare_exchange_is_strong(backend: Any) -> None:
    """Exactly one of many lanes wins."""
    b = vw.ProgramBuilder("election")
    flag, winners = b.read_write("flag", vw.u32), b.output("winners", vw.u32, 1)
    b.extent(5000)
    old = b.atomic_compare_exchange(flag, 0, 0, b.global_id(0) + 1)
    with b.if_(old == 0):
        b.atomic_add(winners, 0, 1)
    flagged, won = run(backend, b, np.zeros(1, np.uint32))
    assert won.tolist() == [1]
    assert 1 <= flagged[0] <= 5000


def test_workgroup_memory_and_barriers(backend: Any) -> None:
    """Each workgroup reverses its block; memory starts as zeros."""
    x = np.arange(256 * 3, dtype=np.float32)
    b = vw.ProgramBuilder("reverse", workgroup_size=256)
    a = b.read("a", vw.f32)
    out = b.output("out", vw.f32, like=a)
    shared = b.workgroup("shared", vw.f32, 256)
    untouched = b.workgroup("untouched", vw.bool_, 3)
    i, k = b.global_id(0), b.local_id(0)
    shared[k] = a[i]
    b.barrier()
    out[i] = vw.select(untouched[1], vw.f32(-1), shared[255 - k])
    (got,) = run(backend, b, x)
    np.testing.assert_array_equal(got, x.reshape(3, 256)[:, ::-1].ravel())


def test_tree_reduction_with_barriers_in_a_loop(backend: Any) -> None:
    """Barriers in a uniform while loop."""
    x = np.random.default_rng(3).integers(0, 100, 1000, np.int32)
    b = vw.ProgramBuilder("tree", workgroup_size=128)
    a = b.read("a", vw.i32)
    out = b.output("out", vw.i32, vw.ceil_div(a.length, 128))
    shared = b.workgroup("shared", vw.i32, 128)
    b.extent(a.length)
    i, k = b.global_id(0), b.local_id(0)
    shared[k] = a[i]
    stride = b.var("stride", vw.u32, 64)
    b.barrier()
    with b.while_(lambda: stride > 0):
        with b.if_(k < stride):
            shared[k] = shared[k] + shared[k + stride]
        b.barrier()
        stride.set(stride // 2)
    with b.if_(k == 0):
        out[b.workgroup_id(0)] = shared[0]
    (got,) = run(backend, b, x)
    np.testing.assert_array_equal(got, np.add.reduceat(x, np.arange(0, 1000, 128)))


@pytest.mark.parametrize("how", ["return", "loop_return", "nested"])
def test_lanes_that_ended_keep_meeting_barriers(how: str, backend: Any) -> None:
    """Lanes that returned do nothing more, the others go on exchanging through barriers."""
    lanes, rounds = 64, 5
    b = vw.ProgramBuilder("ended", workgroup_size=lanes)
    out = b.output("out", vw.u32, lanes)
    shared = b.workgroup("shared", vw.u32, lanes)
    b.extent(lanes)
    k = b.local_id(0)
    if how == "return":
        with b.if_(k % 4 == 3):
            b.return_()
    elif how == "loop_return":
        with b.for_range(0, k + 1) as j, b.if_(j % 4 == 3):
            b.return_()
    with b.for_range(0, rounds) as r:
        if how == "nested":
            with b.if_((k % 4 == 3) & (r == 2)):
                out[k] = 500
                b.return_()
        shared[k] = r * 100 + k
        b.barrier()
        b.atomic_add(out, k, shared[(k + 1) % lanes])
        b.barrier()
    (got,) = run(backend, b)
    expected = np.zeros(lanes, np.int64)
    memory = np.zeros(lanes, np.int64)
    ended = np.zeros(lanes, bool)
    lane = np.arange(lanes)
    if how == "return":
        ended = lane % 4 == 3
    elif how == "loop_return":
        ended = lane >= 3
    for r in range(rounds):
        if how == "nested" and r == 2:
            ended = lane % 4 == 3
            expected[ended] = 500
        memory[~ended] = r * 100 + lane[~ended]
        expected[~ended] += memory[(lane[~ended] + 1) % lanes]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("lost", ["return", "loop_return", "none"])
def test_loop_with_barriers_over_a_variable_that_is_uniform_again(lost: str, backend: Any) -> None:
    """Lanes that ended before the variable was set for all go round as often as the others."""
    lanes, rounds = 64, 5
    b = vw.ProgramBuilder("again", workgroup_size=lanes)
    n = b.read("n", vw.u32).length
    out = b.output("out", vw.u32, lanes)
    shared = b.workgroup("shared", vw.u32, lanes)
    b.extent(lanes)
    k = b.local_id(0)
    left = b.var("left", vw.u32, 0)
    left.set(k % 4)
    if lost == "return":
        with b.if_(left == 3):
            b.return_()
    elif lost == "loop_return":
        with b.while_(lambda: left > 0):
            left -= 1
            with b.if_(left == 2):
                b.return_()
    left.set(n)
    with b.while_(lambda: left > 0):
        shared[k] = left * 100 + k
        b.barrier()
        b.atomic_add(out, k, shared[(k + 1) % lanes])
        b.barrier()
        left -= 1
    (got,) = run(backend, b, np.zeros(rounds, np.uint32))
    lane = np.arange(lanes)
    alive = (lane % 4 != 3) | (lost == "none")
    following = (lane + 1) % lanes
    hundreds = 100 * rounds * (rounds + 1) // 2
    want = alive * alive[following] * (hundreds + rounds * following)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("how", ["return", "trap"])
def test_an_endless_loop_with_barriers_ends_with_its_last_lane(how: str, backend: Any) -> None:
    """Lanes leave one after the other; when all have ended, so does the loop."""
    lanes = 64
    b = vw.ProgramBuilder("rounds", workgroup_size=lanes)
    out = b.output("out", vw.u32, lanes * 2)
    shared = b.workgroup("shared", vw.u32, 1)
    b.extent(lanes * 2)
    k = b.local_id(0)
    with b.while_(lambda: vw.bool_(True)):
        round_ = b.let("round", shared[0])
        b.barrier()
        with b.if_(round_ == k):
            b.atomic_add(out, b.global_id(0), 100 + round_)
            if how == "trap":
                b.trap("out", k)
            b.return_()
        b.atomic_max(shared, 0, round_ + 1)
        b.barrier()
    pipe = backend.compile(b.build())
    if how == "trap":
        with pytest.raises(vw.TrapError, match="out"):
            pipe()
    else:
        assert pipe()[0].tolist() == [100 + k for k in range(lanes)] * 2


@pytest.mark.parametrize("checks", ["total", "trap"])
def test_a_loop_with_barriers_is_left_out_when_all_lanes_have_trapped(
    checks: str, backend: Any
) -> None:
    """What made them trap makes the range long: 4,294,967,295 rounds of nobody."""
    b = vw.ProgramBuilder("rounds", workgroup_size=64)
    p = b.param("p", vw.u32)
    out = b.output("out", vw.u32, 64)
    shared = b.workgroup("shared", vw.u32, 64)
    b.extent(64)
    k = b.local_id(0)
    if checks == "total":
        with b.if_(p == 0):
            b.trap("zero", k)
    with b.for_range(0, 10 // p):
        shared[k] = shared[k] + 1
        b.barrier()
    out[k] = shared[63 - k]
    pipe = backend.compile(b.build(), vw.CompileOptions(checks=checks))
    with pytest.raises(vw.TrapError) as caught:
        pipe(p=0)
    assert isinstance(caught.value, ZeroDivisionError) == (checks == "trap")
    assert pipe(p=2)[0].tolist() == [5] * 64


def test_trap_with_barriers(backend: Any) -> None:
    """A trap before a barrier raises, and the program does not hang."""
    b = vw.ProgramBuilder("trap_barrier", workgroup_size=64)
    x = b.read("x", vw.u32)
    out = b.output("out", vw.u32, like=x)
    shared = b.workgroup("shared", vw.u32, 64)
    i, k = b.global_id(0), b.local_id(0)
    with b.if_(x[i] == 13):
        b.trap("unlucky", i)
    shared[k] = x[i]
    b.barrier()
    out[i] = shared[63 - k]
    pipe = backend.compile(b.build())
    clean = np.arange(100, 356, dtype=np.uint32)
    np.testing.assert_array_equal(pipe.fn(clean), clean.reshape(4, 64)[:, ::-1].ravel())
    bad = clean.copy()
    bad[130] = 13
    with pytest.raises(vw.TrapError) as caught:
        pipe.fn(bad)
    assert (caught.value.tag, caught.value.address, caught.value.lane) == ("unlucky", 130, (130,))
    np.testing.assert_array_equal(pipe.fn(clean), clean.reshape(4, 64)[:, ::-1].ravel())


@pytest.mark.parametrize("extent", [(1,), (7, 5), (3, 4, 5), (257, 2), (1, 300), (2, 1, 70)])
@pytest.mark.parametrize("workgroup", [(4, 4, 4), (8, 2, 1), (1, 1, 1)])
def test_ids_of_every_lane(
    extent: tuple[int, ...], workgroup: tuple[int, int, int], backend: Any
) -> None:
    """Each element runs exactly once with the right ids."""
    full = (*extent, 1, 1)[:3]
    b = vw.ProgramBuilder("ids", workgroup_size=workgroup)
    total = int(np.prod(extent))
    count = b.output("count", vw.u32, total)
    groups = b.output("groups", vw.u32, total)
    b.extent(*extent)
    x, y, z = (b.global_id(axis) for axis in range(3))
    at = x + full[0] * (y + full[1] * z)
    b.atomic_add(count, at, 1)
    same = b.var("same", vw.bool_, True)
    for axis, size in enumerate(workgroup):
        rebuilt = b.workgroup_id(axis) * size + b.local_id(axis)
        same.set(same & (rebuilt == b.global_id(axis)))
        same.set(same & (b.num_workgroups(axis) == -(-full[axis] // size)))
    with b.if_(same):
        groups[at] = b.workgroup_id(0) + 10 * b.workgroup_id(1) + 100 * b.workgroup_id(2) + 1
    counted, grouped = run(backend, b)
    assert (counted == 1).all()
    zz, yy, xx = np.unravel_index(np.arange(total), full[::-1])
    wx, wy, wz = workgroup
    np.testing.assert_array_equal(grouped, xx // wx + 10 * (yy // wy) + 100 * (zz // wz) + 1)


@pytest.mark.parametrize("workgroup", [(8, 4, 1), (8, 4, 2), (1, 1, 8)])
@pytest.mark.parametrize("extent", [(37,), (9, 3)])
def test_workgroups_of_more_axes_than_the_extent(
    extent: tuple[int, ...], workgroup: tuple[int, int, int], backend: Any
) -> None:
    """Lanes beyond the extent on the other axes do not run."""
    b = vw.ProgramBuilder("axes", workgroup_size=workgroup)
    count = b.output("count", vw.u32, int(np.prod(extent)))
    b.extent(*extent)
    b.atomic_add(count, b.global_id(0) + extent[0] * b.global_id(1), 1)
    assert (run(backend, b)[0] == 1).all()


@pytest.mark.parametrize("groups", [65_535, 65_536, 70_001, 131_071])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_folded_launches(groups: int, axes: int, backend: Any) -> None:
    """More workgroups than one dimension holds, on any axis: each element runs exactly once."""
    for axis in range(axes):
        extent = [1] * axes
        extent[axis] = groups
        b = vw.ProgramBuilder("folded", workgroup_size=1)
        count = b.output("count", vw.u32, groups)
        b.extent(*extent)
        b.atomic_add(count, b.global_id(axis), 1)
        (got,) = run(backend, b)
        assert (got == 1).all()


def long_program(statements: int) -> vw.ProgramBuilder:
    """A body far above the length at which functions are split, with every kind of escape."""
    b = vw.ProgramBuilder("long")
    x = b.read("x", vw.u32)
    out = b.output("out", vw.u32, like=x)
    i = b.global_id(0)
    v = b.let("v", x[i])
    total = b.var("total", vw.u32, v)
    with b.for_range(0, 4) as k:
        t = total + k
        for step in range(statements):
            t = t * 3 + (v ^ step)
            if step % 400 == 100:
                with b.if_((v % 16 == 3) & (k == 1)):
                    b.continue_()
                with b.if_((v % 16 == 5) & (k == 2)):
                    b.break_()
                with b.if_((v % 16 == 7) & (k == 3)):
                    out[i] = 1
                    b.return_()
                with b.if_(v == 1000 + step):
                    b.trap("thousand", step)
        total.set(t)
    out[i] = total
    return b


def test_long_bodies_are_split_and_right(backend: Any) -> None:
    """Values, variables, break, continue, return and traps work across split functions."""
    statements = 1500
    program = long_program(statements).build()
    pipe = backend.compile(program)
    if hasattr(pipe, "wgsl"):
        assert pipe.wgsl.count("\nfn part") > 3
    x = np.arange(64, dtype=np.uint32)

    def model(v: int) -> int:
        total = v
        for k in range(4):
            t = total + k
            leave = False
            for step in range(statements):
                t = (t * 3 + (v ^ step)) % 2**32
                if step % 400 == 100:
                    if v % 16 == 3 and k == 1:
                        leave = True
                        break
                    if v % 16 == 5 and k == 2:
                        return total
                    if v % 16 == 7 and k == 3:
                        return 1
            if not leave:
                total = t
        return total

    np.testing.assert_array_equal(pipe.fn(x), [model(int(v)) for v in x])
    with pytest.raises(vw.TrapError) as caught:
        pipe.fn(np.array([5, 1500, 6], np.uint32))
    assert (caught.value.tag, caught.value.address, caught.value.lane) == ("thousand", 500, (1,))


def test_long_body_with_barriers(backend: Any) -> None:
    """The predicated form survives splitting."""
    b = vw.ProgramBuilder("long_barrier", workgroup_size=64)
    x = b.read("x", vw.u32)
    out = b.output("out", vw.u32, like=x)
    shared = b.workgroup("shared", vw.u32, 64)
    i, k = b.global_id(0), b.local_id(0)
    t = x[i]
    for step in range(2500):
        t = t * 5 + step
        if step == 1200:
            with b.if_(k % 8 == 0):
                b.return_()
    shared[k] = t
    b.barrier()
    out[i] = shared[k ^ 1] + t
    values = np.arange(64, dtype=np.uint64)
    t_model = values.copy()
    for step in range(2500):
        t_model = (t_model * 5 + step) % 2**32
    lane = np.arange(64)
    ended = lane % 8 == 0
    memory = np.where(ended, 0, t_model)
    expected = np.where(ended, 0, (memory[lane ^ 1] + t_model) % 2**32)
    (got,) = run(backend, b, values.astype(np.uint32))
    np.testing.assert_array_equal(got, expected)


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


def test_params_of_every_type(backend: Any) -> None:
    """Each 32-bit or narrower param reaches the kernel with its value."""
    values: dict[vw.DType, Any] = {
        vw.bool_: True,
        vw.i8: -128,
        vw.u8: 255,
        vw.i16: -32768,
        vw.u16: 65535,
        vw.i32: -(2**31),
        vw.u32: 2**32 - 1,
        vw.f32: np.float32(1.1),
    }
    b = vw.ProgramBuilder("params")
    b.extent(1)
    for dtype in values:
        out = b.output(f"o_{dtype}", dtype, 1)
        out[0] = b.param(f"p_{dtype}", dtype)
    outs = run(backend, b, **{f"p_{dtype}": value for dtype, value in values.items()})
    for (dtype, value), out in zip(values.items(), outs, strict=True):
        assert out.dtype == dtype.numpy
        assert out[0] == value
