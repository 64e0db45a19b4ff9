"""A device that is lost, and the one that is opened after it."""

from __future__ import annotations

import gc
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.pipeline.pipeline import WgpuPipeline
from vyre_wgpu.runtime import device as device_module

pytestmark = pytest.mark.gpu

X = np.arange(1000, dtype=np.uint32)


@pytest.fixture
def own(no_disk_cache: None) -> Iterator[WgpuBackend]:
    with WgpuBackend() as backend:
        yield backend


def add(amount: int = 5) -> vw.Program:
    b = vw.ProgramBuilder("add")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    y[b.global_id(0)] = x[b.global_id(0)] + amount
    return b.build()


def slow() -> vw.Program:
    """Takes so long that it runs when the device is lost; the result is checked all the same."""
    b = vw.ProgramBuilder("slow")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    v = b.var("v", vw.u32, x[b.global_id(0)])
    with b.for_range(0, 50_000):
        v.set(v * 3 + 1)
    y[b.global_id(0)] = v
    return b.build()


def count_up() -> vw.Program:
    """Has no input, so that a dispatch writes no buffer before its submission."""
    b = vw.ProgramBuilder("count-up")
    start = b.param("start", vw.u32)
    y = b.output("y", vw.u32, count=256)
    b.extent(256)
    y[b.global_id(0)] = b.global_id(0) + start
    return b.build()


