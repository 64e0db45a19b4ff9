"""Programs on which backends once differed, found by the random programs and made small by hand.

Each says what its elements are, so that a fault of the oracle would show too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.ir import DType, Value

Body = Callable[[Any, Value], Any]
NUMBERS = [100, -5, -65, 0, -1]


@pytest.fixture
def backend(any_backend: Any) -> Any:
    """These tests say what programs mean, so they run on every backend."""
    return any_backend


def run(backend: Any, body: Body, x: DType, given: Sequence[Any], y: DType) -> list[Any]:
    """The results of an expression of the elements of one buffer."""
    b = vw.ProgramBuilder("found", workgroup_size=32)
    source = b.read("x", x)
    target = b.output("y", y, like=source)
    i = b.global_id()
    target[i] = body(source, i)
    (result,) = backend.compile(b.build()).dispatch([np.array(given, x.numpy)])
    return result.tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("narrow", [vw.i8, vw.i16, vw.i32], ids=str)
@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
@pytest.mark.parametrize("limit", [0, 1, -5, 2**31, -(2**31) - 1])
def test_a_widened_integer_is_compared_with_a_literal(
    narrow: DType, compare: Callable[[Any, Any], Any], limit: int, backend: Any
) -> None:
    """A driver takes ``i64(x) < 1``, x an i32, for false whatever x is."""
    got = run(backend, lambda x, i: compare(x[i].cast(vw.i64), limit), narrow, NUMBERS, vw.bool_)
    assert got == [compare(n, limit) for n in NUMBERS]


@pytest.mark.parametrize("narrow", [vw.i8, vw.i16, vw.i32], ids=str)
def test_the_upper_half_of_a_product_of_widened_integers(narrow: DType, backend: Any) -> None:
    """The helper's own ``a < 0`` met the same fault."""
    got = run(
        backend,
        lambda x, i: vw.mul_high(x[i].cast(vw.i64), x[0].cast(vw.i64)),
        narrow,
        NUMBERS,
        vw.i64,
    )
    assert got == [(n * NUMBERS[0]) >> 64 for n in NUMBERS]


@pytest.mark.parametrize("dtype", [vw.f16, vw.f32, vw.f64], ids=str)
def test_a_literal_zero_over_a_literal_zero_is_nan(dtype: DType, backend: Any) -> None:
    """A driver takes the quotient of two zero literals, one of them named, for 0."""
    b = vw.ProgramBuilder("found")
    y = b.output("y", dtype, count=4)
    zero = b.let("zero", dtype(0.0))
    y[0] = zero / 0.0
    y[1] = (zero - 0.0) / (zero - 0.0)
    y[2] = (zero - 0.0 - 0.0) / 0.0
    y[3] = zero / -0.0
    b.extent(1)
    (result,) = backend.compile(b.build()).dispatch([])
    assert np.isnan(result).all()


SUMS: dict[str, Callable[[Any, Any, vw.ProgramBuilder], Any]] = {
    "(a + b) - a": lambda a, b, _: (a + b) - a,
    "a + (b - a)": lambda a, b, _: a + (b - a),
    "(a - b) + b": lambda a, b, _: (a - b) + b,
    "(a + 3) - 3": lambda a, b, _: (a + 3.0) - 3.0,
    "(a * 3) * 7": lambda a, b, _: (a * 3.0) * 7.0,
    "a * b - a * 3": lambda a, b, _: vw.floor(a * b) - vw.floor(a * 3.0),
    "a + b < a": lambda a, b, _: vw.select(a + b < a, a, b),
    "-(a + b) + a": lambda a, b, _: -(a + b) + a,
    "through a variable": lambda a, b, k: k.var("sum", a.dtype, a + b) - a,
    "through an element": lambda a, b, k: _kept(k, a + b) - a,
}


def _kept(b: vw.ProgramBuilder, value: Any) -> Any:
    kept = b.private("kept", value.dtype, count=1)
    kept[0] = value
    return kept[0]


@pytest.mark.parametrize("dtype", [vw.f16, vw.f32, vw.f64], ids=str)
@pytest.mark.parametrize("name", SUMS)
def test_floats_are_no_real_numbers(name: str, dtype: DType, backend: Any) -> None:
    """Sums and products are rounded in the order in which they are written, on every driver."""
    b = vw.ProgramBuilder("found", workgroup_size=32)
    xs, ys = b.read("x", dtype), b.read("y", dtype)
    z = b.output("z", dtype, like=xs)
    i = b.global_id()
    z[i] = SUMS[name](xs[i], ys[i], b)
    rng = np.random.default_rng(5)
    x = (rng.normal(size=500) * 100).astype(dtype.numpy)
    y = rng.normal(size=500).astype(dtype.numpy)
    (got,) = backend.compile(b.build()).dispatch([x, y])
    with np.errstate(over="ignore"):
        want = {
            "(a + b) - a": lambda: (x + y) - x,
            "a + (b - a)": lambda: x + (y - x),
            "(a - b) + b": lambda: (x - y) + y,
            "(a + 3) - 3": lambda: (x + 3) - 3,
            "(a * 3) * 7": lambda: (x * 3) * 7,
            "a * b - a * 3": lambda: np.floor(x * y) - np.floor(x * 3),
            "a + b < a": lambda: np.where(x + y < x, x, y),
            "-(a + b) + a": lambda: -(x + y) + x,
        }.get(name, lambda: (x + y) - x)()
    assert got.tolist() == want.astype(dtype.numpy).tolist()


