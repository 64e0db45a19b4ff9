"""Arrays larger than what the device binds at once: dispatches in parts.

Most tests run on a device that was opened with a limit of 4096 bytes, which wgpu enforces.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.ir import ProgramBuilder
from vyre_wgpu.ir.types import ALL_DTYPES, DType

pytestmark = pytest.mark.gpu

LIMIT = 4096


@pytest.fixture(scope="module")
def small() -> Iterator[WgpuBackend]:
    """A backend that binds 4096 bytes at once."""
    with WgpuBackend(max_binding_bytes=LIMIT) as backend:
        assert backend.device.limits.max_binding_size == LIMIT
        yield backend


def copy(dtype: DType = vw.u32) -> vw.Program:
    """y = x."""
    b = ProgramBuilder(f"copy_{dtype}")
    x = b.read("x", dtype)
    y = b.output("y", dtype, like=x)
    y[b.global_id()] = x[b.global_id()]
    return b.build()


def mixed() -> vw.Program:
    """Elements of four sizes, a table, an array in place, a param, an output of half the lanes."""
    b = ProgramBuilder("mixed")
    a = b.param("a", vw.u32)
    x = b.read("x", vw.u32)
    table = b.read("table", vw.u32)
    y = b.read_write("y", vw.u16)
    z = b.output("z", vw.u8, like=x)
    odd = b.output("odd", vw.bool_, like=x)
    b.extent(x.length)
    i = b.global_id()
    y[i] = (y[i].cast(vw.u32) + table[x[i] % table.length]).cast(vw.u16)
    with b.if_((i & 1) == 1):
        z[i] = (x[i] * a).cast(vw.u8)
        odd[i] = x[i] > i
    return b.build()


def limited() -> vw.Program:
    """Traps in the lane whose element is 7, with ten times its index."""
    b = ProgramBuilder("limited")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id()
    with b.if_(x[i] == 7):
        b.trap("seven", address=i * 10)
    y[i] = x[i] + 1
    return b.build()


def same(backend: vw.Backend, program: vw.Program, inputs: Any, **kwargs: Any) -> list[Any]:
    """Runs a program here and on the reference backend, and compares."""
    found = backend.compile(program).dispatch(inputs, **kwargs)
    expected = vw.get_backend("reference").compile(program).dispatch(inputs, **kwargs)
    for result, right in zip(found, expected, strict=True):
        assert (result.dtype, result.shape) == (right.dtype, right.shape)
        np.testing.assert_array_equal(result, right)
    return found


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
@pytest.mark.parametrize("size", [4096, 4097, 10_007])
def test_every_element_type_with_ragged_ends(small: WgpuBackend, dtype: DType, size: int) -> None:
    if dtype.feature is not None and dtype.feature not in small.device.features:
        pytest.skip(f"the device lacks {dtype.feature}")
    bits = np.random.default_rng(size).integers(0, 2, size) == 1
    x = bits if dtype == vw.bool_ else (np.arange(size) % 100).astype(dtype.numpy)
    (y,) = small.compile(copy(dtype)).dispatch([x])
    assert y.dtype == dtype.numpy
    np.testing.assert_array_equal(y, x)


def test_only_what_is_too_large_is_split(small: WgpuBackend) -> None:
    pipe = small.compile(copy())
    for size, parts in ((1, 1), (1024, 1), (1025, 2), (2048, 2), (5000, 5)):
        before = small.stats().dispatches
        x = np.arange(size, dtype=np.uint32)
        np.testing.assert_array_equal(pipe.fn(x), x)
        assert small.stats().dispatches - before == parts


def test_nothing_is_made_again_for_a_shape_that_was_split_before(small: WgpuBackend) -> None:
    pipe, x = small.compile(copy()), np.arange(7000, dtype=np.uint32)
    for _ in range(2):
        pipe.fn(x)
    before = small.stats()
    np.testing.assert_array_equal(pipe.fn(x + 5), x + 5)
    after = small.stats()
    assert (after.buffers_created, after.bind_groups_created, after.lowerings) == (
        before.buffers_created,
        before.bind_groups_created,
        before.lowerings,
    )


@pytest.mark.parametrize("ways", ["host", "resident", "device", "submit", "call", "out"])
def test_mixed_elements_and_a_table(small: WgpuBackend, ways: str) -> None:
    """Every way to give arrays and to take results gives what the oracle gives."""
    rng = np.random.default_rng(3)
    size = 5003
    x = rng.integers(0, 1 << 32, size, np.uint32)
    table = rng.integers(0, 100, 37, np.uint32)
    y = rng.integers(0, 1 << 16, size, np.uint16)
    program = mixed()
    pipe = small.compile(program)
    inputs, params = [x, table, y.copy()], {"a": 3}
    expected = vw.get_backend("reference").compile(program).dispatch(inputs, params)
    match ways:
        case "host":
            found = pipe.dispatch(inputs, params)
        case "submit":
            found = pipe.submit(inputs, params).result()
        case "call":
            found = pipe(*inputs, **params)
        case "out":
            wide = np.full(2 * size, 9, np.uint16)
            out = {"y": wide[::2], "z": np.full(size, 9, np.uint8), "odd": vw.SKIP}
            found = pipe.dispatch(inputs, params, out=out)
            assert found[0] is out["y"]
            assert found[1] is out["z"]
            assert found[2] is None
            assert (wide[1::2] == 9).all()
            found[2] = expected[2]
        case _:
            there = [small.upload(array) for array in inputs]
            if ways == "resident":
                found = pipe.dispatch(there, params)
                assert found[0] is there[2]
                found[0] = there[2].download()
            else:
                results = pipe.dispatch(there, params, out={"z": vw.DEVICE, "odd": vw.DEVICE})
                found = [result.download() for result in results]
                there += results[1:]
            for buffer in there:
                buffer.close()
    for result, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(result, right)
    np.testing.assert_array_equal(y, inputs[2])


def test_ranges_of_one_large_device_buffer(small: WgpuBackend) -> None:
    """Parts of ranges, of which one is read and another written."""
    host = np.arange(8192, dtype=np.uint32)
    with small.upload(host) as whole:
        small.compile(copy()).dispatch([whole[:3000]], out={"y": whole[4096 : 4096 + 3000]})
        host[4096 : 4096 + 3000] = host[:3000]
        np.testing.assert_array_equal(whole.download(), host)


@pytest.mark.parametrize("extent", [1, 255, 1024, 1030, 2500, 2999, 3000, 9000])
def test_extents_that_differ_from_lengths(small: WgpuBackend, extent: int) -> None:
    """Elements beyond the extent are zeros in an output, and stay in an array in place."""
    size = 3000
    b = ProgramBuilder("part")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    z = b.read_write("z", vw.u8)
    short = b.output("short", vw.u16, 1100)
    counter = b.output("counter", vw.u32, 1)
    b.extent(x.length)
    i = b.global_id()
    y[i], z[i] = x[i] + x.length, (i + 1).cast(vw.u8)
    short[i] = i.cast(vw.u16)
    b.atomic_add(counter, 0, 1)
    inputs = [np.arange(size, dtype=np.uint32), np.full(size, 200, np.uint8)]
    config = vw.DispatchConfig(extent=extent)
    assert same(small, b.build(), inputs, config=config)[3].tolist() == [extent]


def test_an_empty_extent_runs_nothing(small: WgpuBackend) -> None:
    x = np.arange(5000, dtype=np.uint32)
    config = vw.DispatchConfig(extent=0)
    before = small.stats().dispatches
    assert not small.compile(copy()).dispatch([x], config=config)[0].any()
    assert small.stats().dispatches == before


def test_shapes_follow_like(small: WgpuBackend) -> None:
    x = np.arange(6000, dtype=np.uint32).reshape(20, 300)
    np.testing.assert_array_equal(small.compile(copy()).fn(x), x)
    np.testing.assert_array_equal(small.compile(copy()).fn(x.T), x.T)


def test_chunks(small: WgpuBackend) -> None:
    data = np.arange(5000, dtype=np.uint32).tobytes()
    assert small.compile(copy()).push_chunk(data)[0].tobytes() == data


def test_a_histogram_is_one_over_all_parts(small: WgpuBackend) -> None:
    """What is bound whole is uploaded and cleared once, and has the sum of all parts."""
    b = ProgramBuilder("histogram")
    x = b.read("x", vw.u8)
    counts = b.read_write("counts", vw.u32)
    last = b.scratch("last", vw.u32, 4)
    seen = b.output("seen", vw.u32, 4)
    b.extent(x.length)
    b.atomic_add(counts, x[b.global_id()].cast(vw.u32), 1)
    b.atomic_max(last, 1, b.global_id())
    b.atomic_max(seen, 2, b.global_id())
    x_host = np.random.default_rng(1).integers(0, 256, 20_011, np.uint8)
    start = np.arange(256, dtype=np.uint32)
    pipe = small.compile(b.build())
    for _ in range(2):
        found, seen_host = pipe.dispatch([x_host, start])
        np.testing.assert_array_equal(found, start + np.bincount(x_host, minlength=256))
        assert seen_host.tolist() == [0, 0, 20_010, 0]


@pytest.mark.parametrize("lanes", [64, 96, 1000])
def test_workgroups_stay_whole(small: WgpuBackend, lanes: int) -> None:
    """Sums of workgroups, with a barrier and ids: the parts begin at whole workgroups."""
    b = ProgramBuilder("sums", workgroup_size=lanes)
    n = b.param("n", vw.u32)
    x = b.read("x", vw.u8)
    sums = b.output("sums", vw.u32, n)
    shared = b.workgroup("shared", vw.u32, lanes)
    b.extent(x.length)
    shared[b.local_id()] = x[b.global_id()].cast(vw.u32)
    b.barrier()
    with b.if_(b.local_id() == 0):
        total = b.var("total", vw.u32, 0)
        with b.for_range(0, lanes) as k:
            total.set(total + shared[k])
        sums[b.workgroup_id()] = total
    x_host = np.random.default_rng(lanes).integers(0, 256, 60_001, np.uint8)
    if lanes == 1000:  # a part is a multiple of 256 and 1000 elements, more than 4096 bytes
        with pytest.raises(vw.LimitError, match="at least 32000 elements"):
            small.compile(b.build()).dispatch([x_host], {"n": 66})
        return
    groups = -(-x_host.size // lanes)
    (found,) = small.compile(b.build()).dispatch([x_host], {"n": groups})
    padded = np.zeros(groups * lanes, np.uint8)
    padded[: x_host.size] = x_host
    np.testing.assert_array_equal(found, padded.reshape(groups, lanes).sum(1, np.uint32))


def test_traps_name_the_logical_lane(small: WgpuBackend) -> None:
    """A trap in the third part: no result, destinations unchanged, and the pipeline goes on."""
    pipe, x = small.compile(limited()), np.zeros(5000, np.uint32)
    x[2345] = 7
    y = np.full(5000, 9, np.uint32)
    for run in (
        lambda: pipe.dispatch([x], out={"y": y}),
        lambda: pipe.dispatch([x]),
        lambda: pipe.dispatch([x], out={"y": vw.DEVICE}),
        lambda: pipe.submit([x], out={"y": y}).result(),
    ):
        with pytest.raises(vw.TrapError) as caught:
            run()
        assert (caught.value.tag, caught.value.address) == ("seven", 23_450)
        assert caught.value.lane == (2345,)
        assert (y == 9).all()
    x[2345] = 0
    np.testing.assert_array_equal(pipe.dispatch([x], out={"y": y})[0], x + 1)
    x[4999] = 7  # in the last part, the one that a future waits for
    future = pipe.submit([x])
    with pytest.raises(vw.TrapError) as caught:
        future.result()
    assert caught.value.lane == (4999,)


def test_accesses_out_of_bounds_trap_with_logical_index_and_length(small: WgpuBackend) -> None:
    b = ProgramBuilder("beyond")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u8, x.length - 3)
    b.extent(x.length)
    y[b.global_id()] = x[b.global_id()].cast(vw.u8)
    options = vw.CompileOptions(checks="trap")
    with pytest.raises(vw.BoundsTrapError) as caught:
        small.compile(b.build(), options).dispatch([np.zeros(5001, np.uint32)])
    assert caught.value.lane[0] in (4998, 4999, 5000)
    assert (caught.value.index, caught.value.length) == (caught.value.lane[0], 4998)


@pytest.mark.parametrize("checks", ["total", "trap", "trusted"])
def test_all_checks_and_no_passes(small: WgpuBackend, checks: Any) -> None:
    x = np.arange(5000, dtype=np.uint32)
    for passes in (True, False):
        options = vw.CompileOptions(checks=checks, passes=passes, workgroup_size=64)
        np.testing.assert_array_equal(small.compile(copy(), options).fn(x), x)


def test_an_atomic_on_ones_own_element(small: WgpuBackend) -> None:
    b = ProgramBuilder("own_atomic")
    x = b.read_write("x", vw.u32)
    old = b.output("old", vw.u32, like=x)
    i = b.global_id()
    b.extent(x.length)
    old[i] = b.atomic_add(x, i, i)
    x_host = np.arange(3000, dtype=np.uint32) * 7
    same(small, b.build(), [x_host])


@pytest.mark.parametrize(("start", "to"), [(0, 0), (0, 1), (0, 3000), (1, 0), (3000, 0)])
def test_destinations_that_overlap_inputs(small: WgpuBackend, start: int, to: int) -> None:
    """Inputs are taken first, also by parts that run after results of others are there."""
    memory, size = np.arange(12_000, dtype=np.uint32), 9000
    expected = memory[start : start + size].copy()
    out = {"y": memory[to : to + size]}
    (found,) = small.compile(copy()).dispatch([memory[start : start + size]], out=out)
    assert found is out["y"]
    np.testing.assert_array_equal(found, expected)


def test_surplus_workgroups_of_a_folded_part_do_not_run() -> None:
    """Rows of a folded launch have equal lengths; what is too much is not the next part's."""
    size = 2 * 131_584  # in each part three rows of workgroups of one lane, two lanes too many
    b = ProgramBuilder("count", workgroup_size=1)
    x = b.read("x", vw.u8)
    counter = b.output("counter", vw.u32, 1)
    b.extent(x.length)
    b.atomic_add(counter, 0, x[b.global_id()].cast(vw.u32) + 1)
    with WgpuBackend(max_binding_bytes=size // 2) as backend:
        pipe = backend.compile(b.build())
        assert pipe.fn(np.zeros(size, np.uint8)).tolist() == [size]
        assert backend.stats().dispatches == 2


def neighbours() -> vw.Program:
    b = ProgramBuilder("neighbours")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    y[b.global_id()] = x[b.global_id() + 1]
    return b.build()


def scattered() -> vw.Program:
    b = ProgramBuilder("scattered")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    y[x[b.global_id()]] = 1
    return b.build()


def counting() -> vw.Program:
    b = ProgramBuilder("counting")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    y[b.global_id()] = x[b.global_id()] + b.num_workgroups()
    return b.build()


def plane() -> vw.Program:
    b = ProgramBuilder("plane")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    b.extent(x.length, 1)
    y[b.global_id()] = x[b.global_id()]
    return b.build()


@pytest.mark.parametrize(
    ("program", "name", "reason"),
    [
        (neighbours, "x", r"another index than global_id\(0\) at .*test_split.py:\d+"),
        (scattered, "y", r"another index than global_id\(0\) at .*test_split.py:\d+"),
        (counting, "x", "num_workgroups"),
        (plane, "x", "one axis"),
    ],
)
def test_programs_that_are_not_split(
    small: WgpuBackend, program: Any, name: str, reason: str
) -> None:
    """The error names buffer, size, limit and reason; below the limit they run."""
    pipe = small.compile(program())
    message = f"buffer '{name}' has 4100 bytes, more than the {LIMIT} bytes .*{reason}"
    with pytest.raises(vw.LimitError, match=message):
        pipe.fn(np.zeros(1025, np.uint32))
    assert pipe.fn(np.zeros(1024, np.uint32)).size == 1024


def test_recordings_and_grids_of_the_device_are_not_split(small: WgpuBackend) -> None:
    pipe, x = small.compile(copy()), np.arange(3000, dtype=np.uint32)
    with small.record() as recording, pytest.raises(vw.LimitError, match="recording"):
        recording.add(pipe, [x])
    recording.close()
    with small.upload(np.ones(3, np.uint32)) as grid:
        config = vw.DispatchConfig(grid=vw.Indirect(grid))
        with pytest.raises(vw.LimitError, match="grid"):
            pipe.dispatch([x], config=config)


def test_budgets_count_the_whole(small: WgpuBackend) -> None:
    pipe, x = small.compile(copy()), np.arange(3000, dtype=np.uint32)
    with pytest.raises(vw.OutputBudgetError, match="12000 bytes"):
        pipe.dispatch([x], config=vw.DispatchConfig(max_output_bytes=11_999))
    pipe.dispatch([x], config=vw.DispatchConfig(max_output_bytes=12_000))


def test_deadlines(small: WgpuBackend) -> None:
    """One that has passed at the first wait: the pipeline works afterwards; destinations stay."""
    pipe, x = small.compile(copy()), np.arange(1_000_000, dtype=np.uint32)
    y = np.full(x.size, 9, np.uint32)
    config = vw.DispatchConfig(deadline=1e-9)
    with pytest.raises(vw.DispatchTimeoutError):
        pipe.dispatch([x], config=config, out={"y": y})
    with pytest.raises(vw.DispatchTimeoutError):
        pipe.submit([x], config=config, out={"y": y}).result()
    assert (y == 9).all()
    config = vw.DispatchConfig(deadline=1000.0)
    np.testing.assert_array_equal(pipe.dispatch([x[:9000]], config=config)[0], x[:9000])


def test_futures_take_inputs_at_once(small: WgpuBackend) -> None:
    pipe, x = small.compile(copy()), np.arange(9000, dtype=np.uint32)
    futures = []
    for number in range(5):
        futures.append(pipe.submit([x]))
        x += number
    x = np.arange(9000, dtype=np.uint32)
    for number, future in enumerate(futures):
        np.testing.assert_array_equal(future.result()[0], x)
        x += number


def test_uniform_dispatch_blocks() -> None:
    """The base element goes the same way where there are no immediates; a lost device recovers."""
    with WgpuBackend(immediates=False, max_binding_bytes=LIMIT) as backend:
        pipe, x = backend.compile(copy()), np.arange(9000, dtype=np.uint32)
        np.testing.assert_array_equal(pipe.fn(x), x)
        backend.lose_device()
        with pytest.raises(vw.DeviceLostError):
            pipe.fn(x)
        backend.recover()
        assert backend.device.limits.max_binding_size == LIMIT
        np.testing.assert_array_equal(pipe.fn(x), x)


def test_the_variant_comes_from_the_disk_cache(cache_folder: Any) -> None:
    x = np.arange(3000, dtype=np.uint32)
    for lowerings in (2, 0):
        with WgpuBackend(max_binding_bytes=LIMIT) as backend:
            np.testing.assert_array_equal(backend.compile(copy()).fn(x), x)
            assert backend.stats().lowerings == lowerings


@pytest.mark.parametrize("limit", [0, -1, 4095, 1.5, True, "1"])
def test_limits_that_are_none(limit: Any) -> None:
    with pytest.raises(vw.InputError, match="max_binding_bytes"):
        WgpuBackend(max_binding_bytes=limit)


@pytest.mark.slow
def test_arrays_above_the_real_limit(backend: WgpuBackend) -> None:
    """A multiply-add, host arrays and device buffers, on a device as it is."""
    limit = backend.device.limits.max_binding_size
    size = limit // 4 + (8 << 20) + 3
    if size > 1 << 27:
        pytest.skip("this device binds more than a test should take")
    b = ProgramBuilder("saxpy")
    a = b.param("a", vw.f32)
    x = b.read("x", vw.f32)
    y = b.read_write("y", vw.f32)
    b.extent(x.length)
    i = b.global_id()
    y[i] = a * x[i] + y[i]
    pipe = backend.compile(b.build())
    x_host = (np.arange(size, dtype=np.uint32) & 1023).astype(np.float32)
    y_host = np.full(size, 0.5, np.float32)
    expected = 2 * x_host + y_host
    np.testing.assert_array_equal(pipe.dispatch([x_host, y_host], {"a": 2.0})[0], expected)
    with backend.upload(x_host) as x_there, backend.upload(y_host) as y_there:
        pipe.dispatch([x_there, y_there], {"a": 2.0})
        np.testing.assert_array_equal(y_there.download(), expected)


def test_threads_split_at_the_same_time(small: WgpuBackend) -> None:
    pipe = small.compile(mixed())

    def run(seed: int) -> bool:
        x = np.random.default_rng(seed).integers(0, 1 << 32, 3000 + seed, np.uint32)
        y = np.zeros(x.size, np.uint16)
        found, _, odd = pipe.dispatch([x, np.full(3, seed, np.uint32), y], {"a": seed})
        lanes = np.arange(x.size)
        return bool((found == seed).all() and (odd == ((lanes % 2 == 1) & (x > lanes))).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(40)))


