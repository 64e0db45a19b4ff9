"""Budgets of memory: what lies idle is freed above them, and what is pending waits."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu import settings
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.buffer.budgets import Budgets
from vyre_wgpu.runtime.calls import UPLOAD_BUDGET
from vyre_wgpu.runtime.uploads import lent_memory

pytestmark = pytest.mark.gpu

MIB = 1 << 20


@contextlib.contextmanager
def opened(**budgets: int) -> Iterator[WgpuBackend]:
    """A backend that was opened under these settings."""
    before = settings.current()
    settings.replace_current(dataclasses.replace(before, **budgets))  # type: ignore[arg-type]
    try:
        backend = WgpuBackend()
    finally:
        settings.replace_current(before)
    with backend:
        yield backend


def add() -> vw.Program:
    b = vw.ProgramBuilder("add")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    y[b.global_id(0)] = x[b.global_id(0)] + 5
    return b.build()


def test_the_defaults_of_settings_and_buffers_are_the_same() -> None:
    chosen = settings.Settings()
    bytes_of = (chosen.pool_bytes, chosen.staging_bytes, chosen.pending_bytes, chosen.result_bytes)
    assert Budgets() == bytes_of
    assert chosen.upload_bytes == UPLOAD_BUDGET


def test_uploads_stay_within_their_budget_and_fall_back_beyond_it() -> None:
    given = np.arange(MIB, dtype=np.uint32)
    with opened(upload_bytes=6 * MIB) as backend:
        calls: Any = backend.device.calls
        if calls.name != "native":
            pytest.skip("the public path has the queue's own way only")
        pipe = backend.compile(add())
        for round_ in range(3):
            views = [pipe.input_view("x", MIB) for _ in range(3)]  # 4 MiB each: one fits
            for view in views:
                view[:] = given + round_
            for view in views:
                np.testing.assert_array_equal(pipe.fn(view), given + round_ + 5)
            assert sum(lent_memory(view) is not None for view in views) == 1
            assert calls._uploads._held() <= 6 * MIB
            backend.lose_device()
            backend.recover()
            calls = backend.device.calls


@pytest.mark.parametrize("budget", [MIB, None])
def test_idle_buffers_are_freed_above_the_budget(budget: int | None) -> None:
    sizes = [300_000 + 100_000 * k for k in range(8)]  # of different size classes
    with opened(**({} if budget is None else {"pool_bytes": budget})) as backend:
        for size in sizes:
            backend.upload(np.zeros(size, np.uint8)).close()
        held = backend.stats().bytes_pooled
        assert (held <= MIB) if budget else (held > 3 * MIB)
        with backend.upload(np.arange(3 * MIB, dtype=np.uint8)) as large:  # more than the budget
            assert large.download()[-1] == 255
            during, _, _ = backend._generations.current.submitter.statistics()
        after, _, _ = backend._generations.current.submitter.statistics()
        assert during.bytes >= 3 * MIB
        assert (after.bytes <= MIB) == (budget is not None)


@pytest.mark.parametrize("budget", [MIB, None])
def test_buffers_of_dispatches_are_freed_above_the_budget(budget: int | None) -> None:
    """Idle leases and pools each keep to it."""
    sizes = [80_000 + 30_000 * k for k in range(8)]
    chosen = {} if budget is None else {"pool_bytes": budget, "staging_bytes": budget}
    with opened(**chosen) as backend:
        pipe = backend.compile(add())
        for _ in range(2):
            for size in sizes:
                x = np.arange(size, dtype=np.uint32)
                np.testing.assert_array_equal(pipe.fn(x), x + 5)
        storage, staging, _ = backend._generations.current.submitter.statistics()
        if budget is None:
            assert storage.bytes > 4 * MIB
            assert staging.bytes > 3 * MIB
        else:
            assert storage.bytes <= 2 * MIB
            assert staging.bytes <= 2 * MIB


class Queue:
    """Watches what is written between submissions."""

    def __init__(self, backend: WgpuBackend, patch: pytest.MonkeyPatch) -> None:
        self.pending = self.most = self.submissions = 0
        calls = backend.device.calls
        write, copy = calls.write, calls.copy

        def written(buffer: Any, data: Any, offset: int = 0) -> None:
            self.pending += data.nbytes
            self.most = max(self.most, self.pending)
            write(buffer, data, offset)

        def copied(*arguments: Any) -> Any:
            self.pending = 0
            self.submissions += 1
            return copy(*arguments)

        patch.setattr(calls, "write", written)
        patch.setattr(calls, "copy", copied)


@pytest.mark.parametrize("budget", [1 << 16, (1 << 16) + 3])
def test_uploads_wait_above_the_budget(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small ones together, and one that is larger by itself, in pieces."""
    with opened(pending_bytes=budget) as backend:
        queue = Queue(backend, monkeypatch)
        small = [np.full(10_000, k, np.uint8) for k in range(20)]
        buffers = [backend.upload(array) for array in small]
        assert 50_000 < queue.most <= budget
        assert queue.submissions == 3  # six fit each time
        large = np.arange(300_001, dtype=np.uint32)[:-1].astype(np.uint8)[1:]
        buffers.append(backend.upload(large))
        assert queue.most <= budget
        for buffer, array in zip(buffers, [*small, large], strict=True):
            np.testing.assert_array_equal(buffer.download(), array)
            buffer.close()
        queue.most = 0
        with backend.upload(large) as whole:
            tail = whole[256 * 4 :]
            tail.upload(large[::-1][256 * 4 :])
            np.testing.assert_array_equal(tail.download(), large[::-1][256 * 4 :])
            np.testing.assert_array_equal(whole[: 256 * 4].download(), large[: 256 * 4])
        assert 0 < queue.most <= budget


def test_a_budget_of_one_byte_works(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(pool_bytes=1, staging_bytes=1, pending_bytes=1) as backend:
        pipe = backend.compile(add())
        x = np.arange(10, dtype=np.uint32)
        with backend.upload(x) as buffer:
            np.testing.assert_array_equal(pipe.fn(buffer), x + 5)
        for future in [pipe.submit([x + k]) for k in range(5)]:
            assert future.result(60)[0][0] >= 5
        with backend.record() as recording:
            handle = recording.add(pipe, [x])
        for _ in range(3):
            recording.replay()
        np.testing.assert_array_equal(handle.result()[0], x + 5)
        recording.close()
        assert backend.stats().bytes_pooled == 0


def test_a_dispatch_submits_what_is_pending(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(pending_bytes=1 << 16) as backend:
        pipe, queue = backend.compile(add()), Queue(backend, monkeypatch)
        x = np.arange(10_000, dtype=np.uint32)
        for _ in range(5):
            with backend.upload(x) as buffer:
                np.testing.assert_array_equal(pipe.fn(buffer), x + 5)
        assert queue.submissions == 0  # beside the dispatches'


def test_futures_wait_above_the_budget() -> None:
    """The next one waits for the oldest while more than the budget is on the way."""
    with opened(pending_bytes=10_000) as backend:
        pipe = backend.compile(add())
        completion = backend._generations.current.submitter.completion
        x = np.arange(1000, dtype=np.uint32)
        futures = []
        for k in range(12):
            futures.append(pipe.submit([x + k]))
            assert completion._bytes == 4000 * len(completion._pending) <= 14_000
        for k, future in enumerate(futures):
            np.testing.assert_array_equal(future.result(60)[0], x + k + 5)
        assert completion._bytes == 0
