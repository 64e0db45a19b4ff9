"""Which values and which control flow are the same for all lanes of a workgroup.

Validation refuses barriers and subgroup operations where they are not; lowering keeps what is
uniform out of its predicates. Non-uniformity spreads from its sources (loads, atomics, lane ids,
subgroup results) along uses, assignments and control flow until nothing changes. That is
reachability in a graph of rows, blocks and meetings of assignments (`definitions`), so it takes
time linear in the program.

A variable is followed from assignment to assignment: what differs between lanes now may be the same
for all later. An assignment where flow is not uniform is not uniform itself, whatever it assigns,
for some lanes do not run it, or run it more often.

Traps and returns do not count: the lowering predicates them, a lane that trapped or returned still
runs through all later flow. So it must also run the assignments to uniform variables, or a uniform
condition would differ in it. The exception is a loop that holds a trap or return but no barrier: a
lane that has ended leaves it (it might never end otherwise), so what it assigns is not uniform.
Where that would part lanes at a barrier or subgroup operation, ended lanes stay in such loops too,
but for those whose condition is a constant, which they could not leave at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .blocks import Blocks, find_blocks
from .definitions import find_definitions
from .ops import OPS, Op
from .program import Program, Table

__all__ = ["Uniformity", "analyze", "spread"]

_LANE_LEAVES = (Op.GLOBAL_ID, Op.LOCAL_ID, Op.SUBGROUP_SIZE, Op.SUBGROUP_LANE)

_SOURCE = np.zeros(256, np.bool_)
"""Rows whose value may differ from lane to lane whatever their operands are."""
_COLLECTIVE = np.zeros(256, np.bool_)
"""Rows that all lanes of a workgroup must run together."""
_SPREADS = np.zeros(256, np.bool_)
"""Rows whose value may differ where an operand does."""
_HAS_VALUE = np.zeros(256, np.bool_)
for _op, _info in OPS.items():
    _COLLECTIVE[_op] = _op is Op.BARRIER or (_info.group == "subgroup")
    _HAS_VALUE[_op] = _info.result != "void"
    _SOURCE[_op] = _op in _LANE_LEAVES or (
        _info.group in ("memory", "subgroup") and _info.result != "void"
    )
    _SPREADS[_op] = (_info.pure or _op in (Op.LET, Op.VAR, Op.FOR)) and _info.arity > 0

Edges = list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]


@dataclass(frozen=True, slots=True)
class Uniformity:
    """What is the same for all lanes of a workgroup, row by row.

    Attributes:
        value: 1 where the row yields a value that is the same for all lanes that compute it; a
            ``var`` row stands for the variable's first value.
        flow: 1 where the row is run by all lanes or by none, traps and returns aside. For a row
            that opens or ends a block, that is the flow around the block.
        body: 1 for an ``if``, ``for`` or ``while`` row whose (first) block is run by all lanes or
            by none, and in a loop as often by each.
        origins: for each node of the graph, rows first, the one from which it was first found not
            to be uniform; itself where that begins, -1 where it is uniform.
    """

    value: bytes
    flow: bytes
    body: bytes
    origins: list[int]

    def cause(self, row: int) -> int:
        """The row that made another one differ between lanes, itself if nothing did.

        Of a ``get``, that is the assignment that it sees; of an assignment, what it assigns or what
        decides whether it is run.
        """
        node = self.origins[row]
        while node >= len(self.value) and self.origins[node] != node:
            node = self.origins[node]
        return node if 0 <= node < len(self.value) else row


def analyze(program: Program) -> Uniformity:
    """The uniformity of each row of a valid program."""
    blocks, _ = find_blocks(program.table.op)
    return spread(program.table, blocks)


def spread(table: Table, blocks: Blocks) -> Uniformity:
    """As `analyze`, for a table whose operands and blocks are known to be well-formed."""
    op = np.frombuffer(table.op, np.uint8)
    definitions = find_definitions(table, blocks)
    edges = [*_value_edges(table, op), *_flow_edges(table, op, blocks)]
    graph = _graph([*edges, (definitions.starts, definitions.targets)], definitions.nodes)
    left = _loops_that_ended_lanes_may_leave(op, blocks)
    found = _reach(op, blocks, graph, left)
    if left and np.any(_COLLECTIVE[op] & (np.frombuffer(found.flow, np.uint8) == 0)):
        endless = [loop for loop in left if _has_constant_condition(table, blocks, loop)]
        found = _reach(op, blocks, graph, endless)
    return found


def _reach(op: npt.NDArray[np.uint8], blocks: Blocks, graph: _Graph, left: list[int]) -> Uniformity:
    """What stays uniform if ended lanes leave some loops early."""
    rows = len(op)
    sources = np.concatenate([np.flatnonzero(_SOURCE[op]), rows + np.array(left, np.int64)])
    origins = graph.reachable(sources)
    varies = np.array(origins, np.int64) >= 0
    value = ~varies[:rows] & _HAS_VALUE[op]
    flow = ~varies[rows + blocks.flow]
    body = np.zeros(rows, np.bool_)
    kinds = np.array(blocks.kind, np.int64)
    first = np.flatnonzero((kinds != 0) & (kinds != Op.ELSE))
    body[np.array(blocks.opener, np.int64)[first]] = ~varies[rows + first]
    return Uniformity(value.tobytes(), flow.tobytes(), body.tobytes(), origins)


def _loops_that_ended_lanes_may_leave(op: npt.NDArray[np.uint8], blocks: Blocks) -> list[int]:
    """The loop blocks that hold a trap or return but no barrier."""
    ends = _loops_around((op == Op.TRAP) | (op == Op.RETURN), blocks)
    return sorted(ends - _loops_around(op == Op.BARRIER, blocks))


def _loops_around(rows: npt.NDArray[np.bool_], blocks: Blocks) -> set[int]:
    """The blocks of the loops, inner and outer, that some rows stand in."""
    found: set[int] = set()
    for block in np.unique(blocks.flow[rows]).tolist():
        loop = blocks.loop[block]
        while loop >= 0 and loop not in found:
            found.add(loop)
            loop = blocks.loop[blocks.parent[loop]]
    return found


def _has_constant_condition(table: Table, blocks: Blocks, loop: int) -> bool:
    """Whether a loop is a ``while`` that only a break, return or trap can end."""
    do = blocks.do[loop]
    return do >= 0 and table.op[table.a[do]] == Op.LITERAL


def _value_edges(table: Table, op: npt.NDArray[np.uint8]) -> Edges:
    """From operands to the rows that use them, and from assigned values to their assignments."""
    spreading = _SPREADS[op]
    edges: Edges = []
    for column in (table.a, table.b, table.c):
        operand = np.array(column, np.int64)
        used = np.flatnonzero(spreading & (operand >= 0))
        edges.append((operand[used], used))
    assigns = np.flatnonzero(op == Op.ASSIGN)
    edges.append((np.array(table.b, np.int64)[assigns], assigns))
    return edges


def _flow_edges(table: Table, op: npt.NDArray[np.uint8], blocks: Blocks) -> Edges:
    """From conditions and enclosing flow to blocks, and from flow to the assignments in it."""
    rows = len(table)
    a = np.array(table.a, np.int64)
    opener = np.array(blocks.opener, np.int64)
    kind = np.array(blocks.kind, np.int64)
    number = rows + np.arange(len(opener))

    branches = np.flatnonzero((kind == Op.IF) | (kind == Op.ELSE))
    fors = np.flatnonzero(kind == Op.FOR)
    whiles = np.flatnonzero(kind == Op.WHILE)
    assigns = np.flatnonzero(op == Op.ASSIGN)
    variables = np.flatnonzero(op == Op.VAR)
    leaps = np.flatnonzero((op == Op.BREAK) | (op == Op.CONTINUE))
    loop = np.array(blocks.loop, np.int64)[blocks.flow[leaps]]
    leaps, loop = leaps[loop >= 0], loop[loop >= 0]
    return [
        (rows + np.array(blocks.parent, np.int64)[1:], number[1:]),
        (a[opener[branches]], number[branches]),
        # A lane leaves a loop when its own condition or range says so, and may come back to the
        # loop's start at another time than the others after a break or continue.
        (a[np.array(blocks.do, np.int64)[whiles]], number[whiles]),
        (opener[fors], number[fors]),
        (rows + blocks.flow[leaps], rows + loop),
        # The index, conservatively, where lanes are on different iterations.
        (number[fors], opener[fors]),
        (rows + blocks.flow[assigns], assigns),
        (rows + blocks.flow[variables], variables),
    ]


@dataclass(frozen=True, slots=True)
class _Graph:
    """Edges by their start: those of node n go to ``targets[firsts[n] : firsts[n + 1]]``."""

    firsts: list[int]
    targets: list[int]

    def reachable(self, sources: npt.NDArray[np.int64]) -> list[int]:
        """For each node that the sources reach, on a shortest way, the node before it.

        A source has itself before it; a node out of reach has -1.
        """
        firsts, targets = self.firsts, self.targets
        before = [-1] * (len(firsts) - 1)
        reached: list[int] = []
        for node in sources.tolist():
            if before[node] < 0:
                before[node] = node
                reached.append(node)
        for node in reached:  # grows as it goes
            for following in targets[firsts[node] : firsts[node + 1]]:
                if before[following] < 0:
                    before[following] = node
                    reached.append(following)
        return before


def _graph(edges: Edges, nodes: int) -> _Graph:
    start = np.concatenate([pair[0] for pair in edges])
    target = np.concatenate([pair[1] for pair in edges])
    first = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(start, minlength=nodes), out=first[1:])
    return _Graph(first.tolist(), target[np.argsort(start, kind="stable")].tolist())
