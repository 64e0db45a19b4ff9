"""What the builder records, and what it says to mistakes."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.ir import Op


def fresh() -> tuple[vw.ProgramBuilder, Any, Any, Any]:
    b = vw.ProgramBuilder("p")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    return b, x, y, b.global_id(0)


def ops_of(program: vw.Program) -> list[Op]:
    return [row.op for row in program.table.rows()]


def test_equal_pure_nodes_are_shared() -> None:
    """The same operation on the same operands is one row."""
    b, x, y, i = fresh()
    v = x[i]
    y[i] = (v + 1.0) * (v + 1.0) + (v + 1.0)
    assert ops_of(b.build()).count(Op.ADD) == 2


def test_loads_are_not_shared() -> None:
    """Each read of an element takes its value where it is written."""
    b, x, y, i = fresh()
    y[i] = x[i] + x[i]
    assert ops_of(b.build()).count(Op.LOAD) == 2


def test_a_node_of_an_inner_block_is_not_reused_outside() -> None:
    """Sharing respects scopes."""
    b, x, y, i = fresh()
    v = x[i]
    with b.if_(v > 0.0):
        y[i] = v * 3.0
    with b.else_():
        y[i] = v * 3.0 + 1.0
    y[i] = v * 3.0
    assert ops_of(b.build()).count(Op.MUL) == 3


@pytest.mark.parametrize(
    "use",
    [
        bool,
        lambda v: v and v,
        lambda v: v or v,
        lambda v: not v,
        lambda v: 0 < v < 1,
        lambda v: 1 if v else 2,
    ],
)
def test_a_value_has_no_truth(use: Any) -> None:
    """Python's own control flow raises and names what to write."""
    _, x, _, i = fresh()
    with pytest.raises(TypeError, match=r"vw\.select.*b\.if_"):
        use(x[i] > 0.0)


def test_in_and_iteration_raise() -> None:
    """Neither values nor buffers can be iterated."""
    _, x, _, i = fresh()
    for attempt in (lambda: list(x), lambda: 1.0 in x, lambda: list(x[i]), lambda: 1.0 in x[i]):
        with pytest.raises(TypeError):
            attempt()
    with pytest.raises(TypeError, match=r"x\.length"):
        len(x)
    with pytest.raises(TypeError, match=r"b\.for_range"):
        range(x[i].cast(vw.u32))  # type: ignore[call-overload]


def test_comparison_builds_and_hash_is_identity() -> None:
    """== gives a bool value; values can be dictionary keys."""
    _, x, _, i = fresh()
    v = x[i]
    assert (v == 1.0).dtype is vw.bool_
    assert (v != v).dtype is vw.bool_
    assert {v: 1}[v] == 1


@pytest.mark.parametrize("one", [1, 1.0, np.float32(1), np.float64(1), np.int64(1), vw.f32(1)])
def test_numbers_on_either_side(one: Any) -> None:
    """Python and NumPy scalars take the value's type on both sides."""
    b, x, y, i = fresh()
    v = x[i]
    y[i] = (v + one) * (one + v) - one / v + (one - v)
    assert b.build()


@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        (vw.i32, 1.5),
        (vw.i32, 2.0),
        (vw.u8, 300),
        (vw.u8, -1),
        (vw.u32, True),
        (vw.bool_, 1),
        (vw.f32, 1e39),
        (vw.f32, True),
        (vw.i32, 2**31),
    ],
)
def test_unrepresentable_literals_are_reported(dtype: vw.DType, number: Any) -> None:
    """A literal that its type cannot hold is a problem with the line it stands on."""
    b = vw.ProgramBuilder()
    x = b.read("x", dtype)
    y = b.output("y", vw.bool_, count=x.length)
    i = b.global_id(0)
    y[i] = x[i] == number
    with pytest.raises(vw.ValidationError) as caught:
        b.build()
    (problem,) = caught.value.problems
    assert problem.code == "E202"
    assert str(dtype) in problem.message
    assert problem.source is not None
    assert Path(problem.source[0]).name == "test_builder.py"


@pytest.mark.parametrize("number", [2**24 + 1, 0.1, float("inf"), float("nan"), -0.0, 10**38])
def test_float_literals_round(number: Any) -> None:
    """Float literals round to the nearest value; infinities and NaN stand for themselves."""
    literal = vw.f32(number)
    value = literal.dtype.decode(literal.bits)
    np.testing.assert_array_equal(np.float32(value), np.float32(number))


