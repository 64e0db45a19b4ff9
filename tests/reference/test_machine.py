"""The interpreter beyond what every backend's tests cover: wide types, subgroups, limits, order."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends import Backend, CompiledPipeline, get_backend
from vyre_wgpu.backends.reference import ReferenceBackend

Array = Any


def run(
    b: vw.ProgramBuilder, *arrays: Any, of: ReferenceBackend | None = None, **params: Any
) -> Any:
    return (of or ReferenceBackend()).compile(b.build()).dispatch(list(arrays), params)


# The face


def test_it_is_a_backend_that_must_be_named() -> None:
    backend = get_backend("reference")
    assert isinstance(backend, ReferenceBackend)
    assert isinstance(backend, Backend)
    b = vw.ProgramBuilder("double")
    x = b.read("x", vw.u8)
    y = b.output("y", vw.u8, like=x)
    y[b.global_id()] = x[b.global_id()] * 2
    pipe = vw.compile(b.build(), backend="reference")
    assert isinstance(pipe, CompiledPipeline)
    before = backend.stats().dispatches
    assert pipe.push_chunk(b"\x01\x02")[0].tolist() == [2, 4]
    assert pipe.fn(np.array([[200], [3]], np.uint8)).tolist() == [[144], [6]]
    assert pipe(np.zeros(0, np.uint8))[0].shape == (0,)
    assert backend.stats().dispatches == before + 2


def test_a_closed_backend_runs_nothing() -> None:
    b = vw.ProgramBuilder("nothing")
    b.output("y", vw.u32, 1)
    b.extent(1)
    with ReferenceBackend() as backend:
        pipe = backend.compile(b.build())
        assert pipe()[0].tolist() == [0]
    backend.close()
    with pytest.raises(vw.DeviceLostError):
        pipe()
    with pytest.raises(vw.DeviceLostError):
        backend.compile(pipe.program)


def test_a_pipeline_pickles_with_the_backends_arguments() -> None:
    b = vw.ProgramBuilder("size")
    b.output("y", vw.u32, 1)[0] = b.subgroup_size()
    b.extent(1)
    pipe = ReferenceBackend(subgroup_size=8, seed=4).compile(b.build())
    again = pickle.loads(pickle.dumps(pipe))
    assert again.fn().tolist() == [8]
    assert again.program == pipe.program


@pytest.mark.parametrize(
    "arguments",
    [{"subgroup_size": 24}, {"subgroup_size": 0}, {"seed": -1}, {"max_iterations": 0},
     {"lanes_at_once": 0}],
    ids=str,
)  # fmt: skip
def test_arguments_are_checked(arguments: dict[str, int]) -> None:
    with pytest.raises(vw.InputError):
        ReferenceBackend(**arguments)  # type: ignore[arg-type]


def test_inputs_are_never_written_and_results_own_their_memory() -> None:
    b = vw.ProgramBuilder("inout")
    x = b.read_write("x", vw.u32)
    x[b.global_id()] = x[b.global_id()] + 1
    given = np.arange(4, dtype=np.uint32)
    (got,) = run(b, given)
    assert given.tolist() == [0, 1, 2, 3]
    assert got.tolist() == [1, 2, 3, 4]
    assert not np.shares_memory(got, given)


def test_destinations_of_results() -> None:
    """Arrays are filled, whatever their strides; results may be skipped; there is no device."""
    b = vw.ProgramBuilder("two")
    x = b.read("x", vw.u32)
    y, z = b.output("y", vw.u32, like=x), b.output("z", vw.u32, 2)
    i = b.global_id()
    y[i] = x[i] + 1
    z[i] = x[i]
    b.extent(x.length)
    pipe = ReferenceBackend().compile(b.build())
    place = np.zeros(8, np.uint32)[::2]
    given = np.arange(4, dtype=np.uint32)
    first, second = pipe.dispatch([given], out={"y": place, "z": vw.SKIP})
    assert first is place
    assert (place.tolist(), second) == ([1, 2, 3, 4], None)
    with pytest.raises(vw.InputError, match="'y' has 4 elements"):
        pipe.dispatch([given[:3]], out={"y": place})
    with pytest.raises(vw.UnsupportedFeatureError, match="is on a device"):
        pipe.dispatch([given], out={"y": vw.DEVICE})


# Wide types


WIDE_LOOPS = [
    (vw.i64, -(2**63), -(2**63) + 3, 1),
    (vw.i64, 2**63 - 4, 2**63 - 1, 2),
    (vw.i64, -(2**63), 2**63 - 1, 2**62),
    (vw.i64, 2**63 - 1, -(2**63), -(2**63)),
    (vw.u64, 2**64 - 4, 2**64 - 1, 2),
    (vw.u64, 0, 2**64 - 1, 2**63),
    (vw.u64, 5, 5, 1),
    (vw.i16, 32000, 32767, 500),
]


@pytest.mark.parametrize(("dtype", "start", "stop", "step"), WIDE_LOOPS, ids=str)
def test_loops_of_wide_types(dtype: vw.DType, start: int, stop: int, step: int) -> None:
    b = vw.ProgramBuilder("loop")
    bounds = b.read("bounds", dtype, 3)
    out = b.output("out", dtype, 8)
    b.extent(1)
    n = b.var("n", vw.u32)
    with b.for_range(bounds[0], bounds[1], bounds[2]) as k:
        out[n] = k
        n += 1
    (got,) = run(b, np.array([start, stop, step], dtype.numpy))
    expected = list(range(start, stop, step))
    assert got.tolist() == expected + [0] * (8 - len(expected))


def test_indices_of_every_type_are_out_of_bounds_when_negative_or_large() -> None:
    for dtype in (vw.i8, vw.u8, vw.i16, vw.u16, vw.i32, vw.u32, vw.i64, vw.u64):
        b = vw.ProgramBuilder("bounds")
        index = b.read("index", dtype)
        data = b.read("data", vw.f64, 3)
        out = b.output("out", vw.f64, like=index)
        out[b.global_id()] = data[index[b.global_id()]]
        values = [0, 1, 2, 3, dtype.max, dtype.min or 1]
        (got,) = run(b, np.array(values, dtype.numpy), np.array([5.0, 6.0, 7.0]))
        assert got.tolist() == [5, 6, 7, 0, 0, 0 if dtype.is_signed else 6]


def test_buffers_without_elements() -> None:
    b = vw.ProgramBuilder("none")
    x = b.read_write("x", vw.u32)
    out = b.output("out", vw.u32, 2)
    b.extent(2)
    i = b.global_id()
    out[i] = x[i] + x[0] + b.atomic_add(x, i, 1) + x.length
    x[i] = 3
    changed, got = run(b, np.zeros(0, np.uint32))
    assert (changed.size, got.tolist()) == (0, [0, 0])


# Parts: lanes that run in step are a choice of the interpreter's


@pytest.mark.parametrize("lanes_at_once", [1, 64, 1000, 1 << 16])
def test_results_do_not_depend_on_the_size_of_parts(lanes_at_once: int) -> None:
    b = vw.ProgramBuilder("parts", workgroup_size=(4, 2))
    out = b.output("out", vw.u32, 37 * 11)
    shared = b.workgroup("shared", vw.u32, 8)
    b.extent(37, 11)
    x, y, k = b.global_id(0), b.global_id(1), b.local_id(0) + b.local_id(1) * 4
    shared[k] = x * 100 + y
    b.barrier()
    with b.if_((x < 37) & (y < 11)):
        out[x + y * 37] = shared[7 - k]
    (got,) = run(b, of=ReferenceBackend(lanes_at_once=lanes_at_once))
    yy, xx = np.divmod(np.arange(37 * 11), 37)
    lx, ly = xx % 4, yy % 2
    np.testing.assert_array_equal(got, (xx - lx + 3 - lx) * 100 + (yy - ly + 1 - ly))


def test_values_are_dropped_after_their_last_use() -> None:
    """A long program of many lanes needs little memory."""
    import tracemalloc

    b = vw.ProgramBuilder("long")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    v = x[b.global_id()]
    for step in range(2000):
        v = v * 0.5 + float(step)
    y[b.global_id()] = v
    pipe = ReferenceBackend().compile(b.build())
    tracemalloc.start()
    pipe.fn(np.ones(50_000, np.float32))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6


# Subgroups


@pytest.mark.parametrize("size", [1, 4, 32, 64])
@pytest.mark.parametrize("workgroup", [64, 48, 7])
@pytest.mark.parametrize("extent", [192, 100])
def test_subgroup_operations(size: int, workgroup: int, extent: int) -> None:
    """Relative to the width and to consecutive local indices, over the lanes that run."""
    x = np.random.default_rng(size).integers(0, 1000, extent, np.uint32)
    b = vw.ProgramBuilder("subgroups", workgroup_size=workgroup)
    a = b.read("a", vw.u32)
    names = ["add", "mul", "min", "max", "and", "or", "xor"]
    outs = {n: b.output(n, vw.u32, like=a) for n in [*names, "ballot", "first", "next", "lane"]}
    i = b.global_id()
    v, lane = a[i], b.subgroup_lane()
    for name in names:
        outs[name][i] = getattr(b, f"subgroup_{name}")(v)
    outs["ballot"][i] = b.subgroup_ballot(v % 3 == 0, 1)
    outs["first"][i] = b.subgroup_broadcast(v, 0)
    outs["next"][i] = b.subgroup_shuffle(v, lane + 1)
    outs["lane"][i] = lane
    got = dict(zip(outs, run(b, x, of=ReferenceBackend(subgroup_size=size)), strict=True))
    functions: list[Callable[[Array], Any]] = [
        np.sum, np.prod, np.min, np.max,
        np.bitwise_and.reduce, np.bitwise_or.reduce, np.bitwise_xor.reduce,
    ]  # fmt: skip
    for group in range(0, extent, workgroup):
        for start in range(group, min(group + workgroup, extent), size):
            at = slice(start, min(start + size, group + workgroup, extent))
            values = x[at]
            for name, function in zip(names, functions, strict=True):
                assert (got[name][at] == np.uint32(int(function(values.astype(object)
                        if name in ("add", "mul") else values)) % 2**32)).all()  # fmt: skip
            bits = sum(int(v % 3 == 0) << k for k, v in enumerate(values.tolist()))
            assert (got["ballot"][at] == bits >> 32).all()
            assert (got["first"][at] == values[0]).all()
            np.testing.assert_array_equal(got["next"][at], [*values[1:], 0])
            np.testing.assert_array_equal(got["lane"][at], np.arange(values.size))


def test_ended_lanes_take_no_part_in_subgroup_operations() -> None:
    b = vw.ProgramBuilder("ended", workgroup_size=8)
    out = b.output("out", vw.u32, 8)
    k = b.local_id()
    b.extent(8)
    with b.if_(k % 2 == 1):
        b.return_()
    out[k] = b.subgroup_add(k) + 100 * b.subgroup_shuffle(k, k + 1)
    assert run(b)[0].tolist() == [12, 0, 12, 0, 12, 0, 12, 0]


# Traps


def trapping() -> vw.ProgramBuilder:
    b = vw.ProgramBuilder("trapping", workgroup_size=(4, 4))
    x = b.read("x", vw.i32, 30)
    out = b.output("out", vw.i32, 30)
    b.extent(6, 5)
    at = b.global_id(0) + 6 * b.global_id(1)
    with b.if_(x[at] < 0):
        b.trap("negative", x[at])
    with b.if_(x[at] > 100):
        b.trap("large", at)
    out[at] = x[at]
    return b


def test_the_set_of_traps() -> None:
    """Every trap is known; what is raised is the smallest lane's, or with a seed any."""
    x = np.zeros(30, np.int32)
    x[[7, 20, 28]] = [200, -5, -6]
    program = trapping().build()
    pipe = ReferenceBackend().compile(program)
    everything = {("large", 7, (1, 1)), ("negative", -5, (2, 3)), ("negative", -6, (4, 4))}
    assert pipe.traps([x]) == everything
    report = pipe.examine([x])
    assert (report.outputs, report.traps) == (None, everything)
    with pytest.raises(vw.TrapError) as caught:
        pipe.fn(x)
    assert (caught.value.tag, caught.value.address, caught.value.lane) == ("large", 7, (1, 1))
    assert caught.value.source is not None
    assert caught.value.source[0] == __file__
    raised = set()
    for seed in range(30):
        with pytest.raises(vw.TrapError) as caught:
            ReferenceBackend(seed=seed).compile(program).fn(x)
        raised.add((caught.value.tag, caught.value.address, caught.value.lane))
    assert raised == everything
    assert pipe.traps([np.zeros(30, np.int32)]) == frozenset()


