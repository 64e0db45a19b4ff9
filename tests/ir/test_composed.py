"""Integer functions made of other operations: Python's integers say what they yield, everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.scalar_model import edges, wrap
from vyre_wgpu.backends.protocol import Backend
from vyre_wgpu.ir import DType, Op, Value
from vyre_wgpu.ir.types import ALL_DTYPES
from vyre_wgpu.wgsl.loops import most_iterations
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.target import Target

INTEGERS = [dtype for dtype in ALL_DTYPES if dtype.is_integer]
UNSIGNED = [dtype for dtype in INTEGERS if not dtype.is_signed]
of_integers = pytest.mark.parametrize("dtype", INTEGERS, ids=str)

Write = Callable[[Value, Value], Value | tuple[Value, ...]]


def results(
    backend: Backend,
    write: Write,
    first: tuple[DType, Sequence[int]],
    second: tuple[DType, Sequence[int]],
) -> list[list[int]]:
    """What a kernel writes for each pair of numbers, one list for each value that it yields."""
    b = vw.ProgramBuilder("pairs")
    x, y = b.read("x", first[0]), b.read("y", second[0])
    i = b.global_id(0)
    b.extent(x.length)
    yielded = write(x[i], y[i])
    for k, value in enumerate(yielded if isinstance(yielded, tuple) else (yielded,)):
        out = b.output(f"out{k}", value.dtype, count=x.length)
        out[i] = value
    arrays = [np.array(numbers, dtype.numpy) for dtype, numbers in (first, second)]
    return [out.tolist() for out in backend.compile(b.build()).dispatch(arrays)]


def pairs_of(dtype: DType) -> tuple[list[int], list[int]]:
    """All pairs of numbers at which arithmetic goes wrong, and small ones."""
    numbers = sorted({*edges(dtype), *(wrap(dtype, n) for n in range(-9, 10))})
    columns = list(zip(*product(numbers, numbers), strict=True))
    return list(columns[0]), list(columns[1])


def rounded_quotient(a: int, b: int) -> int:
    """a / b to the nearest integer, ties to even, without a float."""
    floor, above = a // b, a % b
    twice = 2 * abs(above)
    if twice == abs(b):
        return floor + floor % 2
    return floor + (twice > abs(b))


def test_the_model_of_rounding_is_that_of_python() -> None:
    for a, b in product(range(-40, 41), range(-16, 17)):
        if b:
            assert rounded_quotient(a, b) == round(a / b), (a, b)


# Quotients


@of_integers
def test_round_div_is_to_nearest_and_ties_to_even(any_backend: Backend, dtype: DType) -> None:
    xs, ys = pairs_of(dtype)
    (got,) = results(any_backend, vw.round_div, (dtype, xs), (dtype, ys))
    for a, b, quotient in zip(xs, ys, got, strict=True):
        expected = rounded_quotient(a, b) if b else -1
        assert quotient == wrap(dtype, expected), f"round_div({a}, {b})"


@of_integers
def test_ceil_div_is_toward_plus_infinity(any_backend: Backend, dtype: DType) -> None:
    xs, ys = pairs_of(dtype)
    (got,) = results(any_backend, vw.ceil_div, (dtype, xs), (dtype, ys))
    for a, b, quotient in zip(xs, ys, got, strict=True):
        assert quotient == wrap(dtype, -(-a // b) if b else -1), f"ceil_div({a}, {b})"


@pytest.mark.parametrize("divisor", [-128, -7, -2, -1, 1, 2, 4, 7, 127])
def test_divisors_that_are_literals(any_backend: Backend, divisor: int) -> None:
    numbers = list(range(-128, 128))

    def write(x: Value, _: Value) -> tuple[Value, ...]:
        return vw.round_div(x, divisor), vw.ceil_div(x, divisor), vw.round_div(divisor, x)

    near, up, under = results(any_backend, write, (vw.i8, numbers), (vw.i8, numbers))
    assert near == [wrap(vw.i8, rounded_quotient(n, divisor)) for n in numbers]
    assert up == [wrap(vw.i8, -(-n // divisor)) for n in numbers]
    assert under == [wrap(vw.i8, rounded_quotient(divisor, n) if n else -1) for n in numbers]


def test_division_by_zero_traps_where_divisions_are_checked(any_backend: Backend) -> None:
    for function in (vw.round_div, vw.ceil_div):
        b = vw.ProgramBuilder("checked")
        x = b.read_write("x", vw.u32)
        x[b.global_id(0)] = function(7, x[b.global_id(0)])
        pipe = any_backend.compile(b.build(), vw.CompileOptions(checks="trap"))
        assert pipe.fn(np.array([2, 7], np.uint32)).tolist() == [4, 1]
        with pytest.raises(ZeroDivisionError):
            pipe.fn(np.array([2, 0], np.uint32))


# Products


@of_integers
def test_mul_wide_is_the_exact_product(any_backend: Backend, dtype: DType) -> None:
    xs, ys = pairs_of(dtype)
    low, high = results(any_backend, vw.mul_wide, (dtype, xs), (dtype, ys))
    for a, b, below, above in zip(xs, ys, low, high, strict=True):
        assert below >= 0
        assert below + (above << dtype.bits) == a * b, f"mul_wide({a}, {b})"


@pytest.mark.parametrize("dtype", [vw.u32, vw.i32], ids=str)
def test_32_bit_products_need_no_64_bit_type(dtype: DType) -> None:
    """So that they are exact on devices without it."""
    b = vw.ProgramBuilder("wide")
    x = b.read("x", dtype)
    low, high = b.output("low", vw.u32, like=x), b.output("high", dtype, like=x)
    i = b.global_id(0)
    low[i], high[i] = vw.mul_wide(x[i], x[i])
    program = b.build()
    table = program.table
    assert {b.dtype for b in program.buffers} <= {vw.u32, vw.i32}
    assert {table.dtype[row] for row in range(len(table))} <= {0, vw.u32.code, vw.i32.code}
    text = lower(program, target=Target(max_storage_buffers=8, features=frozenset())).wgsl
    assert not re.search(r"\b[iuf]64\b", text)


def test_random_32_bit_products(any_backend: Backend) -> None:
    random = np.random.default_rng(5)
    for dtype in (vw.u32, vw.i32):
        x, y = random.integers(dtype.min, dtype.max, (2, 5000), endpoint=True).tolist()
        low, high = results(any_backend, vw.mul_wide, (dtype, x), (dtype, y))
        got = [below + (above << 32) for below, above in zip(low, high, strict=True)]
        assert got == [a * b for a, b in zip(x, y, strict=True)]


# Powers


@of_integers
def test_powers_wrap(any_backend: Backend, dtype: DType) -> None:
    """Exponents that are known only on the device, up to the largest of each unsigned type."""
    bases = [wrap(dtype, n) for n in (0, 1, -1, 2, 3, -3, 7, 10, dtype.max, dtype.min)]
    for count in UNSIGNED if dtype.bits == 32 else (vw.u8, vw.u32):
        exponents = [*range(12), 31, 32, 63, 64, 100, count.max - 1, count.max]
        columns = list(zip(*product(bases, exponents), strict=True))
        xs, ns = list(columns[0]), list(columns[1])
        (got,) = results(any_backend, lambda x, n: x**n, (dtype, xs), (count, ns))
        for a, n, power in zip(xs, ns, got, strict=True):
            assert power == wrap(dtype, pow(a, n, 1 << dtype.bits)), f"{a} ** {n} as {dtype}"


@of_integers
def test_powers_with_exponents_that_are_literals(any_backend: Backend, dtype: DType) -> None:
    numbers = edges(dtype)
    literals = [*range(17), 31, 32, 33, 255, 1000, 2**32 - 1, 2**64 - 1]

    def write(x: Value, _: Value) -> tuple[Value, ...]:
        total = x - x
        for k, n in enumerate(literals):
            total = total * 5 + x**n * (k + 1)
        return total, vw.pow(x, 3), vw.power(x, np.uint8(2)), x ** vw.i32(5)

    def model(a: int) -> int:
        total = 0
        for k, n in enumerate(literals):
            total = total * 5 + pow(a, n, 1 << 64) * (k + 1)
        return wrap(dtype, total)

    got = results(any_backend, write, (dtype, numbers), (dtype, numbers))
    assert got[0] == [model(a) for a in numbers]
    for of, exponent in zip(got[1:], (3, 2, 5), strict=True):
        assert of == [wrap(dtype, a**exponent) for a in numbers]


def test_literal_bases(any_backend: Backend) -> None:
    numbers = [0, 1, 2, 5, 31, 32, 33, 2**32 - 1]

    def write(n: Value, _: Value) -> tuple[Value, ...]:
        return 3**n, vw.power(2, n), vw.power(vw.i8(-3), n)

    three, two, small = results(any_backend, write, (vw.u32, numbers), (vw.u32, numbers))
    assert three == [pow(3, n, 1 << 32) for n in numbers]
    assert two == [pow(2, n, 1 << 32) for n in numbers]
    assert small == [wrap(vw.i8, pow(-3, n, 1 << 8)) for n in numbers]


def test_a_variable_is_raised_in_place(any_backend: Backend) -> None:
    b = vw.ProgramBuilder("in_place")
    x = b.read_write("x", vw.u32)
    i = b.global_id(0)
    v = b.var("v", vw.u32, x[i])
    v **= 2
    v **= i
    x[i] = v
    got = any_backend.compile(b.build()).fn(np.full(5, 3, np.uint32))
    assert got.tolist() == [9**k for k in range(5)]


def test_powers_in_conditions_loops_and_at_barriers(any_backend: Backend) -> None:
    """A power of a number that is uniform stays uniform, and its loop may stand anywhere."""
    b = vw.ProgramBuilder("loops", workgroup_size=64)
    n = b.param("n", vw.u32)
    out = b.output("out", vw.u32, count=64)
    b.extent(64)
    k = b.var("k", vw.u32, 0)
    with b.while_(lambda: k**n < 1000):
        b.barrier()
        k += 1
    with b.if_(k**n >= 1000):
        out[b.global_id(0)] = k
    (got,) = any_backend.compile(b.build()).dispatch([], {"n": 3})
    assert got.tolist() == [10] * 64


def test_a_literal_exponent_takes_few_multiplications() -> None:
    for exponent, at_most in ((0, 0), (1, 0), (2, 1), (3, 2), (8, 3), (15, 6), (1000, 14)):
        b = vw.ProgramBuilder("few")
        x = b.read_write("x", vw.u32)
        x[0] = x[0] ** exponent
        b.extent(1)
        rows = b.build().table.rows()
        assert sum(row.op is Op.MUL for row in rows) <= at_most, exponent


def test_the_loop_of_a_power_is_known_to_be_short() -> None:
    """At most as many iterations as the exponent has bits, and one to leave: no guard is needed."""
    b = vw.ProgramBuilder("short")
    x, n = b.read_write("x", vw.u32), b.read("n", vw.u8)
    i = b.global_id(0)
    b.extent(x.length)
    x[i] = x[i] ** n[i]
    assert most_iterations(b.build(), 1) == 8 + 1


# What is refused


def problem_of(write: Callable[[vw.ProgramBuilder, Value], Any]) -> Any:
    b = vw.ProgramBuilder("wrong")
    b.extent(1)
    write(b, b.param("n", vw.u32))
    with pytest.raises(vw.ValidationError) as caught:
        b.build()
    (problem,) = caught.value.problems
    assert problem.source is not None
    assert problem.source[0] == __file__
    return problem


@pytest.mark.parametrize(
    ("write", "code", "words"),
    [
        (lambda b, n: n ** n.cast(vw.i32), "E203", "unsigned, found i32"),
        (lambda b, n: vw.pow(2, n.cast(vw.i8)), "E203", "unsigned, found i8"),
        (lambda b, n: n**-1, "E202", "-1 is no exponent"),
        (lambda b, n: n ** vw.i32(-2), "E202", "-2 is no exponent"),
        (lambda b, n: n**2**64, "E202", "is no exponent"),
        (lambda b, n: n ** n.cast(vw.f32), "E203", "pow takes a float"),
        (lambda b, n: vw.round_div(n.cast(vw.f32), 2.0), "E213", "takes an integer, found f32"),
        (lambda b, n: vw.mul_wide(n.cast(vw.f32), 2.0), "E203", "takes an integer, found f32"),
    ],
)
def test_what_is_no_integer_function_is_a_problem_of_build(
    write: Callable[..., Any], code: str, words: str
) -> None:
    problem = problem_of(write)
    assert problem.code == code
    assert words in problem.message
    assert problem.fix


@pytest.mark.parametrize("function", [vw.round_div, vw.mul_wide, vw.ceil_div, vw.pow])
def test_plain_numbers_alone_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="takes a kernel value"):
        function(3, 2)
