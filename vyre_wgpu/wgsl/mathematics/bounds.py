"""What is promised of each elementary function: its greatest error and the method behind it.

The tests measure against these rows, and the documentation's table shows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .bounds_f64 import F64

__all__ = ["BOUNDS", "Bound"]


@dataclass(frozen=True, slots=True)
class Bound:
    """A promise.

    Attributes:
        ulp: the greatest error in units in the last place, over the whole range.
        method: how it is computed, with the publication that it follows.
        absolute_left_of_zero: for negative arguments an absolute error up to this is right too;
            near the zeros of ``lgamma`` there no relative bound holds.
    """

    ulp: float
    method: str
    absolute_left_of_zero: float = 0.0


_F32: Mapping[str, Bound] = {
    "exp": Bound(4, "Cody-Waite reduction by ln 2 (1980), polynomial"),
    "exp2": Bound(4, "reduction to [-1/2, 1/2], polynomial"),
    "expm1": Bound(4, "as exp, with a polynomial of expm1; 2^k - 1 added exactly"),
    "log": Bound(4, "reduction to [sqrt 1/2, sqrt 2), Cody-Waite, polynomial of log1p"),
    "log2": Bound(4, "as log"),
    "log10": Bound(4, "as log"),
    "log1p": Bound(4, "as log; the reduced argument comes from x itself"),
    "sin": Bound(4, "Cody-Waite reduction by pi/2; Payne-Hanek (1983) from 6400 on; polynomial"),
    "cos": Bound(4, "as sin"),
    "tan": Bound(4, "as sin, with a polynomial of tan and its reciprocal"),
    "asin": Bound(4, "polynomial; sqrt((1 - x) / 2) in two floats beyond 1/2 (fdlibm, 1993)"),
    "acos": Bound(4, "as asin"),
    "atan": Bound(4, "polynomial on [0, 1]; pi/2 - atan(1/x) beyond"),
    "atan2": Bound(4, "atan of the corrected quotient, and the octant"),
    "sinh": Bound(4, "polynomial below 1; exp above"),
    "cosh": Bound(4, "exp, halved before it is scaled"),
    "tanh": Bound(4, "polynomial below 0.55; 1 - 2 / (exp(2x) + 1) above"),
    "asinh": Bound(4, "log1p(x + x^2 / (1 + sqrt(1 + x^2))) (fdlibm)"),
    "acosh": Bound(4, "log1p(t + sqrt(2t + t^2)), t = x - 1 (fdlibm)"),
    "atanh": Bound(4, "log1p(2x / (1 - x)) / 2 (fdlibm)"),
    "pow": Bound(8, "log2 by atanh, and the product, in two floats (fdlibm); exp2"),
    "powi": Bound(8, "binary powering in two floats; as pow from an exponent of 2^16 on"),
    "sqrt": Bound(2.5, "the builtin"),
    "rsqrt": Bound(4, "1 / sqrt and a Newton step"),
    "cbrt": Bound(4, "Kahan's start, two Halley steps"),
    "hypot": Bound(4, "sqrt of the sum of scaled squares"),
    "fmod": Bound(0, "long division of the significands, exact"),
    "mod": Bound(0.5, "fmod, and one addition"),
    "add": Bound(0.5, "the operation, hidden from a driver that reorders"),
    "sub": Bound(0.5, "as add"),
    "mul": Bound(0.5, "as add"),
    "div": Bound(2.5, "the operation, with huge divisors scaled"),
    "erf": Bound(4, "polynomial below 1; 1 - exp of a polynomial above (Cody's ranges, 1969)"),
    "erfc": Bound(4, "exp(-x^2) in two floats, polynomial (Shepherd and Laframboise, 1981)"),
    "lgamma": Bound(
        8,
        "recurrence into [1.3, 3], polynomial; Stirling from 8 on; reflection",
        absolute_left_of_zero=2.0**-18,
    ),
    "gamma": Bound(8, "recurrence into [2, 3], polynomial; Stirling from 8 on; reflection"),
    "sigmoid": Bound(4, "exp(-abs(x))"),
}

BOUNDS: Mapping[tuple[str, str], Bound] = {
    **{(name, "f32"): bound for name, bound in _F32.items()},
    **{(name, "f64"): Bound(*row) for name, row in F64.items()},
}
"""(function, type) to its bound; a function is there as soon as the type is lowered."""