def test_two_literals_need_a_type() -> None:
    """Functions of plain numbers only say so."""
    b, x, _, i = fresh()
    with pytest.raises(TypeError, match=r"vw\.f32\(1\)"):
        vw.select(x[i] > 0.0, 1, 0)
    with pytest.raises(TypeError, match="kernel value"):
        vw.sqrt(2.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="typed literal"):
        b.let("v", 1.0)  # type: ignore[arg-type]


def test_mixed_types_are_reported_together_with_lines() -> None:
    """All problems of a program come at once."""
    b, x, y, i = fresh()
    y[i] = x[i] + i
    y[x[i]] = 1.0
    y[i] = i
    with pytest.raises(vw.ValidationError) as caught:
        b.build()
    lines = [p.source[1] for p in caught.value.problems if p.source]
    assert len(lines) == 3
    assert sorted(lines) == [min(lines), min(lines) + 1, min(lines) + 2]
    assert all("Fix:" in str(p) for p in caught.value.problems)


@pytest.mark.parametrize("bad", [None, "1", [1.0], object(), 1j])
def test_operands_that_are_no_numbers_raise_at_once(bad: Any) -> None:
    """They cannot be recorded at all."""
    _, x, y, i = fresh()
    with pytest.raises(TypeError):
        x[i] + bad
    with pytest.raises(TypeError):
        y[i] = bad
    with pytest.raises(TypeError):
        _ = x[i] == bad


def test_a_buffer_as_an_operand_names_the_fix() -> None:
    """Forgetting the index is the commonest mistake."""
    _, x, y, i = fresh()
    with pytest.raises(TypeError, match=r"x\[index\]"):
        y[i] = x
    with pytest.raises(TypeError, match=r"x\[index\]"):
        x[i] * x
    with pytest.raises(TypeError, match=r"x\[index\]"):
        x + 1
    with pytest.raises(TypeError, match=r"x\[index\]"):
        vw.sqrt(x)
    with pytest.raises(TypeError, match="one integer"):
        x[0:3]


def test_else_needs_its_if() -> None:
    """else_ directly follows an if_ block."""
    b, x, y, i = fresh()
    with pytest.raises(vw.ValidationError, match="E101"):
        b.else_()
    with b.if_(x[i] > 0.0):
        y[i] = 1.0
    y[i] = 2.0
    with pytest.raises(vw.ValidationError, match="E101"):
        b.else_()
    with b.if_(x[i] > 0.0):
        y[i] = 1.0
    with b.else_():
        y[i] = 2.0
    with pytest.raises(vw.ValidationError, match="E101"):
        b.else_()
    assert b.build()


def test_build_inside_a_block_is_refused() -> None:
    """The program is not finished there."""
    b, x, _, i = fresh()
    with b.if_(x[i] > 0.0), pytest.raises(vw.ValidationError, match="E102") as caught:
        b.build()
    assert b.build()
    (problem,) = caught.value.problems
    assert problem.source is not None
    assert problem.source[0] == __file__


def test_python_functions_that_have_a_kernel_meaning() -> None:
    """abs, round, math.floor, math.ceil and math.trunc of a value are its operations."""
    b, x, y, i = fresh()
    v = x[i]
    y[i] = abs(v) + round(v) + math.floor(v) + math.ceil(v) + math.trunc(v)
    ops = ops_of(b.build())
    assert {Op.ABS, Op.ROUND, Op.FLOOR, Op.CEIL, Op.TRUNC} <= set(ops)
    with pytest.raises(TypeError, match="digits"):
        round(v, 2)


def test_a_literal_trap_address_may_be_negative() -> None:
    """As an index may."""
    b, x, _, i = fresh()
    with b.if_(x[i] < 0.0):
        b.trap("t", address=-1)
    assert b.build()


def test_values_of_another_builder_are_reported() -> None:
    """Each program is built from its own values."""
    _, other, _, j = fresh()
    b, x, y, i = fresh()
    y[i] = x[i] + other[j]
    with pytest.raises(vw.ValidationError, match="E301"):
        b.build()