@pytest.mark.parametrize("dtype", [vw.f32, vw.f64], ids=str)
def test_a_compensated_sum(dtype: DType, backend: Any) -> None:
    """Kahan's sum of 1 and many small numbers keeps what a plain sum loses."""
    small = float(np.finfo(dtype.numpy).eps) / 4
    b = vw.ProgramBuilder("kahan", workgroup_size=32)
    x = b.read("x", dtype)
    y = b.output("y", dtype, count=2)
    b.extent(1)
    total, plain, lost = (b.var(n, dtype, v) for n, v in (("t", 1.0), ("p", 1.0), ("l", 0.0)))
    with b.for_range(0, x.length) as k:
        term = b.let("term", x[k] - lost)
        new = b.let("new", total + term)
        lost.set((new - total) - term)
        total.set(new)
        plain += x[k]
    y[0] = total
    y[1] = plain
    (got,) = backend.compile(b.build()).dispatch([np.full(1000, small, dtype.numpy)])
    assert got.tolist() == [dtype.numpy.type(1 + 1000 * small), 1.0]


def _zero_from(route: str, b: vw.ProgramBuilder, dtype: DType, i: Value) -> Any:
    """A float zero that a driver may know, by way of what is not an operation on floats."""
    number = b.var("number", vw.i32, 0)
    match route:
        case "variable":
            return b.var("zero", dtype, 0.0)
        case "private element":
            return b.private("zeros", dtype, count=1)[number]
        case "element out of bounds":
            return b.private("ones", dtype, count=1)[i + 7]
        case "stored element":
            kept = b.private("kept", dtype, count=1)
            kept[0] = dtype(0.0)
            return kept[0]
        case "select":
            return vw.select(i < 100, dtype(0.0), dtype(1.0))
        case "converted variable":
            return number.cast(dtype)
        case "converted bool":
            return (i > 100).cast(dtype)
        case "masked":
            return (i & vw.u32(0)).cast(dtype)
        case _:
            zero = b.var("zero", dtype, 1.0)
            with b.for_range(vw.u32(0), vw.u32(1)) as k:
                zero.set(k.cast(dtype))
            return zero


ROUTES = [
    "variable", "private element", "element out of bounds", "stored element", "select",
    "converted variable", "converted bool", "masked", "loop index",
]  # fmt: skip


@pytest.mark.parametrize("dtype", [vw.f16, vw.f32, vw.f64], ids=str)
@pytest.mark.parametrize("route", ROUTES)
def test_a_zero_that_a_driver_knows_is_still_a_zero(route: str, dtype: DType, backend: Any) -> None:
    """A driver takes ``0.0 - x`` for ``-x``, ``0.0 + x`` for ``x`` and ``0.0 * x`` for 0."""
    b = vw.ProgramBuilder("found", workgroup_size=32)
    x = b.read("x", dtype)
    less, more, times = (b.output(n, dtype, like=x) for n in ("less", "more", "times"))
    i = b.global_id()
    zero = _zero_from(route, b, dtype, i)
    less[i] = zero - x[i]
    more[i] = zero + x[i]
    times[i] = zero * x[i]
    given = np.array([0.0, -0.0, np.inf, np.nan, -1.5], dtype.numpy)
    results = backend.compile(b.build()).dispatch([given])
    with np.errstate(invalid="ignore"):
        for got, want in zip(results, (0.0 - given, 0.0 + given, 0.0 * given), strict=True):
            assert np.array_equal(got, want, equal_nan=True), (got, want)
            numbers = ~np.isnan(want)
            assert np.array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers]), (got, want)


def test_a_small_difference_is_taken_for_zero_and_compared(backend: Any) -> None:
    """An H200 once disagreed: a sum as it is compared, and as a selection compares it, are one."""
    b = vw.ProgramBuilder("found")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.bool_, like=x)
    i = b.global_id()
    square = vw.trunc(vw.select(abs(x[i] * x[i]) < 2.35e-38, vw.f32(0), x[i] * x[i]))
    t = square - x[i]
    y[i] = vw.select(abs(t) < 2.35e-38, vw.f32(0), t) >= 0.0
    given = np.concatenate(
        [np.ldexp(np.float32(1.25), np.arange(-100, 60)), np.linspace(-4, 4, 4097)]
    ).astype(np.float32)
    given = np.concatenate([given, -given, np.float32([0.0, -0.0, np.inf, -np.inf, np.nan])])
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        squares = given * given
        exact = np.trunc(np.where(np.abs(squares) < 2.35e-38, np.float32(0), squares)) - given
        want = np.where(np.abs(exact) < 2.35e-38, np.float32(0), exact) >= 0
    (got,) = backend.compile(b.build()).dispatch([given])
    assert np.array_equal(got, want), given[got != want]
