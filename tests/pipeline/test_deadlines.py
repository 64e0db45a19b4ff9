"""Deadlines where nothing is read back, and handles after a replay that did not end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.pipeline.pipeline import WgpuPipeline

pytestmark = pytest.mark.gpu

X = np.zeros(100_000, np.uint32)
SOON = vw.DispatchConfig(deadline=1e-9)
PLACES = pytest.mark.parametrize("place", ["device", "skip", "buffer"])


@pytest.fixture
def pipe(backend: WgpuBackend) -> WgpuPipeline:
    """Takes a while, and cannot trap: without a result nothing comes back from the device."""
    b = vw.ProgramBuilder("slow")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    v = b.var("v", vw.u32, x[b.global_id(0)])
    # Longer than the host takes to ask for the first time, whoever runs it.
    with b.for_range(0, 500 if backend.adapter_info.is_software else 60_000):
        v.set(v * 1664525 + 1013904223)
    y[b.global_id(0)] = v
    return backend.compile(b.build())


def out(backend: WgpuBackend, place: str) -> dict[str, Any]:
    kinds = {
        "device": lambda: vw.DEVICE,
        "skip": lambda: vw.SKIP,
        "buffer": lambda: backend.upload(X),
    }
    return {"y": kinds[place]()}


@PLACES
def test_of_a_dispatch_that_reads_nothing_back(
    backend: WgpuBackend, pipe: WgpuPipeline, place: str
) -> None:
    expected = pipe.dispatch([X])[0]
    where = out(backend, place)
    with pytest.raises(vw.DispatchTimeoutError):
        pipe.dispatch([X], out=where, config=SOON)
    with pytest.raises(vw.DispatchTimeoutError):
        pipe.submit([X], out=where, config=SOON).result()
    (kept,) = pipe.dispatch([X], out=where, config=vw.DispatchConfig(deadline=600))
    if kept is not None:
        np.testing.assert_array_equal(kept.download(), expected)
        kept.close()


@PLACES
def test_of_a_replay_that_reads_nothing_back(
    backend: WgpuBackend, pipe: WgpuPipeline, place: str
) -> None:
    with backend.record() as recording:
        handle = recording.add(pipe, [X], out=out(backend, place))
    recording.replay(deadline=600)
    (before,) = handle.result()
    with pytest.raises(vw.DispatchTimeoutError):
        recording.replay(deadline=1e-9)
    with pytest.raises(vw.DispatchTimeoutError):
        handle.result()
    recording.close()
    if before is not None:
        before.close()


@pytest.mark.parametrize("earlier", [0, 1])
def test_a_handle_tells_that_the_last_replay_did_not_end(
    backend: WgpuBackend, pipe: WgpuPipeline, earlier: int
) -> None:
    """Neither that there was none, nor what one before it gave."""
    with backend.record() as recording:
        handle = recording.add(pipe, [X])
    for _ in range(earlier):
        recording.replay()
        assert len(handle.result()) == 1
    with pytest.raises(vw.DispatchTimeoutError):
        recording.replay(deadline=1e-9)
    with pytest.raises(vw.DispatchTimeoutError, match="did not end before its deadline"):
        handle.result()
    recording.close()
