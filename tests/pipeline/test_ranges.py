"""Ranges of device buffers: moved, read and written alone or several in one dispatch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend

pytestmark = pytest.mark.gpu

N = 1024
"""Elements of four bytes: a multiple of every device's alignment."""


@pytest.fixture
def numbers(backend: WgpuBackend) -> Iterator[vw.DeviceBuffer]:
    """The numbers from 0 to 4 N."""
    with backend.upload(np.arange(4 * N, dtype=np.uint32)) as buffer:
        yield buffer


def scaled(dtype: Any = vw.u32) -> vw.Program:
    """y = 3 x, z += x for each even lane; other elements of y are zeros."""
    b = vw.ProgramBuilder("scaled")
    x = b.read("x", dtype)
    y = b.output("y", dtype, like=x)
    z = b.read_write("z", dtype)
    b.extent(x.length)
    i = b.global_id()
    with b.if_((i & 1) == 0):
        y[i] = x[i] * 3
        z[i] = z[i] + x[i]
    return b.build()


def expected(x: np.ndarray[Any, Any], z: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    even = np.arange(x.size) % 2 == 0
    zero, three = x.dtype.type(0), x.dtype.type(3)
    return np.where(even, x * three, zero), np.where(even, z + x, z)


SLICES = [
    slice(0, N),
    slice(N, 3 * N),
    slice(-N, None),
    slice(None),
    slice(3 * N, 3 * N + 1),
    slice(2 * N, 99 * N),
]


@pytest.mark.parametrize("key", SLICES, ids=str)
def test_ranges_are_numpys(numbers: vw.DeviceBuffer, key: slice) -> None:
    part, host = numbers[key], np.arange(4 * N, dtype=np.uint32)
    assert (part.shape, part.dtype, len(part)) == (host[key].shape, host.dtype, host[key].size)
    np.testing.assert_array_equal(part.download(), host[key])
    part.upload(host[key] + 7)
    host[key] += 7
    np.testing.assert_array_equal(numbers.download(), host)


def test_ranges_of_rows_and_ranges_of_ranges(backend: WgpuBackend) -> None:
    host = np.arange(4 * N, dtype=np.float32).reshape(16, -1, 2)
    with backend.upload(host) as whole:
        part = whole[4:12][2:5]
        assert part.shape == (3, N // 8, 2)
        np.testing.assert_array_equal(part.download(), host[4:12][2:5])


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
def test_bytes_that_fill_no_word(backend: WgpuBackend, large: bool) -> None:
    """A range may end in the middle of a word only where the buffer ends."""
    size = N * (200 if large else 1) + 5
    host = np.arange(size, dtype=np.uint8)
    with backend.upload(host) as whole:
        tail = whole[256:]
        np.testing.assert_array_equal(tail.download(), host[256:])
        tail.upload(host[256:] + np.uint8(1))
        whole[:256].upload(host[:256] + np.uint8(2))
        host[256:] += 1
        host[:256] += 2
        np.testing.assert_array_equal(whole.download(), host)
        with pytest.raises(vw.InputError, match=r"ends at byte 255 .*end at a multiple of 4,"):
            whole[:255]


@pytest.mark.parametrize("dtype", [vw.u32, vw.u8, vw.f16, vw.f64, vw.i64], ids=str)
def test_ranges_of_one_buffer_are_read_and_written(backend: WgpuBackend, dtype: Any) -> None:
    """In one dispatch; what lies between is left alone."""
    if dtype.feature is not None and dtype.feature not in backend.device.features:
        pytest.skip(f"no {dtype} here")
    host = (np.arange(8 * N) % 61).astype(dtype.numpy)
    pipe = backend.compile(scaled(dtype))
    with backend.upload(host) as whole:
        x, y, z = whole[4 * N : 5 * N], whole[N : 2 * N], whole[2 * N : 3 * N]
        before = backend.stats()
        for _ in range(3):
            assert pipe.dispatch([x, z], out={"y": y}) == [y, z]
            host[N : 2 * N], host[2 * N : 3 * N] = expected(
                host[4 * N : 5 * N], host[2 * N : 3 * N]
            )
            np.testing.assert_array_equal(whole.download(), host)
        after = backend.stats()
        assert after.modules_created - before.modules_created == 1
        assert after.lowerings == before.lowerings
        # Alone, with host arrays beside it, the usual kernel serves.
        (got, _) = pipe.dispatch([x, host[:N]], out={"z": vw.SKIP})
        np.testing.assert_array_equal(got, expected(host[4 * N : 5 * N], host[:N])[0])
        assert backend.stats().modules_created == after.modules_created


def test_each_range_is_bound_where_it_lies(backend: WgpuBackend, numbers: vw.DeviceBuffer) -> None:
    """The same program on other ranges of the same buffer, and again on the first."""
    pipe, host = backend.compile(scaled()), np.arange(4 * N, dtype=np.uint32)
    for start in (0, N, 2 * N, 0):
        x = host[start : start + N]
        y, z = pipe.dispatch([numbers[start : start + N], host[:N]])
        for got, right in zip((y, z), expected(x, host[:N]), strict=True):
            np.testing.assert_array_equal(got, right)


def test_buffers_of_their_own_and_ranges_of_one_in_turn(
    backend: WgpuBackend, numbers: vw.DeviceBuffer
) -> None:
    """Dispatches of one shape and kind, whose shaders declare their buffers differently."""
    pipe, host = backend.compile(scaled()), np.arange(4 * N, dtype=np.uint32)
    with (
        backend.upload(host[:N]) as x,
        backend.upload(host[N : 2 * N]) as y,
        backend.upload(host[2 * N : 3 * N]) as z,
    ):
        parts = (numbers[:N], numbers[N : 2 * N], numbers[2 * N : 3 * N])
        sums = host[2 * N : 3 * N]
        for _ in range(3):
            tripled, sums = expected(host[:N], sums)
            for one, two, three in ((x, y, z), parts):
                pipe.dispatch([one, three], out={"y": two})
                np.testing.assert_array_equal(two.download(), tripled)
                np.testing.assert_array_equal(three.download(), sums)


def test_work_that_is_longer_than_a_range(backend: WgpuBackend, numbers: vw.DeviceBuffer) -> None:
    """Lanes see the length of the range, not of the buffer; what follows is not cleared."""
    b = vw.ProgramBuilder("past")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, count=x.length)
    b.extent(x.length + 9)
    i = b.global_id()
    y[i] = x[i] + x.length
    pipe = backend.compile(b.build())
    pipe.dispatch([numbers[: N - 2]], out={"y": numbers[2 * N : 3 * N - 2]})
    got, host = numbers.download(), np.arange(4 * N, dtype=np.uint32)
    host[2 * N : 3 * N - 2] = host[: N - 2] + N - 2
    np.testing.assert_array_equal(got, host)


def test_ranges_that_overlap_are_refused(backend: WgpuBackend, numbers: vw.DeviceBuffer) -> None:
    """Where one is written; nothing runs. Two that are read may."""
    pipe = backend.compile(scaled())
    a, b, c = numbers[:N], numbers[N : 2 * N], numbers[N - 256 : 2 * N - 256]
    tries: list[tuple[Any, Any, str]] = [
        ([a, b], {"y": a}, "'x' and 'y'"),
        ([a, c], {"y": b}, "'x' and 'z'"),
        ([c, numbers[2 * N : 3 * N]], {"y": b}, "'x' and 'y'"),
        ([numbers[2 * N : 3 * N], c], {"y": b}, "'z' and 'y'"),
        ([numbers[2 * N : 3 * N], numbers], {"y": b}, "'x' and 'z'"),
    ]
    for inputs, out, names in tries:
        with pytest.raises(vw.InputError, match=names):
            pipe.dispatch(inputs, out=out)
    np.testing.assert_array_equal(numbers.download(), np.arange(4 * N))
    p = vw.ProgramBuilder("sum")
    u, v = p.read("u", vw.u32), p.read("v", vw.u32)
    p.output("w", vw.u32, like=u)[p.global_id()] = u[p.global_id()] + v[p.global_id()]
    got = backend.compile(p.build()).fn(b, c)
    np.testing.assert_array_equal(got, 2 * np.arange(N, 2 * N) - 256)


@pytest.mark.parametrize(
    ("take", "message"),
    [
        (lambda x: x[1 : N + 1], "begins at byte 4 .*begin at a multiple of"),
        (lambda x: x[N:][1:], "begins at byte 4100"),
        (lambda x: x[::2], "gaps"),
        (lambda x: x[::-1], "gaps"),
        (lambda x: x[5:5], "empty"),
        (lambda x: x[9 * N :], "empty"),
        (lambda x: x[3], "no element 3"),
        (lambda x: x[:N, :1], "no element"),
        (lambda x: x[...], "no element"),
    ],
)
def test_what_is_no_range(
    numbers: vw.DeviceBuffer, take: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(vw.InputError, match=message):
        take(numbers)


def test_a_buffer_is_no_sequence(backend: WgpuBackend, numbers: vw.DeviceBuffer) -> None:
    with pytest.raises(TypeError, match="not iterable"):
        iter(numbers)
    with pytest.raises(vw.InputError):
        backend.upload(numbers)  # type: ignore[arg-type]
    with backend.upload(np.uint32(3)) as scalar, pytest.raises(vw.InputError, match="shape"):
        scalar[:]


def test_a_range_ends_with_its_buffer(backend: WgpuBackend) -> None:
    whole = backend.upload(np.arange(2 * N, dtype=np.uint32))
    first, inner = whole[:N], whole[N:][:256]
    first.close()
    first.close()
    with pytest.raises(vw.DeviceLostError, match="closed"):
        first.download()
    assert inner.download()[0] == N
    with whole[:N] as again:
        assert again.download()[-1] == N - 1
    assert (again.closed, inner.closed, whole.closed) == (True, False, False)
    whole.close()
    assert inner.closed
    pipe = backend.compile(scaled())
    for use in (
        inner.download,
        lambda: inner[:1],
        lambda: whole[:N],
        lambda: inner.upload(np.zeros(256, np.uint32)),
        lambda: pipe.dispatch([inner, np.zeros(256, np.uint32)]),
    ):
        with pytest.raises(vw.DeviceLostError, match="closed"):
            use()
    inner.close()
    with backend.upload(np.zeros(2 * N, np.uint32)) as other:  # likely the same memory
        with pytest.raises(vw.DeviceLostError, match="closed"):
            inner.download()
        assert not other.download().any()


def test_an_indirect_grid_in_a_range(backend: WgpuBackend) -> None:
    b = vw.ProgramBuilder("count", workgroup_size=64)
    total = b.output("total", vw.u32, 1)
    b.extent(1)
    b.atomic_add(total, 0, 1)
    pipe = backend.compile(b.build())
    words = np.zeros(2 * N, np.uint32)
    words[N : N + 6] = [9, 5, 1, 1, 7, 3]
    with backend.upload(words) as whole:
        config = vw.DispatchConfig(grid=vw.Indirect(whole[N : N + 6], 4))
        assert pipe.dispatch([], config=config)[0].tolist() == [5 * 64]
        with pytest.raises(vw.InputError, match="grid and 'total' are in one device buffer"):
            pipe.dispatch([], config=config, out={"total": whole[:1]})
        with pytest.raises(vw.InputError, match="room for three words in 24 bytes"):
            pipe.dispatch([], config=vw.DispatchConfig(grid=vw.Indirect(whole[N : N + 6], 16)))


def test_ranges_in_a_recording(backend: WgpuBackend, numbers: vw.DeviceBuffer) -> None:
    """Data flows between ranges of one buffer, and through ranges of what was made there."""
    pipe = backend.compile(scaled())
    host = np.arange(4 * N, dtype=np.uint32)
    zeros = np.zeros(N, np.uint32)
    with backend.record() as recording:
        first = recording.add(pipe, [numbers[:N], zeros], out={"y": numbers[N : 2 * N]})
        made = recording.add(pipe, [numbers[N : 2 * N], zeros], out={"y": vw.DEVICE})
        last = recording.add(pipe, [made["y"][256:512], zeros[:256]])
    for _ in range(2):
        recording.replay()
        once, z = expected(host[:N], zeros)
        twice, _ = expected(once, zeros)
        np.testing.assert_array_equal(numbers[N : 2 * N].download(), once)
        np.testing.assert_array_equal(first.result()[1], z)
        np.testing.assert_array_equal(made["y"].download(), twice)
        y, _ = expected(twice[256:512], zeros[:256])
        np.testing.assert_array_equal(last.result()[0], y)
    recording.close()
    made["y"].close()
