"""prefix_sum: numpy.cumsum in the type of the elements, whatever the length."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.programs.numbers import COUNTS, Numbers, error_bound, random_numbers
from vyre_wgpu import programs
from vyre_wgpu.backends.protocol import Backend
from vyre_wgpu.backends.reference import ReferenceBackend
from vyre_wgpu.backends.wgpu import WgpuBackend

BLOCK = 1792
ADDITIONS = 22
"""What an element goes through at each level: 6 in its lane, 8 over the lanes, at most 1 for the
lanes before and 7 for the elements of the last lane; or 14 in a block's sum, and 8 on top."""


def cumsum(x: Numbers, exclusive: bool) -> Numbers:
    before = [np.zeros(1, x.dtype), x[:-1]] if exclusive else [x]
    return np.cumsum(np.concatenate(before)[: x.size], dtype=x.dtype)


def check_floats(sums: Numbers, x: Numbers, exclusive: bool = False) -> None:
    assert (sums.dtype, sums.size) == (x.dtype, x.size)
    levels = next(k for k in range(1, 9) if x.size <= BLOCK**k)
    exact = cumsum(x.astype(np.longdouble), exclusive)
    magnitudes = cumsum(np.abs(x).astype(np.longdouble), exclusive)
    assert (np.abs(sums - exact) <= error_bound(ADDITIONS * levels, magnitudes, x.dtype)).all()


def test_calls_build_equal_programs_and_arguments_make_others() -> None:
    assert programs.scan_blocks() == programs.scan_blocks(vw.u32, exclusive=False)
    kinds = [programs.scan_blocks(t, exclusive=e) for t in (vw.u32, vw.f32) for e in (False, True)]
    assert len(set(kinds)) == 4


@pytest.mark.parametrize(("dtype", "exclusive"), [(np.uint32, False), (np.int32, True)])
def test_random_integers_of_every_length(any_backend: Backend, dtype: Any, exclusive: bool) -> None:
    for count in [*COUNTS, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5]:
        x = random_numbers(count, dtype)
        sums = programs.prefix_sum(x, exclusive=exclusive, backend=any_backend)
        assert sums.dtype == dtype
        np.testing.assert_array_equal(sums, cumsum(x, exclusive), str(count))


@pytest.mark.parametrize("exclusive", [False, True])
def test_random_floats_of_every_length(any_backend: Backend, exclusive: bool) -> None:
    for count in COUNTS:
        x = random_numbers(count, np.float32)
        check_floats(programs.prefix_sum(x, exclusive=exclusive, backend=any_backend), x, exclusive)


@pytest.mark.parametrize("dtype", [np.uint64, np.float64])
def test_wide_types_where_the_device_has_them(any_backend: Backend, dtype: Any) -> None:
    x = random_numbers(4097, dtype)
    try:
        sums = programs.prefix_sum(x, backend=any_backend)
    except vw.UnsupportedFeatureError as error:
        pytest.skip(str(error))
    if np.dtype(dtype).kind == "f":
        check_floats(sums, x)
    else:
        np.testing.assert_array_equal(sums, np.cumsum(x, dtype=dtype))


@pytest.mark.gpu
@pytest.mark.parametrize("count", [1 << 20, BLOCK * BLOCK + 1])
def test_long_inputs(wgpu_backend: WgpuBackend, count: int) -> None:
    x = random_numbers(count, np.uint32)
    np.testing.assert_array_equal(
        programs.prefix_sum(x, backend=wgpu_backend), np.cumsum(x, dtype=np.uint32)
    )


@pytest.mark.gpu
def test_long_sums_of_equal_signs(wgpu_backend: WgpuBackend) -> None:
    x = np.random.default_rng(1).random(1 << 20, np.float32)
    check_floats(programs.prefix_sum(x, backend=wgpu_backend), x)


@pytest.mark.parametrize("count", [1000, 5000])
def test_equal_rising_and_falling(any_backend: Backend, count: int) -> None:
    rising = np.arange(count, dtype=np.int32)
    for x in (np.ones(count, np.int32), np.zeros(count, np.int32), rising, -rising[::-1]):
        np.testing.assert_array_equal(programs.prefix_sum(x, backend=any_backend), x.cumsum())


def test_infinities_and_nan_count_from_where_they_are(any_backend: Backend) -> None:
    x = np.ones(4000, np.float32)
    x[1000], x[3000] = np.inf, np.nan
    sums = programs.prefix_sum(x, backend=any_backend)
    before = programs.prefix_sum(x, exclusive=True, backend=any_backend)
    np.testing.assert_array_equal(sums, np.cumsum(x))
    np.testing.assert_array_equal(before[1:], sums[:-1])


def test_shapes_and_byte_orders_are_taken_in_c_order(any_backend: Backend) -> None:
    x = np.arange(6, dtype=">u4").reshape(2, 3).T
    sums = programs.prefix_sum(x, backend=any_backend)
    assert (sums.dtype, sums.tolist()) == (np.uint32, [0, 3, 4, 8, 10, 15])


@pytest.mark.parametrize(
    "wrong", [[1, 2], 7, None, "text", np.zeros(3, np.int8), np.zeros(2, "U1")]
)
def test_other_inputs_are_refused(wrong: Any) -> None:
    with pytest.raises(vw.InputError, match=r"values .*Fix: .*uint32"):
        programs.prefix_sum(wrong, backend="reference")


@pytest.mark.gpu
@pytest.mark.parametrize("count", [0, 1, 1000, 5000])
def test_device_buffers_give_device_buffers(wgpu_backend: WgpuBackend, count: int) -> None:
    x = random_numbers(count, np.int32)
    with wgpu_backend.upload(x) as there:
        with programs.prefix_sum(there, backend=wgpu_backend) as sums:
            np.testing.assert_array_equal(sums.download(), np.cumsum(x, dtype=np.int32))
        np.testing.assert_array_equal(there.download(), x)


@pytest.mark.gpu
def test_memory_between_the_dispatches_is_given_back(wgpu_backend: WgpuBackend) -> None:
    x = random_numbers(10_000, np.uint32)
    programs.prefix_sum(x, backend=wgpu_backend)
    before = wgpu_backend.stats()
    for _ in range(3):
        programs.prefix_sum(x, backend=wgpu_backend)
    after = wgpu_backend.stats()
    assert after.buffers_created == before.buffers_created
    assert after.lowerings == before.lowerings


@pytest.mark.parametrize("exclusive", [False, True])
def test_no_races_in_any_order(exclusive: bool) -> None:
    x = random_numbers(2 * BLOCK + 3, np.uint32)
    for seed in (None, 1):
        backend = ReferenceBackend(seed=seed, detect_races=True)
        sums = programs.prefix_sum(x, exclusive=exclusive, backend=backend)
        np.testing.assert_array_equal(sums, cumsum(x, exclusive))


@pytest.mark.gpu
def test_no_access_out_of_bounds(wgpu_backend: WgpuBackend) -> None:
    checked = vw.CompileOptions(checks="trap")
    for count, exclusive in itertools.product((1, BLOCK, BLOCK + 1), (False, True)):
        x, offsets = random_numbers(count, np.uint32), np.zeros(-(-count // BLOCK), np.uint32)
        pipe = wgpu_backend.compile(programs.scan_blocks(exclusive=exclusive), checked)
        assert pipe.fn(x, offsets).size == count
