"""Dead code: what no effect depends on goes.

Live are effects (stores, atomics, subgroup operations, barriers, traps, returns, rows that may trap
on their own), whatever live rows use, the blocks that live rows stand in, and what is assigned to a
variable that is read. A ``for`` without any of these always ends, so it goes, unless its iterations
are counted; a ``while`` may not end, so it stays.
"""

from __future__ import annotations

import numpy as np

from ..blocks import Blocks, find_blocks
from ..ops import INFO, Op
from .rewrite import DROPPED, Draft

__all__ = ["remove_dead"]

_REMOVABLE = np.ones(256, np.bool_)
"""Rows that are no effect in themselves."""
for _op, _info in INFO.items():
    _REMOVABLE[_op] = _info.pure or _info.group == "name"
_REMOVABLE[[Op.LOAD, Op.IF, Op.ELSE, Op.END, Op.FOR, Op.DO, Op.BREAK, Op.CONTINUE]] = True


def remove_dead(draft: Draft) -> None:
    """Drops all rows that nothing observable depends on."""
    blocks, _ = find_blocks(bytes(draft.op))
    live = _mark(draft, blocks)
    op = np.frombuffer(draft.op, np.uint8)
    op[~np.frombuffer(live, np.bool_)] = DROPPED


def _roots(draft: Draft) -> list[int]:
    op = np.frombuffer(bytes(draft.op), np.uint8)
    effects = ~_REMOVABLE[op] | (np.frombuffer(draft.traps, np.uint8) != 0)
    if draft.keep_loops:
        effects |= op == Op.FOR
    rows: list[int] = np.flatnonzero(effects & (op != DROPPED)).tolist()
    return rows


def _mark(draft: Draft, blocks: Blocks) -> bytearray:
    """1 for each live row."""
    columns = (draft.a, draft.b, draft.c)
    codes = bytes(draft.op)
    steering = _steering_rows(codes, blocks)
    body = {
        opener: block
        for block, (opener, kind) in enumerate(zip(blocks.opener, blocks.kind, strict=True))
        if kind in (Op.FOR, Op.WHILE)
    }
    assigned = _assignments(draft, codes)
    around = blocks.flow.tolist()
    live = bytearray(len(codes))
    pending = _roots(draft)
    for row in pending:
        live[row] = 1
    while pending:
        row = pending.pop()
        needed: list[int] = []
        for column in columns:
            if column[row] < 0:
                break
            needed.append(column[row])
        # A block that has been seen has no steering rows left to give.
        block = around[row]
        if steering[block]:
            needed += steering[block]
            steering[block] = []
        if row in body:
            needed += steering[body[row]]
            steering[body[row]] = []
        if codes[row] == Op.VAR_GET:
            needed += assigned.pop(draft.a[row], ())
        for other in needed:
            if not live[other]:
                live[other] = 1
                pending.append(other)
    return live


def _steering_rows(codes: bytes, blocks: Blocks) -> list[list[int]]:
    """For each block the rows that must stay where it does: its own, and leaps out of a loop."""
    # An `if` has one or two parts; the first of two ends at the `else`.
    ends: dict[int, list[int]] = {}
    for opener, end in zip(blocks.opener, blocks.end, strict=True):
        ends.setdefault(opener, []).append(end)
    rows: list[list[int]] = [[]]
    for block in range(1, len(blocks.end)):
        opener, kind = blocks.opener[block], blocks.kind[block]
        own = [opener, ends[opener][-1]]
        if kind == Op.WHILE:
            own.append(blocks.do[block])
        elif kind == Op.ELSE:
            own.append(ends[opener][0])
        rows.append(own)
    op = np.frombuffer(codes, np.uint8)
    for row in np.flatnonzero((op == Op.BREAK) | (op == Op.CONTINUE)).tolist():
        rows[blocks.loop[blocks.flow[row]]].append(row)
    return rows


def _assignments(draft: Draft, codes: bytes) -> dict[int, list[int]]:
    """The rows that assign to each variable."""
    rows: dict[int, list[int]] = {}
    for row in np.flatnonzero(np.frombuffer(codes, np.uint8) == Op.ASSIGN).tolist():
        rows.setdefault(draft.a[row], []).append(row)
    return rows
