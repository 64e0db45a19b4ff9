"""Which lanes trap under checks, at what: the same set on every backend.

Each body gets lanes 0 to 7, ``v`` holding ``VALUES`` and buffers of 8 elements. A device raises one
of the traps of the set; the oracle has them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends import Backend
from vyre_wgpu.backends.reference import ReferenceBackend

TRAP = vw.CompileOptions(checks="trap")
VALUES = np.array([0, 1, 2, 3, 8, -1, 7, 0], np.int32)
OUT, ZERO = "out-of-bounds", "division-by-zero"
Traps = set[tuple[str, int, int]]

CASES: dict[Callable[..., None], Traps] = {}


def case(*traps: tuple[str, int, int]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Registers a body with its traps: tag, address, lane."""

    def register(body: Callable[..., None]) -> Callable[..., None]:
        CASES[body] = set(traps)
        return body

    return register


@case((OUT, 8, 4), (OUT, -1, 5))
def stores(b: Any, i: Any, v: Any, y: Any) -> None:
    y[v] = 1


@case()
def a_branch_not_taken(b: Any, i: Any, v: Any, y: Any) -> None:
    with b.if_((v >= 0) & (v < 8)):
        y[v] = 1
    with b.if_(v != 0):
        y[i] = 5 // v


@case((OUT, 8, 4))
def both_branches(b: Any, i: Any, v: Any, y: Any) -> None:
    with b.if_(v < 0), b.if_(v != -1):
        y[v] = 1
    with b.else_(), b.if_(i % 2 == 0):
        y[v] = 1


@case((ZERO, 0, 0), (ZERO, 0, 7))
def a_quotient_nobody_uses(b: Any, i: Any, v: Any, y: Any) -> None:
    vw.rem(5, v)
    y[i] = 1