def test_lanes_that_trapped_do_nothing_more() -> None:
    """Also in a program with barriers, where they still meet them."""
    b = vw.ProgramBuilder("barrier", workgroup_size=8)
    count = b.read_write("count", vw.u32, 1)
    b.extent(8)
    with b.for_range(0, 3) as r:
        with b.if_((b.local_id() == 3) & (r == 1)):
            b.trap("three")
        b.barrier()
        old = b.atomic_add(count, 0, 1)
        with b.if_((r == 2) & (old == 21)):
            b.trap("last", old)
    # 8 lanes in the first round, 7 in the others: 22 in all, so the last finds 21.
    traps = ReferenceBackend().compile(b.build()).traps([np.zeros(1, np.uint32)])
    assert {(tag, address) for tag, address, _ in traps} == {("three", 0), ("last", 21)}


def test_a_trap_beyond_the_extent_names_its_lane() -> None:
    """With barriers whole workgroups run."""
    b = vw.ProgramBuilder("beyond", workgroup_size=8)
    b.output("out", vw.u32, 1)
    b.extent(3)
    b.barrier()
    with b.if_(b.global_id() >= 6):
        b.trap("beyond")
    traps = ReferenceBackend().compile(b.build()).traps([])
    assert traps == {("beyond", 0, (6,)), ("beyond", 0, (7,))}


