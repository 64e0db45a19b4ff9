"""What is left after many dispatches: wgpu's objects, memory, Python's blocks."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.pipeline.live_objects import live
from vyre_wgpu.backends.wgpu import WgpuBackend

pytestmark = pytest.mark.gpu

X = np.arange(300, dtype=np.uint32)
VIEWS = vw.DispatchConfig(zero_copy=True)


@pytest.fixture
def own() -> Iterator[WgpuBackend]:
    with WgpuBackend() as backend:
        yield backend


def shift() -> vw.Program:
    b = vw.ProgramBuilder("shift")
    a = b.param("a", vw.u32)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    y[b.global_id()] = x[b.global_id()] + a
    return b.build()


def ways(backend: WgpuBackend) -> dict[str, Callable[[int], Any]]:
    """Every way to run a program, each called with a number."""
    pipe = backend.compile(shift())
    place = np.empty(X.size, np.uint32)
    recording = backend.record()
    recording.add(pipe, [X], {"a": 1})

    def on_the_device(k: int) -> None:
        with backend.upload(X) as given:
            pipe.dispatch([given], {"a": k}, out={"y": vw.DEVICE})[0].close()

    return {
        "dispatch": lambda k: pipe.dispatch([X], {"a": k}),
        "out": lambda k: pipe.dispatch([X], {"a": k}, out={"y": place}),
        "submit": lambda k: pipe.submit([X], {"a": k}).result(60),
        "push_chunk": lambda k: pipe.push_chunk(X, {"a": k}),
        "replay": lambda k: recording.replay(),
        "views": lambda k: pipe.dispatch([X], {"a": k}, config=VIEWS),
        "on the device": on_the_device,
    }


def resident() -> int:
    """Resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_ten_thousand_dispatches_leave_no_object(own: WgpuBackend) -> None:
    every = ways(own)
    for run in every.values():
        for k in (1, 1, 1, 2):
            run(k)
    before = live()
    for name, run in every.items():
        for k in range(1_450):
            run(1 if k % 3 else k)
        assert live() == before, name
    assert own.stats().dispatches > 10_000


@pytest.mark.parametrize("how", ["close", "lose"])
def test_a_device_that_is_over_leaves_no_object(how: str) -> None:
    """Nor its threads, whatever was encoded ahead, pending or recorded when it ended."""
    tasks = Path("/proc/self/task")

    def live_and_die() -> None:
        backend = WgpuBackend()
        every = ways(backend)
        for run in every.values():
            for _ in range(4):
                run(1)
        pipe = backend.compile(shift())
        futures = [pipe.submit([X], {"a": k}) for k in range(3)]
        if how == "lose":
            backend.lose_device()
            backend.recover()
        backend.close()
        for future in futures:
            assert isinstance(future.exception(60), (vw.DeviceLostError, type(None)))

    live_and_die()
    before, threads = live(), len(list(tasks.iterdir()))
    for _ in range(3):
        live_and_die()
    assert live() == before
    assert len(list(tasks.iterdir())) <= threads


def test_a_hot_dispatch_keeps_no_blocks_of_memory(own: WgpuBackend) -> None:
    for name, run in ways(own).items():
        for _ in range(50):
            run(1)
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(400):
            run(1)
        gc.collect()
        assert sys.getallocatedblocks() - before < 200, name


@pytest.mark.slow
@pytest.mark.skipif("VYRE_TEST_LEAK_DISPATCHES" not in os.environ, reason="100000 runs it")
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_resident_memory_stays(own: WgpuBackend) -> None:
    """Over 100,000 dispatches; sizes change, so that pools and recycled memory are used too."""
    every, each = ways(own), int(os.environ["VYRE_TEST_LEAK_DISPATCHES"]) // 7
    for run in every.values():
        for k in range(1000):
            run(k)
    gc.collect()
    before = resident()
    for name, run in every.items():
        for k in range(each):
            run(k)
        gc.collect()
        grown = resident() - before
        assert grown < 24 << 20, f"{grown} bytes after {name}"
