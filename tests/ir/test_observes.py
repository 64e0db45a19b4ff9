"""Which programs can tell the size of their workgroups."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import vyre_wgpu as vw
from vyre_wgpu.ir.observes import observes_workgroup


def fresh() -> tuple[vw.ProgramBuilder, vw.Value]:
    b = vw.ProgramBuilder("seen", workgroup_size=8)
    x = b.read("x", vw.u32)
    b.output("y", vw.u32, like=x)[b.global_id(0)] = x[b.global_id(0)]
    return b, x[b.global_id(0)]


@pytest.mark.parametrize(
    "write",
    [
        lambda b, v: b.barrier(),
        lambda b, v: b.workgroup("w", vw.u32, 4),
        lambda b, v: b.let("", b.local_id(0)),
        lambda b, v: b.let("", b.workgroup_id()),
        lambda b, v: b.let("", b.num_workgroups()),
        lambda b, v: b.let("", b.subgroup_size()),
        lambda b, v: b.let("", b.subgroup_lane()),
        lambda b, v: b.subgroup_add(v),
        lambda b, v: b.subgroup_ballot(v > 0),
    ],
    ids=range(9),
)
def test_a_program_that_can(write: Callable[[vw.ProgramBuilder, vw.Value], object]) -> None:
    b, v = fresh()
    write(b, v)
    assert observes_workgroup(b.build())


def test_one_that_cannot() -> None:
    b, v = fresh()
    b.private("p", vw.u32, 4)[v] = v
    with b.if_(v > 3):
        b.trap("large", v)
    assert not observes_workgroup(b.build())