def test_pending_futures_fail(own: WgpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether asked, called back or awaited."""
    pipe = own.compile(slow())
    monkeypatch.setattr(own._generations.current.submitter.completion, "settle", lambda: None)
    told: queue.Queue[Any] = queue.Queue()
    futures = [pipe.submit([X]) for _ in range(3)]
    gone = pipe.submit([X], out={"y": vw.DEVICE})
    own.compile(add()).submit([X]).add_done_callback(told.put)
    own.lose_device("unplugged")
    for future in (*futures, gone):
        for _ in range(2):
            with pytest.raises(vw.DeviceLostError, match="was lost: unplugged"):
                future.result(60)
        assert future.done()
    # The thread that calls back may have been there first.
    error = told.get(timeout=60).exception(0)
    assert error is None or "unplugged" in str(error)
    own.recover()
    with pytest.raises(vw.DeviceLostError, match="unplugged"):
        futures[0].result()


def test_a_device_that_somebody_destroys_at_wgpu(
    own: WgpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is pending or ready at that moment: no call is made that would end the process."""
    pipe, ready, kept = own.compile(add()), own.compile(count_up()), own.upload(X)
    monkeypatch.setattr(own._generations.current.submitter.completion, "settle", lambda: None)
    for _ in range(4):
        ready.dispatch([], {"start": 7})
    with own.record() as recording:
        recording.add(ready, [], {"start": 1})
    recording.replay()
    futures = [pipe.submit([X]), own.compile(slow()).submit([X])]
    own.device.wgpu.destroy()
    uses = [lambda: ready.dispatch([], {"start": 7}), recording.replay, kept.download]
    for use in [*uses, *(future.result for future in futures)]:
        with pytest.raises(vw.DeviceLostError, match=r"was (lost|destroyed)"):
            use()
    own.recover()
    np.testing.assert_array_equal(pipe.fn(X), X + 5)
    kept.close()
    recording.close()


def test_a_callback_that_comes_after_the_loss(own: WgpuBackend) -> None:
    told: list[Any] = []
    future = own.compile(add()).submit([X])
    own.lose_device()
    future.add_done_callback(told.append)
    assert told == [future]
    assert isinstance(future.exception(), vw.DeviceLostError)


def test_a_dispatch_that_is_waited_for_fails(own: WgpuBackend) -> None:
    pipe = own.compile(slow())
    wait, waits = own.device.calls.wait, threading.Event()
    lost: list[vw.DeviceLostError] = []

    def announced(mapping: Any, deadline: float | None) -> bool:
        waits.set()
        return wait(mapping, deadline)

    def run() -> None:
        try:
            pipe.dispatch([X])
        except vw.DeviceLostError as error:
            lost.append(error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own.device.calls, "wait", announced)
        thread = threading.Thread(target=run)
        thread.start()
        assert waits.wait(60)
        own.lose_device("in the middle")
        thread.join(60)
    assert not thread.is_alive()
    assert "in the middle" in str(lost[0])


def test_recordings_are_lost_with_their_device(own: WgpuBackend) -> None:
    pipe = own.compile(add())
    with own.record() as recording:
        handle = recording.add(pipe, [X], out={"y": vw.DEVICE})
        last = recording.add(pipe, [handle["y"]])
    for _ in range(3):
        recording.replay()
    with own.record() as unfinished:
        unfinished.add(pipe, [X])
        own.lose_device()
        for _ in range(2):  # lost, then recovered
            with pytest.raises(vw.DeviceLostError, match="was lost"):
                recording.replay()
            with pytest.raises(vw.DeviceLostError, match="was lost"):
                unfinished.add(pipe, [X])
            own.recover()
    np.testing.assert_array_equal(last.result()[0], X + 10)
    handle["y"].close()
    recording.close()
    with own.record() as anew:
        result = anew.add(pipe, [X])
    anew.replay()
    np.testing.assert_array_equal(result.result()[0], X + 5)
    anew.close()


def test_device_buffers_are_lost_with_their_device(own: WgpuBackend) -> None:
    """They say so, whatever is done with them, and are closed without harm."""
    pipe = own.compile(add())
    old = own.upload(X)
    (made,) = pipe.dispatch([X], out={"y": vw.DEVICE})
    own.lose_device("dropped")
    uses: list[Callable[[], object]] = [
        old.download,
        lambda: old.upload(X),
        lambda: pipe.dispatch([old]),
        lambda: pipe.dispatch([X], out={"y": made}),
        lambda: pipe.submit([made]),
    ]
    for use in (*uses, lambda: own.upload(X), lambda: own.compile(add(6)), own.record):
        with pytest.raises(vw.DeviceLostError, match=r"dropped.*Fix: .*recover"):
            use()
    own.recover()
    for use in uses:
        with pytest.raises(vw.DeviceLostError, match=r"buffer is gone: .*dropped"):
            use()
    old.close()
    made.close()
    with pytest.raises(vw.DeviceLostError, match="closed"):
        old.download()
    with own.upload(X) as new:
        np.testing.assert_array_equal(pipe.dispatch([new])[0], X + 5)


def test_commands_that_were_encoded_ahead_are_never_submitted(own: WgpuBackend) -> None:
    """Nothing is written before the submission, so wgpu has no other occasion to complain."""
    pipe = own.compile(count_up())
    for _ in range(5):
        assert pipe.dispatch([], {"start": 7})[0][3] == 10
    own.lose_device()
    with pytest.raises(vw.DeviceLostError):
        pipe.dispatch([], {"start": 7})
    own.recover()
    for start in (7, 7, 7, 8):
        assert pipe.dispatch([], {"start": start})[0][255] == 255 + start


def test_nothing_is_lowered_again(own: WgpuBackend) -> None:
    """Neither what is in memory, nor what memory has dropped and a pipeline still holds."""
    pipes = [own.compile(add(k)) for k in range(4)]
    indirect = vw.DispatchConfig(grid=vw.Indirect(own.upload(np.array([16, 1, 1], np.uint32))))
    np.testing.assert_array_equal(pipes[0].dispatch([X], config=indirect)[0], X)
    before = own.stats()
    for _ in range(2):  # what was inherited and not built is inherited again
        own.lose_device()
        own.recover()
    with own.upload(np.array([16, 1, 1], np.uint32)) as grid:
        config = vw.DispatchConfig(grid=vw.Indirect(grid))
        np.testing.assert_array_equal(pipes[0].dispatch([X], config=config)[0], X)
    for pipe in pipes:
        assert own.compile(pipe.program).wgsl == pipe.wgsl
    own.lose_device()
    own.recover()
    own.compiler._inherited.clear()
    for k, pipe in enumerate(pipes):
        np.testing.assert_array_equal(pipe.fn(X), X + k)
    after = own.stats()
    assert after.lowerings == before.lowerings
    assert after.modules_created > before.modules_created


def test_statistics_go_on(own: WgpuBackend) -> None:
    pipe = own.compile(add())
    for _ in range(3):
        pipe.dispatch([X])
    before = own.stats().as_dict()
    own.lose_device()
    assert own.stats().bytes_pooled == 0
    own.recover()
    pipe.dispatch([X])
    after = own.stats().as_dict()
    del before["bytes_pooled"]
    assert [name for name, count in before.items() if after[name] < count] == []
    assert after["dispatches"] == before["dispatches"] + 1
    assert after["buffers_created"] > before["buffers_created"]


def test_a_loss_that_wgpu_reports(own: WgpuBackend) -> None:
    """From then on nothing is asked of the device: some calls would end the process."""
    import wgpu

    pipe, kept = own.compile(add()), own.upload(X)
    future = pipe.submit([X])
    with pytest.MonkeyPatch.context() as patch:
        # The next dispatch would finish the future if it were done.
        patch.setattr(own._generations.current.submitter.completion, "settle", lambda: None)

        def submit(*_: object) -> None:
            raise wgpu.GPUValidationError("Validation Error\n\n    Parent device is lost\n")

        patch.setattr(own.device.calls, "submit", submit)
        with pytest.raises(vw.DeviceLostError, match=r"(?s)lost while dispatching 'add'.*recover"):
            pipe.dispatch([X])
    lost, asked = own.device, []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("submit", "copy", "wait", "poll", "words", "fetch", "read", "encode"):
            patch.setattr(lost.calls, name, lambda *_, name=name: asked.append(name))
        for use in (lambda: pipe.dispatch([X]), future.result, kept.download):
            with pytest.raises(vw.DeviceLostError, match="was lost"):
                use()
    assert asked == []
    own.recover()
    assert lost.closed
    np.testing.assert_array_equal(pipe.fn(X), X + 5)


def test_recovery_is_asked_for_twice_or_for_nothing(own: WgpuBackend) -> None:
    device = own.device
    own.recover()
    assert own.device is device
    own.lose_device()
    own.lose_device("again")
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(own.recover) for _ in range(4)]:
            done.result(60)
    assert own.device is not device
    assert (own.device.info, own.device.features) == (device.info, device.features)
    assert own.device.calls.name == device.calls.name


