"""The operation table in plain Python, one scalar at a time: what tests compare results with.

Integers are Python integers reduced to the type; floats are NumPy scalars of the type. Nothing here
is shared with the package but the names of types and operations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from vyre_wgpu.ir import DType, Op, bool_, f16, f32, f64

Scalar = Any


def wrap(dtype: DType, value: int) -> int:
    """An integer modulo 2^n, in the type's range."""
    value &= (1 << dtype.bits) - 1
    if dtype.kind == "int" and value >= 1 << (dtype.bits - 1):
        value -= 1 << dtype.bits
    return value


def _trunc_div(dtype: DType, a: int, b: int) -> int:
    if b == 0:
        return wrap(dtype, -1)
    quotient = abs(a) // abs(b)
    return wrap(dtype, quotient if (a < 0) == (b < 0) else -quotient)


def _rem(a: int, b: int) -> int:
    if b == 0:
        return 0
    left = abs(a) % abs(b)
    return -left if a < 0 else left


def _bits(dtype: DType, value: int) -> int:
    return value & ((1 << dtype.bits) - 1)


def _reverse(dtype: DType, value: int) -> int:
    text = format(_bits(dtype, value), f"0{dtype.bits}b")
    return wrap(dtype, int(text[::-1], 2))


def _rotate_left(dtype: DType, value: int, count: int) -> int:
    count &= dtype.bits - 1
    bits = _bits(dtype, value)
    return wrap(dtype, (bits << count) | (bits >> (dtype.bits - count)))


