"""Validation: codes, words and lines of each rule; all problems together; hostile tables."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import pytest

import vyre_wgpu.ir as vw
from tests.ir.malformed_cases import EDITS, small
from tests.ir.rule_cases import ALLOWED, CASES
from tests.ir.rules.buffers import extent_needed_for_two_axes, store_to_input, unsized_output
from tests.ir.rules.flow import flow_nearly_wrong
from tests.ir.rules.kernel import Case, Kernel, Write, marked_line, problems_of
from tests.ir.rules.typing import (
    bitcast_bool,
    exponent_of_pow_that_would_be_rounded,
    exponent_that_would_be_rounded,
    float_floor_division,
    float_index,
    integer_division,
    mixed_addition,
    pow_of_float_and_integer,
    types_nearly_wrong,
)
from vyre_wgpu.ir.ops import Op
from vyre_wgpu.ir.program import Buffer, BufferKind, DebugInfo, Param, Program
from vyre_wgpu.ir.sizes import SizeExpr, SizeOp, constant_size, length_size
from vyre_wgpu.ir.validate import RULES, infer_extent, validate


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code}-{case.write.__name__}")
def test_mistake_is_reported_with_its_code_names_line_and_fix(case: Case) -> None:
    problems = problems_of(case.write)
    assert [problem.code for problem in problems] == [case.code]
    (problem,) = problems
    for words in case.words:
        assert words in problem.message
    assert problem.fix
    line = marked_line(case.write)
    if line is not None:
        assert problem.source == line


@pytest.mark.parametrize("write", ALLOWED, ids=lambda write: write.__name__)
def test_near_miss_is_valid(write: Write) -> None:
    assert problems_of(write) == []


def test_edited_program_is_valid_before_the_edit() -> None:
    assert validate(small()) == []


@pytest.mark.parametrize(("code", "words", "change"), EDITS, ids=lambda v: str(v)[:24])
def test_malformed_program_is_reported(
    code: str, words: str, change: Callable[[Program], Program]
) -> None:
    problems = validate(change(small()))
    assert any(p.code == code and words in p.message for p in problems), problems
    assert all(p.fix for p in problems)


def test_every_rule_has_a_case() -> None:
    covered = {case.code for case in CASES} | {code for code, _, _ in EDITS} | {"E600"}
    assert covered == set(RULES)


def test_rules_are_sentences_under_stable_codes() -> None:
    for code, rule in RULES.items():
        assert code[0] == "E"
        assert code[1] in "123456"
        assert rule.endswith(".")


def test_all_problems_are_reported_together_in_the_order_of_the_program() -> None:
    def write(k: Kernel) -> None:
        k.b.scratch("t", vw.f32, -1)
        k.y[k.i] = k.n
        with k.b.if_(k.n):
            k.b.break_()
        k.b.let("x", vw.sqrt(k.n))

    assert [p.code for p in problems_of(write)] == ["E407", "E207", "E204", "E501", "E203", "E304"]


def test_one_mistake_on_one_line_is_one_problem() -> None:
    def write(k: Kernel) -> None:
        for _ in range(3000):
            k.y[k.i] = k.n

    assert [p.code for p in problems_of(write)] == ["E207"]


def test_at_most_a_hundred_problems_are_listed_and_the_others_counted() -> None:
    def write(k: Kernel) -> None:
        for index in range(250):
            k.y[index + k.b.var(f"v{index}", vw.u32)] = k.b.var(f"w{index}", vw.u32)
        for index in range(250):
            k.b.let(f"v{index}", k.x[0])

    problems = problems_of(write)
    assert len(problems) == 101
    assert problems[-1].code == "E600"
    assert "more problems" in problems[-1].message


@pytest.mark.parametrize(
    ("write", "fix"),
    [
        (mixed_addition, "value.cast(vw.f32)"),
        (integer_division, "a // b"),
        (float_floor_division, "vw.floor(a / b)"),
        (float_index, "cast(vw.u32)"),
        (store_to_input, "b.read_write"),
        (unsized_output, "like=x"),
        (extent_needed_for_two_axes, "b.extent("),
        (bitcast_bool, "cast"),
        (pow_of_float_and_integer, "write x ** n for an integer power, or cast n"),
        (lambda k: k.b.let("p", vw.power(k.s, k.i)), "write x ** n.cast(vw.i32) for an integer"),
        (exponent_that_would_be_rounded, "write 2147483649.0 to have it rounded"),
        (exponent_of_pow_that_would_be_rounded, "write x ** -16777217"),
    ],
)
def test_fix_says_what_to_write(write: Write, fix: str) -> None:
    assert fix in problems_of(write)[0].fix


# The extent


def declared(*buffers: tuple[BufferKind, SizeExpr | None]) -> tuple[Buffer, ...]:
    return tuple(Buffer(f"b{n}", kind, vw.f32, size) for n, (kind, size) in enumerate(buffers))


READ, READ_WRITE, OUTPUT = BufferKind.READ, BufferKind.READ_WRITE, BufferKind.OUTPUT


@pytest.mark.parametrize(
    ("buffers", "expected"),
    [
        ([(READ, None), (OUTPUT, length_size(0))], 0),
        ([(READ_WRITE, None)], 0),
        ([(READ, None), (READ_WRITE, None), (OUTPUT, length_size(1))], 1),
        ([(READ, None), (OUTPUT, length_size(0)), (OUTPUT, length_size(1))], 0),
        ([(READ, constant_size(8)), (OUTPUT, length_size(0))], 0),
        ([(READ, None), (READ_WRITE, None), (OUTPUT, length_size(0))], None),
        ([(READ_WRITE, constant_size(8))], None),
        ([(READ, None), (OUTPUT, constant_size(8))], None),
        ([(READ, None), (OUTPUT, SizeExpr(((SizeOp.LENGTH, 0, 0), (SizeOp.ADD, 0, 0))))], None),
        ([(READ, None), (OUTPUT, None)], None),
        ([(READ, None)], None),
        ([], None),
        ([(OUTPUT, length_size(0))], None),
        ([(OUTPUT, SizeExpr(()))], None),
        ([(OUTPUT, length_size(-3)), (OUTPUT, length_size(77))], None),
    ],
)
def test_extent_is_the_length_of_the_one_input_that_sizes_all_results(
    buffers: list[tuple[BufferKind, SizeExpr | None]], expected: int | None
) -> None:
    found = infer_extent(declared(*buffers), vw.ProgramBuilder()._recorder.table())
    assert found == (None if expected is None else (length_size(expected),))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_extent_is_inferred_only_for_programs_of_one_axis(axis: int) -> None:
    k = Kernel()
    k.u[0] = k.b.num_workgroups(axis)
    program = k.b.extent(k.x.length) or k.b.build()
    assert (infer_extent(program.buffers, program.table) is None) == (axis > 0)


def test_missing_extent_is_reported_even_where_it_could_be_inferred() -> None:
    program = dataclasses.replace(small(), extent=())
    assert [p.code for p in validate(program)] == ["E418"]


# Size and hostility


def test_deep_and_shared_expressions_are_valid() -> None:
    k = Kernel()
    deep = k.s
    for _ in range(5_000):
        deep = vw.sqrt(deep)
    square = k.s
    for _ in range(30):
        square = square * square
    k.y[k.i] = deep + square
    assert validate(k.b.build()) == []


def test_a_sum_of_fifty_thousand_terms_is_valid() -> None:
    k = Kernel()
    term = k.x[k.i]
    total = term
    for _ in range(50_000):
        total = total + term
    k.y[k.i] = total
    assert validate(k.b.build()) == []


def mutated(program: Program, chance: random.Random) -> Program:
    """The program with some numbers changed to others that a decoder would let through."""
    table = program.table
    rows = len(table)
    columns: dict[str, Any] = {
        name: list(getattr(table, name)) for name in ("op", "dtype", "a", "b", "c", "const")
    }
    numbers = (-(2**31), -2, -1, 0, 1, 2, 7, rows - 1, rows, 2**31 - 1)
    for _ in range(chance.randint(1, 8)):
        name = chance.choice(list(columns))
        values = {"op": list(Op), "dtype": range(13)}.get(name)
        new = chance.choice(values or (*numbers, chance.randrange(rows), chance.randrange(rows)))
        columns[name][chance.randrange(rows)] = int(new)
    table = dataclasses.replace(
        table,
        **{k: bytes(v) if k in ("op", "dtype") else tuple(v) for k, v in columns.items()},
    )
    program = dataclasses.replace(program, table=table)
    node = (chance.choice(list(SizeOp)), chance.choice(numbers), chance.choice(numbers))
    sizes = [SizeExpr(()), SizeExpr((node,)), SizeExpr((node, node)), length_size(-1), None]
    if chance.random() < 0.5:
        buffers = list(program.buffers)
        at = chance.randrange(len(buffers))
        buffers[at] = Buffer(
            chance.choice(["", "x", "\0", "y" * 300]),
            chance.choice(list(BufferKind)),
            chance.choice([vw.bool_, vw.u8, vw.f32, vw.u64]),
            chance.choice(sizes),
            chance.choice([None, -1, 0, 5]),
            chance.random() < 0.5,
        )
        program = dataclasses.replace(program, buffers=tuple(buffers[: chance.randint(0, 9)]))
    if chance.random() < 0.3:
        extent = tuple(size for size in chance.choices(sizes, k=chance.randint(0, 5)) if size)
        program = dataclasses.replace(program, extent=extent)
    if chance.random() < 0.3:
        program = dataclasses.replace(
            program,
            literals=tuple(chance.choices(numbers, k=chance.randint(0, 4))),
            params=(Param("x", vw.f16),) * chance.randint(0, 4),
            tags=("",) * chance.randint(0, 1),
        )
    if chance.random() < 0.3:
        debug = DebugInfo(
            "name",
            (("file", 1),) * chance.randint(0, 3),
            tuple(chance.choices(numbers, k=chance.choice([0, 3, rows]))),
            tuple((chance.choice(numbers), "x") for _ in range(3)),
            ((chance.choice(numbers), "text"),),
        )
        program = dataclasses.replace(program, debug=debug)
    return program


@pytest.mark.parametrize("seed", range(300))
def test_hostile_table_is_a_list_of_problems_and_never_an_exception(seed: int) -> None:
    chance = random.Random(seed)
    program = small()
    if seed % 2:
        k = Kernel()
        flow_nearly_wrong(k)
        types_nearly_wrong(k)
        program = k.b.build()
    for _ in range(4):
        hostile = mutated(program, chance)
        problems = validate(hostile)
        assert all(problem.code in RULES for problem in problems)
        infer_extent(hostile.buffers, hostile.table)


def test_empty_program_has_no_problem() -> None:
    program = dataclasses.replace(
        small(),
        buffers=(),
        params=(),
        literals=(),
        tags=(),
        extent=(constant_size(1),),
        table=vw.ProgramBuilder()._recorder.table(),
        debug=DebugInfo(),
    )
    assert validate(program) == []