@case((ZERO, 0, 0), (ZERO, 0, 7))
def a_quotient_of_a_select(b: Any, i: Any, v: Any, y: Any) -> None:
    """Both sides are evaluated."""
    y[i] = vw.select(v == 0, 0, 5 // v)


@case((ZERO, 0, 0), (ZERO, 0, 7))
def a_shared_quotient_traps_where_it_is_written_first(b: Any, i: Any, v: Any, y: Any) -> None:
    q = 5 % v
    with b.if_(v != 0):
        y[i] = 5 % v + q


@case((ZERO, 0, 0), (ZERO, 0, 7))
def equal_quotients_in_two_branches(b: Any, i: Any, v: Any, y: Any) -> None:
    """Are two, and the one whose lanes have other divisors does not trap."""
    with b.if_(v > 0):
        y[i] = 5 // v
    with b.else_():
        y[i] = 5 // v


@case((OUT, 8, 4), (OUT, -1, 5), (ZERO, 0, 0), (ZERO, 0, 7))
def the_first_fault_of_a_lane(b: Any, i: Any, v: Any, y: Any) -> None:
    """Lanes 4 and 5 do not come to their second."""
    y[v] = 1
    y[i] = 5 // (v * (8 - v) * (v + 1))


@case((OUT, 8, 4), (OUT, -1, 5), ("mine", 6, 6))
def a_trap_behind_a_fault(b: Any, i: Any, v: Any, y: Any) -> None:
    y[v]
    with b.if_((v == 8) | (v == 7)):
        b.trap("mine", i)


@case((OUT, 8, 3), (OUT, 8, 4), (OUT, 8, 6))
def rounds_of_nested_loops(b: Any, i: Any, v: Any, y: Any) -> None:
    """Some lanes fault in the first round, some later, some leave before."""
    with b.for_range(vw.i32(0), 3) as k:
        with b.if_(v < 2):
            b.break_()
        with b.for_range(vw.i32(0), 4) as n:
            with b.if_((n == 3) & (v != 3)):
                b.continue_()
            y[v + k * (n + 1) // 3] = 1
            with b.if_(v == 3):
                y[v + k + n] = 1


@case((OUT, 8, 0), (OUT, 8, 1), (OUT, 8, 2), (OUT, 8, 3), (OUT, 8, 4), (OUT, -1, 5), (OUT, 8, 6),
      (OUT, 8, 7))  # fmt: skip
def the_condition_of_a_loop(b: Any, i: Any, v: Any, y: Any) -> None:
    n = b.var("n", vw.i32, v)
    with b.while_(lambda: y[n] == 0):
        n += 1


@case((ZERO, 0, 0), (ZERO, 0, 7))
def the_bounds_of_a_loop(b: Any, i: Any, v: Any, y: Any) -> None:
    with b.for_range(0, 5 // v):
        y[i] = 1


@case((OUT, 8, 4), (OUT, -1, 5))
def every_atomic(b: Any, i: Any, v: Any, y: Any) -> None:
    for name in ("add", "sub", "and", "or", "xor", "min", "max", "exchange"):
        getattr(b, f"atomic_{name}")(y, v, 1)


@case((OUT, 8, 4), (OUT, -1, 5))
def compare_exchange(b: Any, i: Any, v: Any, y: Any) -> None:
    b.atomic_compare_exchange(y, v, 0, 1)


@case((OUT, 3, 3), (OUT, 8, 4), (OUT, -1, 5), (OUT, 7, 6))
def private_arrays(b: Any, i: Any, v: Any, y: Any) -> None:
    p = b.private("p", vw.u8, 3)
    p[v] = 1
    y[i] = p[0].cast(vw.i32)


@case((OUT, 8, 4), (OUT, -1, 5), *(("late", 0, lane) for lane in (0, 1, 2, 3, 6, 7)))
def workgroup_memory_and_barriers(b: Any, i: Any, v: Any, y: Any) -> None:
    """Lanes that ended go on meeting the barriers and store nothing behind them."""
    w = b.workgroup("w", vw.i32, 8)
    with b.for_range(0, 2):
        w[v] = 1
        b.barrier()
        y[i] = w[i]
        b.barrier()
    b.trap("late", 0)


@case((OUT, 8, 4), (OUT, 0xFFFFFFFF, 5), (OUT, 0xFFFFFFFE, 6))
def indices_of_64_bits(b: Any, i: Any, v: Any, y: Any) -> None:
    """Of which a trap has the lower half."""
    with b.if_(v == 7):
        y[v.cast(vw.u64) - 9] = 1
    y[v.cast(vw.i64)] = 1


@case((OUT, -1, 5), (OUT, -128, 4))
def narrow_indices(b: Any, i: Any, v: Any, y: Any) -> None:
    y[(v * 16).cast(vw.i8) >> (v < 8).cast(vw.u32) * 4] = 1


@case((OUT, 1 << 31, 4), (OUT, 0xFFFFFFFF, 5))
def huge_unsigned_indices(b: Any, i: Any, v: Any, y: Any) -> None:
    y[vw.select(v == 8, 1 << 31, v.bitcast(vw.u32))] = 1


@case((OUT, 8, 4), (OUT, -1, 5))
def packed_elements(b: Any, i: Any, v: Any, y: Any) -> None:
    b.output("z", vw.u8, 8)[v] = 1


@case((OUT, 0, 0), (OUT, 1, 1), (OUT, 2, 2), (OUT, 3, 3), (OUT, 8, 4), (OUT, -1, 5), (OUT, 7, 6),
      (OUT, 0, 7))  # fmt: skip
def an_empty_buffer(b: Any, i: Any, v: Any, y: Any) -> None:
    b.output("z", vw.i16, y.length - 8)[v] = 1


@case((OUT, 9, 0), (OUT, 9, 1), (OUT, 9, 2), (OUT, 9, 3), (OUT, 9, 4), (OUT, 9, 5), (OUT, 9, 6),
      (OUT, 9, 7))  # fmt: skip
def one_index_for_all(b: Any, i: Any, v: Any, y: Any) -> None:
    y[y.length + 1]


@case((ZERO, 0, 0), (ZERO, 0, 7))
def wide_divisors(b: Any, i: Any, v: Any, y: Any) -> None:
    vw.trunc_div(b.let("", vw.i64(3)), v.cast(vw.i64))


@pytest.mark.parametrize("body", CASES, ids=lambda body: body.__name__)
def test_the_set_of_traps(body: Callable[..., None], any_backend: Backend) -> None:
    b = vw.ProgramBuilder(body.__name__, workgroup_size=8)
    x, y = b.read("x", vw.i32), b.read_write("y", vw.i32)
    b.extent(x.length)
    i = b.global_id()
    body(b, i, x[i], y)
    program = b.build()
    y0 = np.zeros(8, np.int32)
    expected = {(tag, address, (lane,)) for tag, address, lane in CASES[body]}
    found = None
    try:
        any_backend.compile(program, TRAP).dispatch([VALUES, y0])
    except vw.TrapError as error:
        found = (error.tag, error.address, error.lane)
    assert found in expected if expected else found is None
    for seed in (None, 1, 2):
        oracle = ReferenceBackend(seed=seed).compile(program, TRAP)
        assert {tuple(trap) for trap in oracle.traps([VALUES, y0])} == expected