INTEGER: dict[Op, Callable[..., int | bool]] = {
    Op.NEG: lambda t, a: wrap(t, -a),
    Op.ABS: lambda t, a: wrap(t, abs(a)),
    Op.NOT: lambda t, a: wrap(t, ~a),
    Op.SIGN: lambda t, a: (a > 0) - (a < 0),
    Op.CLZ: lambda t, a: t.bits - _bits(t, a).bit_length(),
    Op.CTZ: lambda t, a: (_bits(t, a) & -_bits(t, a)).bit_length() - 1 if a else t.bits,
    Op.POPCOUNT: lambda t, a: _bits(t, a).bit_count(),
    Op.REVERSE_BITS: _reverse,
    Op.ADD: lambda t, a, b: wrap(t, a + b),
    Op.SUB: lambda t, a, b: wrap(t, a - b),
    Op.MUL: lambda t, a, b: wrap(t, a * b),
    Op.FLOOR_DIV: lambda t, a, b: wrap(t, a // b if b else -1),
    Op.MOD: lambda t, a, b: a % b if b else 0,
    Op.TRUNC_DIV: _trunc_div,
    Op.REM: lambda t, a, b: _rem(a, b),
    Op.AND: lambda t, a, b: a & b,
    Op.OR: lambda t, a, b: a | b,
    Op.XOR: lambda t, a, b: a ^ b,
    Op.SHL: lambda t, a, b: wrap(t, a << (b & (t.bits - 1))),
    Op.SHR: lambda t, a, b: a >> (b & (t.bits - 1)),
    Op.ROTL: _rotate_left,
    Op.ROTR: lambda t, a, b: _rotate_left(t, a, -b),
    Op.MUL_HIGH: lambda t, a, b: (a * b) >> t.bits,
    Op.MINIMUM: lambda t, a, b: min(a, b),
    Op.MAXIMUM: lambda t, a, b: max(a, b),
    Op.FMIN: lambda t, a, b: min(a, b),
    Op.FMAX: lambda t, a, b: max(a, b),
    Op.EQ: lambda t, a, b: a == b,
    Op.NE: lambda t, a, b: a != b,
    Op.LT: lambda t, a, b: a < b,
    Op.LE: lambda t, a, b: a <= b,
    Op.GT: lambda t, a, b: a > b,
    Op.GE: lambda t, a, b: a >= b,
}

BOOL: dict[Op, Callable[..., bool]] = {
    Op.NOT: lambda t, a: not a,
    Op.AND: lambda t, a, b: a and b,
    Op.OR: lambda t, a, b: a or b,
    Op.XOR: lambda t, a, b: a != b,
    Op.EQ: lambda t, a, b: a == b,
    Op.NE: lambda t, a, b: a != b,
}


def float_bits(dtype: DType, value: Scalar) -> int:
    """The bit pattern of a float."""
    return int(dtype.numpy.type(value).view(f"u{dtype.itemsize}"))


def float_of(dtype: DType, bits: int) -> Scalar:
    """The float with this bit pattern."""
    return np.array(bits, f"u{dtype.itemsize}").view(dtype.numpy)[()]


def rounded(dtype: DType, value: Scalar | Fraction) -> Scalar:
    """The float nearest to an exact number, ties to even; infinity beyond the range."""
    precision, least = {f16: (11, -24), f32: (24, -149), f64: (53, -1074)}[dtype]
    exact = Fraction(value if isinstance(value, (int, Fraction)) else float(value))
    if exact == 0:
        return dtype.numpy.type(0)
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length() - precision - 1
    while abs(exact) >= Fraction(2) ** (exponent + precision):
        exponent += 1
    unit = Fraction(2) ** max(exponent, least)
    number = round(exact / unit) * unit  # Python rounds halves of fractions to even
    if abs(number) >= Fraction(2) ** {f16: 16, f32: 128, f64: 1024}[dtype]:
        return dtype.numpy.type(math.inf if number > 0 else -math.inf)
    result = dtype.numpy.type(float(number))
    return result if number or exact > 0 else -result


def fma(dtype: DType, a: Scalar, b: Scalar, c: Scalar) -> Scalar:
    """``a * b + c`` rounded once."""
    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        finite = np.isfinite(a) and np.isfinite(b)
        return c if finite else dtype.numpy.type(float(a) * float(b) + float(c))
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        # The sign of an exact zero: of both summands if they agree, else plus.
        minus = np.signbit(c) and np.signbit(a) != np.signbit(b)
        zero = dtype.numpy.type(0)
        return -zero if minus else zero
    return rounded(dtype, exact)


def _sign(t: DType, a: Scalar) -> Scalar:
    return a if np.isnan(a) else t.numpy.type((a > 0) * 1.0 - (a < 0) * 1.0)


def _fmod(t: DType, a: Scalar, b: Scalar) -> Scalar:
    if np.isnan(a) or np.isnan(b) or np.isinf(a) or b == 0:
        return t.numpy.type(np.nan)
    return t.numpy.type(math.fmod(float(a), float(b)))


def _mod(t: DType, a: Scalar, b: Scalar) -> Scalar:
    r = _fmod(t, a, b)
    if np.isnan(r):
        return r
    if r == 0:
        return np.copysign(t.numpy.type(0), b)
    return t.numpy.type(r + b) if (r < 0) != (b < 0) else r


def _pick(
    t: DType, a: Scalar, b: Scalar, choose: Callable[..., Scalar], *, nan_wins: bool
) -> Scalar:
    if np.isnan(a) or np.isnan(b):
        if nan_wins:
            return t.numpy.type(np.nan)
        return b if np.isnan(a) else a
    return choose(a, b)


FLOAT: dict[Op, Callable[..., Scalar]] = {
    Op.NEG: lambda t, a: float_of(t, float_bits(t, a) ^ (1 << (t.bits - 1))),
    Op.ABS: lambda t, a: float_of(t, float_bits(t, a) & ((1 << (t.bits - 1)) - 1)),
    Op.SIGN: _sign,
    Op.FLOOR: lambda t, a: np.floor(a),
    Op.CEIL: lambda t, a: np.ceil(a),
    Op.TRUNC: lambda t, a: np.trunc(a),
    Op.ROUND: lambda t, a: np.rint(a),
    Op.SQRT: lambda t, a: np.sqrt(a),
    Op.IS_NAN: lambda t, a: bool(np.isnan(a)),
    Op.IS_INF: lambda t, a: bool(np.isinf(a)),
    Op.IS_FINITE: lambda t, a: bool(np.isfinite(a)),
    Op.ADD: lambda t, a, b: a + b,
    Op.SUB: lambda t, a, b: a - b,
    Op.MUL: lambda t, a, b: a * b,
    Op.DIV: lambda t, a, b: a / b,
    Op.MOD: _mod,
    Op.FMOD: _fmod,
    Op.MINIMUM: lambda t, a, b: _pick(t, a, b, min, nan_wins=True),
    Op.MAXIMUM: lambda t, a, b: _pick(t, a, b, max, nan_wins=True),
    Op.FMIN: lambda t, a, b: _pick(t, a, b, min, nan_wins=False),
    Op.FMAX: lambda t, a, b: _pick(t, a, b, max, nan_wins=False),
    Op.EQ: lambda t, a, b: bool(a == b),
    Op.NE: lambda t, a, b: bool(a != b),
    Op.LT: lambda t, a, b: bool(a < b),
    Op.LE: lambda t, a, b: bool(a <= b),
    Op.GT: lambda t, a, b: bool(a > b),
    Op.GE: lambda t, a, b: bool(a >= b),
}


def model(op: Op, dtype: DType) -> Callable[..., Scalar] | None:
    """The model of an operation on a type: takes the type and operands. None if there is none."""
    table = FLOAT if dtype.is_float else BOOL if dtype is bool_ else INTEGER
    return table.get(op)  # type: ignore[attr-defined]


def cast(value: Scalar, source: DType, target: DType) -> Scalar:
    """The result of converting a value."""
    if target is bool_:
        return bool(value != 0)
    if source is bool_:
        value = int(value)
    if target.is_float:
        if isinstance(value, int) or np.isfinite(value):
            negative_zero = not isinstance(value, int) and value == 0
            return target.numpy.type(value) if negative_zero else rounded(target, value)
        return target.numpy.type(value)
    if source.is_float:
        if np.isnan(value):
            return 0
        if np.isinf(value):
            return target.max if value > 0 else target.min
        return max(target.min, min(target.max, int(value)))
    return wrap(target, int(value))


def bitcast(value: Scalar, source: DType, target: DType) -> Scalar:
    """The same bits as another type of equal width."""
    bits = float_bits(source, value) if source.is_float else _bits(source, int(value))
    return float_of(target, bits) if target.is_float else wrap(target, bits)


def ulp_distance(a: Scalar, b: Scalar, dtype: DType = f32) -> float:
    """How many values of a type lie between two; 0 for two NaNs, infinity for one."""
    a, b = dtype.numpy.type(a), dtype.numpy.type(b)
    if np.isnan(a) or np.isnan(b):
        return 0.0 if np.isnan(a) and np.isnan(b) else math.inf

    def ordered(x: Scalar) -> int:
        magnitude = float_bits(dtype, abs(x))
        return -magnitude if np.signbit(x) else magnitude

    return float(abs(ordered(a) - ordered(b)))


def edges(dtype: DType) -> list[Scalar]:
    """Values of a type at which operations go wrong."""
    if dtype is bool_:
        return [False, True]
    if dtype.is_integer:
        powers = [1 << k for k in range(dtype.bits)]
        near = [0, 1, 2, 3, 7, 10, 255, *powers]
        both = {wrap(dtype, s * p + d) for p in near for s in (1, -1) for d in (-1, 0, 1)}
        picked = sorted(both)
        middle = picked[:: max(1, len(picked) // 24)]
        return sorted({*middle, 0, 1, wrap(dtype, -1), dtype.min, dtype.max, dtype.max - 1})
    plain = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 0.1, 1e-3, 123456.79, 8388607.5, 8388608.0]
    plain += [16777216.0, 2147483520.0, 2147483648.0, 4294967040.0, 4294967296.0, 1e10, 1e20]
    plain += [3.4028235e38, 1.1754944e-38, 1e30, 1e-30, np.inf]
    if dtype is f16:
        plain = [v for v in plain if v <= 65504 or np.isinf(v)]
        plain += [2047.0, 2048.0, 2049.0, 65504.0, 65472.0, 6.1035e-05, 6e-08, 3e-05]
    elif dtype is f64:
        plain += [9007199254740991.0, 9223372036854774784.0, 9223372036854775808.0]
        plain += [18446744073709549568.0, 18446744073709551616.0, 1.7976931348623157e308]
        plain += [2.2250738585072014e-308, 5e-324, 1.5 * 2**-1023]
    values = [dtype.numpy.type(s * v) for v in plain for s in (1, -1)]
    quiet = float_bits(dtype, np.nan) | (1 << (dtype.bits - 1)) | 0x45
    return [*values, dtype.numpy.type(np.nan), float_of(dtype, quiet)]


def is_subnormal(value: Scalar) -> bool:
    """Whether a float is subnormal, which drivers may flush to zero."""
    if not isinstance(value, np.floating):
        return False
    return bool(0 < abs(value) < np.finfo(value.dtype).smallest_normal)
