"""Arrays that stay on the device, destinations of results, and indirect grids."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends import Backend
from vyre_wgpu.backends.wgpu import WgpuBackend

pytestmark = pytest.mark.gpu


def double() -> vw.Program:
    b = vw.ProgramBuilder("double")
    x = b.read("x", vw.f32)
    b.output("y", vw.f32, like=x)[b.global_id()] = x[b.global_id()] * 2.0
    return b.build()


def add_one() -> vw.Program:
    b = vw.ProgramBuilder("add_one")
    x = b.read_write("x", vw.i32)
    i = b.global_id()
    with b.if_(x[i] < 0):
        b.trap("negative", i)
    x[i] += 1
    return b.build()


X = np.arange(10, dtype=np.float32).reshape(2, 5)


def test_numpy_is_told_to_download(backend: WgpuBackend) -> None:
    """NumPy's functions would otherwise speak of sequences."""
    with backend.upload(X) as buffer:
        for use in (np.asarray, np.sum, lambda d: np.add(X, d), backend.upload):
            with pytest.raises(vw.InputError, match=r"\.download\(\)"):
                use(buffer)


def test_a_closed_result_is_told_to_be_used_earlier(backend: WgpuBackend) -> None:
    (result,) = backend.compile(double()).dispatch([X], out={"y": vw.DEVICE})
    result.close()
    with pytest.raises(vw.DeviceLostError, match="use it before it or its backend is closed"):
        result.download()


def test_upload_and_download(backend: WgpuBackend) -> None:
    """Shape, type and values survive; big-endian and strided arrays are converted."""
    for array in (X, X.astype(">f4"), X[:, ::-1], np.float32(3), np.empty((0, 3), np.uint8)):
        with backend.upload(array) as buffer:
            got = buffer.download()
            assert (got.shape, got.dtype) == (array.shape, array.dtype.newbyteorder("="))
            np.testing.assert_array_equal(got, array)
            np.testing.assert_array_equal(buffer.to_numpy(), array)
    with backend.upload(X) as buffer:
        buffer.upload(X + 1)
        np.testing.assert_array_equal(buffer.download(), X + 1)
        with pytest.raises(vw.InputError, match="10 elements"):
            buffer.upload(X[0])
    with pytest.raises(vw.InputError):
        backend.upload(np.array(["a"]))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.ma.array([1, 2, 3], mask=[0, 1, 0], dtype=np.uint32), "masked array"),
        ([[1], [1, 2]], "is a list, not an array.*np.asarray"),
        ([1.0, 2.0], "is a list, not an array.*np.asarray"),
        ((1, 2), "is a tuple, not an array"),
        (3, "is an int, not an array"),
        (np.array(["a"], np.dtypes.StringDType()), "no place on a device"),
        (None, "no place on a device"),
        (np.zeros(2, np.complex64), "no place on a device"),
    ],
    ids=str,
)
def test_what_is_no_array_of_elements_is_not_uploaded(
    value: Any, message: str, backend: WgpuBackend
) -> None:
    """Neither into a new buffer nor into an old one."""
    with pytest.raises(vw.InputError, match=message):
        backend.upload(value)
    with backend.upload(np.arange(3, dtype=np.uint32)) as buffer:
        with pytest.raises(vw.InputError):
            buffer.upload(value)
        assert buffer.download().tolist() == [0, 1, 2]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_device_buffer_has_one_owner(
    duplicate: Callable[[object], object], backend: WgpuBackend
) -> None:
    """A second object would give the memory back a second time, to others who hold it."""
    with backend.upload(X) as buffer:
        # A shallow copy of what refers to a buffer is another reference, no other owner.
        for what in (buffer,) if duplicate is copy.copy else (buffer, vw.Indirect(buffer)):
            with pytest.raises(TypeError, match="device buffer is neither copied nor pickled"):
                duplicate(what)
        np.testing.assert_array_equal(buffer.download(), X)


