"""`CompileOptions.passes`: the shader is that of the optimised program, all else that of the given.

What passes do is tested beside them; here is what a dispatch sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.errors import InputError
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.options import CompileOptions

AS_WRITTEN = CompileOptions(passes=False)


def foldable(b: vw.ProgramBuilder, x: Any, i: Any) -> Any:
    """Rows that passes drop, so that all later ones get other numbers."""
    v = x[i] * 1 + (i - i)
    with b.if_(i != i):
        b.trap("never")
    return v + x[i] * 0


def program_of(body: Callable[..., None]) -> vw.Program:
    b = vw.ProgramBuilder("passes", workgroup_size=64)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id()
    body(b, x, y, i, foldable(b, x, i))
    return b.build()


def a_trap(b: Any, x: Any, y: Any, i: Any, v: Any) -> None:
    with b.if_(v == 7):
        b.trap("seven", i)
    y[i] = v


def a_store(b: Any, x: Any, y: Any, i: Any, v: Any) -> None:
    y[i + v * 100] = v


def an_unused_load(b: Any, x: Any, y: Any, i: Any, v: Any) -> None:
    x[v * 100]
    y[i] = v


def a_division(b: Any, x: Any, y: Any, i: Any, v: Any) -> None:
    y[i] = i // (v - 7)


def an_unused_division_by_zero(b: Any, x: Any, y: Any, i: Any, v: Any) -> None:
    with b.if_(v == 7):
        v // 0
    y[i] = v


def a_loop(b: Any, x: Any, y: Any, i: Any, v: Any) -> None:
    n = b.var("n", vw.u32, 0)
    with b.for_range(0, v * 100):
        n.set(n + 1)
    y[i] = v


def a_trap_before_a_barrier(b: Any, x: Any, y: Any, i: Any, v: Any) -> None:
    with b.if_(v == 7):
        b.trap("seven", i)
    b.barrier()
    y[i] = v


@pytest.mark.gpu
@pytest.mark.parametrize(
    "body",
    [
        a_trap,
        a_store,
        an_unused_load,
        a_division,
        an_unused_division_by_zero,
        a_loop,
        a_trap_before_a_barrier,
    ],
    ids=lambda body: body.__name__,
)
def test_traps_name_the_same_statement(body: Callable[..., None], backend: Any) -> None:
    """Tag, address, lane and line of a trap do not depend on passes; nor what has none."""
    program = program_of(body)
    # A whole workgroup: with barriers every lane of it runs, and one beyond the end traps as well.
    data = np.zeros(64, np.uint32)
    data[2] = 7
    raised = []
    for passes in (True, False):
        options = CompileOptions(checks="trap", max_iterations=500, passes=passes)
        pipe = backend.compile(program, options)
        with pytest.raises(vw.TrapError) as caught:
            pipe.dispatch([data])
        error = caught.value
        assert error.source is not None
        raised.append((type(error), error.tag, error.address, error.lane, error.source, str(error)))
    assert raised[0] == raised[1]
    assert raised[0][3] == (2,)
    assert raised[0][4][1] > foldable.__code__.co_firstlineno + 6


def test_sites_are_rows_of_the_program_as_written() -> None:
    """Whatever passes drop, the numbers in the shader are those of the caller's program."""
    program = program_of(a_trap)
    row = program.table.op.rindex(vw.ir.Op.TRAP)
    for options in (None, AS_WRITTEN):
        sites = re.findall(r"h_trap\((\d+)u", lower(program, options).wgsl)
        assert sites[-1] == str(row)


def test_the_launch_is_that_of_the_program_as_written() -> None:
    """A barrier that is never reached still makes whole workgroups run; types stay needed."""
    b = vw.ProgramBuilder(workgroup_size=32)
    x = b.read("x", vw.i64)
    y = b.output("y", vw.u32, like=x)
    p, i = b.param("p", vw.u32), b.global_id()
    with b.if_(p != p):
        b.barrier()
    x[i]
    y[i] = i
    program = b.build()
    optimised, as_written = lower(program), lower(program, AS_WRITTEN)
    assert optimised.descriptor == as_written.descriptor
    assert optimised.descriptor.whole_workgroups
    assert optimised.descriptor.features == ("shader-int64",)
    assert "workgroupBarrier" not in optimised.wgsl
    assert "workgroupBarrier" in as_written.wgsl


def test_without_passes_the_program_is_lowered_as_it_was_written() -> None:
    def body(b: Any, x: Any, y: Any, i: Any, v: Any) -> None:
        y[i] = v

    program = program_of(body)
    assert " * 1u" in lower(program, AS_WRITTEN).wgsl
    assert " * 1u" not in lower(program).wgsl
    assert lower(program) == lower(program, CompileOptions(passes=True))


@pytest.mark.parametrize("bad", [None, 1, "yes", np.True_], ids=repr)
def test_passes_is_a_bool(bad: Any) -> None:
    with pytest.raises(InputError, match=r"passes is .*Fix:"):
        CompileOptions(passes=bad)
