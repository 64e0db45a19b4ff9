"""Of which buffers each lane touches no element but its own, so that a dispatch may be cut.

A part runs some consecutive lanes, and needs of such a buffer the elements of these lanes only.
"""

from __future__ import annotations

from .ops import INFO, Op
from .program import Program, Table
from .types import dtype_from_code

__all__ = ["can_run_in_parts", "shared_accesses", "split_buffers"]

_MOST_CASTS = 4
"""Casts of casts that are looked through: a program may have a hundred thousand."""


def can_run_in_parts(program: Program) -> bool:
    """Whether a program's lanes may run in several launches, whole workgroups in each.

    They have no order among each other, so one launch may follow another. All that a lane sees of
    its launch is the number of workgroups. Lanes are cut along the one axis of the extent.
    """
    return len(program.extent) == 1 and Op.NUM_WORKGROUPS not in program.table.op


def shared_accesses(program: Program) -> dict[int, int]:
    """The storage buffers that are accessed at another index than ``global_id(0)``.

    The index may be cast to an integer of 32 or 64 bits: that is the same element, or, where it
    does not fit and wraps to below 0, one out of bounds. Every other index counts as another one,
    even if it is always equal.

    Args:
        program: a valid program.

    Returns:
        For each such buffer, by its index, the row of the first such access.
    """
    table = program.table
    found: dict[int, int] = {}
    for row, code in enumerate(table.op):
        if INFO[code].group == "memory" and program.buffers[table.const[row]].kind.is_storage:
            index = _uncast(table, table.a[row])
            if table.op[index] != Op.GLOBAL_ID or table.const[index] != 0:
                found.setdefault(table.const[row], row)
    return found


def split_buffers(program: Program) -> frozenset[int]:
    """The storage buffers of which a part of the lanes needs a part; none if there are no parts.

    Args:
        program: a valid program.

    Returns:
        Indices of the program's buffers; those that it does not access at all are among them.
    """
    if not can_run_in_parts(program):
        return frozenset()
    storage = {i for i, buffer in enumerate(program.buffers) if buffer.kind.is_storage}
    return frozenset(storage - shared_accesses(program).keys())


def _uncast(table: Table, row: int) -> int:
    """The row whose value an index has, behind names and a few casts that keep or wrap 32 bits."""
    row = table.value_of(row)
    for _ in range(_MOST_CASTS):
        dtype = table.dtype[row]
        if table.op[row] != Op.CAST or not _is_wide(dtype):
            break
        row = table.value_of(table.a[row])
    return row


def _is_wide(code: int) -> bool:
    dtype = dtype_from_code(code)
    return dtype.is_integer and dtype.bits >= 32
