"""Large content goes to the device through memory that stays mapped."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.runtime.uploads import WORTH_IT, Uploads

pytestmark = pytest.mark.gpu


@pytest.fixture
def own() -> Iterator[WgpuBackend]:
    with WgpuBackend() as backend:
        if backend.device.calls.name != "native":
            pytest.skip("the public path has the queue's own way only")
        yield backend


def uploads_of(backend: WgpuBackend) -> Uploads:
    calls: Any = backend.device.calls
    found: Uploads = calls._uploads
    return found


def add() -> vw.Program:
    b = vw.ProgramBuilder("add")
    x, z = b.read("x", vw.u8), b.read("z", vw.u8)
    y = b.output("y", vw.u8, like=x)
    i = b.global_id()
    y[i] = x[i] + z[i]
    return b.build()


def arrays(size: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 256, (2, size), np.uint8)
    return one, other


@pytest.mark.parametrize("more", [0, 1, 2, 3, 4, 1 << 20])
def test_content_of_any_length_arrives(own: WgpuBackend, more: int) -> None:
    pipe = own.compile(add())
    for seed in range(3):
        one, other = arrays(WORTH_IT + more, seed)
        np.testing.assert_array_equal(pipe.fn(one, other), one + other)
    assert len(uploads_of(own)._slots) == 2, "the same buffers served each time"
    one, other = arrays(WORTH_IT - 1)
    np.testing.assert_array_equal(pipe.fn(one, other), one + other)


def test_what_lies_behind_the_content_is_zero(own: WgpuBackend) -> None:
    """A shorter array after a longer one, of a length that is no multiple of a word."""
    b = vw.ProgramBuilder("copy")
    x = b.read("x", vw.u8)
    y = b.output("y", vw.u8, like=x)
    y[b.global_id()] = x[b.global_id()]
    pipe = own.compile(b.build())
    assert (pipe.fn(np.full(2 * WORTH_IT, 255, np.uint8)) == 255).all()
    with own.upload(np.full(WORTH_IT + 8, 9, np.uint8)) as buffer:
        buffer.upload(np.full(WORTH_IT + 8, 3, np.uint8))
        assert (buffer.download() == 3).all()
    short = np.full(WORTH_IT + 1, 7, np.uint8)
    assert (pipe.fn(short) == 7).all()


def test_many_at_once_fall_back_when_all_buffers_are_at_work(own: WgpuBackend) -> None:
    uploads_of(own)._budget = 5 * WORTH_IT
    pipe = own.compile(add())
    given = [arrays(2 * WORTH_IT, seed) for seed in range(6)]
    futures = [pipe.submit(list(pair)) for pair in given]
    for (one, other), future in zip(given, futures, strict=True):
        np.testing.assert_array_equal(future.result(60)[0], one + other)
    assert uploads_of(own)._held() <= 5 * WORTH_IT


def test_the_array_may_change_as_soon_as_it_is_submitted(own: WgpuBackend) -> None:
    pipe = own.compile(add())
    one, other = arrays(2 * WORTH_IT)
    want = one + other
    future = pipe.submit([one, other])
    one[:], other[:] = 0, 0
    np.testing.assert_array_equal(future.result(60)[0], want)


def test_a_trap_and_a_refused_submission_leave_it_usable(
    own: WgpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = vw.ProgramBuilder("trap")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id()
    with b.if_(x[i] == 5):
        b.trap("five", i)
    y[i] = x[i]
    pipe = own.compile(b.build())
    good, bad = np.zeros(WORTH_IT, np.uint32), np.full(WORTH_IT, 5, np.uint32)
    for _ in range(3):
        with pytest.raises(vw.TrapError):
            pipe.fn(bad)
        assert not pipe.fn(good).any()
    calls: Any = own.device.calls
    with monkeypatch.context() as patch:
        patch.setattr(calls, "_encode", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            pipe.fn(np.zeros(WORTH_IT + 1, np.uint32))
    for _ in range(3):
        assert not pipe.fn(good).any()
    assert len(uploads_of(own)._slots) <= 3


def test_a_lent_buffer_that_cannot_be_mapped_again_leaves_the_budget(own: WgpuBackend) -> None:
    uploads = uploads_of(own)
    pipe = own.compile(add())
    view, (one, other) = pipe.input_view("x", 2 * WORTH_IT), arrays(2 * WORTH_IT)
    view[:] = one
    np.testing.assert_array_equal(pipe.fn(view, other), one + other)
    (slot,) = uploads._lent
    slot.memory, slot.mapping = None, type("Failed", (), {"status": 3})()
    np.testing.assert_array_equal(pipe.fn(view, other), one + other)
    del view
    gc.collect()
    np.testing.assert_array_equal(pipe.fn(one, other), one + other)
    assert slot not in uploads._slots
    assert not uploads._lent


def test_a_lent_buffer_at_work_is_kept_though_its_array_is_gone(own: WgpuBackend) -> None:
    """As where a signal came between filling and submitting."""
    uploads = uploads_of(own)
    pipe = own.compile(add())
    view, (one, other) = pipe.input_view("x", 2 * WORTH_IT), arrays(2 * WORTH_IT)
    view[:] = one
    assert uploads.put(view.reshape(-1).view(np.uint8), takes_lent=True) is not None
    (slot,) = uploads._used
    del view
    gc.collect()
    np.testing.assert_array_equal(pipe.fn(one, other), one + other)
    assert slot in uploads._slots
    for _ in range(3):
        np.testing.assert_array_equal(pipe.fn(one, other), one + other)
    assert slot.memory is not None or slot.mapping is not None


def test_closed_and_lost_devices_free_it(own: WgpuBackend) -> None:
    pipe = own.compile(add())
    one, other = arrays(WORTH_IT)
    pipe.fn(one, other)
    before = uploads_of(own)
    own.lose_device("unplugged")
    assert not before._slots
    with pytest.raises(vw.DeviceLostError):
        pipe.fn(one, other)
    own.recover()
    np.testing.assert_array_equal(pipe.fn(one, other), one + other)
    assert uploads_of(own) is not before
    own.close()
    assert not uploads_of(own)._slots
