"""Packed elements, accesses out of bounds and params have one meaning on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.wgsl.running import run


@pytest.fixture
def backend(any_backend: Any) -> Any:
    """These tests say what programs mean, so they run on every backend."""
    return any_backend


@pytest.mark.parametrize("dtype", [vw.u8, vw.i8, vw.u16, vw.i16, vw.bool_], ids=str)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 63, 64, 65, 257, 1000])
def test_packed_elements(dtype: vw.DType, length: int, backend: Any) -> None:
    """Packed loads and stores at every offset, neighbours written by other lanes at once."""
    rng = np.random.default_rng(length)
    raw = rng.integers(0, 256, length * dtype.itemsize, np.uint8)
    x = (raw & 1).astype(bool) if dtype is vw.bool_ else raw.view(dtype.numpy)
    b = vw.ProgramBuilder("packed")
    a = b.read("a", dtype)
    out = b.output("out", dtype, like=a)
    inout = b.read_write("inout", dtype)
    i = b.global_id(0)
    out[i] = a[i]
    flipped = ~inout[i]
    with b.if_(i % 3 == 1):
        inout[i] = flipped
    b.extent(a.length)
    got, changed = run(backend, b, x, x)
    np.testing.assert_array_equal(got, x)
    expected = x.copy()
    expected[1::3] = ~x[1::3]
    np.testing.assert_array_equal(changed, expected)


def test_same_value_races_on_packed_elements(backend: Any) -> None:
    """Many lanes that store one value to one byte leave that value, and the neighbours alone."""
    b = vw.ProgramBuilder("race")
    out = b.output("out", vw.u8, 8)
    b.extent(4096)
    out[3] = vw.u8(7)
    out[5] = (b.global_id(0) * 0 + 9).cast(vw.u8)
    for _ in range(20):
        (got,) = run(backend, b)
        assert got.tolist() == [0, 0, 0, 7, 0, 9, 0, 0]


def test_out_of_bounds(backend: Any) -> None:
    """Loads give 0, stores are dropped, atomics do nothing and give 0; negative indices too."""
    b = vw.ProgramBuilder("bounds")
    data, out = b.read_write("data", vw.u32), b.output("out", vw.u32, 6)
    local = b.private("local", vw.u32, 2)
    index, negative = b.param("index", vw.u32), b.param("negative", vw.i32)
    b.extent(1)
    out[0] = data[index] + 1
    out[1] = data[negative] + 1
    data[index] = 5
    data[negative] = 5
    out[2] = b.atomic_add(data, index, 5) + 1
    out[3] = b.atomic_compare_exchange(data, negative, 0, 5) + 1
    local[index] = 3
    out[4] = local[index] + local[-1] + 1
    out[99] = 4
    out[5] = data[2] + 1
    changed, got = run(backend, b, np.array([7, 8, 9], np.uint32), index=np.uint32(3), negative=-1)
    assert changed.tolist() == [7, 8, 9]
    assert got.tolist() == [1, 1, 1, 1, 1, 10]


def test_params_of_every_type(backend: Any) -> None:
    """Each 32-bit or narrower param reaches the kernel with its value."""
    values: dict[vw.DType, Any] = {
        vw.bool_: True,
        vw.i8: -128,
        vw.u8: 255,
        vw.i16: -32768,
        vw.u16: 65535,
        vw.i32: -(2**31),
        vw.u32: 2**32 - 1,
        vw.f32: np.float32(1.1),
    }
    b = vw.ProgramBuilder("params")
    b.extent(1)
    for dtype in values:
        out = b.output(f"o_{dtype}", dtype, 1)
        out[0] = b.param(f"p_{dtype}", dtype)
    outs = run(backend, b, **{f"p_{dtype}": value for dtype, value in values.items()})
    for (dtype, value), out in zip(values.items(), outs, strict=True):
        assert out.dtype == dtype.numpy
        assert out[0] == value
