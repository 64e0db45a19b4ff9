"""The logarithm of the absolute value of the gamma function, in NumPy's ``longdouble``.

The C library's ``lgamma`` would not do as an oracle: near its zeros at 1 and 2 it loses all digits.
The formulas are those of M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions",
1964: the series 6.1.33, the recurrence 6.1.15, the reflection 6.1.17 and Stirling's series 6.1.40.
Constants were computed with mpmath and are read from their decimal digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

__all__ = ["log_gamma"]

_ONE_LESS_EULER = np.longdouble("0.422784335098467139393488")
_PI = np.longdouble("3.14159265358979323846264")
_STIRLING_CONSTANT = np.longdouble("0.41893853320467274178033")
"""(log(2 pi) - 1) / 2."""

_ZETA = (
    "0.322467033424113218236208", "0.0673523010531980951332461", "0.0205808084277845478790009",
    "0.0073855510286739852662731", "0.00289051033074152328575299", "0.00119275391170326097711394",
    "0.000509669524743042422335655", "0.000223154758453579379761419",
    "0.0000994575127818085337145959", "0.0000449262367381331417002075",
    "0.0000205072127756706915531665", "0.00000943948827526839590398743",
    "0.00000437486678990748780418179", "0.0000020392157538013662367819",
    "0.000000955141213040741983285718", "0.000000449246919876456604329429",
    "0.000000212071848055546658692314", "0.000000100432248239680996087208",
    "4.76981016936398056576019e-8", "2.271109460894316491032e-8", "1.08386592148969540910749e-8",
    "5.18347504197004665512125e-9", "2.48367454380247831718501e-9",
    "1.19214014058609120744255e-9", "5.73136724167886201333019e-10",
    "2.75952288512423314517815e-10", "1.33047643742444894814972e-10",
    "6.42296456383810002208245e-11", "3.10442477473222727623922e-11",
    "1.5021384080754142170933e-11", "7.27597448023907966250455e-12",
    "3.52774247657591508361507e-12", "1.71199179055961790860108e-12",
    "8.31538584142028481979836e-13", "4.04220052528944006553601e-13",
)  # fmt: skip
"""(zeta(k) - 1) / k for k from 2 on; at 1/2 the first one left out is 2^-74 of the sum."""

_STIRLING = (
    (1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156),
    (-3617, 122400), (43867, 244188), (-174611, 125400),
)  # fmt: skip
"""B_2k / (2 k (2 k - 1)) for k from 1 on; at 25 the first one left out is below 2^-92."""

_FROM = 25
"""Where Stirling's series begins."""


def log_gamma(x: Array) -> Array:
    """The logarithm: infinite at poles and infinities, NaN for NaN, as in C99 Annex F.

    Args:
        x: an array of ``longdouble``, of values that f64 has.

    Returns:
        An array of ``longdouble`` of the same shape. Where that has 80 bits, a result is
        within 2^-60 of its magnitude, and left of -2, where there are zeros between the poles,
        within 2^-60 of the greater of that and 1.
    """
    ranges = [
        x < -0.5,
        np.abs(x) <= 0.5,
        (x > 0.5) & (x <= 1.5),
        (x > 1.5) & (x <= 2.5),
        (x > 2.5) & (x < _FROM),
        x >= _FROM,
    ]
    methods: list[Any] = [
        _reflected,
        lambda y: _near_one(y) - np.log(np.abs(y)),
        lambda y: _near_one(y - 1),
        lambda y: _near_two(y - 2),
        _descended,
        _stirling,
        np.longdouble(np.nan),
    ]
    return np.asarray(np.piecewise(x, ranges, methods))


def _near_two(z: Array) -> Array:
    """lgamma(2 + z) for z from -1/2 to 1/2."""
    total = np.zeros_like(z)
    for text in reversed(_ZETA):
        total = np.longdouble(text) - z * total
    return z * (_ONE_LESS_EULER + z * total)


def _near_one(z: Array) -> Array:
    """lgamma(1 + z) for z from -1/2 to 1/2."""
    return _near_two(z) - np.log1p(z)


def _descended(x: Array) -> Array:
    """lgamma(x) by the recurrence, for x from 5/2 to 25, from its value within 1/2 of 2.

    From above, by Stirling's series, the terms would cancel.
    """
    steps = np.ceil(x - 2.5)
    product = np.ones_like(x)
    for k in range(1, _FROM - 1):
        product *= np.where(k <= steps, x - k, 1)
    return _near_two(x - steps - 2) + np.log(product)


def _stirling(x: Array) -> Array:
    """lgamma(x) for x from 25 to infinity."""
    inverse = 1 / x
    square = inverse * inverse
    total = np.zeros_like(x)
    for numerator, denominator in reversed(_STIRLING):
        total = total * square + np.longdouble(numerator) / denominator
    return np.asarray((x - 0.5) * (np.log(x) - 1) + (_STIRLING_CONSTANT + total * inverse))


def _reflected(x: Array) -> Array:
    """log(pi / |x sin(pi x)|) - lgamma(-x), for x below -1/2; infinite at integers and -inf."""
    sine = np.abs(np.sin(_PI * (x - np.rint(x))))  # the difference is exact
    return np.asarray(np.where(sine > 0, np.log(_PI / (-x * sine)) - log_gamma(-x), np.inf))
