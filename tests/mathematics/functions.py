"""The elementary functions as one table: how to apply each, its bound, where it is critical.

Exact values come from oracles that are more precise than the type tried: float64 for f16 and f32
(`oracles_f32`), and for f64 `oracles_f64`. `test_oracles` holds samples of both against mpmath.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import vyre_wgpu as vw
from tests.mathematics import oracles_f32, oracles_f64
from tests.mathematics.joints_f64 import joint_points
from tests.mathematics.points import FORMATS, class_points, near, pairs, special, table
from vyre_wgpu.wgsl.mathematics.bounds import BOUNDS

Array = npt.NDArray[Any]
Oracle = Callable[..., Array]

__all__ = ["FUNCTIONS", "ORACLES", "Function"]

ORACLES: dict[str, dict[str, Oracle]] = {
    "f16": oracles_f32.EXACT,
    "f32": oracles_f32.EXACT,
    "f64": oracles_f64.EXACT,
}
"""Type to name of a function to its oracle, which takes arrays of the type."""

PI = 3.141592653589793


@dataclass(frozen=True)
class Function:
    """A row of the table.

    Attributes:
        name: the operation's name; ``mod`` is ``%``.
        apply: records the operation on kernel values.
        arity: its number of operands.
        critical: arguments (of the first operand) near which it is tried closely: zeros, poles,
            thresholds, ends of its reductions, whatever the type.
        integer_second: the second operand is an i32.
    """

    name: str
    apply: Callable[..., Any]
    arity: int = 1
    critical: tuple[float, ...] = ()
    integer_second: bool = False

    def exact(self, dtype: str, *operands: Array) -> Array:
        """Exact values in a wider type."""
        with np.errstate(all="ignore"):
            return ORACLES[dtype][self.name](*operands)

    def bound(self, dtype: str) -> float:
        """The stated bound in ULP. f16 is the f32 result rounded, so within one ULP of it."""
        return 1.0 if dtype == "f16" else BOUNDS[self.name, dtype].ulp

    def absolute_is_enough(
        self, dtype: str, points: Sequence[Array], got: Array, exact: Array
    ) -> Array:
        """Where an absolute bound is stated (near lgamma's negative zeros), and holds."""
        bound = BOUNDS[self.name, "f32" if dtype == "f16" else dtype].absolute_left_of_zero
        with np.errstate(all="ignore"):
            close = np.abs(got.astype(exact.dtype) - exact) <= bound
            return close & (points[0] < 0) & (bound > 0)

    def points(self, dtype: str, each: int, seed: int = 1) -> list[Array]:
        """Points for each operand: special values (all pairs of them), `each` random ones of every
        class and sign (as many in all for two operands), and around the critical arguments. All
        there are for one f16 operand."""
        fmt, rng = FORMATS[dtype], np.random.default_rng(seed)
        if self.arity == 1 and dtype == "f16":
            return [fmt.from_bits(np.arange(1 << 16))]
        if self.arity == 1:
            classes = class_points(fmt, each, rng).ravel()
            more = [joint_points(self.name, each, rng)] if dtype == "f64" else []
            return [np.concatenate([special(fmt), near(fmt, self.critical, rng), classes, *more])]
        special_x, special_y = table(fmt)
        x, y = pairs(fmt, max(each // 64, 1), rng)
        around = [pair(fmt, rng, each) for pair in _PAIRS.get(self.name, ())]
        xs = np.concatenate([special_x, x, *(pair[0] for pair in around)])
        if not self.integer_second:
            return [xs, np.concatenate([special_y, y, *(pair[1] for pair in around)])]
        counts = _integers(special_x.size + x.size, rng)
        return [xs, np.concatenate([counts, *(pair[1] for pair in around)]).astype(np.int32)]

    def special_points(self, dtype: str) -> list[Array]:
        """The special values alone; all pairs of them for two operands."""
        fmt = FORMATS[dtype]
        if self.arity == 1:
            return [special(fmt)]
        if not self.integer_second:
            return list(table(fmt))
        exponents = [0, 1, -1, 2, -2, 3, -3, 4, -10, 31, 1000, -1001, 2**31 - 1, -(2**31)]
        x, n = np.meshgrid(special(fmt), np.array(exponents, np.int32), indexing="ij")
        return [x.ravel(), n.ravel()]


def _integers(count: int, rng: np.random.Generator) -> Array:
    """Exponents: log-uniform of both signs."""
    sizes = np.exp2(rng.uniform(0, 31, count)).astype(np.int64)
    return sizes * rng.choice([-1, 1], count)


def _powers_in_range(fmt: Any, rng: np.random.Generator, each: int) -> tuple[Array, Array]:
    """Bases of all classes and near 1 with exponents that keep the power near or in the range."""
    x = np.concatenate([class_points(fmt, each // 8, rng)[0].ravel(), near_one(fmt, rng, 4 * each)])
    with np.errstate(all="ignore"):
        size = np.log2(x.astype(np.float64))
        y = rng.uniform(1.05 * fmt.least, 1.05 * fmt.most, x.shape) / size
        return x, y.astype(fmt.dtype)


def near_one(fmt: Any, rng: np.random.Generator, count: int) -> Array:
    """Positive numbers around 1, log-uniform in their distance."""
    distance = np.exp2(rng.uniform(-fmt.precision, -1, count)) * rng.choice([-1, 1], count)
    return (1 + distance).astype(fmt.dtype)


def _integer_powers_in_range(fmt: Any, rng: np.random.Generator, each: int) -> tuple[Array, Array]:
    x, y = _powers_in_range(fmt, rng, each)
    with np.errstate(all="ignore"):
        n = np.clip(np.nan_to_num(np.rint(y.astype(np.float64))), -(2**31), 2**31 - 1)
    small = rng.integers(-40, 41, x.size)
    sign = rng.choice([-1, 1], 2 * x.size).astype(fmt.dtype)
    return np.concatenate([x, x]) * sign, np.concatenate([n, small]).astype(np.int64)


def _negative_bases(fmt: Any, rng: np.random.Generator, each: int) -> tuple[Array, Array]:
    x, n = _integer_powers_in_range(fmt, rng, each // 4)
    return -np.abs(x), n.astype(fmt.dtype)


def _close_magnitudes(fmt: Any, rng: np.random.Generator, each: int) -> tuple[Array, Array]:
    """Operands whose quotient is between 2^-30 and 2^30."""
    x = class_points(fmt, each, rng).ravel()
    with np.errstate(all="ignore"):
        y = x * np.exp2(rng.uniform(-30, 30, x.shape)) * rng.choice([-1, 1], x.shape)
        return x, y.astype(fmt.dtype)


_PAIRS: dict[str, tuple[Callable[..., tuple[Array, Array]], ...]] = {
    "pow": (_powers_in_range, _negative_bases),
    "powi": (_integer_powers_in_range,),
    "atan2": (_close_magnitudes,),
    "hypot": (_close_magnitudes,),
    "fmod": (_close_magnitudes,),
    "mod": (_close_magnitudes,),
    "add": (_close_magnitudes,),
    "sub": (_close_magnitudes,),
    "mul": (_close_magnitudes,),
    "div": (_close_magnitudes,),
}

_HALF_PIS = tuple(
    sign * k * PI / 2
    for sign in (1, -1)
    for k in (*range(1, 200), *(2**n for n in range(8, 24)), *(10**n for n in range(3, 30, 3)))
)
# The floats nearest to a multiple of pi/2: of f32 and of f64 (Muller, Elementary Functions, 2006).
_WORST_ANGLES = (16367173 * 2.0**72, 6381956970095103 * 2.0**797)
# Edges of the ranges of exp and the like, of f16, f32 and f64.
_EXP_EDGES = (11.09, -9.7, -17.3, 88.7228, -87.3365, -103.972, 709.7827, -708.396, -745.13)
_EXP2_EDGES = (16.0, -14.0, -24.0, 128.0, -126.0, -149.0, 1024.0, -1022.0, -1074.0)
_HALVES = tuple(k / 2 for k in range(-60, 61))
_LGAMMA_ZEROS = (-2.4570247382208006, -2.7476826467274127, -3.1435808883499798, -3.955294284858598)
_AROUND_ONE = (1.0, -1.0, 0.5, -0.5, 2.0, 0.7071067811865476, 1.4142135623730951)
_TENS = tuple(10.0**k for k in range(-40, 39))

FUNCTIONS: dict[str, Function] = {
    row.name: row
    for row in (
        Function("exp", vw.exp, critical=(*_EXP_EDGES, 1.0, 0.34657, -0.34657)),
        Function("exp2", vw.exp2, critical=(*_EXP2_EDGES, *_HALVES)),
        Function("expm1", vw.expm1, critical=(*_EXP_EDGES, 1.0, 0.34657, -0.34657, -17.0)),
        Function("log", vw.log, critical=_AROUND_ONE),
        Function("log2", vw.log2, critical=_AROUND_ONE),
        Function("log10", vw.log10, critical=(*_AROUND_ONE, *_TENS)),
        Function("log1p", vw.log1p, critical=(*_AROUND_ONE, -0.29289, 0.41421)),
        Function("sin", vw.sin, critical=(*_HALF_PIS, *_WORST_ANGLES)),
        Function("cos", vw.cos, critical=(*_HALF_PIS, *_WORST_ANGLES)),
        Function("tan", vw.tan, critical=(*_HALF_PIS, *_WORST_ANGLES)),
        Function("asin", vw.asin, critical=_AROUND_ONE),
        Function("acos", vw.acos, critical=_AROUND_ONE),
        Function("atan", vw.atan, critical=(*_AROUND_ONE, 0.41421, 2.41421)),
        Function("atan2", vw.atan2, arity=2),
        Function("sinh", vw.sinh, critical=(*_AROUND_ONE, *_EXP_EDGES, 89.4159, 710.4758)),
        Function("cosh", vw.cosh, critical=(*_AROUND_ONE, *_EXP_EDGES, 89.4159, 710.4758)),
        Function("tanh", vw.tanh, critical=(*_AROUND_ONE, 0.55, 9.01, 19.06)),
        Function("asinh", vw.asinh, critical=_AROUND_ONE),
        Function("acosh", vw.acosh, critical=_AROUND_ONE),
        Function("atanh", vw.atanh, critical=_AROUND_ONE),
        Function("pow", vw.pow, arity=2),
        Function("powi", vw.powi, arity=2, integer_second=True),
        Function("sqrt", vw.sqrt, critical=_AROUND_ONE),
        Function("rsqrt", vw.rsqrt, critical=_AROUND_ONE),
        Function("cbrt", vw.cbrt, critical=(*_AROUND_ONE, 8.0, 27.0, 1000.0, 1 / 8)),
        Function("hypot", vw.hypot, arity=2),
        Function("fmod", vw.fmod, arity=2),
        Function("mod", lambda x, y: x % y, arity=2),
        Function("add", operator.add, arity=2),
        Function("sub", operator.sub, arity=2),
        Function("mul", operator.mul, arity=2),
        Function("div", operator.truediv, arity=2),
        Function("erf", vw.erf, critical=(*_AROUND_ONE, 3.92, 5.9)),
        Function("erfc", vw.erfc, critical=(*_AROUND_ONE, 9.19, 10.05, 26.5, 27.2)),
        Function("lgamma", vw.lgamma, critical=(*_HALVES, *_LGAMMA_ZEROS)),
        Function("gamma", vw.gamma, critical=(*_HALVES, 35.0401, 171.624, -41.5, -182.5)),
        Function("sigmoid", vw.sigmoid, critical=_EXP_EDGES),
    )
}
"""Every elementary function and the arithmetic of floats by name."""
