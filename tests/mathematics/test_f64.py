"""Every elementary function of f64 keeps its bound, at run time and where a driver may fold it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.mathematics.functions import FUNCTIONS, Function
from tests.mathematics.measure import literal_program, measure, program, worst
from tests.mathematics.oracles_f64 import HAS_LONG_DOUBLE
from tests.mathematics.test_f32 import EXACT

EACH = 20_000
"""Random points for each class of binades and each sign."""

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not HAS_LONG_DOUBLE, reason="no 80-bit long double to compare with"),
]


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_worst_error(function: Function, wgpu_backend: Any) -> None:
    """Within the stated bound on special, critical and random arguments."""
    found = measure(function, "f64", wgpu_backend, function.points("f64", EACH))
    assert found.ulp <= function.bound("f64"), str(found)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_literal_operands(function: Function, wgpu_backend: Any) -> None:
    """The same where the operands are literals: a few, each of which is compiled for itself."""
    columns = function.special_points("f64")
    ordinary = np.isfinite(columns[0]) & (np.abs(columns[0]) > 0.1) & (np.abs(columns[0]) < 30)
    rng = np.random.default_rng(3)
    chosen = [rng.choice(np.flatnonzero(mask)) for mask in (ordinary, ordinary, ~ordinary)]
    points = [column[chosen] for column in columns]
    (got,) = wgpu_backend.compile(literal_program(function, "f64", points)).dispatch([])
    found = worst(function, "f64", points, got)
    assert found.ulp <= function.bound("f64"), str(found)


# Results of pairs of doubles: hardly worse than correct rounding, as long as the pairs hold.
_OF_PAIRS = {
    "log2": 0.52,
    "log10": 0.52,
    "pow": 0.7,
    "powi": 0.7,
    "rsqrt": 0.52,
    "hypot": 0.52,
    "sigmoid": 0.7,
    "sin": 0.9,
    "cos": 0.9,
    "tan": 1.1,
}


@pytest.mark.parametrize(("name", "ulp"), _OF_PAIRS.items(), ids=_OF_PAIRS)
def test_no_compiler_breaks_the_pairs(name: str, ulp: float, wgpu_backend: Any) -> None:
    """A driver that folds (a + b) - a, or reorders a sum of sums, costs a unit and more (seen with
    Mesa: 3.2 for pow, 1.5 for sin). Subnormal results are rounded twice and left out."""
    function = FUNCTIONS[name]
    points = function.points("f64", 2_000, seed=5)
    exact = function.exact("f64", *points)
    with np.errstate(all="ignore"):
        is_normal = ~(np.abs(exact) < 2.0**-1021)
    kept = [column[is_normal] for column in points]
    found = measure(function, "f64", wgpu_backend, kept)
    assert found.ulp <= ulp, str(found)


@pytest.mark.parametrize("name", EXACT)
def test_exact_results(name: str, any_backend: Any) -> None:
    """The results of f32 that C99 prescribes, in f64; the signs of zeros count."""
    function = FUNCTIONS[name]
    # Even in f32, odd in f64.
    columns = list(zip(*(row for row in EXACT[name] if 16777217.0 not in row), strict=True))
    points = [np.array(columns[0], np.float64)]
    if function.arity == 2:
        points += [np.array(columns[1], np.int32 if function.integer_second else np.float64)]
    (got,) = any_backend.compile(program(function, "f64")).dispatch(points)
    expected = np.array(columns[-1], np.float64)
    # pi and its parts are the only expected values that are rounded, to f32.
    np.testing.assert_allclose(got, expected, rtol=2e-7 if name == "atan2" else 0)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(expected)[numbers])
