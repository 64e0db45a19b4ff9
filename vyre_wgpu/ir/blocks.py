"""The block structure of a table: which block each row stands in, found in one pass.

Blocks are ranges of rows: an ``if`` has one or two (its parts), a ``for`` one, a ``while`` one that
holds condition and body, for a value of the condition may be used in the body. Block 0 is the
program itself. Validation, uniformity and lowering all need this, so it is found in one place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .ops import Op

__all__ = ["BlockFault", "Blocks", "find_blocks"]

_OPENERS = (Op.IF, Op.FOR, Op.WHILE)
_CONTROL = np.zeros(256, np.bool_)
_CONTROL[[*_OPENERS, Op.ELSE, Op.END, Op.DO]] = True


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a table, by block number; a block's number is above its parent's.

    Attributes:
        scope: for each row, the block in which its value is visible. A ``for`` row's value, the
            index, is visible in the body only; for other rows this is the block they stand in.
        flow: for each row, the block with which it runs: the enclosing one for rows that open,
            divide or close a block.
        kind: ``Op.IF``, ``Op.ELSE``, ``Op.FOR`` or ``Op.WHILE``; 0 for the program.
        opener: the ``if``, ``for`` or ``while`` row it belongs to, -1 for the program.
        end: the row that ends the block, the number of rows for the program.
        parent: the enclosing block, -1 for the program.
        loop: the innermost loop's block that contains the block or is it, -1 outside of loops.
        depth: number of enclosing blocks.
        do: for the block of a ``while``, its ``do`` row; -1 for others.
    """

    scope: npt.NDArray[np.int64]
    flow: npt.NDArray[np.int64]
    kind: list[int]
    opener: list[int]
    end: list[int]
    parent: list[int]
    loop: list[int]
    depth: list[int]
    do: list[int]


@dataclass(frozen=True, slots=True)
class BlockFault:
    """A row that breaks the block structure.

    Attributes:
        code: the rule of the validator that it breaks.
        row: the row.
        message: what is wrong.
    """

    code: str
    row: int
    message: str


class _Walk:
    """Blocks so far, and the stack of open ones."""

    def __init__(self, rows: int) -> None:
        self.kind = [0]
        self.opener = [-1]
        self.end = [rows]
        self.parent = [-1]
        self.loop = [-1]
        self.depth = [0]
        self.do = [-1]
        self.open = [0]
        self.starts = [0]
        self.scopes = [0]
        self.dividers: list[int] = []
        self.flows: list[int] = []
        self.faults: list[BlockFault] = []

    def fault(self, code: str, row: int, message: str) -> None:
        self.faults.append(BlockFault(code, row, message))

    def enter(self, kind: int, opener: int, row: int) -> None:
        """Opens a block at a row; ``opener`` differs from it for the ``else`` part of an ``if``."""
        block, parent = len(self.kind), self.open[-1]
        self.kind.append(kind)
        self.opener.append(opener)
        self.end.append(self.end[0])
        self.parent.append(parent)
        self.loop.append(block if kind in (Op.FOR, Op.WHILE) else self.loop[parent])
        self.depth.append(self.depth[parent] + 1)
        self.do.append(-1)
        self.open.append(block)
        self._boundary(row, parent, block)

    def leave(self, row: int) -> None:
        block = self.open.pop()
        self.end[block] = row
        if self.kind[block] == Op.WHILE and self.do[block] < 0:
            self.fault("E104", self.opener[block], "a while has no do after its condition")
        self._boundary(row, self.open[-1], self.open[-1])

    def _boundary(self, row: int, flow: int, scope: int) -> None:
        self.dividers.append(row)
        self.flows.append(flow)
        self.starts.append(row)
        self.scopes.append(scope)


def find_blocks(op: bytes) -> tuple[Blocks, list[BlockFault]]:
    """The blocks of an operation column; meaningful only where there are no faults.

    Never raises, whatever the bytes are.
    """
    codes = np.frombuffer(op, np.uint8)
    rows = len(op)
    walk = _Walk(rows)
    controls = np.flatnonzero(_CONTROL[codes])
    for row, code in zip(controls.tolist(), codes[controls].tolist(), strict=True):
        if code in _OPENERS:
            walk.enter(code, row, row)
        else:
            _divide(walk, row, code)
    for block in walk.open[1:]:
        walk.fault("E102", walk.opener[block], f"the {_place(walk.kind[block])} is not closed")
    starts = np.array([*walk.starts, rows], np.int64)
    scope = np.repeat(np.array(walk.scopes, np.int64), starts[1:] - starts[:-1])
    flow = scope.copy()
    flow[walk.dividers] = walk.flows
    blocks = Blocks(
        scope,
        flow,
        walk.kind,
        walk.opener,
        walk.end,
        walk.parent,
        walk.loop,
        walk.depth,
        walk.do,
    )
    return blocks, walk.faults


def _divide(walk: _Walk, row: int, code: int) -> None:
    """Takes an ``else``, ``do`` or ``end``, which need an open block of the right kind."""
    block = walk.open[-1]
    kind = walk.kind[block]
    if code == Op.END:
        if block:
            walk.leave(row)
        else:
            walk.fault("E103", row, "an end stands where no block is open")
    elif code == Op.ELSE:
        if kind == Op.IF:
            walk.leave(row)
            walk.enter(Op.ELSE, walk.opener[block], row)
        else:
            walk.fault("E101", row, f"an else stands in the {_place(kind)}, not in an if block")
    elif kind != Op.WHILE:
        walk.fault("E104", row, f"a do stands in the {_place(kind)}, not in a while block")
    elif walk.do[block] >= 0:
        walk.fault("E104", row, "a while has a second do")
    else:
        walk.do[block] = row


def _place(kind: int) -> str:
    return f"{Op(kind).name.lower()} block" if kind else "program itself"