def test_nothing_stays_lent(small: WgpuBackend) -> None:
    """Buffers of all parts go back, after results, traps, deadlines and refusals alike."""
    b = ProgramBuilder("table")
    data, table = b.read("data", vw.u32), b.read("table", vw.u32)
    out = b.output("out", vw.u32, like=data)
    b.extent(data.length)
    i = b.global_id()
    with b.if_(data[i] == 7):
        b.trap("seven", address=i)
    out[i] = table[data[i] & 3]
    pipe = small.compile(b.build())
    x, numbers = np.zeros(5000, np.uint32), np.arange(4, dtype=np.uint32)

    def lent() -> int:
        statistics = small._generations.current.submitter.statistics()[0]
        return statistics.bytes - statistics.idle_bytes

    pipe.fn(x, numbers)
    before = lent()
    for place, error in ((100, vw.TrapError), (4999, vw.TrapError), (None, None)):
        x[:] = 0
        if place is not None:
            x[place] = 7
        for run in (
            lambda: pipe.dispatch([x, numbers]),
            lambda: pipe.submit([x, numbers]).result(),
            lambda: [r.close() for r in pipe.dispatch([x, numbers], out={"out": vw.DEVICE})],
        ):
            if error is None:
                run()
            else:
                with pytest.raises(error):
                    run()
    pipe.fn(x, numbers)  # takes back what an abandoned part used
    assert lent() == before