def test_aliases_go_by_the_memory(backend: WgpuBackend) -> None:
    """Two objects that stand for one buffer are one buffer."""
    pipe = backend.compile(double())
    with backend.upload(X) as x:
        twin = vw.DeviceBuffer(x._keeper, x.pooled(), x.dtype, x.shape)
        with pytest.raises(vw.InputError, match="'x' and 'y'"):
            pipe.dispatch([x], out={"y": twin})


def test_inputs_and_chaining_without_readback(backend: WgpuBackend) -> None:
    """The result of one dispatch is the input of the next."""
    pipe = backend.compile(double())
    with backend.upload(X) as x:
        (y,) = pipe.dispatch([x], out={"y": vw.DEVICE})
        assert isinstance(y, vw.DeviceBuffer)
        assert y.shape == X.shape
        with y:
            (z,) = pipe.dispatch({"x": y})
            np.testing.assert_array_equal(z, X * 4)
            np.testing.assert_array_equal(x.download(), X)


def test_read_write_in_place(backend: WgpuBackend) -> None:
    """A device buffer is updated in place and is itself the result; a host array is not."""
    pipe = backend.compile(add_one())
    host = np.arange(5, dtype=np.int32)
    with backend.upload(host) as x:
        (result,) = pipe.dispatch([x])
        assert result is x
        assert pipe.dispatch([x], out={"x": vw.SKIP}) == [None]
        np.testing.assert_array_equal(x.download(), host + 2)
    (copy,) = pipe.dispatch([host], out={"x": vw.DEVICE})
    with copy:
        np.testing.assert_array_equal(copy.download(), host + 1)
        np.testing.assert_array_equal(host, np.arange(5))


def test_an_array_cannot_take_the_result_of_a_resident(backend: WgpuBackend) -> None:
    """Which is the device buffer itself."""
    pipe = backend.compile(add_one())
    with backend.upload(np.arange(5, dtype=np.int32)) as x:
        for place in (np.zeros(5, np.int32), np.zeros(0, np.int32), vw.DEVICE):
            with pytest.raises(vw.InputError, match="'x', whose input is a device buffer"):
                pipe.dispatch([x], out={"x": place})
        assert pipe.dispatch([x], out={"x": x}) == [x]
        assert x.download().tolist() == [1, 2, 3, 4, 5]


def test_destinations(backend: WgpuBackend) -> None:
    """Arrays of the caller's are filled and returned, whatever their strides."""
    pipe = backend.compile(double())
    for target in (
        np.zeros((2, 5), np.float32),
        np.zeros((5, 4), np.float32).T[::2],
        np.zeros(10, np.float32),
    ):
        (got,) = pipe.dispatch([X], out={"y": target})
        assert got is target
        np.testing.assert_array_equal(target.reshape(X.shape), X * 2)
    with backend.upload(np.zeros(10, np.float32)) as y:
        assert pipe.dispatch([X], out={"y": y}) == [y]
        np.testing.assert_array_equal(y.download(), (X * 2).ravel())
    assert pipe.dispatch([X], out={"y": vw.SKIP}) == [None]


@pytest.mark.parametrize(
    "bad",
    [
        {"z": vw.DEVICE},
        {"y": np.zeros(10, np.float64)},
        {"y": np.zeros(9, np.float32)},
        {"y": [0.0] * 10},
        {"x": vw.DEVICE},
        ["y"],
    ],
    ids=str,
)
def test_wrong_destinations(bad: Any, backend: WgpuBackend) -> None:
    """Refused with the name, before anything runs."""
    pipe = backend.compile(double())
    with pytest.raises(vw.InputError):
        pipe.dispatch([X], out=bad)
    read_only = np.zeros(10, np.float32)
    read_only.flags.writeable = False
    with pytest.raises(vw.InputError, match="'y' is read-only"):
        pipe.dispatch([X], out={"y": read_only})
    np.testing.assert_array_equal(pipe.fn(X), X * 2)


