"""The oracle of f64 agrees with mpmath, which shares no code with the C library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.mathematics.functions import FUNCTIONS, Function
from tests.mathematics.measure import ulps
from tests.mathematics.oracles_f64 import HAS_LONG_DOUBLE
from tests.mathematics.points import FORMATS

pytestmark = pytest.mark.skipif(not HAS_LONG_DOUBLE, reason="no 80-bit long double to compare")

SAMPLES = 300

_MPMATH: dict[str, Callable[..., Any]] = {
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log2": lambda x: mpmath.log(x, 2),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "pow": mpmath.power,
    "powi": mpmath.power,
    "fmod": lambda x, y: mpmath.sign(x) * (abs(x) - abs(y) * mpmath.floor(abs(x) / abs(y))),
    "mod": lambda x, y: x - y * mpmath.floor(x / y),
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))) if x < 0 else mpmath.loggamma(x),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
}


def _samples(function: Function) -> list[Any]:
    """Arguments of moderate and of large size, where the function is finite and real."""
    rng = np.random.default_rng(4)
    wide = np.exp2(rng.uniform(-60, 60, 20 * SAMPLES)) * rng.choice([-1, 1], 20 * SAMPLES)
    close = rng.uniform(-30, 30, 20 * SAMPLES)
    mixed = np.concatenate([wide, close])
    columns = [rng.permutation(mixed) for _ in range(function.arity)]
    if function.integer_second:
        columns[1] = rng.integers(-40, 40, columns[0].size).astype(np.int32)
    exact = function.exact("f64", *columns)
    usable = np.isfinite(exact) & (np.abs(exact) < 1e300) & (np.abs(exact) > 1e-300)
    chosen = np.flatnonzero(usable)[:SAMPLES]
    assert chosen.size == SAMPLES
    return [column[chosen] for column in columns]


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_oracle_against_mpmath(function: Function) -> None:
    """Within a fiftieth of a unit in the last place of f64."""
    points = _samples(function)
    exact = function.exact("f64", *points)
    compute = _MPMATH.get(function.name) or getattr(mpmath, function.name)
    # Products of two numbers of 60 binades, and what cancels in the gamma functions.
    with mpmath.workprec(400):
        values = [compute(*map(mpmath.mpf, row)) for row in zip(*map(_items, points), strict=True)]
        high = np.array([float(value) for value in values])
        low = np.array([float(v - mpmath.mpf(h)) for v, h in zip(values, high, strict=True)])
    precise = high.astype(np.longdouble) + low
    error = ulps(FORMATS["f64"], exact, precise)
    assert error.max() < 0.02, [float(column[error.argmax()]) for column in points]


def _items(column: Any) -> list[Any]:
    return [value.item() for value in column]
