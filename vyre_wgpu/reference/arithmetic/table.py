"""Which function computes an operation on a type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...ir.ops import Op
from ...ir.types import DType
from . import elementary, floats, integers
from .conversions import bitcast, cast

Compute = Callable[..., npt.NDArray[Any]]

__all__ = ["Compute", "operation"]

_COMPARISONS: dict[Op, Compute] = {
    Op.EQ: np.equal,
    Op.NE: np.not_equal,
    Op.LT: np.less,
    Op.LE: np.less_equal,
    Op.GT: np.greater,
    Op.GE: np.greater_equal,
}

_BOOL: dict[Op, Compute] = {
    **_COMPARISONS,
    Op.NOT: np.logical_not,
    Op.AND: np.logical_and,
    Op.OR: np.logical_or,
    Op.XOR: np.logical_xor,
}

_INTEGER: dict[Op, Compute] = {
    **_COMPARISONS,
    Op.NEG: np.negative,
    Op.ABS: np.abs,
    Op.NOT: np.invert,
    Op.SIGN: integers.sign,
    Op.CLZ: integers.clz,
    Op.CTZ: integers.ctz,
    Op.POPCOUNT: integers.popcount,
    Op.REVERSE_BITS: integers.reverse_bits,
    Op.ADD: np.add,
    Op.SUB: np.subtract,
    Op.MUL: np.multiply,
    Op.FLOOR_DIV: integers.floor_div,
    Op.MOD: integers.mod,
    Op.TRUNC_DIV: integers.trunc_div,
    Op.REM: integers.rem,
    Op.AND: np.bitwise_and,
    Op.OR: np.bitwise_or,
    Op.XOR: np.bitwise_xor,
    Op.SHL: integers.shl,
    Op.SHR: integers.shr,
    Op.ROTL: integers.rotl,
    Op.ROTR: integers.rotr,
    Op.MUL_HIGH: integers.mul_high,
    Op.MINIMUM: np.minimum,
    Op.MAXIMUM: np.maximum,
    Op.FMIN: np.minimum,
    Op.FMAX: np.maximum,
}

_FLOAT: dict[Op, Compute] = {
    **_COMPARISONS,
    **elementary.UNARY,
    **elementary.BINARY,
    Op.NEG: np.negative,
    Op.ABS: np.abs,
    Op.SIGN: floats.sign,
    Op.FLOOR: np.floor,
    Op.CEIL: np.ceil,
    Op.TRUNC: np.trunc,
    Op.ROUND: np.rint,
    Op.SQRT: np.sqrt,
    Op.IS_NAN: np.isnan,
    Op.IS_INF: np.isinf,
    Op.IS_FINITE: np.isfinite,
    Op.ADD: np.add,
    Op.SUB: np.subtract,
    Op.MUL: np.multiply,
    Op.DIV: np.divide,
    Op.MOD: floats.mod,
    Op.FMOD: floats.fmod,
    Op.MINIMUM: np.minimum,
    Op.MAXIMUM: np.maximum,
    Op.FMIN: np.fmin,
    Op.FMAX: np.fmax,
    Op.POWI: elementary.powi,
    Op.FMA: floats.fma,
}


def operation(op: Op, operand: DType, result: DType) -> Compute:
    """The function of a unary, binary or ternary operation.

    Args:
        op: the operation.
        operand: type of operand 0.
        result: type of the result.

    Raises:
        KeyError: the type has no such operation.
    """
    match op:
        case Op.SELECT:
            return np.where
        case Op.CAST:
            return lambda x: cast(x, result)
        case Op.BITCAST:
            return lambda x: bitcast(x, result)
    if operand.is_float:
        return _FLOAT[op]
    return _INTEGER[op] if operand.is_integer else _BOOL[op]