def test_one_buffer_as_input_and_output_is_refused(backend: WgpuBackend) -> None:
    """Except through read_write; reading one buffer twice is fine."""
    pipe = backend.compile(double())
    with backend.upload(X) as x, pytest.raises(vw.InputError, match="'x' and 'y'"):
        pipe.dispatch([x], out={"y": x})
    b = vw.ProgramBuilder("sum")
    u, v = b.read("u", vw.f32), b.read("v", vw.f32)
    b.output("w", vw.f32, like=u)[b.global_id()] = u[b.global_id()] + v[b.global_id()]
    with backend.upload(X) as x:
        np.testing.assert_array_equal(backend.compile(b.build()).fn(x, x), X * 2)


def test_use_after_close(backend: WgpuBackend) -> None:
    """A closed buffer, and one of another or a closed backend, are refused."""
    pipe = backend.compile(double())
    x = backend.upload(X)
    x.close()
    x.close()
    for attempt in (x.download, lambda: pipe.dispatch([x]), lambda: x.upload(X)):
        with pytest.raises(vw.DeviceLostError, match="closed"):
            attempt()
    other = WgpuBackend()
    foreign = other.upload(X)
    with pytest.raises(vw.InputError, match="another backend"):
        pipe.dispatch([foreign])
    other.close()
    with pytest.raises(vw.DeviceLostError):
        foreign.download()
    foreign.close()


def test_wrong_type_and_size(backend: WgpuBackend) -> None:
    """Named like a wrong array."""
    with backend.upload(np.zeros(3, np.int32)) as x, pytest.raises(vw.InputError, match="'x'"):
        backend.compile(double()).dispatch([x])


def test_empty_extents(backend: WgpuBackend) -> None:
    """Nothing runs; destinations are zeros, read_write keeps its content."""
    none = vw.DispatchConfig(extent=0)
    pipe = backend.compile(double())
    (y,) = pipe.dispatch([X], out={"y": vw.DEVICE}, config=none)
    with y:
        np.testing.assert_array_equal(y.download(), np.zeros_like(X))
    target = np.ones(10, np.float32)
    pipe.dispatch([X], out={"y": target}, config=none)
    assert not target.any()
    (copy,) = backend.compile(add_one()).dispatch(
        [np.arange(4, dtype=np.int32)], out={"x": vw.DEVICE}, config=none
    )
    with copy:
        assert copy.download().tolist() == [0, 1, 2, 3]


def test_a_trap_leaves_no_new_buffer_behind(backend: WgpuBackend) -> None:
    """What was allocated for the results goes back to the pool."""
    pipe = backend.compile(add_one())
    before = backend.stats().bytes_pooled
    for _ in range(3):
        with pytest.raises(vw.TrapError):
            pipe.dispatch([np.full(100_000, -1, np.int32)], out={"x": vw.DEVICE})
    created = backend.stats().buffers_created
    with pytest.raises(vw.TrapError):
        pipe.dispatch([np.full(100_000, -1, np.int32)], out={"x": vw.DEVICE})
    assert backend.stats().buffers_created == created
    assert backend.stats().bytes_pooled - before < 4_000_000


# Indirect grids


def count_lanes(axes: int = 1) -> vw.Program:
    b = vw.ProgramBuilder("count", workgroup_size=(8, 2, 1) if axes > 1 else 64)
    total = b.output("total", vw.u32, 3)
    b.extent(*[1] * axes)
    b.atomic_add(total, 0, 1)
    b.atomic_max(total, 1, b.global_id(0))
    b.atomic_max(total, 2, b.num_workgroups(0))
    return b.build()


