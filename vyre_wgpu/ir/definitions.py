"""Which assignments a read of a variable may see, as edges of the graph that uniformity walks.

One pass over a table gives each variable, at each point, the one node that defines it there: the
``var`` row, an ``assign`` row, or a *meeting* of several of these, as phi nodes are in static
single assignment form. Definitions meet behind an ``if``, at the start of a loop and behind a loop,
and only those of variables that are assigned inside; so there are at most as many meetings as
assignments times the depth of nesting, and with them the pass stays linear in the program.

There is a most to the number of meetings, for a hostile program may have a hundred thousand
variables sixty loops deep. Beyond it every definition counts as holding everywhere.

By whose flow a meeting goes is not said here, nor needs it be: what meets behind an ``if`` or loop
that not all lanes run alike are assignments in it, which are not uniform themselves.

Where a ``break`` or ``continue`` leaves its loop's body, a variable counts as everything that the
loop assigns to it anywhere: which of it holds there would have to be kept for each jump.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .blocks import Blocks
from .ops import Op
from .program import Table

__all__ = ["Definitions", "find_definitions"]

_MOST_MEETINGS = 1_000_000
_VISITED = np.zeros(256, np.bool_)
_VISITED[[Op.VAR, Op.VAR_GET, Op.ASSIGN, Op.IF, Op.ELSE, Op.FOR, Op.WHILE, Op.DO, Op.END]] = True


@dataclass(frozen=True, slots=True)
class Definitions:
    """Edges from definitions to where they hold.

    Nodes are numbered: rows, then blocks, then meetings.

    Attributes:
        starts: for each edge where it starts: a ``var`` or ``assign`` row or a meeting.
        targets: for each edge where it leads: a ``get`` row or a meeting.
        nodes: number of nodes of all three kinds.
    """

    starts: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    nodes: int


def find_definitions(table: Table, blocks: Blocks) -> Definitions:
    """The definitions of a table whose operands and blocks are well-formed.

    Scopes may be wrong: a variable used outside of its block counts as its ``var`` row there.
    """
    walk = _Walk(table, blocks)
    codes = np.frombuffer(table.op, np.uint8)
    for row in np.flatnonzero(_VISITED[codes]).tolist():
        if walk.is_full:
            return _everywhere(table, walk.first_meeting)
        walk.take(row)
    return Definitions(
        np.array(walk.starts, np.int64), np.array(walk.targets, np.int64), walk.nodes
    )


def _everywhere(table: Table, nodes: int) -> Definitions:
    """Every definition of a variable in every read of it, by way of its ``var`` row."""
    codes = np.frombuffer(table.op, np.uint8)
    assigns, gets = np.flatnonzero(codes == Op.ASSIGN), np.flatnonzero(codes == Op.VAR_GET)
    variable = np.array(table.a, np.int64)
    starts = np.concatenate([assigns, variable[gets]])
    return Definitions(starts, np.concatenate([variable[assigns], gets]), nodes)


@dataclass(slots=True)
class _Open:
    """An open ``if`` (either part) or loop.

    Attributes:
        block: the loop's block, -1 for an ``if``.
        before: what defined each variable assigned so far, at the block's start; -1 if nothing did.
        first: of an ``if`` in its ``else`` part, what defined variables at the end of the first.
        heads: of a loop, the meeting at its start for each variable that it assigns.
        exits: of a loop, what defines these where its condition or range ends it.
    """

    block: int = -1
    before: dict[int, int] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)
    heads: dict[int, int] = field(default_factory=dict)
    exits: dict[int, int] = field(default_factory=dict)


class _Walk:
    """What defines each variable now, the open blocks, and the edges so far."""

    def __init__(self, table: Table, blocks: Blocks) -> None:
        self.table = table
        self.nodes = self.first_meeting = len(table) + len(blocks.kind)
        self.starts: list[int] = []
        self.targets: list[int] = []
        self.now: dict[int, int] = {}
        self.open: list[_Open] = []
        self.loop_at = {
            opener: block
            for block, (opener, kind) in enumerate(zip(blocks.opener, blocks.kind, strict=True))
            if kind in (Op.FOR, Op.WHILE)
        }
        self.broken = _loops_left_by(Op.BREAK, table, blocks)
        self.continued = _loops_left_by(Op.CONTINUE, table, blocks)
        self.assigned = self._assigned_in_loops(blocks)

    def _assigned_in_loops(self, blocks: Blocks) -> dict[int, dict[int, int]]:
        """For each loop the variables assigned in it, each with the meeting of all of that."""
        table, found = self.table, dict[int, dict[int, int]]()
        codes = np.frombuffer(table.op, np.uint8)
        assigns = np.flatnonzero(codes == Op.ASSIGN)
        for row, block in zip(assigns.tolist(), blocks.flow[assigns].tolist(), strict=True):
            if blocks.loop[block] >= 0:
                self.edge(row, self._any(found, blocks.loop[block], table.a[row]))
        for loop in range(len(blocks.kind) - 1, 0, -1):
            outer = blocks.loop[blocks.parent[loop]]
            if loop in found and outer >= 0 and not self.is_full:
                for variable, node in found[loop].items():
                    self.edge(node, self._any(found, outer, variable))
        return found

    @property
    def is_full(self) -> bool:
        """Whether there are too many meetings to go on."""
        return self.nodes - self.first_meeting > _MOST_MEETINGS

    def _any(self, found: dict[int, dict[int, int]], loop: int, variable: int) -> int:
        of_loop = found.setdefault(loop, {})
        if variable not in of_loop:
            of_loop[variable] = self.meeting()
        return of_loop[variable]

    def edge(self, start: int, target: int) -> None:
        self.starts.append(start)
        self.targets.append(target)

    def meeting(self, *definitions: int) -> int:
        """A new node where some definitions meet."""
        node = self.nodes
        self.nodes += 1
        for definition in definitions:
            self.edge(definition, node)
        return node

    def define(self, variable: int, node: int) -> None:
        if self.open:
            self.open[-1].before.setdefault(variable, self.now.get(variable, -1))
        self.now[variable] = node

    def take(self, row: int) -> None:
        table = self.table
        match table.op[row]:
            case Op.VAR:
                self.define(row, row)
            case Op.VAR_GET:
                self.edge(self.now.get(table.a[row], table.a[row]), row)
            case Op.ASSIGN:
                self.define(table.a[row], row)
            case Op.IF:
                self.open.append(_Open())
            case Op.ELSE:
                part = self.open.pop()
                self.open.append(_Open(first=self.restore(part)))
            case Op.DO:
                loop = self.open[-1]
                loop.exits = {variable: self.now[variable] for variable in loop.heads}
            case Op.FOR | Op.WHILE:
                self.enter_loop(self.loop_at[row])
            case _:
                part = self.open.pop()
                if part.block < 0:
                    self.leave_branch(part)
                else:
                    self.leave_loop(part)

    def restore(self, part: _Open) -> dict[int, int]:
        """Goes back to the definitions at a block's start; returns those at its end.

        Variables that were declared in the block are left out.
        """
        after: dict[int, int] = {}
        for variable, before in part.before.items():
            if before < 0:
                del self.now[variable]
            else:
                after[variable] = self.now[variable]
                self.now[variable] = before
        return after

    def leave_branch(self, part: _Open) -> None:
        """Behind an ``if`` what its parts leave meets; without an ``else`` one does nothing."""
        last = self.restore(part)
        for variable in part.first | last:
            before = self.now[variable]
            ends = (part.first.get(variable, before), last.get(variable, before))
            self.define(variable, self.meeting(*ends))

    def enter_loop(self, block: int) -> None:
        """At a loop's start meets what was before it and what an iteration leaves."""
        loop = _Open(block)
        for variable, anywhere in self.assigned.get(block, {}).items():
            before = self.now.get(variable, -1)
            if before < 0:
                continue
            loop.before[variable] = before
            head = loop.heads[variable] = self.meeting(before)
            if block in self.continued:
                self.edge(anywhere, head)
            self.now[variable] = head
        loop.exits = loop.heads
        self.open.append(loop)

    def leave_loop(self, loop: _Open) -> None:
        """Behind a loop meets what its condition sees last and what its breaks leave."""
        after = self.restore(loop)
        for variable, head in loop.heads.items():
            self.edge(after[variable], head)
            end = loop.exits[variable]
            if loop.block in self.broken:
                end = self.meeting(end, self.assigned[loop.block][variable])
            self.define(variable, end)


def _loops_left_by(leap: Op, table: Table, blocks: Blocks) -> set[int]:
    """The blocks of the loops that a ``break`` or ``continue`` belongs to."""
    leaps = np.flatnonzero(np.frombuffer(table.op, np.uint8) == leap)
    return {blocks.loop[block] for block in blocks.flow[leaps].tolist()}
