"""crc32: exactly zlib.crc32, for every length, in one piece and in chunks."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.programs.lengths import LENGTHS, random_bytes
from vyre_wgpu import programs

BLOCK = 256 * 256
"""Bytes of a workgroup with the default of `crc32`."""


def crc_of(data: object, bytes_per_lane: int = 256) -> int:
    (crc,) = vw.compile(programs.crc32(bytes_per_lane=bytes_per_lane)).push_chunk(data)
    assert (crc.dtype, crc.shape) == (np.uint32, (1,))
    return int(crc[0])


def test_calls_build_equal_programs_and_bytes_per_lane_makes_another() -> None:
    assert programs.crc32() == programs.crc32(bytes_per_lane=256)
    assert programs.crc32() != programs.crc32(bytes_per_lane=128)


@pytest.mark.parametrize("bytes_per_lane", [0, -4, 2, 12, 32_768, 8.5, None, "8"])
def test_bytes_per_lane_out_of_range_is_refused(bytes_per_lane: Any) -> None:
    with pytest.raises(vw.InputError, match=str(bytes_per_lane)):
        programs.crc32(bytes_per_lane=bytes_per_lane)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "length",
    [*LENGTHS, *(BLOCK + d for d in range(-6, 7)), 2 * BLOCK - 3, 3 * BLOCK + 5, (1 << 20) + 3],
)
def test_random_bytes(length: int) -> None:
    data = random_bytes(length)
    assert crc_of(data) == zlib.crc32(data)


@pytest.mark.gpu
def test_every_length_around_the_words_and_rows_of_a_block() -> None:
    data = random_bytes(3000)
    for length in [*range(70), *range(1020, 1030), *range(2040, 2056)]:
        assert crc_of(data[:length]) == zlib.crc32(data[:length]), length


@pytest.mark.gpu
@pytest.mark.parametrize("value", [0, 1, 0x80, 0xFF])
@pytest.mark.parametrize("length", [1, 4, 1023, BLOCK, BLOCK + 1])
def test_equal_bytes(value: int, length: int) -> None:
    data = np.full(length, value, np.uint8)
    assert crc_of(data) == zlib.crc32(data)


@pytest.mark.gpu
@pytest.mark.parametrize("position", [0, 3, 4, 1023, 1024, BLOCK - 1, BLOCK, 2 * BLOCK + 17])
def test_a_single_bit_counts_wherever_it_is(position: int) -> None:
    data = np.zeros(2 * BLOCK + 18, np.uint8)
    data[position] = 0x10
    assert crc_of(data) == zlib.crc32(data)


@pytest.mark.gpu
def test_data_that_ends_with_its_own_crc_leaves_the_residue() -> None:
    data = random_bytes(5000).tobytes()
    closed = data + zlib.crc32(data).to_bytes(4, "little")
    assert crc_of(closed) == 0x2144DF1C


@pytest.mark.gpu
def test_check_value_of_the_catalogue() -> None:
    assert crc_of(b"123456789") == 0xCBF43926


@pytest.mark.gpu
@pytest.mark.parametrize("bytes_per_lane", [4, 64, 2048, 16_384])
def test_any_number_of_bytes_per_lane(bytes_per_lane: int) -> None:
    for length in (1, 255, 256 * bytes_per_lane, 256 * bytes_per_lane + 1):
        data = random_bytes(length)
        assert crc_of(data, bytes_per_lane) == zlib.crc32(data)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 100, 65_537])
def test_combine_against_zlib(length: int) -> None:
    first, second = random_bytes(1000).tobytes(), random_bytes(length).tobytes()
    combined = programs.crc32_combine(zlib.crc32(first), zlib.crc32(second), length)
    assert combined == zlib.crc32(first + second)
    assert programs.crc32_combine(0, zlib.crc32(second), length) == zlib.crc32(second)


def test_combine_moves_by_lengths_beyond_memory() -> None:
    """To put 2^33 + 5 bytes behind some others at once, or in two pieces, is the same."""
    crc, zeros = zlib.crc32(b"front"), zlib.crc32(bytes(1 << 16))
    for doubled in range(17):
        zeros = programs.crc32_combine(zeros, zeros, 1 << 16 + doubled)
    at_once = programs.crc32_combine(crc, zeros, 1 << 33)
    at_once = programs.crc32_combine(at_once, zlib.crc32(b"end.."), 5)
    behind = programs.crc32_combine(zeros, zlib.crc32(b"end.."), 5)
    assert programs.crc32_combine(crc, behind, (1 << 33) + 5) == at_once


@pytest.mark.parametrize(
    "arguments",
    [(-1, 0, 0), (0, 1 << 32, 0), (0, 0, -1), (1, 2, 1.5), (1.0, 2, 1), (None, 2, 1), (True, 2, 1)],
)
def test_combine_refuses_what_is_no_crc_or_length(arguments: tuple[Any, Any, Any]) -> None:
    with pytest.raises(vw.InputError, match=r"(CRC-32|length).*Fix:"):
        programs.crc32_combine(*arguments)


def test_combine_takes_numpy_integers() -> None:
    first, second = zlib.crc32(b"one"), zlib.crc32(b"two")
    combined = programs.crc32_combine(np.uint32(first), np.uint32(second), np.int64(3))
    assert combined == zlib.crc32(b"onetwo")


@pytest.mark.gpu
def test_chunks_of_any_sizes_and_kinds() -> None:
    data = random_bytes(200_000)
    cuts = [0, 0, 1, 4, 7, 65_543, 65_543, 131_079, 200_000]

    def chunks() -> Iterator[object]:
        kinds = [bytes, bytearray, memoryview, lambda piece: piece]
        for k, (begin, end) in enumerate(itertools.pairwise(cuts)):
            piece = data[begin:end]
            yield kinds[k % 4](piece if k % 4 == 3 else piece.tobytes())

    assert programs.crc32_of_chunks(chunks()) == zlib.crc32(data)
    assert programs.crc32_of_chunks([]) == 0


@pytest.mark.gpu
@pytest.mark.parametrize(
    "chunk",
    ["text", 7, None, np.zeros(3, np.int8), np.zeros(2, np.uint32), np.zeros(1, "datetime64[s]")],
)
def test_chunk_that_holds_no_bytes_is_refused(chunk: object) -> None:
    with pytest.raises(vw.InputError, match="chunk"):
        programs.crc32_of_chunks([chunk])


@pytest.mark.gpu
def test_many_sizes_are_compiled_once() -> None:
    backend = vw.get_backend("wgpu")
    pipe = vw.compile(programs.crc32())
    pipe.push_chunk(b"first")
    before = backend.stats().modules_created
    for length in range(1, 2000, 97):
        pipe.push_chunk(random_bytes(length))
    assert backend.stats().modules_created == before
