"""radix_sort: numpy.sort, and its stable argsort by way of the payload."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.programs.numbers import COUNTS, Numbers, random_numbers
from vyre_wgpu import programs
from vyre_wgpu.backends.protocol import Backend
from vyre_wgpu.backends.reference import ReferenceBackend
from vyre_wgpu.backends.wgpu import WgpuBackend

BLOCK = 4096
SHORT = [count for count in COUNTS if count < 65_537]


def check(keys: Numbers, backend: Backend) -> None:
    """Keys and payload; that a payload of places comes out as the stable argsort says it all."""
    places = np.arange(keys.size, dtype=np.uint32)
    sorted_keys, order = programs.radix_sort(keys, places, backend=backend)
    assert (sorted_keys.dtype, order.dtype) == (np.uint32, np.uint32)
    expected = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(order, expected, str(keys.size))
    np.testing.assert_array_equal(sorted_keys, keys[expected])


def test_calls_build_equal_programs_and_the_payload_makes_another() -> None:
    assert programs.radix_histogram() == programs.radix_histogram()
    assert programs.radix_scatter() == programs.radix_scatter(payload=False)
    assert programs.radix_scatter() != programs.radix_scatter(payload=True)


def test_random_keys_of_every_length(any_backend: Backend) -> None:
    for count in SHORT:
        check(random_numbers(count, np.uint32), any_backend)


def test_keys_alone(any_backend: Backend) -> None:
    for count in (0, 1, 2, 257, 4097):
        keys = random_numbers(count, np.uint32)
        result = programs.radix_sort(keys, backend=any_backend)
        np.testing.assert_array_equal(result, np.sort(keys))


@pytest.mark.gpu
@pytest.mark.parametrize("count", [65_537, 1 << 20])
def test_long_inputs(wgpu_backend: WgpuBackend, count: int) -> None:
    keys = random_numbers(count, np.uint32)
    result = programs.radix_sort(keys, backend=wgpu_backend)
    np.testing.assert_array_equal(result, np.sort(keys))


@pytest.mark.gpu
def test_a_long_payload_of_few_keys_stays_in_order(wgpu_backend: WgpuBackend) -> None:
    check(random_numbers(100_000, np.uint32) % 3 * 0x01010101, wgpu_backend)


@pytest.mark.parametrize("count", [255, 5000])
def test_equal_sorted_reversed_and_alternating(any_backend: Backend, count: int) -> None:
    rising = np.arange(count, dtype=np.uint32) * 800_000
    lowest, highest = np.uint32(0), np.uint32(0xFFFF_FFFF)
    alternating = np.where(np.arange(count) % 2, lowest, highest)
    constants = [np.full(count, value, np.uint32) for value in (0, 0x80, 0xFFFF_FFFF)]
    for keys in (rising, rising[::-1], alternating, *constants):
        check(keys, any_backend)


@pytest.mark.parametrize("shift", [0, 7, 8, 15, 16, 23, 24, 31])
def test_every_bit_orders(any_backend: Backend, shift: int) -> None:
    """Keys that differ in one bit, and in the one below it, which another pass sees."""
    pattern = np.array([1, 0, 1, 1, 0], np.uint32)
    keys = np.resize(pattern, 600) << np.uint32(shift)
    check(keys | np.resize(pattern[::-1], 600) << np.uint32(max(shift - 1, 0)), any_backend)


@pytest.mark.gpu
@pytest.mark.parametrize("count", [0, 1, 5000])
def test_device_buffers_give_device_buffers(wgpu_backend: WgpuBackend, count: int) -> None:
    keys, payload = random_numbers(count, np.uint32), random_numbers(count, np.uint32)[::-1]
    with wgpu_backend.upload(keys) as there:
        results = programs.radix_sort(there, payload, backend=wgpu_backend)
        order = np.argsort(keys, kind="stable")
        for result, expected in zip(results, (keys[order], payload[order]), strict=True):
            with result:
                np.testing.assert_array_equal(result.download(), expected)
        np.testing.assert_array_equal(there.download(), keys)


@pytest.mark.gpu
def test_memory_between_the_dispatches_is_given_back(wgpu_backend: WgpuBackend) -> None:
    keys = random_numbers(10_000, np.uint32)
    # Twice: dispatches keep sets of buffers, some of which the first run's arrays have been in.
    for _ in range(2):
        programs.radix_sort(keys, keys, backend=wgpu_backend)
    before = wgpu_backend.stats()
    for _ in range(3):
        programs.radix_sort(keys, keys, backend=wgpu_backend)
    after = wgpu_backend.stats()
    assert after.buffers_created == before.buffers_created
    assert after.lowerings == before.lowerings


@pytest.mark.parametrize("wrong", [[1, 2], None, "text", np.zeros(3, np.int32)])
def test_keys_that_are_not_u32_are_refused(wrong: Any) -> None:
    with pytest.raises(vw.InputError, match=r"keys .*Fix: .*uint32"):
        programs.radix_sort(wrong, backend="reference")


@pytest.mark.parametrize("wrong", [np.zeros(3, np.float32), np.zeros(2, np.uint32), [1, 2, 3]])
def test_payload_that_does_not_fit_is_refused(wrong: Any) -> None:
    with pytest.raises(vw.InputError, match="payload"):
        programs.radix_sort(np.zeros(3, np.uint32), wrong, backend="reference")


@pytest.mark.filterwarnings("ignore::vyre_wgpu.backends.reference.UnwrittenReadWarning")
def test_no_races_in_any_order() -> None:
    """Counts and masks start from the zeros of workgroup memory, which are warned of."""
    keys = random_numbers(BLOCK + 300, np.uint32)
    for seed in (None, 1):
        check(keys, ReferenceBackend(seed=seed, detect_races=True))


@pytest.mark.gpu
def test_no_access_out_of_bounds(wgpu_backend: WgpuBackend) -> None:
    checked = vw.CompileOptions(checks="trap")
    histogram = wgpu_backend.compile(programs.radix_histogram(), checked)
    scatter = wgpu_backend.compile(programs.radix_scatter(payload=True), checked)
    for count in (1, BLOCK, BLOCK + 1):
        keys = random_numbers(count, np.uint32)
        counts = histogram.fn(keys, shift=24)
        starts = np.cumsum(counts, dtype=np.uint32) - counts
        placed, _ = scatter.fn(keys, starts, keys, shift=24)
        np.testing.assert_array_equal(placed >> 24, np.sort(keys >> 24))
