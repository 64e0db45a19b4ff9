"""Elementary functions for f32 and f16: within the bound everywhere, C99's special values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tests.mathematics.functions import FUNCTIONS, Function
from tests.mathematics.measure import literal_program, measure, program, worst
from vyre_wgpu.backends.protocol import Backend
from vyre_wgpu.ir import OPS

EACH = 20_000
"""Random points of each class of binades, for each sign."""

INF, NAN = math.inf, math.nan
every_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=list(FUNCTIONS))


@pytest.mark.gpu
@pytest.mark.slow
@every_function
def test_f32_is_within_its_bound(function: Function, wgpu_backend: Backend) -> None:
    """On random points of every class, special values and around the critical arguments."""
    found = measure(function, "f32", wgpu_backend, function.points("f32", EACH))
    assert found.ulp <= function.bound("f32"), str(found)


@pytest.mark.gpu
@every_function
def test_f16_is_within_its_bound(function: Function, wgpu_backend: Backend) -> None:
    """All 65,536 operands; for two operands a sample of pairs."""
    found = measure(function, "f16", wgpu_backend, function.points("f16", 2_000))
    assert found.ulp <= function.bound("f16"), str(found)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["f16", "f32"])
@every_function
def test_special_values(function: Function, dtype: str, any_backend: Backend) -> None:
    """Zeros, infinities, NaN, ends of ranges, integers, on every backend."""
    found = measure(function, dtype, any_backend, function.special_points(dtype))
    assert found.ulp <= max(function.bound(dtype), 0.5), str(found)


LITERALS = (0.0, 1.0, 0.5, 2.0, 3.0, 10.5, 1e-3, 100.0, 1e10, 2.0**-126, 3.4028234663852886e38, INF)


@pytest.mark.gpu
@every_function
def test_literal_operands(function: Function, wgpu_backend: Backend) -> None:
    """What the driver folds of a function at compile time is as right as what it runs."""
    values = [sign * x for x in LITERALS for sign in (1, -1)] + [NAN]
    points = [np.array(values, np.float32)]
    if function.arity == 2:
        second = [0, 1, -1, 2, -3, 40] if function.integer_second else [0.0, -0.0, 1.5, -2.0, -INF]
        table = np.array(list(itertools.product(values[::3], second)), np.float64).T
        points = [table[0].astype(np.float32)]
        points += [table[1].astype(np.int32 if function.integer_second else np.float32)]
    (got,) = wgpu_backend.compile(literal_program(function, "f32", points)).dispatch([])
    found = worst(function, "f32", points, got)
    assert found.ulp <= max(function.bound("f32"), 0.5), str(found)


# C99 Annex F.9, where it says more than "the nearest number".
EXACT = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0.0)],
    "exp2": [(0.0, 1), (3.0, 8), (-3.0, 0.125), (INF, INF), (-INF, 0.0)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1)],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (-1.0, NAN), (INF, INF)],
    "log2": [(1.0, 0.0), (1024.0, 10), (0.0, -INF), (-INF, NAN), (INF, INF)],
    "log10": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (-1.0, NAN), (INF, INF)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-1.5, NAN), (INF, INF)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "cos": [(0.0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (1.5, NAN), (-INF, NAN)],
    "acos": [(1.0, 0.0), (1.5, NAN), (-1.5, NAN), (INF, NAN)],
    "atan": [(0.0, 0.0), (-0.0, -0.0)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "cosh": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, INF)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1)],
    "asinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "acosh": [(1.0, 0.0), (0.5, NAN), (-2.0, NAN), (INF, INF)],
    "atanh": [(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (2.0, NAN)],
    "sqrt": [(0.0, 0.0), (-0.0, -0.0), (-1.0, NAN), (INF, INF)],
    "rsqrt": [(0.0, INF), (-0.0, -INF), (-1.0, NAN), (INF, 0.0), (0.25, 2)],
    "cbrt": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1)],
    "erfc": [(0.0, 1), (INF, 0.0), (-INF, 2)],
    "lgamma": [(1.0, 0.0), (2.0, 0.0), (0.0, INF), (-3.0, INF), (INF, INF), (-INF, INF)],
    "gamma": [(0.0, INF), (-0.0, -INF), (-2.0, NAN), (-INF, NAN), (INF, INF)],
    "sigmoid": [(0.0, 0.5), (-0.0, 0.5), (INF, 1), (-INF, 0.0)],
    "hypot": [(INF, NAN, INF), (NAN, -INF, INF), (-0.0, 0.0, 0.0), (3.0, -4.0, 5.0)],
    "fmod": [(-0.0, 1.0, -0.0), (1.0, 0.0, NAN), (INF, 1.0, NAN), (-2.0, INF, -2.0)],
    "atan2": [
        (0.0, 1.0, 0.0), (-0.0, 0.0, -0.0), (0.0, -0.0, np.float32(np.pi)),
        (-0.0, -1.0, -np.float32(np.pi)), (1.0, 0.0, np.float32(np.pi / 2)),
        (-1.0, -0.0, -np.float32(np.pi / 2)), (1.0, INF, 0.0), (-1.0, INF, -0.0),
        (1.0, -INF, np.float32(np.pi)), (INF, 5.0, np.float32(np.pi / 2)),
        (INF, INF, np.float32(np.pi / 4)), (-INF, -INF, -np.float32(3 * np.pi / 4)),
    ],
    "pow": [
        (0.0, -3.0, INF), (-0.0, -3.0, -INF), (-0.0, -2.0, INF), (-0.0, -2.5, INF),
        (0.0, 3.0, 0.0), (-0.0, 3.0, -0.0), (-0.0, 2.5, 0.0), (-1.0, INF, 1), (-1.0, -INF, 1),
        (1.0, NAN, 1), (NAN, 0.0, 1), (NAN, -0.0, 1), (NAN, 2.0, NAN), (-2.0, 0.5, NAN),
        (0.5, -INF, INF), (2.0, -INF, 0.0), (0.5, INF, 0.0), (2.0, INF, INF), (-INF, -3.0, -0.0),
        (-INF, -2.5, 0.0), (-INF, 3.0, -INF), (-INF, 2.5, INF), (INF, -1.0, 0.0),
        (INF, 0.5, INF), (-2.0, 3.0, -8), (0.0, 0.0, 1), (-0.5, 1e30, 0.0), (INF, 0.0, 1),
        (-0.0, 16777217.0, 0.0), (-0.0, 16777215.0, -0.0), (-0.0, 1e-40, 0.0),
    ],
    "powi": [
        (NAN, 0, 1), (0.0, 0, 1), (-0.0, -3, -INF), (-0.0, -2, INF), (-INF, 3, -INF),
        (-INF, -3, -0.0), (-1.0, 2**31 - 1, -1), (-1.0, -(2**31), 1), (3.0, 13, 1594323),
        (2.0, -126, 2.0**-126), (0.5, -127, 2.0**127), (-2.0, 127, -(2.0**127)), (NAN, 1, NAN),
    ],
}  # fmt: skip


@pytest.mark.gpu
@pytest.mark.parametrize("name", EXACT)
def test_exact_results(name: str, any_backend: Backend) -> None:
    """Given here one by one, not by an oracle; the signs of zeros count."""
    function, rows = FUNCTIONS[name], EXACT[name]
    columns = list(zip(*rows, strict=True))
    points = [np.array(columns[0], np.float32)]
    if function.arity == 2:
        points += [np.array(columns[1], np.int32 if function.integer_second else np.float32)]
    (got,) = any_backend.compile(program(function, "f32")).dispatch(points)
    expected = np.array(columns[-1], np.float32)
    # pi and its parts are the only expected values that are rounded.
    np.testing.assert_allclose(got, expected, rtol=2e-7 if name == "atan2" else 0)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(expected)[numbers])


@pytest.mark.gpu
def test_large_angles(any_backend: Backend) -> None:
    """Arguments that need many digits of pi; none is nearer to a multiple of pi/2 than the last."""
    x = np.array([1e8, 2.0**100, 16367173 * 2.0**72], np.float32)
    exact = {
        "sin": [0.93163903, -0.87218361, 1.0],
        "cos": [-0.36338509, 0.48917866, -1.6147698e-9],
    }
    for name, values in exact.items():
        (got,) = any_backend.compile(program(FUNCTIONS[name], "f32")).dispatch([x])
        np.testing.assert_allclose(got, np.array(values), rtol=2e-6)


def test_every_elementary_operation_is_in_the_table() -> None:
    """A function of the operation table that this folder would forget shows here."""
    stated = {info.name for info in OPS.values() if "Annex F" in info.meaning}
    assert stated <= set(FUNCTIONS), stated - set(FUNCTIONS)
