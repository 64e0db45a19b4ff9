"""One operation on literals, exactly as the operation table has it.

Integers are Python's, so nothing overflows before it is wrapped; floats are NumPy scalars of the
type, whose ``+ - * /`` and square root are correctly rounded (those of f16 too: NumPy computes them
in f32, which has more than twice the digits). An operation whose result devices only bound, as the
elementary functions, is not evaluated, nor is `fma`, which may round once or twice.

This shares no code with the reference interpreter, which the passes are compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..ops import Op
from ..types import DType, dtype_from_code, f64

__all__ = ["dtype_mask", "evaluate"]

Value = Any
"""A Python int or bool, or a NumPy float scalar."""


def evaluate(op: int, result: int, operand: int, bits: tuple[int, ...]) -> int | None:
    """The bit pattern of an operation on literals, None if it is not for us to say.

    Call it under ``np.errstate(all="ignore")``.

    Args:
        op: the operation, unary or binary.
        result: code of the result's type.
        operand: code of the first operand's type; a shift count is taken as u32 or as that type,
            which differ only in bits that the mask removes.
        bits: the operands' bit patterns.
    """
    dtype, target = dtype_from_code(operand), dtype_from_code(result)
    if op == Op.BITCAST:
        return bits[0]
    if op == Op.CAST:
        return _convert(_value(dtype, bits[0]), dtype, target)
    if dtype.is_float:
        if op in _ON_BITS:
            return _ON_BITS[op](dtype, bits[0])
        compute = _FLOAT.get(op)
        if compute is None:  # perhaps with operands of another type, as the exponent of powi
            return None
        return _bits(target, compute(*(_value(dtype, one) for one in bits)))
    whole = (_BOOL if dtype.kind == "bool" else _INTEGER).get(op)
    if whole is None:
        return None
    number = whole(dtype, *[dtype.decode(one & dtype_mask(dtype)) for one in bits])
    return int(number) & dtype_mask(target)


def dtype_mask(dtype: DType) -> int:
    """All bits of a type set."""
    return (1 << dtype.bits) - 1


def _value(dtype: DType, bits: int) -> Value:
    value = dtype.decode(bits)
    return dtype.numpy.type(value) if dtype.is_float else value


def _bits(dtype: DType, value: Value) -> int:
    if dtype.is_float:
        if np.isnan(value):
            return dtype.encode(math.nan)  # processors make NaNs of either sign
        return int(np.asarray(value, dtype.numpy).view(f"u{dtype.itemsize}"))
    return int(value)


# Conversions


def _convert(value: Value, source: DType, target: DType) -> int:
    if target.kind == "bool":
        return int(value != 0)  # NaN is not 0
    if target.is_float:
        if not source.is_float:
            value = _nearest(int(value), target)
        return _bits(target, target.numpy.type(value))
    if source.is_float:
        value = _saturated(value, target)
    return int(value) & dtype_mask(target)


def _nearest(value: int, target: DType) -> float:
    """A float that rounds to the type as the integer itself would.

    An f64 holds at most 53 bits. For narrower types the lowest of these stands for all that it cuts
    off ("rounding to odd"), so that rounding once more meets no tie that was none.
    """
    cut = abs(value).bit_length() - 53
    if target is f64 or cut <= 0:
        return float(value)
    head, tail = divmod(abs(value), 1 << cut)
    return math.copysign(math.ldexp(head | (tail > 0), cut), value)


def _saturated(value: Value, target: DType) -> int:
    if np.isnan(value):
        return 0
    if np.isinf(value):
        return target.max if value > 0 else target.min
    return min(max(int(value), target.min), target.max)


# Integers: Python's numbers in, any integer out, which is then wrapped to the result's type


def _toward_zero(dtype: DType, a: int, b: int) -> int:
    if b == 0:
        return -1
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(dtype: DType, a: int, b: int) -> int:
    return a - b * _toward_zero(dtype, a, b) if b else 0


def _leading_zeros(dtype: DType, a: int) -> int:
    return dtype.bits - (a & dtype_mask(dtype)).bit_length()


def _trailing_zeros(dtype: DType, a: int) -> int:
    return (a & -a).bit_length() - 1 if a else dtype.bits


def _reversed(dtype: DType, a: int) -> int:
    bits = a & dtype_mask(dtype)
    turned = 0
    for place in range(dtype.bits):
        turned |= (bits >> place & 1) << (dtype.bits - 1 - place)
    return turned


def _rotated(dtype: DType, a: int, count: int) -> int:
    count &= dtype.bits - 1
    twice = (a & dtype_mask(dtype)) * ((1 << dtype.bits) + 1)
    return twice >> (dtype.bits - count)


_COMPARE: dict[int, Callable[..., Any]] = {
    Op.EQ: lambda a, b: a == b,
    Op.NE: lambda a, b: a != b,
    Op.LT: lambda a, b: a < b,
    Op.LE: lambda a, b: a <= b,
    Op.GT: lambda a, b: a > b,
    Op.GE: lambda a, b: a >= b,
}


def _typed(compare: Callable[..., Any]) -> Callable[..., int]:
    return lambda t, a, b: int(compare(a, b))


_INTEGER: Mapping[int, Callable[..., int]] = {
    Op.NEG: lambda t, a: -a,
    Op.ABS: lambda t, a: abs(a),
    Op.NOT: lambda t, a: ~a,
    Op.SIGN: lambda t, a: (a > 0) - (a < 0),
    Op.CLZ: _leading_zeros,
    Op.CTZ: _trailing_zeros,
    Op.POPCOUNT: lambda t, a: (a & dtype_mask(t)).bit_count(),
    Op.REVERSE_BITS: _reversed,
    Op.ADD: lambda t, a, b: a + b,
    Op.SUB: lambda t, a, b: a - b,
    Op.MUL: lambda t, a, b: a * b,
    Op.FLOOR_DIV: lambda t, a, b: a // b if b else -1,
    Op.MOD: lambda t, a, b: a % b if b else 0,
    Op.TRUNC_DIV: _toward_zero,
    Op.REM: _remainder,
    Op.AND: lambda t, a, b: a & b,
    Op.OR: lambda t, a, b: a | b,
    Op.XOR: lambda t, a, b: a ^ b,
    Op.SHL: lambda t, a, b: a << (b & (t.bits - 1)),
    Op.SHR: lambda t, a, b: a >> (b & (t.bits - 1)),
    Op.ROTL: _rotated,
    Op.ROTR: lambda t, a, b: _rotated(t, a, -b),
    Op.MUL_HIGH: lambda t, a, b: a * b >> t.bits,
    Op.MINIMUM: lambda t, a, b: min(a, b),
    Op.MAXIMUM: lambda t, a, b: max(a, b),
    Op.FMIN: lambda t, a, b: min(a, b),
    Op.FMAX: lambda t, a, b: max(a, b),
    **{op: _typed(compare) for op, compare in _COMPARE.items()},
}

_BOOL: Mapping[int, Callable[..., int]] = {
    Op.NOT: lambda t, a: not a,
    Op.AND: lambda t, a, b: a and b,
    Op.OR: lambda t, a, b: a or b,
    Op.XOR: lambda t, a, b: a != b,
    Op.EQ: lambda t, a, b: a == b,
    Op.NE: lambda t, a, b: a != b,
}

# Floats


def _sign(a: Value) -> Value:
    if np.isnan(a):
        return a
    return float(a > 0) - float(a < 0)


def _modulo(a: Value, b: Value) -> Value:
    """Python's: the sign of the divisor, also of a zero."""
    left = np.fmod(a, b)
    if left == 0:
        return np.copysign(left, b)
    return left + b if (left < 0) != (b < 0) and not np.isnan(left) else left


