"""Operations on literals give what the scalar model of the operation table says."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests import scalar_model
from vyre_wgpu.ir import OPS, DType, Op, f16, f32, f64, i32, i64, u32, u64
from vyre_wgpu.ir.passes.constants import evaluate
from vyre_wgpu.ir.types import ALL_DTYPES, bool_

CASES = [
    (op, dtype)
    for op, info in OPS.items()
    if info.group in ("unary", "binary")
    for dtype in ALL_DTYPES
    if scalar_model.model(op, dtype) is not None
]
EITHER_ZERO = (Op.MINIMUM, Op.MAXIMUM, Op.FMIN, Op.FMAX)


def bits_of(dtype: DType, value: Any) -> int:
    if dtype.is_float:
        return scalar_model.float_bits(dtype, value)
    return int(value) & ((1 << dtype.bits) - 1)


def same(dtype: DType, got: int | None, expected: int) -> bool:
    """Equal bits; any NaN is as good as another."""
    if got is None or not dtype.is_float:
        return got == expected
    a, b = (scalar_model.float_of(dtype, bits) for bits in (got, expected))
    return got == expected or bool(np.isnan(a) and np.isnan(b))


@pytest.mark.parametrize(("op", "dtype"), CASES, ids=lambda x: getattr(x, "name", str(x)).lower())
def test_operations_on_edge_values(op: Op, dtype: DType) -> None:
    """All pairs of edge values; every operation that the model has is evaluated."""
    info, model = OPS[op], scalar_model.model(op, dtype)
    assert model is not None
    second = u32 if "shift" in info.operands else dtype
    seconds = scalar_model.edges(second) if info.arity == 2 else [None]
    result = bool_ if info.result == "bool" else dtype
    with np.errstate(all="ignore"):
        for a, b in product(scalar_model.edges(dtype), seconds):
            values = (a,) if b is None else (a, b)
            bits = tuple(
                bits_of(t, v) for t, v in zip((dtype, second)[: len(values)], values, strict=True)
            )
            expected = bits_of(result, model(dtype, *values))
            got = evaluate(op, result.code, dtype.code, bits)
            zeros = op in EITHER_ZERO and dtype.is_float and a == b == 0
            assert zeros or same(result, got, expected), f"{info.name}{values}"


@pytest.mark.parametrize("source", ALL_DTYPES, ids=str)
def test_casts_of_edge_values(source: DType) -> None:
    with np.errstate(all="ignore"):
        for target, value in product(ALL_DTYPES, scalar_model.edges(source)):
            expected = bits_of(target, scalar_model.cast(value, source, target))
            got = evaluate(Op.CAST, target.code, source.code, (bits_of(source, value),))
            assert same(target, got, expected), f"{source}({value!r}) as {target}"


@pytest.mark.parametrize("source", [i64, u64], ids=str)
@pytest.mark.parametrize("target", [f16, f32, f64], ids=str)
def test_integers_beyond_53_bits_are_rounded_once(source: DType, target: DType) -> None:
    """By way of f64 these would first be rounded to a tie, then to even."""
    digits = {f16: 11, f32: 24, f64: 53}[target]
    for place in range(digits + 1, source.bits - source.is_signed):
        tie = (1 << place) + (1 << (place - digits))
        for value in (tie - 1, tie, tie + 1, tie | (1 << (place - digits + 1))):
            expected = bits_of(target, scalar_model.cast(value, source, target))
            with np.errstate(all="ignore"):
                got = evaluate(Op.CAST, target.code, source.code, (value,))
            assert got == expected, value


@pytest.mark.parametrize(("source", "target"), [(f64, f32), (f64, f16), (f32, f16)], ids=str)
def test_narrower_floats_are_rounded_once(source: DType, target: DType) -> None:
    """Ties of the narrow type, and their neighbours in the wide one."""
    rng = np.random.default_rng(4)
    for bits in rng.integers(0, 1 << (target.bits - 1), 300).tolist():
        low, high = (float(scalar_model.float_of(target, n)) for n in (bits, bits + 1))
        if not np.isfinite(low + high):
            continue
        tie = source.numpy.type((low + high) / 2)
        for value in (np.nextafter(tie, -np.inf), tie, np.nextafter(tie, tie.dtype.type(np.inf))):
            value = source.numpy.type(value)
            expected = bits_of(target, scalar_model.cast(value, source, target))
            with np.errstate(all="ignore"):
                got = evaluate(Op.CAST, target.code, source.code, (bits_of(source, value),))
            assert got == expected, float(value)


@pytest.mark.parametrize(
    "op",
    [Op.EXP, Op.LOG, Op.SIN, Op.POW, Op.POWI, Op.RSQRT, Op.TANH, Op.HYPOT],
    ids=lambda op: op.name.lower(),
)
def test_what_devices_only_bound_is_not_evaluated(op: Op) -> None:
    assert evaluate(op, f32.code, f32.code, (0x3F000000,) * OPS[op].arity) is None


@pytest.mark.parametrize("dtype", [t for t in ALL_DTYPES if t.is_float], ids=str)
@pytest.mark.parametrize("exponent", [0, 3, -1, i32.max, i32.min])
def test_a_literal_power_with_an_exponent_of_another_type(dtype: DType, exponent: int) -> None:
    """The bits of an i32 are no bits of the base's type: f16 has fewer."""
    bits = bits_of(dtype, 2.0), exponent & 0xFFFFFFFF
    assert evaluate(Op.POWI, dtype.code, dtype.code, bits) is None
