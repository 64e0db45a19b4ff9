"""Float operations that are exact or correctly rounded: sign, rounding, modulo, fma."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

__all__ = ["fma", "fmod", "mod", "sign"]


def sign(x: Array) -> Array:
    """-1, 0 or 1; NaN for NaN; +0 for both zeros."""
    one = x.dtype.type(1)
    magnitude = np.where(x == 0, x.dtype.type(0), np.where(x < 0, -one, one))
    return np.where(np.isnan(x), x, magnitude)


def fmod(a: Array, b: Array) -> Array:
    """C's exact fmod."""
    if a.dtype == np.float16:
        # Exact in f32, and the result has no more bits than the operands.
        return np.fmod(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    return np.fmod(a, b)


def mod(a: Array, b: Array) -> Array:
    """Python's modulo: the divisor's sign, also for a zero result."""
    r = fmod(a, b)
    moved = np.where((r < 0) != (b < 0), r + b, r)
    return np.where(r == 0, np.copysign(r, b), moved)


# fma, rounded once


def fma(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` rounded once."""
    if a.dtype == np.float64:
        return _fma_f64(a, b, c)
    wide = [x.astype(np.float64) for x in (a, b, c)]
    # The product of two f32 is exact in f64. Their sum is rounded to odd, so that the rounding to
    # the narrow type sees on which side of a tie the exact value lies.
    return _add_to_odd(wide[0] * wide[1], wide[2]).astype(a.dtype)


def _two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """The rounded sum and its exact error."""
    s = x + y
    part = s - x
    return s, (x - (s - part)) + (y - part)


def _add_to_odd(x: Array, y: Array) -> Array:
    """The sum of f64 values, of the two nearest the one with an odd last bit if it is inexact."""
    s, error = _two_sum(x, y)
    even = (s.view(np.uint64) & np.uint64(1)) == 0
    inexact = np.isfinite(error) & (error != 0) & np.isfinite(s)
    toward = np.where(error > 0, np.inf, -np.inf)
    return np.where(inexact & even, np.nextafter(s, toward), s)


def _two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """The rounded product and its exact error, where nothing over- or underflows (Dekker)."""

    def split(v: Array) -> tuple[Array, Array]:
        t = v * 134217729.0
        high = t - (t - v)
        return high, v - high

    p = x * y
    (x1, x0), (y1, y0) = split(x), split(y)
    return p, ((x1 * y1 - p) + x1 * y0 + x0 * y1) + x0 * y0


def _fma_f64(a: Array, b: Array, c: Array) -> Array:
    """Boldo and Melquiond's emulation; exact fractions where exponents are extreme."""
    a, b, c = np.broadcast_arrays(a, b, c)
    high, low = _two_product(a, b)
    t, t_low = _two_sum(c, low)
    v, v_low = _two_sum(high, t)
    result = v + _add_to_odd(t_low, v_low)
    product = np.abs(a * b)
    plain = (
        (np.abs(a) < 1e150)
        & (np.abs(b) < 1e150)
        & (product > 1e-200)
        & (product < 1e290)
        & (np.abs(c) < 1e290)
        & ((np.abs(c) > 1e-200) | (c == 0))
    )
    # Exact cancellation aside, no special values are left in what the fast way computes.
    rest = np.flatnonzero(~plain | (result == 0))
    if rest.size:
        result = np.array(result)
        exact = [_fma_exact(*map(float, x)) for x in zip(a[rest], b[rest], c[rest], strict=True)]
        result[rest] = exact
    return result


def _fma_exact(a: float, b: float, c: float) -> float:
    finite = bool(np.isfinite(a) and np.isfinite(b))
    if finite and not np.isfinite(c):
        return c
    if not finite or a == 0 or b == 0:
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return 0.0
    try:
        value = exact.numerator / exact.denominator
    except OverflowError:
        value = np.inf if exact > 0 else -np.inf
    # A negative result that rounds to zero keeps its sign.
    return -0.0 if value == 0 and exact < 0 else value