def test_recovery_that_fails_may_be_tried_again(own: WgpuBackend) -> None:
    pipe = own.compile(add())
    own.lose_device()
    with pytest.MonkeyPatch.context() as patch:

        def none(_: object) -> None:
            raise vw.NoAdapterError("the adapter is gone")

        patch.setattr(device_module, "find_again", none)
        with pytest.raises(vw.NoAdapterError):
            own.recover()
    with pytest.raises(vw.DeviceLostError):
        pipe.fn(X)
    own.recover()
    np.testing.assert_array_equal(pipe.fn(X), X + 5)


def test_a_lost_backend_closes_and_stays_closed() -> None:
    backend = WgpuBackend()
    pipe = backend.compile(add())
    backend.lose_device()
    assert not backend.closed
    backend.close()
    backend.close()
    assert backend.closed
    for use in (backend.recover, backend.lose_device, lambda: pipe.fn(X)):
        with pytest.raises(vw.DeviceLostError):
            use()


def test_the_lost_device_is_freed(own: WgpuBackend) -> None:
    import wgpu

    pipe = own.compile(add())
    pipe.fn(X)

    def alive() -> int:
        gc.collect()
        return sum(isinstance(thing, wgpu.GPUDevice) for thing in gc.get_objects())

    before = alive()
    for _ in range(3):
        own.lose_device()
        own.recover()
        np.testing.assert_array_equal(pipe.fn(X), X + 5)
    assert alive() == before


def test_32_threads_while_the_device_is_lost_and_recovered(own: WgpuBackend) -> None:
    """Each call gives the right result or says that the device is lost."""
    shared: list[WgpuPipeline] = [own.compile(add(k)) for k in range(3)]
    number = own.compile(count_up())
    ends = threading.Event()
    rights, successes = [0] * 32, threading.Semaphore(0)

    def use(thread: int, turn: int) -> None:
        pipe, amount = shared[turn % 3], turn % 3
        way = (thread + turn) % 6
        if way == 0:
            (y,) = pipe.dispatch([X])
        elif way == 1:
            (y,) = pipe.submit([X]).result(60)
        elif way == 2:
            with own.upload(X) as x:
                (y,) = pipe.dispatch([x])
        elif way == 3:
            (kept,) = pipe.dispatch([X], out={"y": vw.DEVICE})
            with kept:
                y = kept.download()
        elif way == 4:
            with own.record() as recording:
                handle = recording.add(pipe, [X])
            try:
                recording.replay()
                (y,) = handle.result()
            finally:
                recording.close()
        else:
            fresh = own.compile(add(amount))
            (y,) = fresh.dispatch([X])
            assert number.dispatch([], {"start": 2})[0][1] == 3
        np.testing.assert_array_equal(y, X + amount)
        rights[thread] += 1
        successes.release()

    def work(thread: int) -> None:
        turn = 0
        while not ends.is_set() or not rights[thread]:
            try:
                use(thread, turn)
            except vw.DeviceLostError:
                if thread % 8 == 0:
                    own.recover()
            turn += 1

    with ThreadPoolExecutor(32) as pool:
        workers = [pool.submit(work, thread) for thread in range(32)]
        try:
            for _ in range(3):
                for _ in range(16):
                    assert successes.acquire(timeout=60)
                own.stats()
                own.lose_device()
                own.recover()
        finally:
            ends.set()
        for worker in workers:
            worker.result(120)
    assert min(rights) > 0
    storage, staging, _ = own._generations.current.submitter.statistics()
    assert storage.bytes - storage.idle_bytes + staging.bytes - staging.idle_bytes == 0
