"""Operations whose last places depend on the device: how far from the oracle each may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import vyre_wgpu.ir as vw
from tests.fuzz.choices import Choices
from tests.fuzz.expressions import Expressions
from vyre_wgpu.ir import DType, Value
from vyre_wgpu.wgsl.mathematics.bounds import BOUNDS

__all__ = ["inexact"]

UNARY: dict[str, Callable[[Any], Value]] = {
    "sqrt": vw.sqrt, "rsqrt": vw.rsqrt, "cbrt": vw.cbrt, "exp": vw.exp, "exp2": vw.exp2,
    "expm1": vw.expm1, "log": vw.log, "log2": vw.log2, "log10": vw.log10, "log1p": vw.log1p,
    "sin": vw.sin, "cos": vw.cos, "tan": vw.tan, "asin": vw.asin, "acos": vw.acos,
    "atan": vw.atan, "sinh": vw.sinh, "cosh": vw.cosh, "tanh": vw.tanh, "asinh": vw.asinh,
    "acosh": vw.acosh, "atanh": vw.atanh, "sigmoid": vw.sigmoid, "erf": vw.erf, "erfc": vw.erfc,
    "gamma": vw.gamma,
}  # fmt: skip
BINARY: dict[str, Callable[[Any, Any], Value]] = {
    "pow": vw.power, "atan2": vw.atan2, "hypot": vw.hypot,
}  # fmt: skip
"""By name in the table of bounds. `lgamma`, whose bound is partly absolute, is tested elsewhere."""

_ORACLE_LESS_EXACT = frozenset({("erf", vw.f64), ("erfc", vw.f64), ("gamma", vw.f64)})
"""The oracle has the C library's, which no bound of ours covers."""


def inexact(choices: Choices, expressions: Expressions, dtype: DType) -> tuple[Value, float]:
    """A float to store, and within how many ULP of the oracle's it is.

    The operands are determined, and none is a product, which a driver may contract with the first
    step of a function; what comes after the function is the store alone.
    """
    form = choices.number(6)
    if form == 0:
        a, b = expressions.pair(dtype, 2, False)
        return a.value / b.value, _allowed("div", dtype)
    if form == 1:
        name = choices.pick(tuple(BINARY))
        x, y = (_operand(choices, expressions, dtype) for _ in range(2))
        return BINARY[name](x, y), _allowed(name, dtype)
    x = _operand(choices, expressions, dtype)
    if form == 2 and not expressions.looping:  # it has a loop, which a driver may end
        n = expressions.value(vw.i32)
        return vw.powi(x, n.value), _allowed("powi", dtype)
    name = choices.pick([name for name in UNARY if (name, dtype) not in _ORACLE_LESS_EXACT])
    return UNARY[name](x), _allowed(name, dtype)


def _operand(choices: Choices, expressions: Expressions, dtype: DType) -> Value:
    """Some value, or another ordinary number for each lane: with the first alone most are edges."""
    if choices.chance(3):
        return expressions.no_product(expressions.value(dtype)).value
    # Knuth's multiplicative hashing. 11 bits are exact in f16, and so is the power of two.
    word = (expressions.declared.lane * 2654435761 + choices.number(256)) >> 21
    exponent = choices.pick((6, 0, 3, 9, 11))
    return (word.cast(vw.i32) - 1024).cast(dtype) * 2.0**-exponent


def _allowed(name: str, dtype: DType) -> float:
    """The bound, and the half ULP of the oracle. f16 is the result of f32, rounded once more."""
    return (1.0 if dtype is vw.f16 else BOUNDS[name, dtype.name].ulp) + 0.5
