"""Small results that kernels write right into memory that the host maps."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.pipeline.pipeline import WgpuPipeline
from vyre_wgpu.pipeline.submission import STAGING_STEP, Frame

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def in_place(backend: WgpuBackend) -> None:
    if not backend.device.writes_in_place:
        pytest.skip("the device maps no memory that kernels write")


def several() -> vw.Program:
    """Results of every kind beside each other, and traps."""
    b = vw.ProgramBuilder("several", workgroup_size=64)
    x = b.read("x", vw.u32)
    a = b.param("a", vw.u32)
    whole = b.output("whole", vw.u32, like=x)
    some = b.output("some", vw.u32, like=x)
    small = b.output("small", vw.u8, like=x)
    wide = b.output("wide", vw.f32, like=x)
    counts = b.output("counts", vw.u32, count=4)
    looped = b.output("looped", vw.u32, like=x)
    i = b.global_id(0)
    b.extent(x.length)
    with b.if_(x[i] == 0xFFFFFFFF):
        b.trap("all ones", i)
    whole[i] = x[i] + a
    with b.if_(x[i] % 3 == 0):
        some[i] = x[i]
    small[i] = x[i].cast(vw.u8)
    wide[i] = x[i].cast(vw.f32) * 0.5
    b.atomic_add(counts, i % 4, 1)
    with b.for_range(0, 3) as k:
        looped[i] = x[i] * k
    return b.build()


def check(results: list[Any], x: np.ndarray, a: int) -> None:
    whole, some, small, wide, counts, looped = results
    np.testing.assert_array_equal(whole, x + np.uint32(a))
    np.testing.assert_array_equal(some, np.where(x % 3 == 0, x, 0))
    np.testing.assert_array_equal(small, x.astype(np.uint8))
    np.testing.assert_array_equal(wide, x.astype(np.float32) * np.float32(0.5))
    np.testing.assert_array_equal(counts, np.bincount(np.arange(x.size) % 4, minlength=4))
    np.testing.assert_array_equal(looped, x * 2)


def given(size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 20, size, np.uint32)


def frame_of(pipe: WgpuPipeline, *arguments: Any, **options: Any) -> Frame:
    submission = pipe.prepare(*arguments, **options).submission
    assert submission is not None
    return submission.frame


@pytest.fixture
def pipe(backend: WgpuBackend) -> WgpuPipeline:
    return backend.compile(several())


def names_in_place(pipe: WgpuPipeline, frame: Frame) -> set[str]:
    kernel = frame.kernel.descriptor
    return {
        pipe.program.buffers[binding.buffer].name
        for binding, slot in zip(kernel.bindings, frame.slots, strict=True)
        if slot.in_place
    }


def test_which_results_are_written_in_place(pipe: WgpuPipeline) -> None:
    """Those that are written whole, in no loop, of words, and small."""
    frame = frame_of(pipe, [given(100)], {"a": 1})
    assert names_in_place(pipe, frame) == {"whole", "wide"}
    assert all(offset % STAGING_STEP == 0 for _, offset, _ in frame.bound)
    assert len(frame.bound) == 3, "the trap words too"
    for size, expected in ((1 << 14, {"whole", "wide"}), ((1 << 14) + 1, set())):
        assert names_in_place(pipe, frame_of(pipe, [given(size)], {"a": 1})) == expected
    places = {"whole": vw.DEVICE, "wide": vw.SKIP}
    assert not frame_of(pipe, [given(100)], {"a": 1}, places).bound
    for extent in (50, (1 << 16) + 1):  # not all is written; too many lanes
        config = vw.DispatchConfig(extent=extent)
        assert not frame_of(pipe, [given(100)], {"a": 1}, config=config).bound


@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 1000, 16384, 16385, 40000])
def test_results_of_every_kind_are_right(pipe: WgpuPipeline, size: int) -> None:
    for seed in range(3):
        x = given(size, seed)
        check(pipe.dispatch([x], {"a": seed}), x, seed)


def test_sizes_that_share_buffers_follow_each_other(pipe: WgpuPipeline) -> None:
    """The places of results move within a staging buffer of the same class."""
    sizes = [1000, 1001, 1003, 900, 1000, 1024, 1, 1000]
    for seed, size in enumerate(sizes * 3):
        x = given(size, seed)
        check(pipe.dispatch([x], {"a": seed % 3}), x, seed % 3)


def test_all_ways_and_places(backend: WgpuBackend, pipe: WgpuPipeline) -> None:
    x = given(777)
    views = vw.DispatchConfig(zero_copy=True)
    late = vw.DispatchConfig(deadline=600)
    kept = []
    for a in range(4):
        check(pipe.submit([x], {"a": a}).result(60), x, a)
        kept.append(pipe.dispatch([x], {"a": a}, config=views))
        check(pipe.dispatch([x], {"a": a}, config=late), x, a)
        place = np.zeros(777, np.float32)
        check(pipe.dispatch([x], {"a": a}, out={"wide": place}), x, a)
        np.testing.assert_array_equal(place, x.astype(np.float32) * np.float32(0.5))
        with backend.upload(np.zeros(777, np.uint32)) as whole:
            results = pipe.dispatch([x], {"a": a}, out={"whole": whole, "some": vw.SKIP})
            assert results[1] is None
            check([whole.download(), np.where(x % 3 == 0, x, 0), *results[2:]], x, a)
    for a, results in enumerate(kept):
        check(results, x, a)


def test_recordings_have_many_in_one_staging_buffer(
    backend: WgpuBackend, pipe: WgpuPipeline
) -> None:
    arrays = [given(size, size) for size in (1, 5, 777, 20000, 3)]
    recording = backend.record()
    handles = [recording.add(pipe, [x], {"a": k}) for k, x in enumerate(arrays)]
    for round_ in range(3):
        for x in arrays:
            x += np.uint32(round_)
        recording.replay()
        for k, (x, handle) in enumerate(zip(arrays, handles, strict=True)):
            check(handle.result(), x, k)
    recording.close()


def test_traps_leave_destinations_and_the_next_dispatch_alone(pipe: WgpuPipeline) -> None:
    good, bad = given(5000), given(5000)
    bad[1234] = 0xFFFFFFFF
    place = np.full(5000, 7, np.uint32)
    for _ in range(4):
        with pytest.raises(vw.TrapError, match="all ones") as caught:
            pipe.dispatch([bad], {"a": 1}, out={"whole": place})
        assert caught.value.address == 1234
        assert (place == 7).all()
        check(pipe.dispatch([good], {"a": 1}), good, 1)
    bad[:] = 0xFFFFFFFF
    with pytest.raises(vw.TrapError):
        pipe.dispatch([bad], {"a": 1})


def test_many_shapes_keep_their_bind_groups(backend: WgpuBackend, pipe: WgpuPipeline) -> None:
    """The cache of groups is emptied: those in use live on."""
    memory = backend._generations.current.submitter._memory
    x = given(300)
    recording = backend.record()
    handle = recording.add(pipe, [x], {"a": 1})
    recording.replay()
    check(pipe.dispatch([x], {"a": 1}), x, 1)
    for _ in range(3):
        memory.groups.clear()
        recording.replay()
        check(handle.result(), x, 1)
        check(pipe.dispatch([x], {"a": 1}), x, 1)
    recording.close()


@pytest.fixture
def plain() -> Iterator[WgpuBackend]:
    """A backend whose device has no such memory."""
    with WgpuBackend() as own:
        own.device.writes_in_place = False
        yield own


def test_nothing_changes_where_the_device_has_no_such_memory(
    plain: WgpuBackend, pipe: WgpuPipeline
) -> None:
    other = plain.compile(several())
    for size in (1, 777, 16384):
        x = given(size)
        frame = frame_of(other, [x], {"a": 3})
        assert not frame.bound
        pairs = itertools.zip_longest(other.dispatch([x], {"a": 3}), pipe.dispatch([x], {"a": 3}))
        for mine, its in pairs:
            np.testing.assert_array_equal(mine, its)
