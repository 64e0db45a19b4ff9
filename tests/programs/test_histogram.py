"""byte_histogram: exactly numpy.bincount, whatever the length."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vyre_wgpu as vw
from vyre_wgpu import programs

LENGTHS = [0, 1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 1000, 4095, 4096, 4097]
BLOCK = 256 * 32
"""Bytes of a workgroup with the default of `byte_histogram`."""


def bincount(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.intp]:
    return np.bincount(data, minlength=256)


def random_bytes(length: int) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(length).integers(0, 256, length, dtype=np.uint8)


def test_calls_build_equal_programs_and_bytes_per_lane_makes_another() -> None:
    assert programs.byte_histogram() == programs.byte_histogram(bytes_per_lane=32)
    assert programs.byte_histogram() != programs.byte_histogram(bytes_per_lane=16)


@pytest.mark.parametrize("bytes_per_lane", [0, -1, 16_385, 1.5, None, "8"])
def test_bytes_per_lane_out_of_range_is_refused(bytes_per_lane: Any) -> None:
    with pytest.raises(vw.InputError, match=str(bytes_per_lane)):
        programs.byte_histogram(bytes_per_lane=bytes_per_lane)


@pytest.mark.gpu
@pytest.mark.parametrize("length", [*LENGTHS, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5, 1 << 20])
def test_random_bytes(length: int) -> None:
    data = random_bytes(length)
    (counts,) = vw.compile(programs.byte_histogram()).push_chunk(data)
    assert counts.dtype == np.uint32
    np.testing.assert_array_equal(counts, bincount(data))


@pytest.mark.gpu
@pytest.mark.parametrize("value", [0, 1, 127, 128, 255])
@pytest.mark.parametrize("length", [1, 257, 100_003])
def test_equal_bytes_meet_in_one_bin(value: int, length: int) -> None:
    data = np.full(length, value, np.uint8)
    (counts,) = vw.compile(programs.byte_histogram()).push_chunk(data)
    np.testing.assert_array_equal(counts, bincount(data))


@pytest.mark.gpu
@pytest.mark.parametrize("bytes_per_lane", [1, 3, 64, 1000, 16_384])
def test_any_number_of_bytes_per_lane(bytes_per_lane: int) -> None:
    pipe = vw.compile(programs.byte_histogram(bytes_per_lane=bytes_per_lane))
    for length in (1, 256 * bytes_per_lane - 1, 256 * bytes_per_lane + 1):
        data = random_bytes(length)
        np.testing.assert_array_equal(pipe.fn(data), bincount(data))


@pytest.mark.gpu
def test_each_dispatch_starts_from_zero_and_none_sees_the_bytes_of_an_earlier_one() -> None:
    pipe = vw.compile(programs.byte_histogram())
    for length in (10_000, 77, 10_000, 0, 5000, 1):
        data = random_bytes(length)
        np.testing.assert_array_equal(pipe.push_chunk(data)[0], bincount(data))


@pytest.mark.gpu
def test_bytes_are_taken_as_they_are() -> None:
    text = b"to be or not to be"
    (counts,) = vw.compile(programs.byte_histogram()).push_chunk(text)
    assert counts[ord("o")] == text.count(b"o")
    assert counts.sum() == len(text)


@pytest.mark.gpu
def test_many_sizes_are_compiled_once() -> None:
    backend = vw.get_backend("wgpu")
    pipe = vw.compile(programs.byte_histogram(bytes_per_lane=17))
    pipe.push_chunk(random_bytes(1))
    before = backend.stats()
    for length in range(1, 3000, 31):
        pipe = vw.compile(programs.byte_histogram(bytes_per_lane=17))
        pipe.push_chunk(random_bytes(length))
    after = backend.stats()
    assert after.modules_created == before.modules_created
    assert after.lowerings == before.lowerings
    assert after.dispatches == before.dispatches + len(range(1, 3000, 31))
