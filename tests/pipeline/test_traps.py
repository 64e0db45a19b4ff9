from __future__ import annotations

import dataclasses
import inspect
import pickle
import re

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
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
    assert (error.tag, error.address, error.lane) == ("loop-limit", 0, (7, 0))
    assert error.source is None


def test_a_loop_inside_an_operation_is_named_with_advice() -> None:
    """It has no line of its own, as others have, and none may be the program's."""
    program, _ = two_traps()
    error = trap_error(program, DESCRIPTOR, TrapWords(1, 0, UNKNOWN_SITE, 7), (10, 3))
    assert re.search(r"'loop-limit'.*lane \(7, 0\): the driver ended a loop inside", str(error))
    for operation in ("vw.fmod", "%", "**", "atomic", "store"):
        assert operation in error.message
    assert "more lanes" in error.fix
    assert str(error).endswith(f"Fix: {error.fix}")
    assert pickle.loads(pickle.dumps(error)).fix == error.fix
    loop = TrapWords(1, 0, program.table.op.index(Op.IF), 7)
    error = trap_error(program, DESCRIPTOR, loop, (10, 3))
    assert "its loop was ended before its condition did" in error.message
    assert "max_iterations" in error.fix


@pytest.mark.gpu
def test_many_operations_with_loops_inside_are_right_or_named(wgpu_backend: WgpuBackend) -> None:
    """fmod of operands far apart: 32 iterations each time, which no line of the program shows."""
    b = vw.ProgramBuilder("remainders")
    x, times = b.read("x", vw.f32), b.param("times", vw.u32)
    y = b.output("y", vw.f32, like=x)
    left = b.var("left", vw.f32, 0.0)
    with b.for_range(times):
        left.set(vw.fmod(x[b.global_id(0)], 1.3e-38))
    y[b.global_id(0)] = left
    pipe = wgpu_backend.compile(b.build())
    far = np.full(9, 3e38, np.float32)
    right = np.fmod(far, np.float32(1.3e-38))
    np.testing.assert_array_equal(pipe.fn(far, times=100), right)
    limit = wgpu_backend.device.quirks.loop_iterations
    if limit is None:
        np.testing.assert_array_equal(pipe.fn(far, times=5000), right)
        return
    with pytest.raises(
        vw.TrapError, match=r"'loop-limit'.*inside an operation: vw\.fmod"
    ) as caught:
        pipe.fn(far, times=limit // 8)
    assert caught.value.source is None
    assert "more lanes" in caught.value.fix
