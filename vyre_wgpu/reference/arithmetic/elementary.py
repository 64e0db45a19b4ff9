"""Elementary functions: computed wider and rounded to the type, special cases as in C99 Annex F.

f16 and f32 are computed in f64, f64 in NumPy's ``longdouble``, so that a result is the correctly
rounded one in all but rare cases. Exceptions are f64 on platforms whose ``longdouble`` is no wider
(Windows, macOS), and the error functions and gamma of f64: they are the C library's own, within a
few units in the last place. `log_gamma` is our own, in ``longdouble`` for every type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...ir.ops import Op
from .log_gamma import log_gamma

Array = npt.NDArray[Any]
Double = Callable[..., Array]

__all__ = ["BINARY", "UNARY", "powi"]


def _each(function: Callable[[float], float]) -> Double:
    """A function of one Python float for each element."""
    ufunc = np.frompyfunc(function, 1, 1)

    def apply(x: Array) -> Array:
        return np.asarray(ufunc(x.astype(np.float64)), np.float64)

    return apply


def _gamma(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    if x == -math.inf or (x < 0 and x == math.floor(x)):
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        # Only large positive arguments overflow, and small ones, whose sign is the pole's.
        return math.copysign(math.inf, x) if abs(x) < 1 else math.inf


def _power(x: Array, y: Array) -> Array:
    """C99's ``pow``, the same for an exponent of all elements as for one of each.

    NumPy takes short cuts where the exponents have no stride, as those of one element: a root for
    1/2, whose results for -0 and -inf are others than the power's. So they get a stride.
    """
    x, y = np.broadcast_arrays(x, y)
    bases, exponents = (np.append(operand, 1) for operand in (x, y))
    power: Array = np.power(bases, exponents)
    return power[:-1].reshape(x.shape)


def _sigmoid(x: Array) -> Array:
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1.0) / (1.0 + small)


_DOUBLE: dict[Op, Double] = {
    Op.RSQRT: lambda x: 1.0 / np.sqrt(x),
    Op.CBRT: np.cbrt,
    Op.EXP: np.exp,
    Op.EXP2: np.exp2,
    Op.EXPM1: np.expm1,
    Op.LOG: np.log,
    Op.LOG2: np.log2,
    Op.LOG10: np.log10,
    Op.LOG1P: np.log1p,
    Op.SIN: np.sin,
    Op.COS: np.cos,
    Op.TAN: np.tan,
    Op.ASIN: np.arcsin,
    Op.ACOS: np.arccos,
    Op.ATAN: np.arctan,
    Op.SINH: np.sinh,
    Op.COSH: np.cosh,
    Op.TANH: np.tanh,
    Op.ASINH: np.arcsinh,
    Op.ACOSH: np.arccosh,
    Op.ATANH: np.arctanh,
    Op.ERF: _each(math.erf),
    Op.ERFC: _each(math.erfc),
    Op.GAMMA: _each(_gamma),
    Op.SIGMOID: _sigmoid,
}

_DOUBLE_BINARY: dict[Op, Double] = {Op.POW: _power, Op.ATAN2: np.arctan2, Op.HYPOT: np.hypot}


def _rounded(function: Double, *, always_long: bool = False) -> Double:
    def apply(*operands: Array) -> Array:
        dtype = operands[0].dtype
        wide = np.longdouble if always_long or dtype == np.float64 else np.float64
        return function(*(x.astype(wide) for x in operands)).astype(dtype)

    return apply


def powi(x: Array, n: Array) -> Array:
    """The integer power; 1 for a zero exponent, whatever the base."""
    wide = np.longdouble if x.dtype == np.float64 else np.float64
    return _power(x.astype(wide), n.astype(wide)).astype(x.dtype)


UNARY: dict[Op, Double] = {
    **{op: _rounded(function) for op, function in _DOUBLE.items()},
    Op.LGAMMA: _rounded(log_gamma, always_long=True),
}
"""Functions of one operand of any float type."""

BINARY: dict[Op, Double] = {op: _rounded(function) for op, function in _DOUBLE_BINARY.items()}
"""Functions of two operands of one float type."""