# Endless loops


def endless(barrier: bool) -> vw.Program:
    b = vw.ProgramBuilder("endless", workgroup_size=4)
    out = b.output("out", vw.u32, 8)
    b.extent(8)
    n = b.var("n", vw.u32)
    with b.while_(lambda: (b.global_id() < 6) & (n < 50) | (b.global_id() == 5)):
        n += 1
    if barrier:
        b.barrier()
    out[b.global_id()] = n
    return b.build()


@pytest.mark.parametrize("barrier", [False, True])
def test_an_endless_loop_is_stopped(barrier: bool) -> None:
    pipe = ReferenceBackend(max_iterations=1000).compile(endless(barrier))
    with pytest.raises(vw.LoopLimitError, match=r"1000 loop iterations.*while loop at .*\.py") as e:
        pipe()
    assert isinstance(e.value, vw.LimitError)


@pytest.mark.parametrize("barrier", [False, True])
def test_a_bound_for_each_lane_traps(barrier: bool) -> None:
    """``CompileOptions.max_iterations`` ends only the lanes that pass it."""
    pipe = ReferenceBackend().compile(endless(barrier), vw.CompileOptions(max_iterations=50))
    assert pipe.traps([]) == {("loop-limit", 0, (5,))}
    with pytest.raises(vw.TrapError, match="loop-limit") as caught:
        pipe()
    assert caught.value.source is not None
    pipe = ReferenceBackend().compile(endless(barrier), vw.CompileOptions(max_iterations=49))
    assert {lane for _, _, lane in pipe.traps([])} == {(k,) for k in range(6)}


