"""Exact values for f16 and f32: NumPy's and the C library's float64 functions.

Their errors, a few units in the 53rd bit, are far below what is measured; where a formula of ours
stands in, it keeps well over 40 bits. `test_oracles` compares samples with mpmath.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.mathematics.numpy_functions import Oracle, of_numpy

__all__ = ["EXACT"]


def _each(function: Callable[[float], float]) -> Oracle:
    ufunc = np.frompyfunc(function, 1, 1)
    return lambda x: np.asarray(ufunc(x.astype(np.float64)), np.float64)


def _lgamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def _gamma(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    if x == -math.inf or (x < 0 and x == math.floor(x)):
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.copysign(math.inf, x) if abs(x) < 1 else math.inf


EXACT: dict[str, Oracle] = {
    **of_numpy(np.float64),
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "lgamma": _each(_lgamma),
    "gamma": _each(_gamma),
}
"""Name of a function to its values in float64 for operands of any float type."""
