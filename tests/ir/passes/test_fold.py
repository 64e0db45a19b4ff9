"""Folding, as text: what an expression becomes, and what stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre_wgpu.ir as vw
from tests import scalar_model
from tests.ir.passes.texts import after, body, expression, lines, statements
from vyre_wgpu.ir import OPS, DType, Op, Program
from vyre_wgpu.ir.passes.dce import remove_dead
from vyre_wgpu.ir.passes.fold import _EQUAL, _LEFT, _RIGHT, fold
from vyre_wgpu.ir.types import ALL_DTYPES

Case = tuple[DType, Callable[[Any], Any], str]

INTEGERS: list[Case] = [
    (vw.u32, lambda p: p + 0, "p"),
    (vw.u32, lambda p: 0 + p, "p"),
    (vw.i32, lambda p: p - 0, "p"),
    (vw.i32, lambda p: 0 - p, "0 - p"),
    (vw.i8, lambda p: p - p, "0"),
    (vw.u32, lambda p: p * 1, "p"),
    (vw.u64, lambda p: 1 * p, "p"),
    (vw.i64, lambda p: p * 0, "0"),
    (vw.u8, lambda p: p & 0, "0"),
    (vw.u8, lambda p: p & 255, "p"),
    (vw.i16, lambda p: -1 & p, "p"),
    (vw.u16, lambda p: p & p, "p"),
    (vw.u32, lambda p: p | 0, "p"),
    (vw.i32, lambda p: p | -1, "-1"),
    (vw.u32, lambda p: p | p, "p"),
    (vw.u32, lambda p: p ^ 0, "p"),
    (vw.u32, lambda p: p ^ p, "0"),
    (vw.u32, lambda p: ~~p, "p"),
    (vw.i32, lambda p: -(-p), "p"),  # noqa: B002
    (vw.u32, lambda p: vw.abs_(p), "p"),
    (vw.i32, lambda p: vw.abs_(vw.abs_(p)), "abs(p)"),
    (vw.i32, lambda p: vw.sign(vw.sign(p)), "sign(p)"),
    (vw.u32, lambda p: p << 0, "p"),
    (vw.u32, lambda p: p >> 32, "p"),
    (vw.u8, lambda p: p << 8, "p"),
    (vw.u8, lambda p: p << 32, "p"),
    (vw.i64, lambda p: vw.rotl(p, 64), "p"),
    (vw.u16, lambda p: vw.rotr(p, 17), "rotr(p, u16(17))"),
    (vw.u32, lambda p: vw.select(p > 1, p + 0, p), "p"),
    (vw.i32, lambda p: vw.i32(0) << p, "0"),
    (vw.i32, lambda p: p // 1, "p"),
    (vw.i32, lambda p: p // -1, "p // -1"),
    (vw.i32, lambda p: p // 0, "-1"),
    (vw.u8, lambda p: p // 0, "255"),
    (vw.u32, lambda p: p % 1, "0"),
    (vw.u32, lambda p: p % 0, "0"),
    (vw.i16, lambda p: vw.trunc_div(p, 1), "p"),
    (vw.i16, lambda p: vw.trunc_div(p, 0), "-1"),
    (vw.i16, lambda p: vw.rem(p, 0), "0"),
    (vw.i32, lambda p: p // p, "p // p"),
    (vw.u32, lambda p: vw.mul_high(p, 0), "0"),
    (vw.i32, lambda p: vw.mul_high(p, 1), "mul_high(p, 1)"),
    (vw.i32, lambda p: vw.minimum(p, p), "p"),
    (vw.u32, lambda p: p == p, "true"),
    (vw.u32, lambda p: p <= p, "true"),
    (vw.u32, lambda p: p >= p, "true"),
    (vw.u32, lambda p: p != p, "false"),
    (vw.u32, lambda p: p < p, "false"),
    (vw.u32, lambda p: p > p, "false"),
    (vw.u32, lambda p: (p + (vw.u32(3) + 0 * p)) + p * 0, "p + 3"),
]

BOOLS: list[Case] = [
    (vw.bool_, lambda p: ~~p, "p"),
    (vw.bool_, lambda p: p & True, "p"),
    (vw.bool_, lambda p: p & False, "false"),
    (vw.bool_, lambda p: p | False, "p"),
    (vw.bool_, lambda p: p | True, "true"),
    (vw.bool_, lambda p: p ^ False, "p"),
    (vw.bool_, lambda p: p ^ True, "p ^ true"),
    (vw.bool_, lambda p: p ^ p, "false"),
    (vw.bool_, lambda p: p == p, "true"),
    (vw.bool_, lambda p: p == True, "p"),  # noqa: E712
    (vw.bool_, lambda p: p != False, "p"),  # noqa: E712
]

CONVERSIONS: list[Case] = [
    (vw.u32, lambda p: p.cast(vw.u32), "p"),
    (vw.bool_, lambda p: p.cast(vw.bool_), "p"),
    (vw.u32, lambda p: p.cast(vw.u8).cast(vw.u32), "cast(cast(p, u8), u32)"),
    (vw.f32, lambda p: p.bitcast(vw.f32), "p"),
    (vw.f32, lambda p: p.bitcast(vw.u32).bitcast(vw.f32), "p"),
    (vw.f32, lambda p: p.bitcast(vw.u32).bitcast(vw.i32), "bitcast(p, i32)"),
    (vw.u32, lambda p: vw.select(p > 1, p, p), "p"),
    (vw.u32, lambda p: vw.select(p == p, p, 7), "p"),
    (vw.u32, lambda p: vw.select(p != p, p, 7), "7"),
]

FLOATS: list[Case] = [
    (vw.f32, lambda p: p * 1.0, "p"),
    (vw.f32, lambda p: 1.0 * p, "p"),
    (vw.f16, lambda p: p / 1.0, "p"),
    (vw.f64, lambda p: p - 0.0, "p"),
    (vw.f32, lambda p: p + -0.0, "p"),
    (vw.f32, lambda p: -(-p), "p"),  # noqa: B002
    (vw.f32, lambda p: vw.floor(vw.floor(p)), "floor(p)"),
    # Not for every value: NaN, infinities, and the zero of the other sign.
    (vw.f32, lambda p: p + 0.0, "p + 0.0"),
    (vw.f32, lambda p: p - -0.0, "p - -0.0"),
    (vw.f32, lambda p: 0.0 - p, "0.0 - p"),
    (vw.f32, lambda p: p * 0.0, "p * 0.0"),
    (vw.f32, lambda p: p * -1.0, "p * -1.0"),
    (vw.f32, lambda p: p - p, "p - p"),
    (vw.f32, lambda p: p / p, "p / p"),
    (vw.f32, lambda p: 0.0 / p, "0.0 / p"),
    (vw.f32, lambda p: p == p, "p == p"),
    (vw.f32, lambda p: p != p, "p != p"),
    (vw.f32, lambda p: p <= p, "p <= p"),
    (vw.f32, lambda p: vw.fma(p, 1.0, 0.0), "fma(p, 1.0, 0.0)"),
]

LITERALS: list[Case] = [
    (vw.u32, lambda p: p + (p * 0 + 5) * 7, "p + 35"),
    (vw.i32, lambda p: (p * 0 + 2147483647) + 1, "-2147483648"),
    (vw.u32, lambda p: (p * 0 + 1) << 33, "2"),
    (vw.i32, lambda p: (p * 0 - 7) // 2, "-4"),
    (vw.i32, lambda p: (p * 0 - 7) % 2, "1"),
    (vw.i32, lambda p: (p * 0 - 2147483647 - 1) // -1, "-2147483648"),
    (vw.u32, lambda p: vw.clz(p * 0), "32"),
    (vw.i32, lambda p: (p * 0 - 1).cast(vw.u8), "255"),
    (vw.i32, lambda p: (p * 0 + 3).cast(vw.f32) / 2.0, "1.5"),
    (vw.i32, lambda p: (p * 0).cast(vw.f32) / 0.0, "nan"),
    (vw.i32, lambda p: -(p * 0).cast(vw.f32), "-0.0"),
    (vw.i32, lambda p: ((p * 0).cast(vw.f32) + 3e9).cast(vw.i32), "2147483647"),
    (vw.i32, lambda p: (p * 0 + 2049).cast(vw.f16), "2048.0"),
    (vw.i32, lambda p: (p * 0 + 70000).cast(vw.f16), "inf"),
    (vw.i32, lambda p: (p * 0 + 1065353216).bitcast(vw.f32), "1.0"),
    (vw.i32, lambda p: vw.sqrt((p * 0 + 2).cast(vw.f32)), "1.4142135"),
    (vw.i32, lambda p: vw.round_((p * 0).cast(vw.f32) + 2.5), "2.0"),
    (vw.i32, lambda p: vw.exp((p * 0).cast(vw.f32)), "exp(f32(0.0))"),
    (vw.i32, lambda p: vw.fma((p * 0).cast(vw.f32), 2.0, 1.0), "fma(f32(0.0), 2.0, 1.0)"),
]


def stored(program: Program) -> str:
    """The text of what the program stores."""
    return body(program)[-1].removeprefix("y[0] = ")


def divisions(program: Program) -> bytes:
    """The rows that trap where divisions by zero do."""
    return bytes(op in (Op.FLOOR_DIV, Op.MOD, Op.REM) for op in program.table.op)


def names(case: object) -> str:
    return str(case) if isinstance(case, (DType, str)) else ""


@pytest.mark.parametrize(
    ("dtype", "write", "expected"),
    [*INTEGERS, *BOOLS, *CONVERSIONS, *FLOATS, *LITERALS],
    ids=names,
)
def test_expressions(dtype: DType, write: Callable[[Any], Any], expected: str) -> None:
    """An expression of a param ``p`` becomes this one."""
    assert stored(after(expression(dtype, write), fold, remove_dead)) == expected


@pytest.mark.parametrize("write", [lambda p: p // 0, lambda p: p % 0, lambda p: vw.rem(p, 0)])
def test_a_division_that_traps_stays(write: Callable[[Any], Any]) -> None:
    """Where divisions by zero trap, one by a literal zero is an effect, used or not."""
    program = expression(vw.i32, lambda p: (write(p) - write(p)) + (p * 0 + 7) // (p * 0))
    checked = body(after(program, fold, remove_dead, traps=divisions(program)))
    assert checked == [f"_ = {body(expression(vw.i32, write))[0][7:]}", "y[0] = i32(7) // 0"]
    assert stored(after(program, fold, remove_dead)) == "-1"


def test_a_division_by_another_literal_does_not_trap() -> None:
    program = expression(vw.i32, lambda p: p // 1 + (p * 0 + 8) // 2 + p * 0)
    assert stored(after(program, fold, remove_dead, traps=divisions(program))) == "p + 4"


def test_lengths_that_the_program_fixes_are_literals() -> None:
    b = vw.ProgramBuilder()
    x, z = b.read("x", vw.u32, count=12), b.read("z", vw.u32)
    y = b.output("y", vw.u32, count=1)
    b.extent(1)
    y[0] = x.length * 2 + z.length
    assert stored(after(b.build(), fold, remove_dead)) == "24 + z.length"


def test_what_a_name_stands_for_is_used_itself() -> None:
    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        v = b.let("v", x[i])
        one = b.let("one", vw.u32(1))
        y[i] = v * one + one

    assert body(after(statements(write), fold, remove_dead)) == lines("""
        t0 = global_id()
        y[t0] = x[t0] + 1
    """)


def test_reads_are_left_alone() -> None:
    """A variable and an element hold what they hold when they are read."""

    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        v = b.var("v", vw.u32, 1)
        with b.if_(x[i] > 3):
            v.set(2)
        y[i] = v - v + (y[i] - y[i])

    program = statements(write)
    assert body(after(program, fold)) == body(program)


def test_operands_in_inner_blocks_are_replaced() -> None:
    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        v = x[i] + 0
        with b.if_(v > 3), b.for_range(0, v) as k:
            y[k * 1] = v | 0

    assert body(after(statements(write), fold, remove_dead)) == lines("""
        t0 = x[global_id()]
        if t0 > 3:
            for t1 in range(0, t0, 1):
                y[t1] = t0
    """)


def test_nothing_to_fold_gives_the_same_program() -> None:
    program = expression(vw.f32, lambda p: p * 0.0 + p)
    assert after(program, fold) is program


SIDES = {"right": _RIGHT, "left": _LEFT}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_identities_hold_for_every_edge_value(side: str, dtype: DType) -> None:
    """The tables of identities with a literal operand agree with the scalar model."""
    for (op, code, bits), result in SIDES[side].items():
        model = scalar_model.model(Op(op), dtype)
        if code != dtype.code:
            continue
        assert model is not None
        literal = dtype.numpy.type(dtype.decode(bits)) if dtype.is_float else dtype.decode(bits)
        for value in scalar_model.edges(dtype):
            operands = (value, literal) if side == "right" else (literal, value)
            with np.errstate(all="ignore"):
                expected = model(dtype, *operands)
            got = value if result < 0 else dtype.decode(result)
            assert same_value(got, expected), f"{OPS[Op(op)].name}{operands}"


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_identities_of_equal_operands_hold_for_every_edge_value(dtype: DType) -> None:
    for (op, code), result in _EQUAL.items():
        model = scalar_model.model(Op(op), dtype)
        if code != dtype.code:
            continue
        assert model is not None
        for value in scalar_model.edges(dtype):
            got = value if result < 0 else result
            assert same_value(got, model(dtype, value, value)), f"{OPS[Op(op)].name} of {value}"


def same_value(got: Any, expected: Any) -> bool:
    """Equal, the sign of a zero too; any NaN is as good as another."""
    if isinstance(expected, np.floating):
        both_nan = bool(np.isnan(got) and np.isnan(expected))
        return both_nan or (got == expected and np.signbit(got) == np.signbit(expected))
    return bool(got == expected)
