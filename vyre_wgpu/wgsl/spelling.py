"""How types and literals are spelled in WGSL.

Values below 32 bits live in 32-bit registers: `u8` and `u16` as ``u32``, `i8` and `i16` as ``i32``
(sign-extended); every operation brings its result back into the type's range (`normalize`).
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import UnsupportedFeatureError
from ..ir.types import DType

__all__ = ["OPAQUE_ZERO", "is_lowered", "literal", "normalize", "register_type", "zero"]

OPAQUE_ZERO = "d.zero"
"""A word of the dispatch block that is always 0, which no compiler can know."""

_REGISTER = {
    "bool": "bool",
    "i8": "i32",
    "u8": "u32",
    "i16": "i32",
    "u16": "u32",
    "i32": "i32",
    "u32": "u32",
    "f32": "f32",
}


def is_lowered(dtype: DType) -> bool:
    """Whether this release lowers the type."""
    return dtype.name in _REGISTER


def register_type(dtype: DType) -> str:
    """The WGSL type that holds a value.

    Raises:
        UnsupportedFeatureError: this release does not lower the type.
    """
    try:
        return _REGISTER[dtype.name]
    except KeyError:
        raise UnsupportedFeatureError(
            f"type {dtype} is not lowered to WGSL by this release",
            fix="use bool, i32, u32, f32 or the 8- and 16-bit integers",
        ) from None


def zero(dtype: DType) -> str:
    """The zero of a register type."""
    return {"bool": "false", "i32": "0i", "u32": "0u", "f32": "0.0f"}[register_type(dtype)]


def normalize(dtype: DType, text: str) -> str:
    """A 32-bit result brought back into the range of a narrower integer type."""
    if not dtype.is_integer or dtype.bits == 32:
        return text
    if dtype.is_signed:
        shift = 32 - dtype.bits
        return f"((({text}) << {shift}u) >> {shift}u)"
    return f"(({text}) & {dtype.max}u)"


def literal(dtype: DType, bits: int, *, opaque: bool = False) -> str:
    """A literal, never a constant expression that a WGSL compiler may refuse.

    Args:
        dtype: its type.
        bits: its bit pattern.
        opaque: hide the value behind the opaque zero, so that nothing is evaluated at compile time.
    """
    value = dtype.decode(bits)
    if dtype.kind == "bool":
        text = "true" if value else "false"
        return f"({text} != ({OPAQUE_ZERO} != 0u))" if opaque else text
    if dtype.kind == "uint":
        return f"({value}u | {OPAQUE_ZERO})" if opaque else f"{value}u"
    if dtype.kind == "int":
        text = f"{value}i" if value > -(1 << 31) else "(-2147483647i - 1i)"
        return f"({text} | bitcast<i32>({OPAQUE_ZERO}))" if opaque else text
    magnitude = abs(value)
    is_plain = magnitude == 0 or 1.1754944e-38 <= magnitude < math.inf
    is_negative_zero = bits == 1 << (dtype.bits - 1)
    if opaque or not is_plain or is_negative_zero:
        return f"bitcast<f32>({bits:#010x}u | {OPAQUE_ZERO})"
    return f"{_shortest(value)}f"


def _shortest(value: float) -> str:
    """The shortest decimal that reads back as the same f32."""
    text = str(np.float32(value))
    return text if any(c in text for c in ".en") else f"{text}.0"
