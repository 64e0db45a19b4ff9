"""The Box-Muller transform in 32-bit integers: every device computes the same bits.

Float arithmetic would not do for that: a driver may contract ``a * b + c``, and its logarithm, root
and sine have other last bits than those of the next one. Here all steps but the last conversion are
unsigned integers. "Qn" says that an integer stands for its value times 2^-n.

The polynomials interpolate at the Chebyshev nodes of their interval (L. N. Trefethen,
"Approximation Theory and Approximation Practice", 2013). Coefficients go from the lowest degree up.
"""

from __future__ import annotations

from .functions import clz, mul_high, select
from .types import f32, i32
from .values import Operand, Value

__all__ = ["normal_pair"]

_LOG = (
    2147483642, 536872199, 178915003, 67634137, 23547262, 22867109, -19800091, 32881172, -20627267,
    7271296,
)  # fmt: skip
"""-log(1 - y / 2) / (y / 2) for y in [0, 1], Q31; error 2^-27."""
_ROOT = (
    2147483602, 536882737, 267947479, 175317253, 61416512, 306210154, -371312478, 448149805,
)  # fmt: skip
"""(1 - sqrt(1 - y)) / y for y in [0, 1/2], Q32; error 2^-25."""
_COSINE = (2649351756, -544751025, 44803218, -1971947, 51647)
"""(1 - cos(pi / 2 * sqrt(y))) / y for y in [0, 1], Q31; error 2^-30."""

_LOG_2 = 93032640  # Q27
_ROOT_HALF = 3037000500  # Q32
_ONE = 1 << 31  # Q31


def normal_pair(first: Value, second: Value) -> tuple[Value, Value]:
    """Two normally distributed f32 of two u32 words: ``r cos a`` and ``r sin a``."""
    radius = _radius(first)
    # The quadrant of a, and how far it is into it, in (0, 1), Q32.
    quadrant, part = second >> 30, (second << 2) | 2
    near, far = _cosine(part), _cosine(-part)
    swapped = (quadrant & 1) != 0
    cosine, sine = select(swapped, far, near), select(swapped, near, far)
    return (
        _signed(mul_high(radius, cosine), ((quadrant + 1) & 2) != 0),
        _signed(mul_high(radius, sine), (quadrant & 2) != 0),
    )


def _radius(word: Value) -> Value:
    """sqrt(-2 log u), Q29, where u = (word + 1/2) / 2^32; below 8, for u is at least 2^-33."""
    # u = (1 - t) 2^-e with t in (0, 1/2], Q33. For the word 0, t is 2^-33 too small.
    e = clz(word)
    t = -(((word << 1) | 1) << e)
    # -log(1 - t) = t q(t). Where u is near 1 it is small, and so a float: h 2^-(32 + s).
    s = clz(t)
    h = mul_high(t << s, _polynomial(_LOG, t))
    close = e == 0
    log = select(close, h, e * _LOG_2 + ((h >> 5) >> s))  # Q(32 + s) or Q27
    # The square, 2 log, is (1 - d) 2^(6 - j) with 1 - d in [1/2, 1), Q32.
    c = clz(log)
    d = -(log << c)
    j = select(close, c + s + 5, c)
    root = ~mul_high(d, _polynomial(_ROOT, d))
    root = select((j & 1) != 0, mul_high(root, _ROOT_HALF), root)
    return root >> (j >> 1)


def _cosine(part: Value) -> Value:
    """cos(pi / 2 * x), Q31, for x in (0, 1), Q32."""
    y = mul_high(part, part)
    return _ONE - mul_high(y, _polynomial(_COSINE, y))


def _polynomial(coefficients: tuple[int, ...], y: Value) -> Value:
    """A polynomial of a fraction, Q32, by Horner's rule.

    Each partial result must have the sign of its coefficient wherever the fraction may lie; then
    only magnitudes are multiplied, and the signs are known here.
    """
    *lower, highest = coefficients
    magnitude: Operand = abs(highest)
    above = highest
    for coefficient in reversed(lower):
        product = mul_high(y, magnitude)
        same = (coefficient < 0) == (above < 0)
        magnitude = abs(coefficient) + product if same else abs(coefficient) - product
        above = coefficient
    assert isinstance(magnitude, Value)
    return magnitude


def _signed(magnitude: Value, negative: Value) -> Value:
    """A magnitude, Q28, with a sign, as the nearest f32."""
    number = select(negative, -magnitude, magnitude)
    return number.bitcast(i32).cast(f32) * 2.0**-28