_FLOAT: Mapping[int, Callable[..., Value]] = {
    Op.SIGN: _sign,
    Op.FLOOR: np.floor,
    Op.CEIL: np.ceil,
    Op.TRUNC: np.trunc,
    Op.ROUND: np.rint,
    Op.SQRT: np.sqrt,
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.MOD: _modulo,
    Op.FMOD: np.fmod,
    Op.MINIMUM: np.minimum,
    Op.MAXIMUM: np.maximum,
    Op.FMIN: np.fmin,
    Op.FMAX: np.fmax,
    **_COMPARE,
}


def _sign_bit(dtype: DType) -> int:
    return 1 << (dtype.bits - 1)


def _infinity(dtype: DType) -> int:
    return dtype.encode(math.inf)


_ON_BITS: Mapping[int, Callable[[DType, int], int]] = {
    Op.NEG: lambda t, a: a ^ _sign_bit(t),
    Op.ABS: lambda t, a: a & ~_sign_bit(t),
    Op.IS_NAN: lambda t, a: int(a & ~_sign_bit(t) > _infinity(t)),
    Op.IS_INF: lambda t, a: int(a & ~_sign_bit(t) == _infinity(t)),
    Op.IS_FINITE: lambda t, a: int(a & ~_sign_bit(t) < _infinity(t)),
}
