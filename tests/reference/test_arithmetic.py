"""Every operation of the interpreter on every type against the scalar model, over edge values."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests import scalar_model
from vyre_wgpu.ir import OPS, DType, Op, bool_, f16, f32, f64, i32, u32
from vyre_wgpu.ir.types import ALL_DTYPES
from vyre_wgpu.reference.arithmetic import operation

FLOATS = (f16, f32, f64)


def result_type(op: Op, dtype: DType) -> DType:
    return bool_ if OPS[op].result == "bool" else dtype


def assert_same(got: Any, expected: Any, shown: str) -> None:
    if isinstance(expected, (float, np.floating)):
        if np.isnan(expected):
            assert np.isnan(got), f"{shown}: {got!r}, expected NaN"
        else:
            assert got == expected, f"{shown}: {got!r}, expected {expected!r}"
            assert np.signbit(got) == np.signbit(expected) or "min" in shown or "max" in shown, (
                shown
            )
    else:
        assert got == expected, f"{shown}: {got!r}, expected {expected!r}"


CASES = [
    (op, dtype)
    for op, info in OPS.items()
    if info.group in ("unary", "binary")
    for dtype in ALL_DTYPES
    if scalar_model.model(op, dtype) is not None
]


@pytest.mark.parametrize(("op", "dtype"), CASES, ids=lambda x: getattr(x, "name", str(x)).lower())
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_operation_on_edge_values(op: Op, dtype: DType) -> None:
    """Exactly the model's result for all pairs of edge values, in the result's type."""
    info, function = OPS[op], scalar_model.model(op, dtype)
    assert function is not None
    edges = scalar_model.edges(dtype)
    for second in (u32, dtype) if "shift" in info.operands else (dtype,):
        pairs = list(product(edges, scalar_model.edges(second) if info.arity == 2 else edges[:1]))
        columns = [np.array([p[k] for p in pairs], t.numpy) for k, t in enumerate((dtype, second))]
        with np.errstate(all="ignore"):
            got = operation(op, dtype, result_type(op, dtype))(*columns[: info.arity])
            assert got.dtype == result_type(op, dtype).numpy
            values = got if dtype.is_float else got.tolist()
            for pair, value in zip(pairs, values, strict=True):
                used = pair[: info.arity]
                assert_same(value, function(dtype, *used), f"{info.name}{used}")


def test_the_model_covers_what_is_exact() -> None:
    """What it leaves out are the elementary functions and the conversions."""
    left_out = {
        op
        for op, info in OPS.items()
        if info.group in ("unary", "binary") and not any(op is of for of, _ in CASES)
    }
    assert left_out == {*range(Op.RSQRT, Op.SIGMOID + 1), Op.CAST, Op.BITCAST, Op.POW, Op.POWI,
                        Op.ATAN2, Op.HYPOT}  # fmt: skip


@pytest.mark.parametrize("source", ALL_DTYPES, ids=str)
@pytest.mark.parametrize("target", ALL_DTYPES, ids=str)
def test_casts(source: DType, target: DType) -> None:
    """Truncation, extension, saturation, rounding to nearest even."""
    edges = scalar_model.edges(source)
    if source.is_integer and target.is_float:
        # Around the halves between neighbouring floats.
        edges += [v + d for k in (11, 24, 53) for v in (1 << k, 3 << k) for d in (-1, 0, 1, 2, 3)
                  if v + d <= source.max]  # fmt: skip
    with np.errstate(all="ignore"):
        got = operation(Op.CAST, source, target)(np.array(edges, source.numpy))
        assert got.dtype == target.numpy
        for given, value in zip(edges, got if target.is_float else got.tolist(), strict=True):
            expected = scalar_model.cast(given, source, target)
            assert_same(value, expected, f"{source}({given!r}) as {target}")


@pytest.mark.parametrize(
    ("source", "target"),
    [(a, b) for a in ALL_DTYPES for b in ALL_DTYPES if a.bits == b.bits and bool_ not in (a, b)],
    ids=str,
)
def test_bitcasts(source: DType, target: DType) -> None:
    """The bits survive, NaN payloads too."""
    edges = np.array(scalar_model.edges(source), source.numpy)
    got = operation(Op.BITCAST, source, target)(edges)
    assert got.dtype == target.numpy
    assert got.tobytes() == edges.tobytes()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_fma_rounds_once(dtype: DType) -> None:
    """Edge values, and operands whose exact sum lies near the middle of two floats."""
    edges = scalar_model.edges(dtype)
    rng = random.Random(3)
    triples = [tuple(rng.choices(edges, k=3)) for _ in range(4000)]
    one = dtype.numpy.type(1)
    for _ in range(4000):
        a, b = (dtype.numpy.type(rng.uniform(0.5, 2)) for _ in range(2))
        with np.errstate(all="ignore"):
            # The product's own error is all that is left, or decides a tie.
            c = rng.choice([-(a * b), one / 2 * np.spacing(a * b), -np.spacing(a * b) * 3 / 2])
        triples.append((a, b, dtype.numpy.type(c)))
    columns = [np.array(column, dtype.numpy) for column in zip(*triples, strict=True)]
    with np.errstate(all="ignore"):
        got = operation(Op.FMA, dtype, dtype)(*columns)
        for triple, value in zip(triples, got, strict=True):
            assert_same(value, scalar_model.fma(dtype, *triple), f"fma{triple}")


# Elementary functions


def _or_nan(function: Any, *args: float) -> float:
    try:
        return float(function(*args))
    except (ValueError, ZeroDivisionError):
        return math.nan
    except OverflowError:
        return math.inf


ACCURATE: dict[Op, Any] = {
    Op.RSQRT: lambda x: 1 / math.sqrt(x),
    Op.CBRT: math.cbrt,
    Op.EXP: math.exp,
    Op.EXP2: math.exp2,
    Op.EXPM1: math.expm1,
    Op.LOG: math.log,
    Op.LOG2: math.log2,
    Op.LOG10: math.log10,
    Op.LOG1P: math.log1p,
    Op.SIN: math.sin,
    Op.COS: math.cos,
    Op.TAN: math.tan,
    Op.ASIN: math.asin,
    Op.ACOS: math.acos,
    Op.ATAN: math.atan,
    Op.SINH: math.sinh,
    Op.COSH: math.cosh,
    Op.TANH: math.tanh,
    Op.ASINH: math.asinh,
    Op.ACOSH: math.acosh,
    Op.ATANH: math.atanh,
    Op.ERF: math.erf,
    Op.ERFC: math.erfc,
    Op.LGAMMA: math.lgamma,
    Op.GAMMA: math.gamma,
    Op.SIGMOID: lambda x: 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x)),
}


AGREEING = [(op, t) for op in ACCURATE for t in FLOATS if (op, t) != (Op.LGAMMA, f64)]
"""Python's own lgamma has no digit right near 1 and 2: test_log_gamma.py is for that of f64."""


