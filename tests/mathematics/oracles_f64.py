"""Exact values for f64: the functions of 80-bit long double of NumPy and the C library.

They keep 64 bits, so an error of theirs is some thousandths of a unit of f64. Where long double is
no wider than f64, there is no oracle (`HAS_LONG_DOUBLE`). `test_f64_oracles` compares samples with
mpmath.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from cffi import FFI

from tests.mathematics.numpy_functions import Array, Oracle, in_type, of_numpy

__all__ = ["EXACT", "HAS_LONG_DOUBLE"]

HAS_LONG_DOUBLE = bool(np.finfo(np.longdouble).nmant == 63)
"""Whether NumPy's longdouble is the 80-bit format, and so the C library's long double."""

_NAMES = ("erfl", "erfcl", "lgammal", "tgammal")


@functools.cache
def _c_library() -> tuple[Any, Any]:
    """The mathematics library that Python itself is linked with."""
    ffi = FFI()
    ffi.cdef("\n".join(f"long double {name}(long double);" for name in _NAMES))
    return ffi, ffi.dlopen(None)


def _of_library(name: str) -> Oracle:
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

    return in_type(apply, np.longdouble)


EXACT: dict[str, Oracle] = {
    **of_numpy(np.longdouble),
    "erf": _of_library("erfl"),
    "erfc": _of_library("erfcl"),
    "lgamma": _of_library("lgammal"),
    "gamma": _of_library("tgammal"),
}
"""Name of a function to its values in long double for operands of f64."""
