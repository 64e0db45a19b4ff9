"""The reference's own log-gamma against mpmath, near its zeros too."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest

from vyre_wgpu.ir import DType, Op, f16, f32, f64
from vyre_wgpu.reference.arithmetic import log_gamma as module, operation

Array = npt.NDArray[Any]

RNG = np.random.default_rng(20)

wide_only = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="longdouble is no wider than f64 here"
)


def exact(x: float) -> Any:
    """log |gamma(x)|, with 250 bits."""
    with mpmath.workprec(250):
        value = mpmath.mpf(float(x))
        if value > 0:
            return mpmath.loggamma(value)
        sine = abs(value * mpmath.sinpi(value))
        return mpmath.log(mpmath.pi / sine) - mpmath.loggamma(-value)


def computed(x: Array) -> Array:
    with np.errstate(all="ignore"):
        return operation(Op.LGAMMA, f64, f64)(x)


def around(*numbers: float) -> Array:
    """Each number, its neighbours, and what is a power of two beside it."""
    step = 2.0 ** -np.arange(1, 53)
    rows = [
        [x, np.nextafter(x, -99), np.nextafter(x, 99), *(x + step), *(x - step)] for x in numbers
    ]
    return np.unique(np.array(rows))


def zero_left_of(n: int, start: float) -> float:
    """The float next to a zero between two negative poles."""
    with mpmath.workprec(120):
        return float(mpmath.findroot(lambda t: abs(mpmath.gamma(t)) - 1, n + start))


ZEROS = [zero_left_of(-2, -0.457), zero_left_of(-2, -0.748), zero_left_of(-3, -0.1436)]
ZEROS += [zero_left_of(-3, -0.9553), zero_left_of(-4, -0.0393), zero_left_of(-4, -0.99154)]

RELATIVE: dict[str, Array] = {
    "around 1": around(1.0),
    "around 2": around(2.0),
    "where methods meet": np.concatenate([around(1.5, 2.5, 25.0), around(0.5, -0.5)[1:-1]]),
    "near zero": np.exp(RNG.uniform(-745, 0, 300)) * RNG.choice([-1, 1], 300),
    "subnormal": np.array([5e-324, -5e-324, 2.0**-1060]),
    "from 0 to 26": RNG.uniform(0, 26, 600),
    "up to the greatest result": np.exp(RNG.uniform(3, np.log(2.5e305), 300)),
    "from -2 to 0": RNG.uniform(-2, 0, 400),
    "far left": np.floor(-np.exp(RNG.uniform(3, 33, 300))) + RNG.integers(1, 8, 300) / 8,
}


@wide_only
@pytest.mark.parametrize("name", RELATIVE)
def test_f64_is_within_one_unit_in_the_last_place(name: str) -> None:
    """Nearly always the nearest float; the zeros at 1 and 2 are exact."""
    x = RELATIVE[name]
    x = x[(x > 0) | (x != np.floor(x))]
    for given, value in zip(x.tolist(), computed(x).tolist(), strict=True):
        right = exact(given)
        if right == 0:
            assert value == 0, given
            continue
        unit = np.spacing(abs(float(right)))
        assert abs(mpmath.mpf(value) - right) <= 0.6 * unit, (given, value)


@wide_only
def test_f64_near_its_negative_zeros() -> None:
    """Within 2^-58, or half a unit in the last place where that is more."""
    assert len(set(ZEROS)) == 6
    x = np.concatenate([around(*ZEROS), RNG.uniform(-8, -2, 400)])
    x = x[x != np.floor(x)]
    for given, value in zip(x.tolist(), computed(x).tolist(), strict=True):
        right = exact(given)
        allowed = 2.0**-58 + 0.51 * np.spacing(abs(float(right)))
        assert abs(mpmath.mpf(value) - right) <= allowed, (given, value)


@wide_only
@pytest.mark.parametrize("dtype", [f16, f32], ids=str)
def test_narrow_types_are_rounded_once(dtype: DType) -> None:
    """Near every zero and pole too, f16 and f32 results are the nearest ones."""
    near = np.concatenate([around(1.0, 2.0), around(*ZEROS), RNG.uniform(-12, 30, 400)])
    x = np.unique(near.astype(dtype.numpy))
    x = x[(x > 0) | (x != np.floor(x))]
    with np.errstate(all="ignore"):
        got = operation(Op.LGAMMA, dtype, dtype)(x)
    assert got.dtype == dtype.numpy
    for given, value in zip(x, got, strict=True):
        right = exact(float(given))
        nearest = np.longdouble(mpmath.nstr(right, 25)).astype(dtype.numpy)
        assert value == nearest, (given, value, nearest)


@pytest.mark.parametrize("dtype", [f16, f32, f64], ids=str)
def test_poles_infinities_and_overflow(dtype: DType) -> None:
    t = dtype.numpy.type
    poles = np.array([0.0, -0.0, -1, -2, -30, -1000, -np.inf, np.inf], t)
    with np.errstate(all="ignore"):
        function = operation(Op.LGAMMA, dtype, dtype)
        assert (function(poles) == np.inf).all()
        great = np.array([np.finfo(t).max, -np.finfo(t).max], t)
        assert (function(great) == np.inf).all()
        assert np.isnan(function(np.array([np.nan], t))).all()
        assert function(np.array([1, 2], t)).tolist() == [0, 0]
        assert not np.signbit(function(np.array([1, 2], t))).any()
        assert function(np.array(3, t)).shape == ()
        assert function(np.zeros(0, t)).shape == (0,)


def test_it_shares_nothing_with_the_lowering() -> None:
    tree = ast.parse(inspect.getsource(module))
    names = {
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    assert names == {"__future__", "typing", "numpy", "numpy.typing"}
