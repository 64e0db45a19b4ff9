"""What a user sees of a compiled program."""

from __future__ import annotations

import asyncio
import inspect
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.errors import InputError, LimitError, OutputBudgetError, TrapError
from vyre_wgpu.pipeline import DispatchConfig
from vyre_wgpu.pipeline.pipeline import WgpuPipeline

pytestmark = pytest.mark.gpu


def saxpy(backend: WgpuBackend) -> WgpuPipeline:
    b = vw.ProgramBuilder("saxpy")
    a = b.param("a", vw.f32)
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id(0)
    y[i] = a * x[i] + 1.0
    return backend.compile(b.build())


def checked(backend: WgpuBackend) -> tuple[WgpuPipeline, int]:
    """y = x, trapping on 13; and the line of the trap."""
    b = vw.ProgramBuilder("checked")
    x = b.read("x", vw.i32)
    y = b.output("y", vw.i32, like=x)
    i = b.global_id(0)
    with b.if_(x[i] == 13):
        b.trap("unlucky", address=i)
    line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    y[i] = x[i]
    return backend.compile(b.build()), line


X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)


def test_every_way_to_call_gives_the_same(backend: WgpuBackend) -> None:
    pipe = saxpy(backend)
    want = 2 * X + 1
    for outs in (
        pipe.dispatch([X], {"a": 2.0}),
        pipe.dispatch({"x": X}, params={"a": 2.0}),
        pipe(X, a=2.0),
        [pipe.fn(X, a=2.0)],
        [pipe.push_chunk(X.tobytes(), {"a": 2.0})[0].reshape(X.shape)],
    ):
        assert isinstance(outs, list)
        (y,) = outs
        assert y.shape == X.shape
        assert y.dtype == np.float32
        np.testing.assert_allclose(y, want, rtol=1e-6)


def test_results_own_their_memory_and_are_fresh(backend: WgpuBackend) -> None:
    pipe = saxpy(backend)
    first = pipe.fn(X, a=1.0)
    kept = first.copy()
    second = pipe.fn(X, a=5.0)
    assert first.flags.owndata
    assert first.flags.writeable
    assert not np.shares_memory(first, second)
    assert (first == kept).all()


@pytest.mark.parametrize(
    "x",
    [X.astype(">f4"), X[:, ::-1, ::2], np.asfortranarray(X), X.T, np.float32(0.5), X[:0]],
    ids=["big-endian", "strided", "fortran", "transposed", "scalar", "empty"],
)
def test_unusual_arrays_give_the_right_result(backend: WgpuBackend, x: Any) -> None:
    y = saxpy(backend).fn(x, a=2.0)
    assert y.shape == x.shape
    np.testing.assert_allclose(y, 2 * x.astype(np.float32) + 1, rtol=1e-6)


@pytest.mark.usefixtures("no_disk_cache")
def test_a_hundred_sizes_compile_once_and_a_seen_shape_makes_nothing() -> None:
    with WgpuBackend() as own:
        pipe = saxpy(own)
        for n in range(1, 101):
            pipe.fn(np.ones(n * 37, np.float32), a=2.0)
        before = own.stats()
        assert before.lowerings == before.modules_created == 1
        for n in range(1, 101):
            pipe.fn(np.ones(n * 37, np.float32), a=3.0)
        after = own.stats()
        assert after.dispatches - before.dispatches == 100
        for counter in ("lowerings", "modules_created", "bind_groups_created", "buffers_created"):
            assert getattr(after, counter) == getattr(before, counter), counter
        assert after.bytes_pooled == before.bytes_pooled


def test_read_write_is_copied_in_returned_and_left_alone(backend: WgpuBackend) -> None:
    b = vw.ProgramBuilder("increment")
    x = b.read_write("x", vw.u32)
    i = b.global_id(0)
    x[i] = x[i] + 1
    pipe = backend.compile(b.build())
    value = np.arange(6, dtype=np.uint32).reshape(2, 3)
    kept = value.copy()
    got = pipe.fn(value)
    assert (value == kept).all()
    assert (got == kept + 1).all()
    assert got.shape == (2, 3)
    unchanged = pipe.dispatch([value], config=DispatchConfig(extent=0))[0]
    assert (unchanged == kept).all()
    assert not np.shares_memory(unchanged, value)


