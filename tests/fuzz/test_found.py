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
