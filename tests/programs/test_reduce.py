"""reduce and argmax: NumPy's, in the type of the elements, whatever the length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.programs.numbers import COUNTS, Numbers, error_bound, random_numbers
from vyre_wgpu import programs
from vyre_wgpu.backends.protocol import Backend
from vyre_wgpu.backends.reference import ReferenceBackend
from vyre_wgpu.backends.wgpu import WgpuBackend

BLOCK = 4096
ADDITIONS = 16 - 1 + 8
"""What an element goes through at each level: those of its lane and those of the tree."""
TYPES = [np.uint32, np.int32, np.float32]


def check_sum(total: Any, x: Numbers) -> None:
    assert total.dtype == x.dtype
    if x.dtype.kind != "f":
        assert total == np.sum(x, dtype=x.dtype)
        return
    levels = next(k for k in range(1, 9) if x.size <= BLOCK**k)
    exact, magnitudes = x.astype(np.longdouble).sum(), np.abs(x).astype(np.longdouble).sum()
    assert abs(total - exact) <= error_bound(ADDITIONS * levels, magnitudes, x.dtype)


def check_all(x: Numbers, backend: Backend) -> None:
    check_sum(programs.reduce(x, backend=backend), x)
    for operation, expected in (("min", np.min(x)), ("max", np.max(x))):
        result = programs.reduce(x, operation, backend=backend)
        assert result.dtype == x.dtype
        assert result == expected, (operation, x.size)
    assert programs.argmax(x, backend=backend) == np.argmax(x), x.size


def test_calls_build_equal_programs_and_arguments_make_others() -> None:
    assert programs.reduce_blocks() == programs.reduce_blocks("sum", vw.f32, elements_per_lane=16)
    assert programs.argmax_blocks() == programs.argmax_blocks(vw.f32, of_candidates=False)
    kinds = [programs.reduce_blocks(o, t) for o in ("sum", "min", "max") for t in (vw.u32, vw.f32)]
    assert len(set(kinds)) == 6
    assert programs.argmax_blocks(of_candidates=True) != programs.argmax_blocks()


@pytest.mark.parametrize("elements_per_lane", [0, -1, 16_385, 1.5, None, "8"])
def test_elements_per_lane_out_of_range_is_refused(elements_per_lane: Any) -> None:
    for maker in (programs.reduce_blocks, programs.argmax_blocks):
        with pytest.raises(vw.InputError, match=str(elements_per_lane)):
            maker(elements_per_lane=elements_per_lane)


@pytest.mark.parametrize("operation", ["mean", "", None, ["sum"]])
def test_other_operations_are_refused(operation: Any) -> None:
    with pytest.raises(vw.InputError, match="sum, min, max"):
        programs.reduce(np.zeros(0, np.float32), operation, backend="reference")


@pytest.mark.parametrize("dtype", TYPES)
def test_random_numbers_of_every_length(any_backend: Backend, dtype: Any) -> None:
    for count in [count for count in COUNTS if count]:
        check_all(random_numbers(count, dtype), any_backend)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_wide_types_where_the_device_has_them(any_backend: Backend, dtype: Any) -> None:
    try:
        check_all(random_numbers(4097, dtype), any_backend)
    except vw.UnsupportedFeatureError as error:
        pytest.skip(str(error))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TYPES)
def test_long_inputs(wgpu_backend: WgpuBackend, dtype: Any) -> None:
    check_all(random_numbers(1 << 20, dtype), wgpu_backend)


@pytest.mark.parametrize("count", [1000, 4097])
def test_equal_rising_and_falling(any_backend: Backend, count: int) -> None:
    rising = np.arange(count, dtype=np.int32) - count // 2
    for x in (np.full(count, -7, np.int32), rising, rising[::-1]):
        check_all(x, any_backend)
        check_all(x.astype(np.float32), any_backend)


@pytest.mark.parametrize("dtype", TYPES)
def test_nothing_has_a_defined_result(dtype: Any) -> None:
    nothing = np.zeros((3, 0), dtype)
    lowest, highest = {
        np.uint32: (0, 2**32 - 1),
        np.int32: (-(2**31), 2**31 - 1),
        np.float32: (-np.inf, np.inf),
    }[dtype]
    results = [programs.reduce(nothing, o, backend="reference") for o in ("sum", "min", "max")]
    assert results == [0, highest, lowest]
    assert {result.dtype for result in results} == {np.dtype(dtype)}
    assert programs.argmax(nothing, backend="reference") is None


def test_extremes_of_the_type(any_backend: Backend) -> None:
    for x in (
        np.array([0, 2**32 - 1, 2**31], np.uint32),
        np.array([2**31 - 1, -(2**31), -1], np.int32),
        np.array([-np.inf, 3.4e38, -3.4e38], np.float32),
        np.full(300, -np.inf, np.float32),
    ):
        for operation, expected in (("min", x.min()), ("max", x.max())):
            assert programs.reduce(x, operation, backend=any_backend) == expected
        assert programs.argmax(x, backend=any_backend) == np.argmax(x)


@pytest.mark.parametrize("places", [[0], [299], [5000, 4100, 8999], [0, 1], [1, 256], [3, 259]])
def test_nan_wins_and_the_first_one_is_the_maximum(any_backend: Backend, places: list[int]) -> None:
    x = random_numbers(9000, np.float32)
    x[0] = np.inf
    x[places] = np.nan
    for operation in ("sum", "min", "max"):
        assert np.isnan(programs.reduce(x, operation, backend=any_backend))
    assert programs.argmax(x, backend=any_backend) == min(places)


def test_of_equal_maxima_the_first_is_named(any_backend: Backend) -> None:
    for places in ([5, 6], [255, 256, 300], [300, 257], [4095, 4096], [100, 8000], [8999, 4096]):
        x = np.zeros(9000, np.int32)
        x[places] = 9
        assert programs.argmax(x, backend=any_backend) == min(places)
    zeros = np.array([-1.0, -0.0, 0.0], np.float32)
    assert programs.argmax(zeros, backend=any_backend) == 1


@pytest.mark.parametrize("elements_per_lane", [1, 3, 1000])
def test_any_number_of_elements_per_lane(any_backend: Backend, elements_per_lane: int) -> None:
    block = 256 * elements_per_lane
    sums = programs.reduce_blocks("sum", vw.u32, elements_per_lane=elements_per_lane)
    maxima = programs.argmax_blocks(vw.u32, elements_per_lane=elements_per_lane)
    for count in (1, block, block + 1):
        x = random_numbers(count, np.uint32)
        parts = [x[k : k + block] for k in range(0, count, block)]
        totals = vw.compile(sums, backend=any_backend).fn(x)
        np.testing.assert_array_equal(totals, [part.sum(dtype=np.uint32) for part in parts])
        indices = vw.compile(maxima, backend=any_backend).fn(x)
        expected = [k * block + part.argmax() for k, part in enumerate(parts)]
        np.testing.assert_array_equal(indices, expected)


@pytest.mark.parametrize("wrong", [[1, 2], 7, None, "text", np.zeros(3, np.int8)])
def test_other_inputs_are_refused(wrong: Any) -> None:
    for helper in (programs.reduce, programs.argmax):
        with pytest.raises(vw.InputError, match=r"values .*Fix: .*uint32"):
            helper(wrong, backend="reference")


@pytest.mark.gpu
def test_device_buffers_stay_open_and_as_they_were(wgpu_backend: WgpuBackend) -> None:
    x = random_numbers(10_000, np.float32)
    with wgpu_backend.upload(x) as there:
        check_sum(programs.reduce(there, backend=wgpu_backend), x)
        assert programs.argmax(there, backend=wgpu_backend) == x.argmax()
        np.testing.assert_array_equal(there.download(), x)


@pytest.mark.gpu
def test_memory_between_the_dispatches_is_given_back(wgpu_backend: WgpuBackend) -> None:
    x = random_numbers(10_000, np.uint32)
    check_all(x, wgpu_backend)
    before = wgpu_backend.stats().buffers_created
    for _ in range(3):
        check_all(x, wgpu_backend)
    assert wgpu_backend.stats().buffers_created == before


def test_no_races_in_any_order() -> None:
    x = random_numbers(BLOCK + 300, np.int32)
    for seed in (None, 1):
        check_all(x, ReferenceBackend(seed=seed, detect_races=True))


@pytest.mark.gpu
def test_no_access_out_of_bounds(wgpu_backend: WgpuBackend) -> None:
    checked = vw.CompileOptions(checks="trap")
    for count in (1, BLOCK, BLOCK + 1):
        x = random_numbers(count, np.float32)
        for program in (programs.reduce_blocks("max"), programs.argmax_blocks()):
            assert wgpu_backend.compile(program, checked).fn(x).size == -(-count // BLOCK)
        candidates = programs.argmax_blocks(of_candidates=True)
        at = wgpu_backend.compile(candidates, checked).fn(x, np.array([0, count - 1], np.uint32))
        assert at[0] == (count - 1 if x[-1] > x[0] else 0)
