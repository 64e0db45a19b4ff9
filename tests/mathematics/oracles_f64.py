"""Exact values for f64: the functions of 80-bit long double of NumPy and the C library.

They keep 64 bits, so an error of theirs is some thousandths of a unit of f64. Where long double is
no wider than f64, there is no oracle (`HAS_LONG_DOUBLE`). `test_f64_oracles` compares samples with
mpmath.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from cffi import FFI

Array = npt.NDArray[Any]

__all__ = ["EXACT", "HAS_LONG_DOUBLE"]

HAS_LONG_DOUBLE = bool(np.finfo(np.longdouble).nmant == 63)
"""Whether NumPy's longdouble is the 80-bit format, and so the C library's long double."""

_NAMES = ("erfl", "erfcl", "lgammal", "tgammal")


def _wide(function: Callable[..., Array]) -> Callable[..., Array]:
    return lambda *operands: function(*(np.asarray(x).astype(np.longdouble) for x in operands))


@functools.cache
def _c_library() -> tuple[Any, Any]:
    """The mathematics library that Python itself is linked with."""
    ffi = FFI()
    ffi.cdef("\n".join(f"long double {name}(long double);" for name in _NAMES))
    return ffi, ffi.dlopen(None)


def _of_library(name: str) -> Callable[..., Array]:
    """A function of the C library, one call for each element.

    Through cffi, which keeps all bits of a long double; ctypes rounds it to a double.
    """

    def apply(x: Array) -> Array:
        source = np.ascontiguousarray(x, np.longdouble)
        result = np.empty_like(source)
        ffi, library = _c_library()
        function = getattr(library, name)
        values = ffi.from_buffer("long double[]", source)
        results = ffi.from_buffer("long double[]", result, require_writable=True)
        for k in range(source.size):
            results[k] = function(values[k])
        return result

    return _wide(apply)


def _sigmoid(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    return np.where(np.signbit(x), e, np.longdouble(1)) / (np.longdouble(1) + e)


EXACT: dict[str, Callable[..., Array]] = {
    "exp": _wide(np.exp),
    "exp2": _wide(np.exp2),
    "expm1": _wide(np.expm1),
    "log": _wide(np.log),
    "log2": _wide(np.log2),
    "log10": _wide(np.log10),
    "log1p": _wide(np.log1p),
    "sin": _wide(np.sin),
    "cos": _wide(np.cos),
    "tan": _wide(np.tan),
    "asin": _wide(np.arcsin),
    "acos": _wide(np.arccos),
    "atan": _wide(np.arctan),
    "atan2": _wide(np.arctan2),
    "sinh": _wide(np.sinh),
    "cosh": _wide(np.cosh),
    "tanh": _wide(np.tanh),
    "asinh": _wide(np.arcsinh),
    "acosh": _wide(np.arccosh),
    "atanh": _wide(np.arctanh),
    "pow": _wide(np.power),
    "powi": _wide(np.power),
    "sqrt": _wide(np.sqrt),
    "rsqrt": _wide(lambda x: np.longdouble(1) / np.sqrt(x)),
    "cbrt": _wide(np.cbrt),
    "hypot": _wide(np.hypot),
    "fmod": _wide(np.fmod),
    "mod": _wide(np.mod),
    "add": _wide(np.add),
    "sub": _wide(np.subtract),
    "mul": _wide(np.multiply),
    "div": _wide(np.divide),
    "erf": _of_library("erfl"),
    "erfc": _of_library("erfcl"),
    "lgamma": _of_library("lgammal"),
    "gamma": _of_library("tgammal"),
    "sigmoid": _wide(_sigmoid),
}
"""Name of a function to its values in long double for operands of f64."""
