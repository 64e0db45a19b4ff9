"""Measures an elementary function: its worst error in units in the last place, and where.

An error is counted in units of the exact result's binade: 2^(e - p + 1) for a result in
[2^e, 2^(e+1)) of a type with p bits, and 2^(least - p + 1) below the smallest normal number. An
infinite result stands for 2^most, the first power of two beyond the range.

Subnormals may be flushed (DESIGN 2.1): a zero is right where the exact result is below the smallest
normal number, and a result is right that belongs to a flushed operand, a zero of its sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

import vyre_wgpu as vw
from tests.mathematics.functions import Function
from tests.mathematics.points import FORMATS, Format
from vyre_wgpu.ir import TypedLiteral, Value
from vyre_wgpu.ir.values import operand_row

Array = npt.NDArray[Any]

__all__ = ["Worst", "errors", "literal_program", "measure", "program", "ulps"]

DTYPES = {"f16": vw.f16, "f32": vw.f32, "f64": vw.f64}


@dataclass(frozen=True)
class Worst:
    """The worst point of a function.

    Attributes:
        ulp: its error; infinite where the kind of the result is wrong (NaN, infinity, sign).
        arguments: the operands.
        got: the result.
        exact: what it should be, in the oracle's type.
    """

    ulp: float
    arguments: tuple[Any, ...]
    got: Any
    exact: Any

    def __str__(self) -> str:
        arguments = ", ".join(f"{float(a)!r} ({float(a).hex()})" for a in self.arguments)
        return f"{self.ulp:.3f} ULP at ({arguments}): {self.got!r}, not {self.exact!r}"


def program(function: Function, dtype: str) -> vw.Program:
    """One element a lane: reads ``x`` (and ``y``), writes ``out``."""
    b = vw.ProgramBuilder(f"{function.name}_{dtype}")
    names = ("x", "y")[: function.arity]
    buffers = [
        b.read(name, vw.i32 if name == "y" and function.integer_second else DTYPES[dtype])
        for name in names
    ]
    out = b.output("out", DTYPES[dtype], like=buffers[0])
    i = b.global_id()
    out[i] = function.apply(*(buffer[i] for buffer in buffers))
    return b.build()


def literal_program(function: Function, dtype: str, points: Sequence[Array]) -> vw.Program:
    """Every point as literals, so that the driver may fold the whole function."""
    b = vw.ProgramBuilder(f"{function.name}_{dtype}_literal")
    count = len(points[0])
    out = b.output("out", DTYPES[dtype], count=count)
    b.extent(1)
    recorder = b.global_id()._recorder
    types = (DTYPES[dtype], vw.i32 if function.integer_second else DTYPES[dtype])
    for k in range(count):
        operands = []
        for of, column in zip(types, points, strict=False):
            literal = TypedLiteral(of, of.encode(column[k].item()))
            operands.append(Value(recorder, operand_row(recorder, literal, of), of))
        out[k] = function.apply(*operands)
    return b.build()


def ulps(fmt: Format, got: Array, exact: Array) -> Array:
    """The error of each result in units of its exact value's binade, by the rules above but for
    subnormals, which count in full."""
    with np.errstate(invalid="ignore"):  # a signalling NaN
        wide = got.astype(exact.dtype)
    limit = np.ldexp(exact.dtype.type(1), fmt.most)
    with np.errstate(all="ignore"):
        near_got, near_exact = (np.clip(value, -limit, limit) for value in (wide, exact))
        exponent = np.frexp(near_exact)[1] - 1
        exponent = np.clip(exponent, fmt.least, fmt.most - 1) - (fmt.precision - 1)
        exponent = np.where(near_exact == 0, fmt.least - (fmt.precision - 1), exponent)
        error = np.abs(near_got - near_exact) / np.ldexp(np.ones_like(exact), exponent)
    signs_differ = np.signbit(wide) != np.signbit(exact)
    error = np.where(np.isnan(wide) | np.isnan(exact), np.inf, error)
    error = np.where((wide == 0) & (exact == 0), 0, error)
    # A zero that stands for something tiny has its sign.
    error = np.where(signs_differ & ~np.isnan(wide) & (wide == 0), np.inf, error)
    error = np.where(np.isinf(exact) & signs_differ, np.inf, error)
    with np.errstate(over="ignore"):
        return np.where(np.isnan(wide) & np.isnan(exact), 0, error).astype(np.float64)


def errors(function: Function, dtype: str, points: Sequence[Array], got: Array) -> Array:
    """The error of each result, zero where a flushed subnormal explains it."""
    fmt = FORMATS[dtype]
    exact = function.exact(dtype, *points)
    error = ulps(fmt, got, exact)
    error = np.where(function.absolute_is_enough(dtype, points, got, exact), 0, error)
    smallest = np.ldexp(1.0, fmt.least)
    with np.errstate(all="ignore"):
        flushed = (got == 0) & (np.abs(exact) < smallest) & (np.signbit(got) == np.signbit(exact))
        error = np.where(flushed, 0, error)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        tiny = [
            (np.abs(x) < smallest) & (x != 0) if x.dtype == fmt.dtype else np.zeros(x.shape, bool)
            for x in points
        ]
    # Each choice of flushed operands where there are subnormal ones.
    for choice in product([False, True], repeat=len(points)):
        if any(choice):
            applies = np.logical_or.reduce(
                [mask for mask, chosen in zip(tiny, choice, strict=True) if chosen]
            ) & (error > 0.5)
            if applies.any():
                replaced = [
                    np.where(mask, np.copysign(x.dtype.type(0), x), x)[applies] if chosen
                    else x[applies]
                    for x, mask, chosen in zip(points, tiny, choice, strict=True)
                ]  # fmt: skip
                other = ulps(fmt, got[applies], function.exact(dtype, *replaced))
                error[applies] = np.minimum(error[applies], other)
    return error


def measure(function: Function, dtype: str, backend: Any, points: Sequence[Array]) -> Worst:
    """Runs a function once over all points and finds the worst.

    Args:
        function: a row of `functions.FUNCTIONS`.
        dtype: ``f16``, ``f32`` or ``f64``.
        backend: an open backend.
        points: one array for each operand, of the type (``powi``: the second of int32).
    """
    (got,) = backend.compile(program(function, dtype)).dispatch(list(points))
    return worst(function, dtype, points, got)


def worst(function: Function, dtype: str, points: Sequence[Array], got: Array) -> Worst:
    """The worst of results that are there."""
    error = errors(function, dtype, points, got)
    k = int(np.argmax(error))
    exact = function.exact(dtype, *(x[k : k + 1] for x in points))[0]
    return Worst(float(error[k]), tuple(x[k] for x in points), got[k], exact)
