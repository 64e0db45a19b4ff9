"""Which integers a driver may know, over loops too; found in time linear in the program."""

from __future__ import annotations

import inspect
import re
import sys
from types import FrameType
from typing import Any

import pytest

import vyre_wgpu as vw
from vyre_wgpu.ir.ops import Op
from vyre_wgpu.wgsl import known
from vyre_wgpu.wgsl.known import may_be_known
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.options import CompileOptions
from vyre_wgpu.wgsl.target import Target


def handed_on(length: int, start: int | None = 0) -> vw.Program:
    """A loop in which a value goes down a chain of variables, one variable further each time.

    The assignments stand in reverse, so nothing that is assigned in one iteration is read in it.
    The last variable becomes a float that is an operand of ``0.0 - x``.

    Args:
        length: how many variables.
        start: what goes down; None for a number that no driver knows.
    """
    b = vw.ProgramBuilder("handed_on")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id(0)
    chain = [b.var(f"v{k}", vw.u32, x[i]) for k in range(length)]
    with b.for_range(0, x[i]):
        for behind, before in zip(chain[:0:-1], chain[-2::-1], strict=True):
            behind.set(before)
        chain[0].set(x[i + 1] if start is None else start)
    y[i] = 0.0 - chain[-1].cast(vw.f32)
    return b.build()


def known_variables(program: vw.Program) -> list[bool]:
    found = may_be_known(program)
    return [bool(found[row]) for row, op in enumerate(program.table.op) if op == Op.VAR]


@pytest.mark.parametrize("length", [1, 2, 3, 5, 7, 50])
def test_a_chain_that_a_loop_hands_on_is_known_to_its_end(length: int) -> None:
    assert known_variables(handed_on(length)) == [True] * length


@pytest.mark.parametrize("length", [1, 2, 5])
def test_a_chain_of_loaded_numbers_is_not_known(length: int) -> None:
    assert known_variables(handed_on(length, start=None)) == [False] * length


@pytest.mark.parametrize(("start", "is_hidden"), [(0, True), (None, False)])
def test_what_is_known_at_the_end_of_a_chain_is_hidden(start: int | None, is_hidden: bool) -> None:
    wgsl = lower(handed_on(7, start), CompileOptions(), Target()).wgsl
    (cast,) = re.findall(r" = f32\((.*)\);", wgsl)
    assert ("d.zero" in cast) == is_hidden


def test_a_known_operand_counts_only_where_it_could_decide() -> None:
    b = vw.ProgramBuilder("operands")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    loaded, zero = x[b.global_id(0)], b.var("zero", vw.u32)
    made = {
        "product": loaded * zero,
        "sum": loaded + zero,
        "sum of known": zero + zero,
        "square": loaded * loaded,
        "twice": loaded + loaded,
        "choice": vw.select(loaded == 1, zero, zero),
        "comparison of floats": (loaded.cast(vw.f32) < 1.0).cast(vw.u32),
    }
    for value in made.values():
        y[b.global_id(0)] = value
    program = b.build()
    found = may_be_known(program)
    stored = [program.table.b[row] for row, op in enumerate(program.table.op) if op == Op.STORE]
    assert {name: bool(found[row]) for name, row in zip(made, stored, strict=True)} == {
        "product": True, "sum": False, "sum of known": True, "square": False, "twice": False,
        "choice": True, "comparison of floats": False,
    }  # fmt: skip


def lines_run(program: vw.Program) -> int:
    """How many lines of the module run for a program: its work, whatever the machine does."""
    source, count = inspect.getsourcefile(known), 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if frame.f_code.co_filename != source:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        may_be_known(program)
    finally:
        sys.settrace(before)
    return count


def assigned_often(length: int) -> vw.Program:
    """One variable that is assigned and read many times in a loop."""
    b = vw.ProgramBuilder("often")
    x = b.read_write("x", vw.u32)
    i = b.global_id(0)
    v = b.var("v", vw.u32, x[i])
    with b.for_range(0, x[i]):
        for k in range(length):
            v.set(v * 3 + k)
    x[i] = v
    return b.build()


@pytest.mark.parametrize("program", [handed_on, assigned_often])
def test_the_work_is_proportional_to_the_program(program: Any) -> None:
    small, large = program(500), program(2000)
    # The declarations around the chain are the same in both, so the larger one is not 4 times.
    assert len(large.table) < 4 * len(small.table)
    assert lines_run(large) < 4 * lines_run(small)
