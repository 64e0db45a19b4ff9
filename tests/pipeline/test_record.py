"""Recordings beyond the contract that all ways of running share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.ir import ProgramBuilder
from vyre_wgpu.pipeline.pipeline import WgpuPipeline
from vyre_wgpu.pipeline.record import Recording

pytestmark = pytest.mark.gpu


def program(name: str = "add") -> vw.Program:
    """y = x + a; traps where x is 1000."""
    b = ProgramBuilder(name)
    a = b.param("a", vw.u32)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id(0)
    with b.if_(x[i] == 1000):
        b.trap("thousand", address=i)
    y[i] = x[i] + a
    return b.build()


@pytest.fixture
def pipe(backend: WgpuBackend) -> WgpuPipeline:
    return backend.compile(program())


X = np.arange(100, dtype=np.uint32)


def test_data_flows_on_the_device(backend: WgpuBackend, pipe: WgpuPipeline) -> None:
    with backend.record() as recording:
        first = recording.add(pipe, [X], {"a": 1}, out={"y": vw.DEVICE})
        second = recording.add(pipe, [first["y"]], {"a": 10}, out={"y": vw.DEVICE})
        third = recording.add(pipe, {"x": second["y"]}, {"a": 100})
    submissions = backend.stats().submissions
    recording.replay()
    assert backend.stats().submissions == submissions + 1
    np.testing.assert_array_equal(third.result()[0], X + 111)
    assert first.result() == [first["y"]]
    np.testing.assert_array_equal(first["y"].download(), X + 1)
    recording.close()
    np.testing.assert_array_equal(second["y"].download(), X + 11)  # its owner is the caller
    for handle in (first, second):
        handle["y"].close()


def test_state_is_updated_in_place_by_each_replay(backend: WgpuBackend) -> None:
    b = ProgramBuilder("step")
    x = b.read_write("x", vw.u32)
    x[b.global_id(0)] = x[b.global_id(0)] * 2
    step = backend.compile(b.build())
    with backend.upload(np.arange(10, dtype=np.uint32)) as state:
        with backend.record() as recording:
            for _ in range(3):
                recording.add(step, [state])
        for _ in range(2):
            recording.replay()
        np.testing.assert_array_equal(state.download(), np.arange(10) * 64)
        recording.close()


def test_host_arrays_are_read_at_each_replay(backend: WgpuBackend, pipe: WgpuPipeline) -> None:
    x, out = X.copy(), np.zeros_like(X)
    with backend.record() as recording:
        handle = recording.add(pipe, [x], {"a": 1}, out={"y": out})
    for k in range(3):
        x[:] = k
        recording.replay()
        assert handle.result()[0] is out
        assert (out == k + 1).all()
    recording.close()


class Copies:
    """Gives NumPy a copy each time."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        return self.array.copy()


SEEN = {  # the memory that is written to, and what is recorded of it
    "plain": lambda base: base,
    "strided": lambda base: base[::2],
    "reversed": lambda base: base[::-1],
    "column": lambda base: base.reshape(10, 10)[:, 3],
    "Fortran": lambda base: base.reshape(10, 10).T,
    "big-endian": lambda base: base.view(">u4"),
    "memoryview": memoryview,
    "copies": Copies,
}


@pytest.mark.parametrize("seen", SEEN.values(), ids=list(SEEN))
def test_what_has_to_be_converted_is_read_at_each_replay_too(
    backend: WgpuBackend, pipe: WgpuPipeline, seen: Any
) -> None:
    base = X.copy()
    given = seen(base)
    other = np.zeros(5, np.uint32)
    with backend.record() as recording:
        one = recording.add(pipe, [other], {"a": 1})
        handle = recording.add(pipe, [given], {"a": 7})
    for k in range(3):
        base[:] = (X + k).byteswap() if np.asarray(given).dtype.byteorder == ">" else X + k
        other[:] = k
        recording.replay()
        np.testing.assert_array_equal(handle.result()[0], pipe.fn(given, a=7))
        np.testing.assert_array_equal(handle.result()[0], np.asarray(given).astype(np.uint32) + 7)
        np.testing.assert_array_equal(one.result()[0], other + 1)
    recording.close()


def test_what_changes_its_size_is_refused(backend: WgpuBackend, pipe: WgpuPipeline) -> None:
    given = Copies(X)
    with backend.record() as recording:
        recording.add(pipe, [given], {"a": 7})
    recording.replay()
    given.array = X[:50]
    with pytest.raises(vw.InputError, match="input 'x' has 50 elements now, and had 100"):
        recording.replay()
    given.array = X
    recording.replay()
    recording.close()


