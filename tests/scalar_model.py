"""The operation table in plain Python, one scalar at a time: what tests compare results with.

Integers are Python integers reduced to the type; floats are NumPy float32 scalars. Nothing here is
shared with the package but the names of types and operations.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from vyre_wgpu.ir import DType, Op, bool_, f32

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


def f32_bits(value: Scalar) -> int:
    """The bit pattern of a float32."""
    return int(np.float32(value).view(np.uint32))


def f32_of(bits: int) -> np.float32:
    """The float32 with this bit pattern."""
    return np.uint32(bits).view(np.float32)


def _sign(a: np.float32) -> Scalar:
    return a if np.isnan(a) else np.float32((a > 0) * 1.0 - (a < 0) * 1.0)


def _fmod(a: np.float32, b: np.float32) -> Scalar:
    if np.isnan(a) or np.isnan(b) or np.isinf(a) or b == 0:
        return np.float32(np.nan)
    return np.float32(math.fmod(float(a), float(b)))


def _mod(a: np.float32, b: np.float32) -> Scalar:
    r = _fmod(a, b)
    if np.isnan(r):
        return r
    if r == 0:
        return np.copysign(np.float32(0), b)
    return np.float32(r + b) if (r < 0) != (b < 0) else r


def _pick(a: np.float32, b: np.float32, choose: Callable[..., Scalar], *, nan_wins: bool) -> Scalar:
    if np.isnan(a) or np.isnan(b):
        if nan_wins:
            return np.float32(np.nan)
        return b if np.isnan(a) else a
    return choose(a, b)


FLOAT: dict[Op, Callable[..., Scalar]] = {
    Op.NEG: lambda t, a: f32_of(f32_bits(a) ^ 0x80000000),
    Op.ABS: lambda t, a: f32_of(f32_bits(a) & 0x7FFFFFFF),
    Op.SIGN: lambda t, a: _sign(a),
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
    Op.MOD: lambda t, a, b: _mod(a, b),
    Op.FMOD: lambda t, a, b: _fmod(a, b),
    Op.MINIMUM: lambda t, a, b: _pick(a, b, min, nan_wins=True),
    Op.MAXIMUM: lambda t, a, b: _pick(a, b, max, nan_wins=True),
    Op.FMIN: lambda t, a, b: _pick(a, b, min, nan_wins=False),
    Op.FMAX: lambda t, a, b: _pick(a, b, max, nan_wins=False),
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
        return np.float32(value)
    if source.is_float:
        if np.isnan(value):
            return 0
        if np.isinf(value):
            return target.max if value > 0 else target.min
        return max(target.min, min(target.max, int(value)))
    return wrap(target, int(value))


def bitcast(value: Scalar, source: DType, target: DType) -> Scalar:
    """The same bits as another type of equal width."""
    bits = f32_bits(value) if source is f32 else _bits(source, int(value))
    return f32_of(bits) if target is f32 else wrap(target, bits)


def ulp_distance(a: Scalar, b: Scalar) -> float:
    """How many float32 values lie between two; 0 for two NaNs, infinity for one."""
    a, b = np.float32(a), np.float32(b)
    if np.isnan(a) or np.isnan(b):
        return 0.0 if np.isnan(a) and np.isnan(b) else math.inf

    def ordered(x: np.float32) -> int:
        bits: int = struct.unpack("<i", struct.pack("<f", x))[0]
        return bits if bits >= 0 else -(bits & 0x7FFFFFFF)

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
    values = [np.float32(s * v) for v in plain for s in (1, -1)]
    return [*values, np.float32(np.nan), f32_of(0xFFC12345)]


def is_subnormal(value: Scalar) -> bool:
    """Whether a float32 is subnormal, which drivers may flush to zero."""
    return isinstance(value, np.floating) and 0 < abs(float(value)) < 1.1754943508222875e-38