def test_an_indirect_grid_comes_from_the_device(backend: WgpuBackend) -> None:
    """The three words stand at any offset; further axes repeat nothing."""
    pipe = backend.compile(count_lanes())
    words = np.array([9, 5, 1, 1, 7, 3, 2, 0], np.uint32)
    with backend.upload(words) as grid:
        for offset, groups in ((4, 5), (16, 7), (0, 9)):
            config = vw.DispatchConfig(grid=vw.Indirect(grid, offset))
            (got,) = pipe.dispatch([], config=config)
            assert got.tolist() == [groups * 64, groups * 64 - 1, groups]
        (got,) = pipe.dispatch([], config=vw.DispatchConfig(grid=vw.Indirect(grid, 20)))
        assert got.tolist() == [0, 0, 0]  # (3, 2, 0) workgroups are none
    two = backend.compile(count_lanes(2))
    with backend.upload(np.array([3, 4, 1], np.uint32)) as grid:
        (got,) = two.dispatch([], config=vw.DispatchConfig(grid=vw.Indirect(grid)))
        assert got.tolist() == [3 * 8 * 4 * 2, 23, 3]


def test_an_indirect_grid_above_the_limit_is_an_error(backend: WgpuBackend) -> None:
    """The driver runs nothing and says nothing."""
    pipe = backend.compile(count_lanes())
    with (
        backend.upload(np.array([1 << 20, 1, 1], np.uint32)) as grid,
        pytest.raises(vw.LimitError, match="1048576"),
    ):
        pipe.dispatch([], config=vw.DispatchConfig(grid=vw.Indirect(grid)))
    assert pipe.dispatch([])[0][0] == 1


@pytest.mark.parametrize("words", [np.ones(3, np.uint32), 5, None, [1, 1, 1]], ids=repr)
def test_an_indirect_grid_is_a_device_buffer(words: Any, any_backend: Backend) -> None:
    """Nothing else has its words on the device."""
    pipe = any_backend.compile(count_lanes())
    with pytest.raises(vw.InputError, match=r"indirect grid is .*, not a device buffer.*Fix:"):
        pipe.dispatch([], config=vw.DispatchConfig(grid=vw.Indirect(words)))


def test_an_indirect_grid_is_of_u32(backend: WgpuBackend) -> None:
    """As the driver reads it."""
    pipe = backend.compile(count_lanes())
    with (
        backend.upload(np.ones(3, np.int32)) as grid,
        pytest.raises(vw.InputError, match="of int32, not of u32"),
    ):
        pipe.dispatch([], config=vw.DispatchConfig(grid=vw.Indirect(grid)))


def test_the_offset_may_be_a_numpy_integer(backend: WgpuBackend) -> None:
    """As any integer may."""
    pipe = backend.compile(count_lanes())
    with backend.upload(np.array([9, 2, 1, 1], np.uint32)) as grid:
        for offset in (np.int64(4), np.uint8(4)):
            config = vw.DispatchConfig(grid=vw.Indirect(grid, offset))  # type: ignore[arg-type]
            assert pipe.dispatch([], config=config)[0].tolist() == [128, 127, 2]


@pytest.mark.parametrize("offset", [-4, 2, 8, 1 << 40, 1.0, None, False, np.zeros(2, int)])
def test_offsets_outside_the_buffer(offset: Any, backend: WgpuBackend) -> None:
    """The three words must lie inside."""
    pipe = backend.compile(count_lanes())
    with backend.upload(np.ones(4, np.uint32)) as grid, pytest.raises(vw.InputError):
        pipe.dispatch([], config=vw.DispatchConfig(grid=vw.Indirect(grid, offset)))


def test_a_trap_of_an_indirect_dispatch_names_its_lane(backend: WgpuBackend) -> None:
    """The grid that the device had tells how lanes are numbered."""
    b = vw.ProgramBuilder("trap", workgroup_size=(8, 2, 1))
    out = b.output("out", vw.u32, 1)
    b.extent(1, 1)
    with b.if_((b.global_id(0) == 13) & (b.global_id(1) == 5)):
        b.trap("here", 7)
    out[0] = 1
    pipe = backend.compile(b.build())
    with (
        backend.upload(np.array([2, 3, 1], np.uint32)) as grid,
        pytest.raises(vw.TrapError) as caught,
    ):
        pipe.dispatch([], config=vw.DispatchConfig(grid=vw.Indirect(grid)))
    assert (caught.value.lane, caught.value.address) == ((13, 5), 7)
