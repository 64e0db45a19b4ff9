"""One contract, whichever way a program is run: alone, with destinations, later, or recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.ir import ProgramBuilder
from vyre_wgpu.pipeline.pipeline import WgpuPipeline

pytestmark = pytest.mark.gpu

Array = npt.NDArray[Any]
Way = Callable[..., list[Any]]
"""Runs a pipeline: ``way(backend, pipe, inputs, params=None, config=None)`` gives its results."""


def dispatched(
    _: WgpuBackend, pipe: WgpuPipeline, inputs: list[Any], params: Any = None, config: Any = None
) -> list[Any]:
    return pipe.dispatch(inputs, params, config=config)


def into_destinations(
    _: WgpuBackend, pipe: WgpuPipeline, inputs: list[Any], params: Any = None, config: Any = None
) -> list[Any]:
    """As `dispatched`, the second time into the arrays of the first."""
    sizes = pipe.dispatch(inputs, params, config=config)
    out = {b.name: np.full_like(s, 77) for b, s in zip(pipe.program.outputs, sizes, strict=True)}
    return pipe.dispatch(inputs, params, config=config, out=out)


def submitted(
    _: WgpuBackend, pipe: WgpuPipeline, inputs: list[Any], params: Any = None, config: Any = None
) -> list[Any]:
    return pipe.submit(inputs, params, config=config).result()


def awaited(
    _: WgpuBackend, pipe: WgpuPipeline, inputs: list[Any], params: Any = None, config: Any = None
) -> list[Any]:
    async def run() -> list[Any]:
        return await pipe.submit(inputs, params, config=config)

    return asyncio.run(run())


def called_back(
    _: WgpuBackend, pipe: WgpuPipeline, inputs: list[Any], params: Any = None, config: Any = None
) -> list[Any]:
    import queue

    done: queue.Queue[Any] = queue.Queue()
    pipe.submit(inputs, params, config=config).add_done_callback(done.put)
    results: list[Any] = done.get(timeout=60).result(0)
    return results


def pushed(
    backend: WgpuBackend,
    pipe: WgpuPipeline,
    inputs: list[Any],
    params: Any = None,
    config: Any = None,
) -> list[Any]:
    if config is not None or len(inputs) != 1:
        return dispatched(backend, pipe, inputs, params, config)
    return pipe.push_chunk(inputs[0], params)


def replayed(
    backend: WgpuBackend,
    pipe: WgpuPipeline,
    inputs: list[Any],
    params: Any = None,
    config: Any = None,
) -> list[Any]:
    """Recorded between two dispatches of another program, and replayed twice."""
    other = backend.compile(shift())
    numbers = np.arange(70, dtype=np.uint32)
    deadline = None
    if config is not None and config.deadline is not None:
        deadline, config = config.deadline, None
    with backend.record() as recording:
        first = recording.add(other, [numbers])
        handle = recording.add(pipe, inputs, params, config=config)
        last = recording.add(other, [numbers])
    try:
        recording.replay(deadline=deadline)
        before = handle.result()
        recording.replay(deadline=deadline)
        for result, earlier in zip(handle.result(), before, strict=True):
            assert result is not earlier
            np.testing.assert_array_equal(result, earlier)
        for result in (first, last):
            np.testing.assert_array_equal(result.result()[0], numbers + 5)
        return handle.result()
    finally:
        recording.close()


WAYS: list[Way] = [
    dispatched,
    into_destinations,
    submitted,
    awaited,
    called_back,
    pushed,
    replayed,
]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def way(request: pytest.FixtureRequest) -> Way:
    found: Way = request.param
    return found


@pytest.fixture
def own() -> Iterator[WgpuBackend]:
    with WgpuBackend() as backend:
        yield backend


def shift() -> vw.Program:
    b = ProgramBuilder("shift")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    y[b.global_id(0)] = x[b.global_id(0)] + 5
    return b.build()


def scale_odd() -> vw.Program:
    """y = a * x where x is odd, z the number of those; traps at 1000."""
    b = ProgramBuilder("scale-odd")
    a = b.param("a", vw.u32)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    z = b.output("z", vw.u32, count=1)
    b.extent(x.length)
    i = b.global_id(0)
    with b.if_(x[i] == 1000):
        b.trap("thousand", address=i)
    with b.if_((x[i] & 1) == 1):
        y[i] = a * x[i]
        b.atomic_add(z, 0, 1)
    return b.build()


def test_results(backend: WgpuBackend, way: Way) -> None:
    pipe = backend.compile(scale_odd())
    for size in (1, 300, 301):
        x = np.arange(size, dtype=np.uint32)
        for a in (3, 4):
            y, z = way(backend, pipe, [x], {"a": a})
            np.testing.assert_array_equal(y, np.where(x % 2 == 1, a * x, 0))
            assert z.tolist() == [size // 2]


def test_outputs_start_as_zeros(backend: WgpuBackend, way: Way) -> None:
    pipe = backend.compile(scale_odd())
    odd, even = np.full(500, 9, np.uint32), np.full(500, 8, np.uint32)
    assert (way(backend, pipe, [odd], {"a": 3})[0] == 27).all()
    y, z = way(backend, pipe, [even], {"a": 3})
    assert not y.any()
    assert not z.any()


def test_a_trap_is_raised_and_forgotten(backend: WgpuBackend, way: Way) -> None:
    pipe = backend.compile(scale_odd())
    x = np.arange(300, dtype=np.uint32)
    x[123] = 1000
    with pytest.raises(vw.TrapError, match="thousand") as caught:
        way(backend, pipe, [x], {"a": 3})
    assert (caught.value.address, caught.value.lane) == (123, (123,))
    x[123] = 1
    assert way(backend, pipe, [x], {"a": 3})[0][123] == 3


def test_the_budget_of_outputs(backend: WgpuBackend, way: Way) -> None:
    pipe = backend.compile(scale_odd())
    x = np.arange(300, dtype=np.uint32)
    with pytest.raises(vw.OutputBudgetError, match="1204 bytes"):
        way(backend, pipe, [x], {"a": 3}, vw.DispatchConfig(max_output_bytes=1203))
    config = vw.DispatchConfig(max_output_bytes=1204)
    assert way(backend, pipe, [x], {"a": 3}, config)[1].tolist() == [150]


def test_a_deadline_that_is_kept(backend: WgpuBackend, way: Way) -> None:
    pipe = backend.compile(scale_odd())
    x = np.arange(300, dtype=np.uint32)
    y, _ = way(backend, pipe, [x], {"a": 3}, vw.DispatchConfig(deadline=600))
    assert y[299] == 897


def test_a_deadline_that_has_passed(own: WgpuBackend, way: Way) -> None:
    """The device is told to take long by a wait that finds nothing done."""
    pipe = own.compile(scale_odd())
    x = np.arange(300, dtype=np.uint32)
    with pytest.MonkeyPatch.context() as patch:
        wait = own.device.calls.wait
        patch.setattr(
            own.device.calls,
            "wait",
            lambda mapping, deadline: False if deadline is not None else wait(mapping, None),
        )
        with pytest.raises(vw.DispatchTimeoutError, match="did not end before its deadline"):
            way(own, pipe, [x], {"a": 3}, vw.DispatchConfig(deadline=1e-9))
    for _ in range(3):
        assert way(own, pipe, [x], {"a": 3})[0][299] == 897


@pytest.mark.parametrize("deadline", [0, -1.0, float("nan"), "1", True])
def test_a_deadline_that_is_no_time(backend: WgpuBackend, way: Way, deadline: Any) -> None:
    pipe = backend.compile(scale_odd())
    config = vw.DispatchConfig(deadline=deadline)
    with pytest.raises(vw.InputError, match="deadline"):
        way(backend, pipe, [np.arange(3, dtype=np.uint32)], {"a": 3}, config)


def test_nothing_to_run(backend: WgpuBackend, way: Way) -> None:
    pipe = backend.compile(scale_odd())
    y, z = way(backend, pipe, [np.zeros(0, np.uint32)], {"a": 3})
    assert y.shape == (0,)
    assert z.tolist() == [0]


@pytest.mark.parametrize(
    ("inputs", "params", "message"),
    [
        ([np.zeros(3, np.float32)], {"a": 1}, "'x' has dtype float32"),
        ([np.zeros(3, np.uint32)], {}, "'a'.* is missing"),
        ([np.zeros(3, np.uint32)], {"a": -1}, "'a' is -1"),
        ([np.zeros(3, np.uint32)], {"a": 1, "c": 2}, "'c' is unknown"),
        ([None], {"a": 1}, "'x' is None"),
    ],
)
def test_wrong_input(
    backend: WgpuBackend, way: Way, inputs: list[Any], params: dict[str, Any], message: str
) -> None:
    pipe = backend.compile(scale_odd())
    with pytest.raises(vw.InputError, match=message):
        way(backend, pipe, inputs, params)


def test_a_lost_device(own: WgpuBackend, way: Way) -> None:
    """It is told of until the backend recovers; then the same pipeline works, not lowered again."""
    pipe, traps = own.compile(scale_odd()), own.compile(scale_odd(), vw.CompileOptions("trap"))
    x = np.arange(300, dtype=np.uint32)
    config = vw.DispatchConfig(label="before the loss")
    for _ in range(4):  # so that leases, and commands that are encoded ahead, are there
        way(own, pipe, [x], {"a": 3}, config)
    lowered = own.stats().lowerings
    for reason in ("pulled out", "pulled out again"):
        own.lose_device(reason)
        for _ in range(2):
            with pytest.raises(vw.DeviceLostError, match=rf"was lost: {reason}\. Fix:.*recover"):
                way(own, pipe, [x], {"a": 3})
        own.recover()
        for size in (300, 5):
            for kind in (pipe, traps):  # the latter has not run before
                y, z = way(own, kind, [x[:size]], {"a": 3}, config)
                np.testing.assert_array_equal(y, np.where(x[:size] % 2 == 1, 3 * x[:size], 0))
                assert z.tolist() == [size // 2]
        with pytest.raises(vw.TrapError, match="thousand"):
            way(own, pipe, [np.full(3, 1000, np.uint32)], {"a": 3})
    assert own.stats().lowerings == lowered


def test_a_closed_device(way: Way) -> None:
    backend = WgpuBackend()
    pipe = backend.compile(scale_odd())
    x = np.arange(300, dtype=np.uint32)
    way(backend, pipe, [x], {"a": 3})
    backend.close()
    with pytest.raises(vw.DeviceLostError, match="closed"):
        way(backend, pipe, [x], {"a": 3})