def test_results_come_in_declaration_order_and_fn_gives_a_tuple(backend: WgpuBackend) -> None:
    b = vw.ProgramBuilder("many")
    second = b.output("second", vw.u32, count=2)
    x = b.read_write("x", vw.u32)
    last = b.output("last", vw.u32, count=3)
    b.extent(1)
    second[1] = 22
    x[0] = 1
    last[2] = 33
    results = backend.compile(b.build()).fn(np.zeros(1, np.uint32))
    assert isinstance(results, tuple)
    assert [r.tolist() for r in results] == [[0, 22], [1], [0, 0, 33]]


def test_no_result_is_an_empty_tuple(backend: WgpuBackend) -> None:
    b = vw.ProgramBuilder("silent")
    s = b.scratch("s", vw.u32, count=1)
    b.extent(1)
    s[0] = 1
    pipe = backend.compile(b.build())
    assert pipe.fn() == ()
    assert pipe() == []


def test_an_extent_of_zero_runs_nothing_and_gives_zeros(backend: WgpuBackend) -> None:
    b = vw.ProgramBuilder("ones")
    y = b.output("y", vw.u32, count=3)
    b.extent(3)
    y[b.global_id(0)] = 1
    pipe = backend.compile(b.build())
    before = backend.stats()
    assert pipe.dispatch([], config=DispatchConfig(extent=0))[0].tolist() == [0, 0, 0]
    assert backend.stats().dispatches == before.dispatches
    assert pipe.dispatch([], config=DispatchConfig(extent=2))[0].tolist() == [1, 1, 0]


def test_scratch_starts_as_zeros_in_used_memory(backend: WgpuBackend) -> None:
    b = vw.ProgramBuilder("scratch")
    s = b.scratch("s", vw.u32, count=64)
    y = b.output("y", vw.u32, count=64)
    b.extent(64)
    i = b.global_id(0)
    y[i] = s[i]
    s[i] = 7
    pipe = backend.compile(b.build())
    for _ in range(3):
        assert not pipe.fn().any()


def test_grid_is_workgroups_of_the_declared_size(backend: WgpuBackend) -> None:
    b = vw.ProgramBuilder("grid", workgroup_size=(8, 4))
    y = b.output("y", vw.u32, count=1)
    b.extent(1, 1)
    b.atomic_add(y, 0, 1)
    pipe = backend.compile(b.build())
    assert pipe.dispatch([], config=DispatchConfig(grid=(3, 2)))[0][0] == 3 * 2 * 32


@pytest.mark.parametrize("extent", [(70_001, 1, 1), (1, 70_001, 1), (1, 1, 70_001), (300, 301, 2)])
def test_folded_extents_run_every_element_once(
    backend: WgpuBackend, extent: tuple[int, int, int]
) -> None:
    b = vw.ProgramBuilder("count", workgroup_size=1)
    nx, ny, nz = (b.param(n, vw.u32) for n in ("nx", "ny", "nz"))
    y = b.output("y", vw.u32, count=nx * ny * nz)
    b.extent(nx, ny, nz)
    b.atomic_add(y, b.global_id(0) + nx * (b.global_id(1) + ny * b.global_id(2)), 1)
    pipe = backend.compile(b.build())
    assert (pipe.fn(**dict(zip(("nx", "ny", "nz"), extent, strict=True))) == 1).all()


def test_trap_is_an_exception_and_everything_stays_usable(backend: WgpuBackend) -> None:
    pipe, line = checked(backend)
    x = np.arange(14, 1014, dtype=np.int32)
    x[700] = 13
    traps = backend.stats().traps
    with pytest.raises(TrapError) as raised:
        pipe.dispatch([x])
    error = raised.value
    assert (error.tag, error.address, error.lane) == ("unlucky", 700, (700,))
    assert (error.program, error.source) == ("checked", (__file__, line))
    assert backend.stats().traps == traps + 1
    x[700] = 1
    assert (pipe.fn(x) == x).all()


def test_trap_names_the_program_that_ran_not_the_one_first_compiled(
    backend: WgpuBackend,
) -> None:
    programs = []
    for name in ("one", "two"):
        b = vw.ProgramBuilder(name)
        b.extent(1)
        b.output("y", vw.u32, count=1)
        b.trap("always", address=0)
        programs.append(b.build())
    assert programs[0].fingerprint == programs[1].fingerprint
    for program in programs:
        with pytest.raises(TrapError) as raised:
            backend.compile(program).dispatch([])
        assert raised.value.program == program.name