# Atomics on elements that many lanes share


@pytest.mark.parametrize("name", ["add", "sub", "and", "or", "xor", "min", "max", "exchange"])
@pytest.mark.parametrize("dtype", [vw.i32, vw.u32, vw.i64, vw.u64], ids=str)
@pytest.mark.parametrize("seed", [None, 5])
def test_old_values_form_a_chain(name: str, dtype: vw.DType, seed: int | None) -> None:
    """Replaying the lanes of an element in some order gives every old value and the last one."""
    functions: dict[str, Callable[[Any, Any], Any]] = {
        "add": np.add, "sub": np.subtract, "and": np.bitwise_and, "or": np.bitwise_or,
        "xor": np.bitwise_xor, "min": np.minimum, "max": np.maximum, "exchange": lambda a, v: v,
    }  # fmt: skip
    rng = np.random.default_rng(1)
    lanes = 1500
    where = np.minimum(rng.geometric(0.2, lanes) - 1, 40).astype(np.uint32)  # 0 is crowded
    values = rng.integers(dtype.min, dtype.max, lanes, dtype.numpy, endpoint=True)
    start = rng.integers(dtype.min, dtype.max, 30, dtype.numpy)
    b = vw.ProgramBuilder(name)
    data, index, value = b.read_write("data", dtype), b.read("index", vw.u32), b.read("v", dtype)
    old = b.output("old", dtype, like=index)
    unseen = b.read_write("unseen", dtype)
    i = b.global_id()
    old[i] = getattr(b, f"atomic_{name}")(data, index[i], value[i])
    getattr(b, f"atomic_{name}")(unseen, index[i], value[i])
    b.extent(index.length)
    changed, before, other = run(b, start, where, values, start, of=ReferenceBackend(seed=seed))
    assert (before[where >= 30] == 0).all()
    for element in range(30):
        mine = np.flatnonzero(where == element)
        # An order in which each lane finds what it reports: from value to value.
        left: dict[Any, list[int]] = {}
        for lane in mine.tolist():
            left.setdefault(before[lane].item(), []).append(lane)
        stack, path = [(start[element].item(), -1)], []
        while stack:  # an Eulerian path through old and new values
            current, _ = stack[-1]
            if left.get(current):
                lane = left[current].pop()
                new = functions[name](dtype.numpy.type(current), values[lane]).item()
                stack.append((new, lane))
            else:
                path.append(stack.pop())
        assert len(path) == len(mine) + 1
        assert path[0][0] == changed[element]
    if name != "exchange":
        np.testing.assert_array_equal(other, changed)


