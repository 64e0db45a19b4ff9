"""The oracles themselves against mpmath, at a few points of each function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.mathematics.functions import FUNCTIONS, Function
from tests.mathematics.points import FORMATS, class_points, near

PRECISE: dict[str, Callable[..., Any]] = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x),
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10,
    "log1p": mpmath.log1p,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "atan2": mpmath.atan2,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "pow": mpmath.power,
    "powi": mpmath.power,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "hypot": mpmath.hypot,
    "fmod": lambda x, y: x - y * mpmath.mpf(int(x / y)),
    "mod": lambda x, y: x - y * mpmath.floor(x / y),
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "gamma": mpmath.gamma,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
}

# Where a function has numbers for results, in terms of its first operand.
DOMAIN: dict[str, tuple[float, float]] = {
    "exp": (-103, 88), "exp2": (-149, 127), "expm1": (-90, 88), "sinh": (-89, 89),
    "cosh": (-89, 89), "log": (0, math.inf), "log2": (0, math.inf), "log10": (0, math.inf),
    "log1p": (-1, math.inf), "asin": (-1, 1), "acos": (-1, 1), "acosh": (1, math.inf),
    "atanh": (-1, 1), "sqrt": (0, math.inf), "rsqrt": (0, math.inf), "erfc": (-10, 10),
    "erf": (-10, 10), "gamma": (-30.1, 35), "lgamma": (-30.1, 1e6), "sigmoid": (-100, 100),
    "tanh": (-30, 30), "pow": (0, math.inf),
}  # fmt: skip


def sample(function: Function) -> list[np.ndarray]:
    """About 60 points with finite results that are not tiny."""
    fmt, rng = FORMATS["f32"], np.random.default_rng(7)
    if function.arity == 2:
        x = np.exp2(rng.uniform(-20, 20, 60)) * rng.choice([-1, 1], 60)
        x = np.abs(x) if function.name == "pow" else x
        if function.integer_second:
            return [np.clip(x, -8, 8).astype(np.float32), rng.integers(-40, 40, 60, np.int32)]
        return [x.astype(np.float32), rng.uniform(-5, 5, 60).astype(np.float32)]
    low, high = DOMAIN.get(function.name, (-math.inf, math.inf))
    x = np.concatenate([class_points(fmt, 3, rng).ravel(), near(fmt, function.critical, rng, 1)])
    x = x[(x > low) & (x < high) & np.isfinite(x) & (np.abs(x) > 2.0**-120)]
    x = x[np.isfinite(function.exact("f32", x))]
    return [rng.choice(x, 60)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_f32_oracle_agrees_with_mpmath(name: str) -> None:
    """To 2^-40, or 2^-48 absolute near the zeros of lgamma, far less than f32's last place."""
    function = FUNCTIONS[name]
    points = sample(function)
    exact = function.exact("f32", *points)
    with mpmath.workprec(400):
        for k in range(len(points[0])):
            operands = [mpmath.mpf(x[k].item()) for x in points]
            precise = PRECISE[name](*operands)
            got = mpmath.mpf(float(exact[k]))
            allowed = abs(precise) * mpmath.mpf(2) ** -40
            if name == "lgamma":
                allowed = max(allowed, mpmath.mpf(2) ** -48)
            assert abs(got - precise) <= allowed, (name, operands, got, precise)