def test_trap_lane_has_an_index_for_each_axis(backend: WgpuBackend) -> None:
    b = vw.ProgramBuilder("axes", workgroup_size=(4, 4))
    b.output("y", vw.u32, count=1)
    b.extent(10, 7)
    x, y = b.global_id(0), b.global_id(1)
    with b.if_((x == 6) & (y == 5)):
        b.trap("here", address=x)
    with pytest.raises(TrapError) as raised:
        backend.compile(b.build()).dispatch([])
    assert raised.value.lane == (6, 5)


def test_budget_stops_before_anything_runs(backend: WgpuBackend) -> None:
    pipe = saxpy(backend)
    before = backend.stats()
    with pytest.raises(OutputBudgetError, match="96 bytes"):
        pipe.dispatch([X], {"a": 1.0}, config=DispatchConfig(max_output_bytes=95))
    assert backend.stats() == before


def test_an_array_over_the_binding_limit_names_buffer_size_and_limit(
    backend: WgpuBackend,
) -> None:
    b = vw.ProgramBuilder("neighbours")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    y[i] = x[i] + x[i + 1]
    pipe = backend.compile(b.build())
    limit = backend.device.limits.max_binding_size
    elements = limit // 4 + 4
    if elements > 1 << 31:
        pytest.skip("this device binds more than a dispatch can hold")
    huge = np.broadcast_to(np.float32(1), (elements,))
    with pytest.raises(LimitError, match=rf"buffer 'x' has {elements * 4} bytes, more than"):
        pipe.fn(huge)


def test_wrong_input_raises_and_the_next_dispatch_works(backend: WgpuBackend) -> None:
    pipe = saxpy(backend)
    for wrong in (
        lambda: pipe(X.astype(np.float64), a=1.0),
        lambda: pipe(X),
        lambda: pipe(a=1.0),
        lambda: pipe(X, X, a=1.0),
        lambda: pipe(X, b=1.0),
        lambda: pipe.push_chunk(b"123", {"a": 1.0}),
    ):
        with pytest.raises(InputError):
            wrong()
        np.testing.assert_allclose(pipe.fn(X, a=1.0), X + 1, rtol=1e-6)


def test_bytes_feed_a_program_of_bytes(backend: WgpuBackend) -> None:
    b = vw.ProgramBuilder("sum")
    x = b.read("x", vw.u8)
    total = b.output("total", vw.u32, count=1)
    b.extent(x.length)
    b.atomic_add(total, 0, x[b.global_id(0)].cast(vw.u32))
    pipe = backend.compile(b.build())
    for n in (0, 1, 2, 3, 4, 5, 1001):
        data = bytes(range(256)) * 4
        assert pipe.push_chunk(data[:n])[0][0] == sum(data[:n])


def test_pipeline_pickles_as_program_and_options(backend: WgpuBackend) -> None:
    pipe = saxpy(backend)
    again = pickle.loads(pickle.dumps(pipe))
    assert isinstance(again, WgpuPipeline)
    assert again.program == pipe.program
    assert again.options == pipe.options
    assert again.wgsl == pipe.wgsl
    assert (again.fn(X, a=2.0) == pipe.fn(X, a=2.0)).all()


def test_pipeline_shows_program_and_shader(backend: WgpuBackend) -> None:
    pipe = saxpy(backend)
    assert "fn main(" in pipe.wgsl
    assert "saxpy" in repr(pipe)


def test_threads_share_a_pipeline(backend: WgpuBackend) -> None:
    pipe, _ = checked(backend)

    def work(seed: int) -> bool:
        x = np.arange(14, 14 + seed * 31, dtype=np.int32)
        if seed % 4 == 0:
            x[seed] = 13
            with pytest.raises(TrapError) as raised:
                pipe.dispatch([x])
            return raised.value.address == seed
        return bool((pipe.fn(x) == x).all())

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(1, 120)))


def test_dispatch_works_inside_an_event_loop(backend: WgpuBackend) -> None:
    async def run() -> Any:
        return saxpy(backend).fn(X, a=2.0)

    assert asyncio.run(run()).shape == X.shape


def test_labels_of_any_text_are_taken(backend: WgpuBackend) -> None:
    pipe = saxpy(backend)
    for label in ("größe", "a\0b", "\udcff", "x" * 10_000):
        pipe.dispatch([X], {"a": 1.0}, config=DispatchConfig(label=label))
