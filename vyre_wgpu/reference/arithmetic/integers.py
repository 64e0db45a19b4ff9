"""Integer operations: modulo 2^n, total, floor and truncating division."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

__all__ = [
    "clz",
    "ctz",
    "floor_div",
    "mod",
    "mul_high",
    "popcount",
    "rem",
    "reverse_bits",
    "rotl",
    "rotr",
    "shl",
    "shr",
    "sign",
    "trunc_div",
]

_REVERSED_BYTES = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], np.uint8)


def _width(x: Array) -> int:
    return x.dtype.itemsize * 8


def _unsigned(x: Array) -> Array:
    """The same bits as an unsigned type."""
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


def _is_signed(x: Array) -> bool:
    return x.dtype.kind == "i"


# Bits


def popcount(x: Array) -> Array:
    """Number of one bits."""
    return np.bitwise_count(_unsigned(x)).astype(x.dtype)


def clz(x: Array) -> Array:
    """Leading zero bits; the width for 0."""
    bits = _unsigned(x)
    shift = 1
    while shift < _width(x):
        bits = bits | (bits >> shift)
        shift *= 2
    return np.bitwise_count(~bits).astype(x.dtype)


def ctz(x: Array) -> Array:
    """Trailing zero bits; the width for 0."""
    bits = _unsigned(x)
    lowest = bits & np.negative(bits)
    below: Array = np.bitwise_count(lowest - 1)
    return below.astype(x.dtype)


def reverse_bits(x: Array) -> Array:
    """The bits in reverse order."""
    octets = np.ascontiguousarray(x).view(np.uint8)
    return _REVERSED_BYTES[octets].view(x.dtype).byteswap()


def sign(x: Array) -> Array:
    """-1, 0 or 1."""
    return np.sign(x)


# Shifts: the count is u32 or of the value's type, masked with width - 1


def _count(x: Array, s: Array) -> Array:
    return (s & (_width(x) - 1)).astype(np.dtype(f"u{x.dtype.itemsize}"))


def shl(x: Array, s: Array) -> Array:
    """Shift left."""
    return (_unsigned(x) << _count(x, s)).view(x.dtype)


def shr(x: Array, s: Array) -> Array:
    """Shift right, arithmetic on signed values."""
    return x >> _count(x, s).view(x.dtype)


def _rotate(x: Array, left: Array) -> Array:
    bits, back = _unsigned(x), (np.negative(left)) & (_width(x) - 1)
    rotated: Array = (bits << left) | (bits >> back)
    return rotated.view(x.dtype)


def rotl(x: Array, s: Array) -> Array:
    """Rotate left."""
    return _rotate(x, _count(x, s))


def rotr(x: Array, s: Array) -> Array:
    """Rotate right."""
    return _rotate(x, np.negative(_count(x, s)) & (_width(x) - 1))


# Division: by 0 all bits one and remainder 0; MIN / -1 is MIN and remainder 0


def _divide(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """The truncated quotient and remainder for safe divisors, and where the divisor is 0.

    Divisors 0 and -1 are taken as 1 and as a negation, so that nothing can overflow or fault.
    """
    zero = b == 0
    special = zero | (b == -1) if _is_signed(b) else zero
    safe = np.where(special, b.dtype.type(1), b)
    remainder = np.fmod(a, safe)
    quotient = (a - remainder) // safe
    if _is_signed(b):
        quotient = np.where(b == -1, np.negative(a), quotient)
    return quotient, remainder, zero


def trunc_div(a: Array, b: Array) -> Array:
    """The quotient toward zero."""
    quotient, _, zero = _divide(a, b)
    return np.where(zero, np.invert(a.dtype.type(0)), quotient)


def rem(a: Array, b: Array) -> Array:
    """The remainder with the dividend's sign."""
    _, remainder, zero = _divide(a, b)
    return np.where(zero, a.dtype.type(0), remainder)


def _needs_floor(remainder: Array, b: Array) -> Array:
    signs_differ: Array = np.less(remainder, 0) != np.less(b, 0)
    return signs_differ & np.not_equal(remainder, 0)


def floor_div(a: Array, b: Array) -> Array:
    """The quotient toward minus infinity."""
    quotient, remainder, zero = _divide(a, b)
    if _is_signed(a):
        quotient = quotient - _needs_floor(remainder, b).astype(a.dtype)
    return np.where(zero, np.invert(a.dtype.type(0)), quotient)


def mod(a: Array, b: Array) -> Array:
    """The remainder with the divisor's sign."""
    _, remainder, zero = _divide(a, b)
    if _is_signed(a):
        remainder = np.where(_needs_floor(remainder, b), remainder + b, remainder)
    return np.where(zero, a.dtype.type(0), remainder)


# The upper half of the product


def mul_high(a: Array, b: Array) -> Array:
    """The upper half of the double-width product."""
    if a.dtype.itemsize == 8:
        return _mul_high_64(a, b)
    wide = np.int64 if _is_signed(a) else np.uint64
    return ((a.astype(wide) * b.astype(wide)) >> _width(a)).astype(a.dtype)


def _mul_high_64(a: Array, b: Array) -> Array:
    x, y = _unsigned(a), _unsigned(b)
    low = np.uint64(0xFFFFFFFF)
    x0, x1, y0, y1 = x & low, x >> 32, y & low, y >> 32
    middle = x1 * y0 + ((x0 * y0) >> 32)
    other = x0 * y1 + (middle & low)
    high: Array = x1 * y1 + (middle >> 32) + (other >> 32)
    if _is_signed(a):
        # As unsigned numbers negative operands are 2^64 too large.
        high = high - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    return high.view(a.dtype)