def test_sizes_are_expressions_and_values() -> None:
    """Lengths and integer params serve as sizes and as kernel values."""
    b = vw.ProgramBuilder()
    x = b.read("x", vw.f32)
    n = b.param("n", vw.u32)
    size = vw.maximum(vw.ceil_div(x.length + n * 2, 3) - 1, 1) // 1
    y = b.output("y", vw.u32, count=size)
    b.extent(size)
    i = b.global_id(0)
    y[i] = size + i + vw.minimum(n, x.length) + n % 7
    program = b.build()
    count = program.buffers[1].count
    assert count is not None
    assert count.evaluate([10, 0], [4]) == max(-(-(10 + 8) // 3) - 1, 1)
    assert program.format_size(
        count
    ) == "max(ceil_div((x.length + (n * 2)), 3) - 1, 1) // 1" or "ceil_div" in program.format_size(
        count
    )


@pytest.mark.parametrize("size", [1.5, "3", True, vw.f32(1)])
def test_other_sizes_raise(size: Any) -> None:
    """A size is an int or an expression of lengths and integer params."""
    b = vw.ProgramBuilder()
    with pytest.raises(TypeError, match="lengths and integer params"):
        b.output("y", vw.f32, count=size)


def test_compound_assignment_of_variables_and_elements() -> None:
    """n += 1 assigns; y[i] += v loads, adds and stores; v += 1 on a value rebinds."""
    b, x, y, i = fresh()
    n = b.var("n", vw.f32, 1.0)
    n += 1.0
    n -= 1.0
    n *= 2.0
    n /= 2.0
    y[i] = n
    y[i] += x[i]
    v = x[i]
    w = v
    w += 1.0
    assert w is not v
    ops = ops_of(b.build())
    assert ops.count(Op.ASSIGN) == 4
    assert ops.count(Op.STORE) == 2


def test_while_takes_a_function() -> None:
    """A value would be computed once only."""
    b, x, _, i = fresh()
    with pytest.raises(TypeError, match="lambda"):
        b.while_(x[i] > 0.0)  # type: ignore[arg-type]


def test_big_programs_are_quick_and_flat() -> None:
    """Long sums, deep expressions and repeated squaring build, compare, print and pickle."""
    import pickle

    def build(kind: str) -> vw.Program:
        b, x, y, i = fresh()
        v = x[i]
        if kind == "sum":
            total = v
            for k in range(50_000):
                total = total + float(k)
        elif kind == "deep":
            total = v
            for _ in range(5_000):
                total = vw.sqrt(total * 2.0)
        else:
            total = v
            for _ in range(30):
                total = total * total
        y[i] = total
        return b.build()

    for kind in ("sum", "deep", "square"):
        program = build(kind)
        assert program == build(kind)
        assert hash(program) == hash(build(kind))
        assert pickle.loads(pickle.dumps(program)) == program
        assert vw.Program.from_bytes(program.to_bytes()) == program
        assert str(program)
        assert len(program.table) < 110_000


def test_ir_imports_no_gpu_library() -> None:
    """Programs can be built where there is no GPU stack."""
    code = (
        "import sys, vyre_wgpu.ir\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('wgpu', 'cffi', 'rendercanvas')]\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", [5, None, b"x", ["x"]])
def test_names_are_text(name: Any) -> None:
    """Another type is refused where it is given."""
    b, x, _, i = fresh()
    for declare in (
        lambda: vw.ProgramBuilder(name),
        lambda: b.param(name, vw.u32),
        lambda: b.read(name, vw.u32),
        lambda: b.let(name, x[i]),
        lambda: b.var(name, vw.u32),
        lambda: b.for_range(3, name=name),
        lambda: b.trap(name),
    ):
        with pytest.raises(TypeError, match=r"is a str, not "):
            declare()
    program = b.build()
    assert program.params == ()
    assert len(program.buffers) == 2


@pytest.mark.parametrize("size", [1.5, None, True, "64", (8, True), (8, 8.0), (), (1, 1, 1, 1)])
def test_a_workgroup_size_is_ints(size: Any) -> None:
    """One to three of them."""
    with pytest.raises(TypeError, match="workgroup_size is an int or up to three ints, not"):
        vw.ProgramBuilder("p", workgroup_size=size)


def test_numpy_integers_are_integers() -> None:
    """Wherever the builder takes an int, with the same program."""

    def program(n: Any, one: Any, two: Any) -> vw.Program:
        b = vw.ProgramBuilder("ints", workgroup_size=(n, one))
        x = b.read("x", vw.f32, count=n)
        y = b.output("y", vw.f32, count=n)
        b.private("p", vw.u32, n)
        b.extent(n, one)
        i = b.global_id(one)
        with b.for_range(n, step=two):
            y[i] = x[n] ** two
        return b.build()

    assert program(8, 1, 2) == program(np.int64(8), np.uint8(1), np.int32(2))


@pytest.mark.parametrize("axis", [1.0, True, None, "0"])
def test_an_axis_is_an_integer(axis: Any) -> None:
    """Of another type it is a TypeError, out of range a ValueError."""
    b = vw.ProgramBuilder()
    for ids in (b.global_id, b.local_id, b.workgroup_id, b.num_workgroups):
        with pytest.raises(TypeError, match="axis is 0, 1 or 2"):
            ids(axis)
        with pytest.raises(ValueError, match="axis is 0, 1 or 2, not 3"):
            ids(3)


def test_a_block_is_for_one_with_statement() -> None:
    """Used twice, or after other statements, it would hold other statements than it seems to."""
    b, x, y, i = fresh()
    again = b.if_(x[i] > 0.0)
    with again:
        y[i] = 1.0
    with pytest.raises(TypeError, match=r"used already.*with b\.if_"), again:
        pass
    assert b.build()
    for opened, written in (
        (b.for_range(3), r"with b\.for_range"),
        (b.while_(lambda: x[i] > 0.0), r"with b\.while_"),
        (b.if_(x[i] > 0.0), r"with b\.if_"),
    ):
        y[i] = 2.0
        with pytest.raises(TypeError, match=rf"before other statements.*{written}"), opened:
            pass
    with pytest.raises(vw.ValidationError, match="E102"):
        b.build()


@pytest.mark.parametrize(
    ("write", "message", "fix"),
    [
        (lambda b, x, y, i: y[1.5], "1.5 is not representable in u32", "that a u32 holds"),
        (lambda b, x, y, i: y[-(2**40)], "in i32", "index with an integer that an i32 holds"),
        (lambda b, x, y, i: b.for_range(0, 10, -1), "-1 is not", "dtype=vw.i32"),
        (lambda b, x, y, i: b.for_range(0, 1.5), "1.5 is not", "bounds and a step that a u32"),
        (lambda b, x, y, i: b.var("v", vw.i32).set(0.5), "0.5", "a number that an i32 holds"),
        (lambda b, x, y, i: b.var("v", vw.u8, 300), "300", "a number that a u8 holds"),
        (lambda b, x, y, i: y.__setitem__(i, True), "True is a bool, not f32", "that an f32"),
        (lambda b, x, y, i: b.if_(1), "1 is not a bool", "value != 0, or True or False"),
        (lambda b, x, y, i: x[i] + 1e39, "1e+39", "an f32 literal, or cast the other operand"),
    ],
    ids=range(9),
)
def test_the_advice_about_a_literal_fits_its_place(write: Any, message: str, fix: str) -> None:
    """There is another operand to cast only beside an operator."""
    b, x, y, i = fresh()
    block = write(b, x, y, i)
    if hasattr(block, "__enter__"):
        with block:
            pass
    with pytest.raises(vw.ValidationError) as caught:
        b.build()
    (problem,) = caught.value.problems  # and none that follows from it
    assert problem.code == "E202"
    assert message in problem.message
    assert fix in problem.fix


def test_a_step_of_another_builder_is_one_problem() -> None:
    """What stands in its place breaks no rule."""
    _, other, _, j = fresh()
    b, *_ = fresh()
    with b.for_range(vw.i32(0), 9, other[j].cast(vw.i32)):
        pass
    with pytest.raises(vw.ValidationError) as caught:
        b.build()
    assert caught.value.codes == ("E301",)


def test_a_step_of_zero_in_an_unnamed_loop() -> None:
    """The message does without the name."""
    b, *_ = fresh()
    with b.for_range(0, 9, 0):
        pass
    with pytest.raises(vw.ValidationError, match="the step of a loop is 0"):
        b.build()
