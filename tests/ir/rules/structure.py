"""E1xx and E6xx: the structure that a builder lets one get wrong, and limits."""

from __future__ import annotations

import vyre_wgpu.ir as vw
from tests.ir.rules.kernel import Kernel, allowed, breaks


@breaks("E101", "else_ does not directly follow")
def else_after_statement(k: Kernel) -> None:
    with k.b.if_(k.flag):
        k.y[0] = 1.0
    k.y[1] = 1.0
    with k.b.else_():  # <-
        k.y[2] = 1.0


@breaks("E102", "if block is still open")
def build_inside_block(k: Kernel) -> None:
    with k.b.if_(k.flag):  # <-
        k.b.build()


@breaks("E110", "(0, 1, 1)")
def empty_workgroup(k: Kernel) -> None:
    k.b._workgroup_size = (0, 1, 1)


@breaks("E601", "100001 operations", "100000")
def too_long(k: Kernel) -> None:
    value = k.s
    for _ in range(100_001):
        value = value + 1.0


@allowed
def fifty_thousand_loads_in_a_sum(k: Kernel) -> None:
    total = k.x[k.i]
    for term in range(1, 50_000):
        total = total + k.x[k.i + term]


@breaks("E602", "more than 64 deep")
def too_deep(k: Kernel) -> None:
    nest(k, 65)


@breaks("E603", "1001 buffers and params")
def too_many_params(k: Kernel) -> None:
    for index in range(1001 - 6):
        k.b.param(f"p{index}", vw.u32)


@breaks("E604", "65537 lanes")
def too_wide(k: Kernel) -> None:
    k.b._workgroup_size = (1, 1 << 16 | 1, 1)


@allowed
def limits_nearly_passed(k: Kernel) -> None:
    nest(k, 64)
    for index in range(1000 - 6):
        k.b.param(f"p{index}", vw.u32)
    value = k.s
    for _ in range(99_900):
        value = value + 1.0
    k.b._workgroup_size = (1, 1 << 16, 1)


def nest(k: Kernel, depth: int) -> None:
    blocks = [k.b.if_(k.flag) for _ in range(depth)]
    for block in blocks:
        block.__exit__(None, None, None)
