"""E5xx: control flow, barriers and subgroup operations."""

from __future__ import annotations

import vyre_wgpu.ir as vw
from tests.ir.rules.kernel import Kernel, allowed, breaks


@breaks("E501", "break stands outside of any loop")
def break_outside_loop(k: Kernel) -> None:
    with k.b.if_(k.flag):
        k.b.break_()  # <-


@breaks("E501", "continue stands outside")
def continue_after_loop(k: Kernel) -> None:
    with k.b.for_range(4):
        pass
    k.b.continue_()  # <-


@breaks("E502", "break stands in the condition")
def break_in_condition(k: Kernel) -> None:
    def condition() -> vw.Value:
        with k.b.if_(k.flag):
            k.b.break_()  # <-
        return k.flag

    with k.b.while_(condition):
        pass


@breaks("E503", "a barrier stands in the if block", "goes by global_id(0)")
def barrier_for_some_lanes(k: Kernel) -> None:
    with k.b.if_(k.i < 4):
        k.b.barrier()  # <-


@breaks("E503", "in the while block", "'left'")
def barrier_in_uneven_loop(k: Kernel) -> None:
    left = k.b.var("left", vw.u32, k.i)
    with k.b.while_(lambda: left > 0):
        left -= 1
        k.b.barrier()  # <-


@breaks("E503", "goes by 'left', as set on line")
def barrier_in_a_loop_over_a_variable_set_by_lane(k: Kernel) -> None:
    left = k.b.var("left", vw.u32, k.n)
    left.set(k.i)
    with k.b.while_(lambda: left > 0):
        left -= 1
        k.b.barrier()  # <-


@breaks("E503", "goes by 'left', as set by some lanes on line")
def barrier_in_a_loop_over_a_variable_that_some_lanes_set(k: Kernel) -> None:
    left = k.b.var("left", vw.u32, k.n)
    with k.b.if_(k.i > 3):
        left.set(3)
    with k.b.while_(lambda: left > 0):
        k.b.barrier()  # <-


@breaks("E503", "in the for block", "break, continue or end at different times")
def barrier_after_break(k: Kernel) -> None:
    with k.b.for_range(4):
        k.b.barrier()  # <-
        with k.b.if_(k.x[k.i] > 0.0):
            k.b.break_()


@breaks("E504", "subgroup_add stands in the else block", "an element of 'x'")
def subgroup_for_some_lanes(k: Kernel) -> None:
    with k.b.if_(k.x[k.i] > 0.0):
        pass
    with k.b.else_():
        k.b.let("sum", k.b.subgroup_add(k.s))  # <-


@breaks("E505", "step of the loop over 'j' is 0")
def loop_without_step(k: Kernel) -> None:
    with k.b.for_range(0, 4, 0, name="j"):  # <-
        pass


@allowed
def flow_nearly_wrong(k: Kernel) -> None:
    with k.b.if_(k.x[k.i] > 0.0):
        k.b.return_()
    k.b.barrier()
    with k.b.if_(k.x.length > k.n):
        k.b.barrier()
    left = k.b.var("left", vw.u32, k.n)

    def condition() -> vw.Value:
        k.b.barrier()
        with k.b.for_range(4):
            k.b.break_()
        return left > 0

    with k.b.while_(condition):
        left -= 1
        with k.b.if_(left == 3):
            k.b.break_()
    left.set(k.i)
    left.set(k.n)
    with k.b.while_(lambda: left > 0):
        k.b.barrier()
        left -= 1
    with k.b.for_range(0, 4, k.n):
        k.b.let("sum", k.b.subgroup_add(k.s))
        with k.b.for_range(0, k.i):
            k.b.continue_()
