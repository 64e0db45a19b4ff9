"""Futures beyond the contract that all ways of running share."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.ir import ProgramBuilder
from vyre_wgpu.pipeline.pipeline import WgpuPipeline

pytestmark = pytest.mark.gpu


def program() -> vw.Program:
    b = ProgramBuilder("add")
    a = b.param("a", vw.u32)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    y[b.global_id(0)] = x[b.global_id(0)] + a
    return b.build()


@pytest.fixture
def pipe(backend: WgpuBackend) -> WgpuPipeline:
    return backend.compile(program())


X = np.arange(1000, dtype=np.uint32)


def test_many_are_in_flight_and_each_has_its_own_results(pipe: WgpuPipeline) -> None:
    futures = [pipe.submit([X], {"a": a}) for a in range(20)]
    for a, future in reversed(list(enumerate(futures))):
        np.testing.assert_array_equal(future.result()[0], X + a)
        assert future.done()
        assert future.result()[0] is future.result()[0]


def test_an_error_that_is_raised_again_and_again_does_not_grow() -> None:
    with WgpuBackend() as own:
        future = own.compile(program()).submit([X], {"a": 1})
        own.lose_device("unplugged")
        lengths = []
        for _ in range(5):
            with pytest.raises(vw.DeviceLostError) as caught:
                future.result()
            lengths.append(len(caught.traceback))
    assert len(set(lengths)) == 1


@pytest.mark.parametrize(
    "timeout", [float("inf"), 1e300, 10**400, 1e10, np.float32(60), np.int64(60), 60]
)
def test_a_timeout_may_be_any_number(pipe: WgpuPipeline, timeout: Any) -> None:
    assert pipe.submit([X], {"a": 1}).exception(timeout) is None
    np.testing.assert_array_equal(pipe.submit([X], {"a": 1}).result(timeout)[0], X + 1)
    config = vw.DispatchConfig(deadline=timeout)
    np.testing.assert_array_equal(pipe.dispatch([X], {"a": 1}, config=config)[0], X + 1)
    np.testing.assert_array_equal(pipe.submit([X], {"a": 1}, config=config).result()[0], X + 1)


@pytest.mark.parametrize("timeout", ["1", float("nan"), True, [1], 1j])
def test_a_timeout_that_is_no_number_is_refused(pipe: WgpuPipeline, timeout: Any) -> None:
    future = pipe.submit([X], {"a": 1})
    for ask in (future.result, future.exception):
        with pytest.raises(vw.InputError, match="timeout is"):
            ask(timeout)
    for past in (0, -1, float("-inf"), -(10**400)):
        with contextlib.suppress(TimeoutError):  # unless it is done
            future.result(past)
    np.testing.assert_array_equal(future.result()[0], X + 1)


def test_inputs_are_taken_before_it_returns(pipe: WgpuPipeline) -> None:
    x = X.copy()
    future = pipe.submit([x], {"a": 1})
    x[:] = 0
    np.testing.assert_array_equal(future.result()[0], X + 1)


def test_destinations_are_filled_by_the_time_it_is_done(pipe: WgpuPipeline) -> None:
    out = np.zeros_like(X)
    future = pipe.submit([X], {"a": 1}, out={"y": out})
    assert future.result()[0] is out
    np.testing.assert_array_equal(out, X + 1)


def test_a_future_that_is_dropped_gives_its_buffers_back() -> None:
    with WgpuBackend() as backend:
        pipe = backend.compile(program())
        pipe.submit([X], {"a": 1}).result()
        for a in range(200):
            pipe.submit([X], {"a": a})
        # Never more than those that may be in flight, with two storage and a staging buffer each.
        assert backend.stats().buffers_created <= 3 * 70
        np.testing.assert_array_equal(pipe.dispatch([X], {"a": 7})[0], X + 7)


def test_a_timeout_leaves_a_future_that_can_be_asked_again(
    pipe: WgpuPipeline, backend: WgpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(backend.device.calls, "wait", lambda *_: False)
        future = pipe.submit([X], {"a": 1})
        assert not future.done()
        for ask in (future.result, future.exception):
            with pytest.raises(TimeoutError, match="no result within 0"):
                ask(timeout=0)
    np.testing.assert_array_equal(future.result(timeout=60)[0], X + 1)
    assert future.exception() is None


def test_an_interrupted_wait_leaves_a_future_that_can_be_asked_again(
    pipe: WgpuPipeline, backend: WgpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    future = pipe.submit([X], {"a": 1})
    with monkeypatch.context() as patch:
        patch.setattr(backend.device.calls, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            future.result()
    np.testing.assert_array_equal(future.result()[0], X + 1)


def test_the_deadline_of_the_dispatch_ends_it_for_good(
    pipe: WgpuPipeline, backend: WgpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = vw.DispatchConfig(deadline=1e-9)
    with monkeypatch.context() as patch:
        patch.setattr(backend.device.calls, "wait", lambda *_: False)
        future = pipe.submit([X], {"a": 1}, config=config)
        with pytest.raises(vw.DispatchTimeoutError):
            future.result()
    with pytest.raises(vw.DispatchTimeoutError):
        future.result()
    np.testing.assert_array_equal(pipe.dispatch([X], {"a": 2})[0], X + 2)


def test_callbacks_come_once_each_and_late_ones_at_once(pipe: WgpuPipeline) -> None:
    future = pipe.submit([X], {"a": 1})
    called: list[object] = []
    both = threading.Barrier(2)
    future.add_done_callback(called.append)
    future.add_done_callback(lambda _: both.wait(60))
    both.wait(60)
    future.result()
    assert called == [future]
    future.add_done_callback(called.append)
    assert called == [future, future]


def test_a_callback_that_fails_is_logged(
    pipe: WgpuPipeline, caplog: pytest.LogCaptureFixture
) -> None:
    future = pipe.submit([X], {"a": 1})
    future.result()
    future.add_done_callback(lambda _: 1 / 0)
    assert "a callback of a dispatch failed" in caplog.text


def test_a_callback_that_exits_does_not_end_the_thread_that_others_wait_for(
    pipe: WgpuPipeline,
) -> None:
    def leave(_: object) -> None:
        called.wait(60)
        raise SystemExit(3)

    called = threading.Barrier(2)
    pipe.submit([X], {"a": 1}).add_done_callback(leave)
    called.wait(60)  # it runs on the completion thread
    done = threading.Event()
    pipe.submit([X], {"a": 1}).add_done_callback(lambda _: done.set())
    assert done.wait(60)


def test_an_error_is_the_same_for_all_who_ask(pipe: WgpuPipeline, backend: WgpuBackend) -> None:
    b = ProgramBuilder("traps")
    y = b.output("y", vw.u32, count=1)
    b.extent(1)
    b.trap("always", address=3)
    y[0] = 1
    future = backend.compile(b.build()).submit([])
    error = future.exception()
    assert isinstance(error, vw.TrapError)
    with pytest.raises(vw.TrapError, match="always"):
        future.result()


def test_several_are_awaited_at_once(pipe: WgpuPipeline) -> None:
    async def one(a: int) -> np.ndarray[Any, Any]:
        result: np.ndarray[Any, Any] = (await pipe.submit([X], {"a": a}))[0]
        return result

    async def all_of_them() -> list[np.ndarray[Any, Any]]:
        return await asyncio.gather(*(one(a) for a in range(10)))

    for a, result in enumerate(asyncio.run(all_of_them())):
        np.testing.assert_array_equal(result, X + a)


def test_threads_share_pipelines_and_futures(pipe: WgpuPipeline) -> None:
    shared = pipe.submit([X], {"a": 99})
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for a in range(number, number + 10):
                future = pipe.submit([X], {"a": a})
                np.testing.assert_array_equal(pipe.dispatch([X], {"a": a + 1})[0], X + a + 1)
                np.testing.assert_array_equal(future.result()[0], X + a)
            np.testing.assert_array_equal(shared.result()[0], X + 99)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)


def test_closing_the_backend_ends_futures_with_an_error() -> None:
    backend = WgpuBackend()
    future = backend.compile(program()).submit([X], {"a": 1})
    called: list[object] = []
    backend.close()
    with pytest.raises(vw.DeviceLostError, match="closed"):
        future.result(timeout=60)
    future.add_done_callback(called.append)
    assert called == [future]


def test_the_thread_is_started_by_the_first_callback_and_ends_with_the_backend() -> None:
    backend = WgpuBackend()
    pipe = backend.compile(program())
    before = set(threading.enumerate())
    pipe.submit([X], {"a": 1}).result()
    assert set(threading.enumerate()) == before
    done = threading.Event()
    pipe.submit([X], {"a": 1}).add_done_callback(lambda _: done.set())
    assert done.wait(60)
    (started,) = set(threading.enumerate()) - before
    assert started.daemon
    backend.close()
    started.join(60)
    assert not started.is_alive()


def test_deadlines_are_counted_from_the_call(pipe: WgpuPipeline) -> None:
    start = time.monotonic()
    future = pipe.submit([X], {"a": 1}, config=vw.DispatchConfig(deadline=np.float32(500)))
    assert future._deadline is not None
    assert start + 499 < future._deadline < time.monotonic() + 501
    future.result()
