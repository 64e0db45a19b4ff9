from __future__ import annotations

import dataclasses
import inspect

import pytest

import vyre_wgpu as vw
from vyre_wgpu.ir import Op, Program
from vyre_wgpu.pipeline.traps import TrapWords, trap_error
from vyre_wgpu.wgsl.descriptor import UNKNOWN_SITE, KernelDescriptor

DESCRIPTOR = KernelDescriptor(
    bindings=(),
    trap_binding=1,
    block_words=6,
    length_words=(),
    param_words=(),
    workgroup_size=(8, 4, 1),
    whole_workgroups=False,
    axes=2,
)


def two_traps() -> tuple[Program, int]:
    """A program with a signed and an unsigned trap, and the line of the first."""
    b = vw.ProgramBuilder("two")
    x = b.read("x", vw.i32)
    b.extent(x.length, 3)
    with b.if_(x[0] < 0):
        line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
        b.trap("signed", address=x[0])
    b.trap("unsigned", address=b.global_id(0))
    return b.build(), line


def test_site_gives_tag_source_and_signedness() -> None:
    program, line = two_traps()
    first, second = (row for row, op in enumerate(program.table.op) if op == Op.TRAP)
    error = trap_error(program, DESCRIPTOR, TrapWords(1, 0xFFFFFFFB, first, 0), (10, 3))
    assert (error.tag, error.address, error.program) == ("signed", -5, "two")
    assert error.source == (__file__, line)
    error = trap_error(program, DESCRIPTOR, TrapWords(1, 0xFFFFFFFB, second, 0), (10, 3))
    assert (error.tag, error.address) == ("unsigned", 0xFFFFFFFB)
    assert error.source == (__file__, line + 1)


@pytest.mark.parametrize(
    ("whole", "axes", "extent", "linear", "lane"),
    [
        (False, 2, (10, 3), 27, (7, 2)),
        (False, 1, (10,), 9, (9,)),
        (False, 3, (10, 3, 2), 57, (7, 2, 1)),
        (True, 2, (10, 3), 27, (11, 1)),  # rows of two whole workgroups: 16 lanes
    ],
)
def test_lane_is_unravelled_with_x_fastest(
    whole: bool, axes: int, extent: tuple[int, ...], linear: int, lane: tuple[int, ...]
) -> None:
    program, _ = two_traps()
    descriptor = dataclasses.replace(DESCRIPTOR, whole_workgroups=whole, axes=axes)
    error = trap_error(program, descriptor, TrapWords(1, 0, 0, linear), extent)
    assert error.lane == lane


def test_a_site_that_is_no_trap_statement_is_a_loop_that_ran_too_long() -> None:
    program, line = two_traps()
    loop = TrapWords(1, 0, program.table.op.index(Op.IF), 7)
    error = trap_error(program, DESCRIPTOR, loop, (10, 3))
    assert (error.tag, error.address, error.source) == ("loop-limit", 0, (__file__, line - 2))
    helper = TrapWords(1, 0, UNKNOWN_SITE, 7)
    error = trap_error(program, DESCRIPTOR, helper, (10, 3))
    assert (error.tag, error.source) == ("loop-limit", None)
