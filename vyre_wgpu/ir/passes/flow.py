"""Branches and loops whose course is known: what cannot run goes, what always runs loses its block.

An ``if`` with a literal condition becomes the block it takes, a ``for`` without iterations goes, of
a ``while`` that is false at once its condition block is left, and what follows a ``return``,
``trap``, ``break`` or ``continue`` in its block goes too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..blocks import find_blocks
from ..ops import Op
from ..types import dtype_from_code
from .rewrite import DROPPED, Draft

__all__ = ["settle_flow"]

_ENDS = (Op.RETURN, Op.TRAP, Op.BREAK, Op.CONTINUE)
_CONTROL = np.zeros(256, np.bool_)
_CONTROL[[*_ENDS, Op.IF, Op.ELSE, Op.END, Op.FOR, Op.WHILE, Op.DO]] = True


@dataclass(slots=True)
class _Open:
    """An open block, or part of one.

    Attributes:
        kind: the row's operation that opens it: `Op.WHILE` for a condition, `Op.DO` for a body; 0
            for the program.
        row: the row that opens it.
        end: the row that ends it.
        ended: the row that no lane passes in it, or -1.
        first_ended: of an ``else``, that no lane passes the other part.
    """

    kind: int
    row: int
    end: int
    ended: int = -1
    first_ended: bool = False


def settle_flow(draft: Draft) -> bool:
    """Removes what cannot run; says whether there was any. Literals must be folded before."""
    return _Settler(draft).run()


class _Settler:
    """Goes over the rows that steer, with a stack of open blocks."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        blocks, _ = find_blocks(bytes(draft.op))
        self.end = {
            (opener, kind == Op.ELSE): end
            for opener, kind, end in zip(blocks.opener, blocks.kind, blocks.end, strict=True)
        }
        self.open = [_Open(0, -1, len(draft))]
        self.changed = False

    def run(self) -> bool:
        op = self.draft.op
        for row in np.flatnonzero(_CONTROL[np.frombuffer(bytes(op), np.uint8)]).tolist():
            match op[row]:
                case Op.IF:
                    self.branch(row)
                case Op.FOR if self.runs_never(row):
                    self.drop(row, self.end[row, False] + 1)
                case Op.FOR | Op.WHILE:
                    self.open.append(_Open(op[row], row, self.end[row, False]))
                case Op.ELSE:
                    first = self.open.pop()
                    end = self.end[first.row, True]
                    self.open.append(_Open(Op.ELSE, row, end, first_ended=first.ended >= 0))
                case Op.DO:
                    self.enter_body(row)
                case Op.END:
                    part = self.open.pop()
                    if part.first_ended and part.ended >= 0:
                        self.stop(row)
                case code if code != DROPPED:
                    self.stop(row)
        return self.changed

    def drop(self, first: int, last: int) -> None:
        if any(self.draft.op[first:last]):
            self.draft.drop(first, last)
            self.changed = True

    def branch(self, row: int) -> None:
        """An ``if``: open, or only the rows of the part that is taken."""
        condition = self.draft.literal_bits(self.draft.a[row])
        then_end = self.end[row, False]
        if condition is None:
            self.open.append(_Open(Op.IF, row, then_end))
            return
        end = self.end.get((row, True), then_end)
        self.draft.forget_names(row, end)
        if condition:
            self.drop(row, row + 1)
            self.drop(then_end, end + 1)
        else:
            self.drop(row, then_end + 1)
            self.drop(end, end + 1)

    def runs_never(self, row: int) -> bool:
        """Whether a ``for`` has no iterations."""
        draft = self.draft
        if draft.a[row] == draft.b[row]:
            return True
        dtype = dtype_from_code(draft.dtype[row])
        numbers: list[int] = []
        for operand in (draft.a[row], draft.b[row], draft.c[row]):
            bits = draft.literal_bits(operand)
            if bits is None:
                return False
            numbers.append(int(dtype.decode(bits)))
        start, stop, step = numbers
        return step == 0 or not range(start, stop, step)

    def enter_body(self, row: int) -> None:
        """The ``do`` of a while: its body follows, unless it is never run."""
        loop = self.open[-1]
        if self.draft.literal_bits(self.draft.a[row]) != 0:
            loop.kind, loop.ended = Op.DO, -1
            return
        self.open.pop()
        self.draft.forget_names(loop.row, row)
        self.drop(loop.row, loop.row + 1)
        self.drop(row, loop.end + 1)
        if loop.ended >= 0:
            self.stop(loop.ended)

    def stop(self, row: int) -> None:
        """No lane goes on behind a row: what follows in its block is never run."""
        block = self.open[-1]
        block.ended = row
        if block.kind != Op.WHILE:  # the condition of a while must be there
            self.drop(row + 1, block.end)
