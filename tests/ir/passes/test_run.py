"""All passes together: valid, settled, the same interface, and the same results."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import vyre_wgpu.ir as vw
from tests.fuzz.case import MAX_ITERATIONS, Case
from tests.fuzz.differential import compare
from tests.fuzz.strategies import cases
from tests.ir.examples import EXAMPLES
from tests.ir.passes.texts import again, body, lines, statements
from vyre_wgpu.backends.reference import ReferenceBackend
from vyre_wgpu.ir import DebugInfo, Op, Program
from vyre_wgpu.ir.passes import optimise
from vyre_wgpu.ir.passes.run import MAX_ROUNDS
from vyre_wgpu.ir.validate import validate
from vyre_wgpu.wgsl.checks import checked_rows
from vyre_wgpu.wgsl.options import CompileOptions


def check_promises(program: Program, traps: bytes | None = None, **more: Any) -> Program:
    """Checks what holds of every result, and returns it."""
    result = optimise(program, traps, **more)
    after, origin = result.program, result.origin
    assert not validate(after), f"{validate(after)[0]}\n{program}\n{after}"
    for part in ("buffers", "params", "extent", "workgroup_size", "name"):
        assert getattr(after, part) == getattr(program, part)
    assert Program.from_bytes(after.to_bytes()) == after
    check_origin(program, after, origin)
    kept = bytes(traps[row] for row in origin) if traps else None
    assert optimise(after, kept, **more).program is after, f"not settled:\n{after}"
    return after


def check_origin(program: Program, after: Program, origin: Sequence[int]) -> None:
    """Each row stands for one of the same type and source line, in the same order."""
    assert len(origin) == len(after.table)
    assert list(origin) == sorted(set(origin))
    for row, old in enumerate(origin):
        assert after.table.dtype[row] == program.table.dtype[old]
        assert after.table.op[row] in (program.table.op[old], Op.LITERAL)
        assert after.debug.source(row) == program.debug.source(old)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    check_promises(EXAMPLES[name]())


@pytest.mark.parametrize("checks", ["total", "trap"])
def test_random_programs_keep_their_meaning(checks: str) -> None:
    """On the oracle, which shares nothing with the passes, programs give the same after them."""

    @settings(
        max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=cases(60, checks))
    def hold(case: Case) -> None:
        traps = checked_rows(case.program) if checks == "trap" else None
        after = check_promises(case.program, traps, keep_loops=True)
        check_promises(case.program, traps)
        options = CompileOptions(checks=checks, max_iterations=MAX_ITERATIONS)  # type: ignore[arg-type]
        backend = ReferenceBackend(seed=case.seed)
        expected, got = (
            backend.compile(program, options).examine(case.inputs, case.params)
            for program in (case.program, after)
        )
        assert got.traps == expected.traps
        assert not got.races
        if expected.traps:
            return
        for buffer, one, other in zip(
            after.outputs, got.outputs or (), expected.outputs or (), strict=True
        ):
            compare(buffer.name, buffer.dtype, one, other, case.rough.get(buffer.name))

    hold()


def test_folding_and_merging_take_turns() -> None:
    """What merging makes equal is folded, and what that makes equal is merged."""

    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        v = x[i]
        none = again(Op.MUL, v, i) - again(Op.MUL, v, i)
        with b.if_(v * 5 + none == v * 5):
            y[i] = v + none
            b.return_()
        y[i] = 7

    assert body(optimise(statements(write)).program) == lines("""
        t0 = global_id()
        y[t0] = x[t0]
        return
    """)


def needy(levels: int) -> Program:
    """A program in which each level needs one merge and one fold more than the one before."""

    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        v = w = x[i]
        for level in range(levels):
            a, c = again(Op.MUL, v, i), again(Op.MUL, w, i)
            none = a - c
            v, w = v + level + none, w + level
        y[i] = v - w

    return replace(statements(write), debug=DebugInfo())


@pytest.mark.parametrize("levels", [1, MAX_ROUNDS - 1, 3 * MAX_ROUNDS])
def test_a_program_made_to_need_many_turns(levels: int) -> None:
    """Within the bound nothing is left; beyond it the result is still right."""
    program = needy(levels)
    after = optimise(program).program
    assert not validate(after)
    if levels < MAX_ROUNDS:
        assert body(after) == ["y[global_id()] = 0"]
    data = np.arange(3, dtype=np.uint32)
    (got,) = ReferenceBackend().compile(after).dispatch([data])
    assert got.tolist() == [0, 0, 0]


def long_sum() -> Program:
    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        total = x[i]
        for k in range(50_000):
            total = total + x[i + k % 500]
        y[i] = total

    return statements(write)


def literals_only() -> Program:
    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        value = vw.u32(3) + i * 0
        for k in range(45_000):
            value = value * (k | 1) + 1
        y[i] = value

    return statements(write)


def blocks_in_a_row() -> Program:
    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        n = b.var("n", vw.u32, 0)
        for k in range(6_000):
            with b.if_(x[i] == k):
                n.set(n + 1)
                b.return_()
            with b.for_range(0, i):
                n.set(n * 3)

    return statements(write)


def random_operations() -> Program:
    rng = random.Random(4)

    def write(b: Any, i: Any, x: Any, y: Any) -> None:
        values = [x[i], i]
        for _ in range(49_000):
            one, other = rng.choice(values[-40:]), rng.choice(values[-40:])
            op = rng.choice((Op.ADD, Op.SUB, Op.MUL, Op.XOR, Op.AND, Op.FLOOR_DIV))
            values.append(again(op, one, other))
        y[i] = values[-1]

    return statements(write)


@pytest.mark.parametrize(
    "build", [long_sum, literals_only, blocks_in_a_row, random_operations], ids=lambda f: f.__name__
)
def test_the_longest_programs(build: Callable[[], Program]) -> None:
    """Nothing in a pass recurses, nor goes over a whole table once for each row."""
    check_promises(build())