@pytest.mark.parametrize("seed", [None, *range(5)])
@pytest.mark.parametrize("lanes", [50, 3000])
def test_compare_exchange_increments(seed: int | None, lanes: int) -> None:
    """A counter raised by retrying compare-exchange counts every lane once."""
    b = vw.ProgramBuilder("retry")
    data, out = b.read_write("data", vw.u32), b.output("out", vw.u32, lanes)
    b.extent(lanes)
    seen = b.var("seen", vw.u32, 0)
    with b.while_(lambda: vw.bool_(True)):
        old = b.atomic_compare_exchange(data, 0, seen, seen + 1)
        with b.if_(old == seen):
            b.break_()
        seen.set(old)
    out[b.global_id()] = seen
    (count, ticket) = run(b, np.zeros(1, np.uint32), of=ReferenceBackend(seed=seed))
    assert count.tolist() == [lanes]
    assert sorted(ticket.tolist()) == list(range(lanes))


def test_float_atomic_add() -> None:
    b = vw.ProgramBuilder("float")
    x, total = b.read("x", vw.f32), b.output("total", vw.f32, 2)
    old = b.output("old", vw.f32, like=x)
    i = b.global_id()
    old[i] = b.atomic_add(total, 0, x[i])
    b.atomic_add(total, 1, x[i])
    b.extent(x.length)
    values = np.arange(200, dtype=np.float32)
    total, before = run(b, values)
    assert total.tolist() == [19900, 19900]
    np.testing.assert_array_equal(before, np.cumsum(values) - values)


def test_uninitialized_memory_holds_anything() -> None:
    b = vw.ProgramBuilder("garbage")
    out = b.output("out", vw.u32, 16)
    memory = b.scratch("memory", vw.u32, 16, uninitialized=True)
    out[b.global_id()] = memory[b.global_id()]
    b.extent(16)
    contents = {run(b, of=ReferenceBackend(seed=s))[0].tobytes() for s in (None, 1, 2)}
    assert len(contents) == 3
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(b, of=ReferenceBackend(detect_races=True))
    assert [w.category.__name__ for w in caught] == ["UnwrittenReadWarning"]
