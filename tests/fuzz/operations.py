"""Types, operations and edge values that random programs are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import vyre_wgpu.ir as vw
from tests import scalar_model
from vyre_wgpu.ir import DType, Value
from vyre_wgpu.ir.types import ALL_DTYPES

INTEGERS = tuple(t for t in ALL_DTYPES if t.is_integer)
FLOATS = tuple(t for t in ALL_DTYPES if t.is_float)
WORDS = tuple(t for t in INTEGERS if t.bits <= 32)
UNSIGNED = {16: vw.u16, 32: vw.u32, 64: vw.u64}
WORKGROUPS: tuple[tuple[int, ...], ...] = (
    (32,), (1,), (3,), (7,), (33,), (64,), (100,), (256,),
    (4, 2), (3, 5), (1, 9), (16, 16), (2, 3, 2), (1, 1, 5), (4, 4, 4),
)  # fmt: skip
ATOMICS = ("add", "sub", "and", "or", "xor", "min", "max")

INT_UNARY: tuple[Callable[[Any], Value], ...] = (
    lambda x: -x, vw.abs_, lambda x: ~x, vw.sign, vw.clz, vw.ctz, vw.popcount, vw.reverse_bits,
)  # fmt: skip
INT_BINARY: tuple[Callable[[Any, Any], Value], ...] = (
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b,
    lambda a, b: a // b, lambda a, b: a % b, vw.trunc_div, vw.rem,
    lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b,
    lambda a, b: a << b, lambda a, b: a >> b, vw.rotl, vw.rotr,
    vw.mul_high, vw.minimum, vw.maximum, vw.fmin, vw.fmax,
)  # fmt: skip
SHIFTS: tuple[Callable[[Any, Any], Value], ...] = (
    lambda a, b: a << b, lambda a, b: a >> b, vw.rotl, vw.rotr,
)  # fmt: skip
COMPARE: tuple[Callable[[Any, Any], Value], ...] = (
    lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b,
    lambda a, b: a <= b, lambda a, b: a > b, lambda a, b: a >= b,
)  # fmt: skip
BOOL_BINARY: tuple[Callable[[Any, Any], Value], ...] = (
    lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b,
    lambda a, b: a == b, lambda a, b: a != b,
)  # fmt: skip
EXACT_UNARY: tuple[Callable[[Any], Value], ...] = (lambda x: -x, vw.abs_)
WHOLE_UNARY: tuple[Callable[[Any], Value], ...] = (
    vw.sign, vw.floor, vw.ceil, vw.trunc, vw.round_,
)  # fmt: skip
CHOOSE: tuple[Callable[[Any, Any], Value], ...] = (vw.minimum, vw.maximum, vw.fmin, vw.fmax)


def _is_plain(value: Any) -> bool:
    """Whether a float is far enough from the subnormals."""
    return not 0 < abs(value) < 4 * np.finfo(value.dtype).smallest_normal


EDGES: dict[DType, list[Any]] = {
    dtype: [v for v in scalar_model.edges(dtype) if not dtype.is_float or _is_plain(v)]
    for dtype in ALL_DTYPES
}