def test_a_replay_that_was_interrupted_may_be_repeated(
    pipe: WgpuPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On other buffers, as the device may still be at work on these."""
    with WgpuBackend() as own:
        mine = own.compile(program())
        with own.record() as recording:
            handle = recording.add(mine, [X], {"a": 7})
        recording.replay()
        calls: Any = own.device.calls
        for name in ("wait", "submit", "fetch"):

            def interrupt(*_: object) -> None:
                raise KeyboardInterrupt

            with monkeypatch.context() as patch:
                patch.setattr(calls, name, interrupt)
                with pytest.raises(KeyboardInterrupt):
                    recording.replay()
            with pytest.raises(vw.VyreError, match="ended by KeyboardInterrupt"):
                handle.result()
            for _ in range(3):
                recording.replay()
                np.testing.assert_array_equal(handle.result()[0], X + 7)
        recording.close()
        submitter = own._generations.current.submitter
        mine.fn(X, a=1)
        assert not submitter._leases._lent
        assert not list(submitter._batches)


def test_a_replay_makes_nothing(backend: WgpuBackend, pipe: WgpuPipeline) -> None:
    with backend.record() as recording:
        for a in range(5):
            recording.add(pipe, [X], {"a": a})
    recording.replay()
    before = backend.stats()
    recording.replay()
    after = backend.stats()
    assert after.buffers_created == before.buffers_created
    assert after.bind_groups_created == before.bind_groups_created
    assert after.dispatches == before.dispatches + 5
    recording.close()


def test_a_trap_belongs_to_its_item(backend: WgpuBackend, pipe: WgpuPipeline) -> None:
    x = X.copy()
    with backend.record() as recording:
        handles = [recording.add(pipe, [y], {"a": 1}) for y in (X, x, X)]
    x[5] = 1000
    with pytest.raises(vw.TrapError, match="thousand") as caught:
        recording.replay()
    assert caught.value.lane == (5,)
    np.testing.assert_array_equal(handles[0].result()[0], X + 1)
    for handle in handles[1:]:
        with pytest.raises(vw.TrapError, match="thousand"):
            handle.result()
    x[5] = 5
    recording.replay()
    for handle in handles:
        np.testing.assert_array_equal(handle.result()[0], X + 1)
    recording.close()


def test_an_indirect_grid_comes_from_an_item_before(backend: WgpuBackend) -> None:
    b = ProgramBuilder("grid")
    words = b.output("words", vw.u32, count=3)
    b.extent(3)
    words[b.global_id(0)] = vw.select(b.global_id(0) == 0, vw.u32(2), vw.u32(1))
    b2 = ProgramBuilder("ones", workgroup_size=64)
    y = b2.output("y", vw.u32, count=300)
    b2.extent(300)
    y[b2.global_id(0)] = 1
    with backend.record() as recording:
        grid = recording.add(backend.compile(b.build()), [], out={"words": vw.DEVICE})
        config = vw.DispatchConfig(grid=vw.Indirect(grid["words"]))
        ones = recording.add(backend.compile(b2.build()), [], config=config)
    recording.replay()
    assert ones.result()[0].sum() == 128
    recording.close()
    grid["words"].close()


def test_an_empty_recording_runs(backend: WgpuBackend, pipe: WgpuPipeline) -> None:
    with backend.record() as recording:
        handle = recording.add(pipe, [X[:0]], {"a": 1})
    recording.replay()
    assert handle.result()[0].shape == (0,)
    assert len(recording) == 1
    recording.close()
    with backend.record() as nothing:
        pass
    nothing.replay()


def test_closing_gives_the_buffers_back_once(pipe: WgpuPipeline) -> None:
    with WgpuBackend() as backend:
        pipe = backend.compile(program())
        recording = backend.record()
        recording.add(pipe, [X], {"a": 1})
        recording.replay()
        created = backend.stats().buffers_created
        recording.close()
        recording.close()
        with backend.record() as again:
            again.add(pipe, [X], {"a": 1})
        again.replay()
        assert backend.stats().buffers_created == created
    again.close()


def test_misuse_is_told(backend: WgpuBackend, pipe: WgpuPipeline) -> None:
    recording = backend.record()
    handle = recording.add(pipe, [X], {"a": 1})
    with pytest.raises(vw.VyreError, match="not replayed yet"):
        handle.result()
    with pytest.raises(vw.InputError, match="does not stay on the device"):
        handle["y"]
    with pytest.raises(vw.InputError, match="does not return 'z'"):
        handle["z"]
    with pytest.raises(vw.InputError, match="no deadline of its own"):
        recording.add(pipe, [X], {"a": 1}, config=vw.DispatchConfig(deadline=1))
    with WgpuBackend() as other, pytest.raises(vw.InputError, match="backend that records"):
        recording.add(other.compile(program()), [X], {"a": 1})
    with pytest.raises(vw.InputError, match="backend that records"):
        recording.add(None, [X])  # type: ignore[arg-type]
    recording.replay()
    with pytest.raises(vw.VyreError, match="complete"):
        recording.add(pipe, [X], {"a": 1})
    recording.close()
    with pytest.raises(vw.VyreError, match="closed"):
        recording.replay()


def test_a_device_buffer_that_was_closed_is_not_used(
    backend: WgpuBackend, pipe: WgpuPipeline
) -> None:
    for closes_input in (True, False):
        x = backend.upload(X)
        with backend.record() as recording:
            handle = recording.add(pipe, [x], {"a": 1}, out={"y": vw.DEVICE})
        recording.replay()
        closed, other = (x, handle["y"]) if closes_input else (handle["y"], x)
        closed.close()
        with pytest.raises(vw.DeviceLostError, match="device buffer is closed"):
            recording.replay()
        other.close()
        recording.close()


def test_an_error_in_the_block_closes_what_it_made(
    backend: WgpuBackend, pipe: WgpuPipeline
) -> None:
    made = []

    def fail(recording: Recording) -> None:
        made.append(recording.add(pipe, [X], {"a": 1}, out={"y": vw.DEVICE})["y"])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), backend.record() as recording:
        fail(recording)
    assert made[0].closed
    with pytest.raises(vw.VyreError, match="closed"):
        recording.replay()
