"""CRC-32: the remainders of interleaved words, brought together by algebra over GF(2).

A CRC is linear, so a message may be taken apart in any way whose parts can be moved to their place:
moving by n bytes is a multiplication with x^(8n) modulo the polynomial P. Here each lane of a
workgroup takes every 256th word of a block, as in M. Adler's braided CRC (zlib 1.2.12,
``crc32.c``; K. Kadatch and B. Jenkins, "Everything we know about CRC but afraid to forget", 2010),
so that neighbouring lanes read neighbouring words.

Polynomials are bit-reflected, as in zlib: bit 31 is the coefficient of x^0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import vyre_wgpu as vw

from .chunks import byte_array
from .options import whole_number

__all__ = ["crc32", "crc32_combine", "crc32_of_chunks"]

_LANES = 256
_LEVELS = 8
_POLYNOMIAL = 0xEDB8_8320
_ALL_ONES = 0xFFFF_FFFF
_ONE = 0x8000_0000
_X = 0x4000_0000
_ORDER = 0xFFFF_FFFF
"""x^n repeats after 2^32 - 1 powers, for P is primitive; so x has an inverse, x^(2^32 - 2)."""


def _times(a: int, b: int) -> int:
    """The product of two polynomials modulo P."""
    product = 0
    for bit in range(31, -1, -1):
        if a >> bit & 1:
            product ^= b
        b = b >> 1 ^ (_POLYNOMIAL if b & 1 else 0)
    return product


def _power_of_x(exponent: int) -> int:
    """x^exponent modulo P; the exponent may be negative."""
    exponent %= _ORDER
    result, square = _ONE, _X
    while exponent:
        if exponent & 1:
            result = _times(result, square)
        square = _times(square, square)
        exponent >>= 1
    return result


def crc32(*, bytes_per_lane: int = 256) -> vw.Program:
    """The CRC-32 of zlib, gzip, PNG and Ethernet (polynomial 0xEDB88320, reflected).

    Input ``data``: u8, any length. Output ``crc``: u32, one element, what ``zlib.crc32(data)``
    gives, 0 for no data. Does not trap. `crc32_of_chunks` runs it over a stream.

    Args:
        bytes_per_lane: how many bytes each lane takes. More of them mean fewer combinations, fewer
            mean more workgroups to spread over the device.

    Raises:
        InputError: ``bytes_per_lane`` is not a power of two from 4 to 16,384.
    """
    bytes_per_lane = whole_number("bytes_per_lane", bytes_per_lane, 4, 16_384)
    if bytes_per_lane & (bytes_per_lane - 1):
        raise vw.InputError(
            f"bytes_per_lane is {bytes_per_lane}", fix="give a power of two from 4 to 16384"
        )
    block_bytes = _LANES * bytes_per_lane
    stride = 32 * _LANES  # bits from one word of a lane to its next
    b = vw.ProgramBuilder("crc32", workgroup_size=_LANES)
    data = b.read("data", vw.u8)
    crc = b.output("crc", vw.u32, count=1)
    # Table j, from 256 j on: what byte j of a remainder becomes when it moves by the stride.
    table = b.workgroup("table", vw.u32, 4 * 256)
    part = b.workgroup("part", vw.u32, _LANES)
    move = b.workgroup("move", vw.u32, 32)
    b.extent(vw.ceil_div(data.length, bytes_per_lane))

    lane = b.local_id(0)
    start = b.let("start", b.workgroup_id(0) * block_bytes)
    left = b.let("left", data.length - start)
    b.comment("tables that multiply by x^stride, an entry of each for every lane")
    bits = [b.let(f"bit{j}", -((lane >> j) & 1)) for j in range(8)]
    factor = _power_of_x(stride)
    for byte in range(4):
        columns = [_times(1 << (8 * byte + j), factor) for j in range(8)]
        entry = bits[0] & columns[0]
        for bit, column in zip(bits[1:], columns[1:], strict=True):
            entry = entry ^ (bit & column)
        table[lane + 256 * byte] = entry

    b.comment("x^(8 * behind) as 32 factors, one for each bit of the bytes behind the last word")
    # In a block that ends behind the data, the bytes there count as zeros and are taken back: the
    # difference wraps below zero, by one more than the order of x.
    last_word = block_bytes - 4
    behind = left - last_word - (left < last_word).cast(vw.u32)
    with b.if_(lane < 32):
        square = _choose(lane, [_power_of_x(8 << k) for k in range(32)])
        move[lane] = vw.select((behind >> lane) & 1 != 0, square, _ONE)
    b.barrier()

    # The remainder starts as all ones: what becomes that at the first word of the data.
    first = _times(_ALL_ONES, _power_of_x(-stride))
    mine = b.var("mine", vw.u32, vw.select(b.global_id(0) == 0, vw.u32(first), 0))
    with b.for_range(0, bytes_per_lane // 4, name="k") as k:
        # Never beyond 2^32: a block size is a power of two. Behind the end zeros are read.
        at = b.let("at", start + (k * _LANES + lane) * 4)
        word = data[at].cast(vw.u32)
        for j in range(1, 4):
            word = word | (data[at + j].cast(vw.u32) << (8 * j))
        moved = table[mine & 0xFF]
        for j in range(1, 4):
            moved = moved ^ table[((mine >> (8 * j)) & 0xFF) + 256 * j]
        mine.set(moved ^ word)
    part[lane] = mine

    b.comment("neighbours join, two by two: the earlier half moves to the later one")
    distances = [_power_of_x(32 * (_LANES // 2 >> level)) for level in range(_LEVELS)]
    with b.for_range(0, _LEVELS, name="level") as level:
        half = b.let("half", (_LANES // 2) >> level)
        b.barrier()
        with b.if_(lane < half):
            joined = _product(b, part[lane], _choose(level, distances))
            part[lane] = joined ^ part[lane + half]
            with b.if_(half <= 16):
                move[lane] = _product(b, move[lane], move[lane + half])
    with b.if_(lane == 0):
        final = vw.select(b.workgroup_id(0) == 0, vw.u32(_ALL_ONES), 0)
        b.atomic_xor(crc, 0, _product(b, part[0], move[0]) ^ final)
    return b.build()


def crc32_combine(first: int, second: int, second_length: int) -> int:
    """The CRC-32 of two pieces of data in a row.

    Args:
        first: CRC-32 of the piece in front.
        second: CRC-32 of the piece behind it.
        second_length: bytes of the piece behind, any number.

    Raises:
        InputError: a CRC is no int from 0 to 2^32 - 1, or the length no int of 0 or more.
    """
    first = whole_number("the first CRC-32", first, 0, _ALL_ONES)
    second = whole_number("the second CRC-32", second, 0, _ALL_ONES)
    second_length = whole_number("second_length", second_length, 0)
    return _times(first, _power_of_x(8 * second_length)) ^ second


def crc32_of_chunks(chunks: Iterable[object], *, backend: Any = None) -> int:
    """The CRC-32 of all bytes of a stream, chunk after chunk on a device.

    Args:
        chunks: bytes-like objects or arrays of u8, of any sizes.
        backend: where to run, as for `vw.compile`.

    Raises:
        InputError: a chunk is neither.
        VyreError: what `vw.compile` and a dispatch raise.
    """
    pipe = vw.compile(crc32(), backend=backend)
    total = 0
    for chunk in chunks:
        data = byte_array(chunk)
        (crc,) = pipe.dispatch([data])
        total = crc32_combine(total, int(crc[0]), data.size)
    return total


def _product(b: vw.ProgramBuilder, a: vw.Value, c: vw.Value) -> vw.Value:
    """`_times` on the device."""
    left = b.var("", vw.u32, a)
    moving = b.var("", vw.u32, c)
    product = b.var("", vw.u32, 0)
    with b.for_range(0, 32):
        product ^= moving & -(left >> 31)
        left <<= 1
        moving.set((moving >> 1) ^ (-(moving & 1) & _POLYNOMIAL))
    return +product


def _choose(index: vw.Value, constants: Sequence[int]) -> vw.Value:
    """The constant at an index."""
    chosen: vw.Value | vw.TypedLiteral = vw.u32(constants[-1])
    for position, constant in enumerate(constants[:-1]):
        chosen = vw.select(index == position, vw.u32(constant), chosen)
    assert isinstance(chosen, vw.Value)
    return chosen
