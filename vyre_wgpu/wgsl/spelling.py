"""How types and literals are spelled in WGSL.

Values below 32 bits live in 32-bit registers: `u8` and `u16` as ``u32``, `i8` and `i16` as ``i32``
(sign-extended), `f16` as ``f32``; every operation brings its result back into the type's range
(`normalize`), for `f16` by rounding.
"""

from __future__ import annotations

import math

import numpy as np

from ..ir.types import DType

__all__ = ["OPAQUE_ZERO", "hidden", "literal", "normalize", "register_type", "suffix", "zero"]

OPAQUE_ZERO = "d.zero"
"""A word of the dispatch block that is always 0, which no compiler can know."""

_REGISTER: dict[str, str] = {
    "bool": "bool",
    "i8": "i32",
    "u8": "u32",
    "i16": "i32",
    "u16": "u32",
    "i32": "i32",
    "u32": "u32",
    "i64": "i64",
    "u64": "u64",
    "f16": "f32",
    "f32": "f32",
    "f64": "f64",
}
_SUFFIX = {"i32": "i", "u32": "u", "i64": "li", "u64": "lu", "f32": "f", "f64": "lf"}
_OPAQUE = {
    "u32": OPAQUE_ZERO,
    "i32": f"bitcast<i32>({OPAQUE_ZERO})",
    "u64": f"u64({OPAQUE_ZERO})",
    # Not by way of i32: a widened i64 is what llvmpipe compares wrongly.
    "i64": f"bitcast<i64>(u64({OPAQUE_ZERO}))",
}


def register_type(dtype: DType) -> str:
    """The WGSL type that holds a value."""
    return _REGISTER[dtype.name]


def suffix(dtype: DType) -> str:
    """The suffix of a literal of the register type of a number."""
    return _SUFFIX[register_type(dtype)]


def zero(dtype: DType) -> str:
    """The zero of a register type; a float one is hidden from the driver.

    Drivers move operations into the arms of a select, where they fold ``0.0 - x`` to ``-x``.
    """
    if dtype.kind == "bool":
        return "false"
    return literal(dtype, 0, opaque=True) if dtype.is_float else f"0{suffix(dtype)}"


def normalize(dtype: DType, text: str) -> str:
    """A result brought back into the range of a type narrower than its register."""
    if dtype.name == "f16":
        return f"h_round_f16({text})"
    if not dtype.is_integer or dtype.bits >= 32:
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
        return hidden(dtype, text) if opaque else text
    register = register_type(dtype)
    if not dtype.is_float:
        text = f"{value}{suffix(dtype)}"
        if dtype.bits >= 32 and value == dtype.min and dtype.is_signed:
            text = f"({dtype.min + 1}{suffix(dtype)} - 1{suffix(dtype)})"
        return hidden(dtype, text) if opaque else text
    magnitude = abs(value)
    smallest = 2.2250738585072014e-308 if register == "f64" else 1.1754944e-38
    is_plain = magnitude == 0 or smallest <= magnitude < math.inf
    is_negative_zero = bits == 1 << (dtype.bits - 1)
    if opaque or not is_plain or is_negative_zero:
        return _by_bits(register, value, bits)
    return f"{_shortest(register, value)}{suffix(dtype)}"


def hidden(dtype: DType, text: str) -> str:
    """A bool or an integer, so that the driver cannot know it."""
    if dtype.kind == "bool":
        return f"({text} != ({OPAQUE_ZERO} != 0u))"
    return f"({text} | {_OPAQUE[register_type(dtype)]})"


def _by_bits(register: str, value: float, bits: int) -> str:
    if not bits:
        return f"bitcast<{register}>({_OPAQUE[register.replace('f', 'u')]})"
    if register == "f64":
        return f"bitcast<f64>({bits:#018x}lu | {_OPAQUE['u64']})"
    # An f16 stands in its register with its f32 pattern.
    pattern = int(np.float32(value).view(np.uint32))
    return f"bitcast<f32>({pattern:#010x}u | {OPAQUE_ZERO})"


def _shortest(register: str, value: float) -> str:
    """The shortest decimal that reads back as the same value of the register type.

    That of the largest f32 is rounded up, and WGSL refuses what is beyond the type before rounding.
    """
    text = repr(value) if register == "f64" else str(np.float32(value))
    if register == "f32" and abs(float(text)) > float(np.finfo(np.float32).max):
        text = repr(value)
    return text if any(c in text for c in ".en") else f"{text}.0"
