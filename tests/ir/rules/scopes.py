"""E3xx: where values and names may be used."""

from __future__ import annotations

import vyre_wgpu.ir as vw
from tests.ir.rules.kernel import Kernel, allowed, breaks


@breaks("E301", "u32 value of another builder")
def foreign_value(k: Kernel) -> None:
    k.u[0] = Kernel().i  # <-


@breaks("E302", "an element of 'x'", "outside the block", "computed at line")
def value_outside_its_block(k: Kernel) -> None:
    with k.b.if_(k.flag):
        value = k.x[k.i]
    k.y[k.i] = value  # <-


@breaks("E302", "the loop index 'j' is used outside its loop")
def index_outside_its_loop(k: Kernel) -> None:
    with k.b.for_range(4, name="j") as j:
        pass
    k.u[0] = j  # <-


@breaks("E302", "variable 'v' is used outside its block")
def variable_in_other_part(k: Kernel) -> None:
    with k.b.if_(k.flag):
        v = k.b.var("v", vw.u32)
    with k.b.else_():
        v.set(1)  # <-


@breaks("E303", "local 'v'")
def shadowing(k: Kernel) -> None:
    k.b.let("v", k.x[0])
    with k.b.if_(k.flag):
        k.b.var("v", vw.u32)  # <-


@breaks("E303", "local 'j'")
def shadowing_index(k: Kernel) -> None:
    with k.b.for_range(4, name="j"), k.b.for_range(4, name="j"):  # <-
        pass


@breaks("E304", "local 'x' has the name of a buffer")
def local_named_as_buffer(k: Kernel) -> None:
    k.b.let("x", k.x[0])  # <-


@breaks("E304", "local 's' has the name of a param")
def local_named_as_param(k: Kernel) -> None:
    k.b.var("s", vw.u32)  # <-


@allowed
def names_nearly_taken(k: Kernel) -> None:
    with k.b.if_(k.flag):
        k.b.let("v", k.x[0])
    with k.b.else_():
        k.b.let("v", k.x[0])
    for _ in range(2):
        with k.b.for_range(4, name="j") as j:
            k.u[j] = j
    k.b.let("v", k.x[0])
    k.b.let("", k.x[0])
    k.b.let("", k.x[0])


@allowed
def condition_value_used_in_the_body(k: Kernel) -> None:
    count = k.b.var("count", vw.u32)
    seen: list[vw.Value] = []

    def condition() -> vw.Value:
        seen.append(k.b.let("seen", k.x[count]))
        return seen[0] > 0.0

    with k.b.while_(condition):
        k.y[count] = seen[0]
        count += 1
