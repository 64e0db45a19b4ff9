"""Functions as NumPy computes them in whatever type their operands have.

They are oracles of a narrower type when given a wider one: `oracles_f32` takes float64 of them,
`oracles_f64` long double.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Oracle = Callable[..., Array]

__all__ = ["Array", "Oracle", "in_type", "of_numpy"]


def _rsqrt(x: Array) -> Array:
    return x.dtype.type(1) / np.sqrt(x)


def _sigmoid(x: Array) -> Array:
    e, one = np.exp(-np.abs(x)), x.dtype.type(1)
    return np.where(np.signbit(x), e, one) / (one + e)


_FUNCTIONS: Mapping[str, Oracle] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "pow": np.power,
    "powi": np.power,
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "cbrt": np.cbrt,
    "hypot": np.hypot,
    "fmod": np.fmod,
    "mod": np.mod,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sigmoid": _sigmoid,
}


def in_type(function: Oracle, wide: type[np.floating[Any]]) -> Oracle:
    """A function whose operands are brought to a type first."""
    return lambda *operands: function(*(np.asarray(x).astype(wide) for x in operands))


def of_numpy(wide: type[np.floating[Any]]) -> dict[str, Oracle]:
    """Name of a function to its values in a type, for operands of any narrower one."""
    return {name: in_type(function, wide) for name, function in _FUNCTIONS.items()}