@pytest.mark.parametrize(("op", "dtype"), AGREEING, ids=lambda x: getattr(x, "name", str(x)))
def test_elementary_functions_agree_with_the_c_library(op: Op, dtype: DType) -> None:
    """Over the whole range: an f16 or f32 result within one float, an f64 result within three."""
    rng = np.random.default_rng(op)
    with np.errstate(all="ignore"):
        spread = np.exp(rng.uniform(-20, 20, 1500)) * rng.choice([-1, 1], 1500)
        near = np.concatenate([rng.uniform(-2, 2, 700), 1 + rng.uniform(-1e-3, 1e-3, 300)])
        x = np.concatenate([spread, near, rng.uniform(-750, 750, 300)]).astype(dtype.numpy)
        got = operation(op, dtype, dtype)(x)
    assert got.dtype == dtype.numpy
    worst = 0.0
    for given, value in zip(x, got, strict=True):
        expected = _or_nan(ACCURATE[op], float(given))
        if math.isinf(expected) or np.isinf(value):
            continue  # overflows and poles, for which Python raises: below
        with np.errstate(all="ignore"):
            worst = max(worst, scalar_model.ulp_distance(value, expected, dtype))
    assert worst <= (3 if dtype is f64 else 1)


INF, NAN = math.inf, math.nan
SPECIAL: list[tuple[Op, tuple[float, ...], float]] = [
    (Op.RSQRT, (0.0,), INF), (Op.RSQRT, (-0.0,), -INF), (Op.RSQRT, (INF,), 0.0),
    (Op.RSQRT, (-1.0,), NAN), (Op.CBRT, (-8.0,), -2.0), (Op.CBRT, (-0.0,), -0.0),
    (Op.EXP, (-INF,), 0.0), (Op.EXP, (INF,), INF), (Op.EXP2, (-INF,), 0.0), (Op.EXP2, (3.0,), 8.0),
    (Op.EXPM1, (-0.0,), -0.0), (Op.EXPM1, (-INF,), -1.0), (Op.LOG, (0.0,), -INF),
    (Op.LOG, (-0.0,), -INF), (Op.LOG, (1.0,), 0.0), (Op.LOG, (-1.0,), NAN), (Op.LOG, (INF,), INF),
    (Op.LOG2, (0.0,), -INF), (Op.LOG10, (1000.0,), 3.0), (Op.LOG1P, (-1.0,), -INF),
    (Op.LOG1P, (-0.0,), -0.0), (Op.LOG1P, (-2.0,), NAN), (Op.SIN, (-0.0,), -0.0),
    (Op.SIN, (INF,), NAN), (Op.COS, (0.0,), 1.0), (Op.COS, (-INF,), NAN), (Op.TAN, (-0.0,), -0.0),
    (Op.ASIN, (-0.0,), -0.0), (Op.ASIN, (1.5,), NAN), (Op.ACOS, (1.0,), 0.0),
    (Op.ACOS, (2.0,), NAN),
    (Op.ATAN, (-0.0,), -0.0), (Op.SINH, (-INF,), -INF), (Op.COSH, (-INF,), INF),
    (Op.TANH, (INF,), 1.0), (Op.TANH, (-0.0,), -0.0), (Op.ASINH, (-INF,), -INF),
    (Op.ACOSH, (1.0,), 0.0), (Op.ACOSH, (0.5,), NAN), (Op.ATANH, (1.0,), INF),
    (Op.ATANH, (-1.0,), -INF), (Op.ATANH, (2.0,), NAN), (Op.ERF, (-INF,), -1.0),
    (Op.ERF, (-0.0,), -0.0), (Op.ERFC, (INF,), 0.0), (Op.ERFC, (-INF,), 2.0),
    (Op.LGAMMA, (1.0,), 0.0), (Op.LGAMMA, (0.0,), INF), (Op.LGAMMA, (-3.0,), INF),
    (Op.LGAMMA, (-INF,), INF), (Op.LGAMMA, (INF,), INF), (Op.GAMMA, (5.0,), 24.0),
    (Op.GAMMA, (0.0,), INF), (Op.GAMMA, (-0.0,), -INF), (Op.GAMMA, (-2.0,), NAN),
    (Op.GAMMA, (-INF,), NAN), (Op.GAMMA, (INF,), INF), (Op.GAMMA, (500.0,), INF),
    (Op.SIGMOID, (-INF,), 0.0), (Op.SIGMOID, (INF,), 1.0), (Op.SIGMOID, (0.0,), 0.5),
    (Op.POW, (-2.0, 2.0), 4.0), (Op.POW, (-2.0, 3.0), -8.0), (Op.POW, (-2.0, 0.5), NAN),
    (Op.POW, (NAN, 0.0), 1.0), (Op.POW, (1.0, NAN), 1.0), (Op.POW, (-1.0, INF), 1.0),
    (Op.POW, (-1.0, -INF), 1.0), (Op.POW, (0.0, -1.0), INF), (Op.POW, (-0.0, -1.0), -INF),
    (Op.POW, (-0.0, -2.0), INF), (Op.POW, (-0.0, 3.0), -0.0), (Op.POW, (0.5, -INF), INF),
    (Op.POW, (2.0, -INF), 0.0), (Op.POW, (-INF, -3.0), -0.0), (Op.POW, (-INF, 3.0), -INF),
    (Op.ATAN2, (0.0, 0.0), 0.0), (Op.ATAN2, (-0.0, 0.0), -0.0), (Op.ATAN2, (0.0, -0.0), math.pi),
    (Op.ATAN2, (INF, -INF), 3 * math.pi / 4), (Op.ATAN2, (1.0, INF), 0.0),
    (Op.HYPOT, (INF, NAN), INF), (Op.HYPOT, (3.0, 4.0), 5.0), (Op.HYPOT, (-0.0, -0.0), 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("op", "operands", "expected"), SPECIAL, ids=lambda x: str(x))
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_special_values(op: Op, operands: tuple[float, ...], expected: float, dtype: DType) -> None:
    """As C99 Annex F has them."""
    with np.errstate(all="ignore"):
        (got,) = operation(op, dtype, dtype)(*(np.array([x], dtype.numpy) for x in operands))
        assert_same(got, dtype.numpy.type(expected), f"{op.name}{operands}")


@pytest.mark.parametrize("op", [*ACCURATE, Op.FLOOR, Op.ROUND, Op.SQRT], ids=lambda op: op.name)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nan_gives_nan(op: Op, dtype: DType) -> None:
    """For every function of one operand."""
    with np.errstate(all="ignore"):
        assert np.isnan(operation(op, dtype, dtype)(np.array([math.nan], dtype.numpy))).all()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_powers(dtype: DType) -> None:
    """Real and integer exponents, within one float of the exact power."""
    base = np.array([0.5, 1.5, -1.25, 3.0, -2.0], dtype.numpy)
    power, integer = operation(Op.POW, dtype, dtype), operation(Op.POWI, dtype, dtype)
    with np.errstate(all="ignore"):
        for n in range(-9, 10):
            exact = [float(Fraction(float(x)) ** n) for x in base]
            for got in (
                power(base, np.full(5, n, dtype.numpy)),
                integer(base, np.full(5, n, i32.numpy)),
            ):
                for value, expected in zip(got, exact, strict=True):
                    assert scalar_model.ulp_distance(value, expected, dtype) <= 1
        assert integer(np.array([np.nan, 0], dtype.numpy), np.zeros(2, np.int32)).tolist() == [1, 1]


@pytest.mark.parametrize("op", [Op.POW, Op.POWI], ids=lambda op: op.name.lower())
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_powers_do_not_depend_on_how_the_exponents_lie_in_memory(op: Op, dtype: DType) -> None:
    """One exponent for all, as a uniform value is, or one for each: C99's power, the same bits."""
    power = operation(op, dtype, dtype)
    base = np.array([-0.0, -INF, 0.0, INF, NAN, 1.0, -1.0, 4.0, -4.0, 0.3, 3e-5, 6e4], dtype.numpy)
    second = i32 if op is Op.POWI else dtype
    halves = () if op is Op.POWI else (-0.5, 0.5, 1.5, INF, -INF, NAN)
    with np.errstate(all="ignore"):
        for n in (*halves, -2, -1, 0, 1, 2, 3):
            one = np.array([n], second.numpy)
            each = power(base, np.full(base.shape, one))
            for exponent in (one, np.broadcast_to(one, base.shape), one[0]):
                got = power(base, exponent)
                assert got.shape == base.shape
                np.testing.assert_array_equal(got, each, str(n))
                np.testing.assert_array_equal(np.signbit(got), np.signbit(each), str(n))
            alone = np.concatenate([power(base[k : k + 1], one) for k in range(base.size)])
            np.testing.assert_array_equal(alone, each, str(n))
            np.testing.assert_array_equal(np.signbit(alone), np.signbit(each), str(n))
        if op is Op.POW:
            half = np.array([0.5], dtype.numpy)
            roots = power(base[:4], half)
            assert roots.tolist() == [0, INF, 0, INF]
            assert not np.signbit(roots).any()
