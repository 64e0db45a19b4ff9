"""The block structure of a table, and its division into functions of bounded length.

The compile time of one shader function grows faster than its length, so a body longer than
`MAX_STATEMENTS` is cut into consecutive pieces that become functions. A value used in another
function than its own goes through a private module variable (`Layout.shared`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..ir.ops import Op
from ..ir.program import Program

__all__ = ["MAX_STATEMENTS", "Block", "Call", "Function", "Layout", "Nest", "plan_functions"]

MAX_STATEMENTS = 1000
"""Statements of one function's body, about."""

MAIN = 0
"""Number of the entry point among the functions."""


@dataclass(slots=True)
class Nest:
    """An if, for or while with its blocks: (then, else), (body,) or (condition, body).

    Attributes:
        row: the opening row.
        parts: its blocks.
        split: the ``else`` or ``do`` row between two parts, or -1.
    """

    row: int
    parts: list[Block]
    split: int = -1


@dataclass(slots=True)
class Call:
    """A call of a piece that became a function.

    Attributes:
        function: its number.
    """

    function: int


Item = int | Nest | Call
"""A plain row, a nested statement or a call."""


@dataclass(slots=True)
class Block:
    """Consecutive statements.

    Attributes:
        items: in order.
    """

    items: list[Item] = field(default_factory=list)


@dataclass(slots=True)
class Function:
    """A piece of the program that becomes a WGSL function.

    Attributes:
        body: its statements.
        escapes: the ways control can leave other than at the end: ``return``, ``break`` or
            ``continue`` of a loop around the call.
    """

    body: Block
    escapes: frozenset[int] = frozenset()


@dataclass(slots=True)
class Layout:
    """How the program is spread over functions.

    Attributes:
        functions: the entry point first, then pieces, each after those it calls.
        home: for each row the number of the function that contains it.
        shared: value rows used in another function than their own.
    """

    functions: list[Function]
    home: list[int]
    shared: frozenset[int]


def parse_blocks(program: Program) -> Block:
    """The nested view of a program's rows."""
    root = Block()
    open_nests: list[Nest] = []
    block = root
    for row, code in enumerate(program.table.op):
        match code:
            case Op.IF | Op.FOR | Op.WHILE:
                nest = Nest(row, [Block()])
                block.items.append(nest)
                open_nests.append(nest)
                block = nest.parts[0]
            case Op.ELSE | Op.DO:
                nest = open_nests[-1]
                nest.split = row
                block = Block()
                nest.parts.append(block)
            case Op.END:
                open_nests.pop()
                block = open_nests[-1].parts[-1] if open_nests else root
            case _:
                block.items.append(row)
    return root


def plan_functions(
    program: Program,
    emitted: bytes,
    value_of: Callable[[int], int],
    exits: bytes,
    *,
    loops_exit: bool = False,
    max_statements: int = MAX_STATEMENTS,
) -> Layout:
    """Divides a program into functions.

    Args:
        program: the program.
        emitted: 1 for each row that becomes a statement.
        value_of: the row that an operand's value really comes from (through ``let``).
        exits: 1 for each row that may end the lane by returning from a function.
        loops_exit: whether every loop may end the lane in that way too.
        max_statements: longest body, about.
    """
    splitter = _Splitter(program, emitted, exits, loops_exit, max_statements)
    root = parse_blocks(program)
    splitter.shorten(root)
    functions = [Function(root), *splitter.functions]
    home = [MAIN] * len(program.table)
    for number, function in enumerate(functions):
        for row in _rows(function.body):
            home[row] = number
    shared: set[int] = set()
    if len(functions) > 1:
        for row in range(len(program.table)):
            if emitted[row]:
                for operand in map(value_of, program.table.operands(row)):
                    if home[operand] != home[row] and emitted[operand]:
                        shared.add(operand)
    return Layout(functions, home, frozenset(shared))


class _Splitter:
    """Cuts long blocks into functions, innermost first."""

    def __init__(
        self,
        program: Program,
        emitted: bytes,
        exits: bytes,
        loops_exit: bool,
        max_statements: int,
    ) -> None:
        self._op = program.table.op
        self._emitted = emitted
        self._exits = exits
        self._loops_exit = loops_exit
        self._max = max_statements
        self.functions: list[Function] = []

    def shorten(self, root: Block) -> None:
        """Shortens every block that is too long; nesting is bounded, so a stack will do."""
        order: list[Block] = []
        pending = [root]
        while pending:
            block = pending.pop()
            order.append(block)
            for item in block.items:
                if isinstance(item, Nest):
                    pending.extend(item.parts)
        weights: dict[int, int] = {}
        for block in reversed(order):
            weight = sum(self._weight(item, weights) for item in block.items)
            if weight > self._max:
                weight = self._cut(block, weights)
            weights[id(block)] = weight

    def _weight(self, item: Item, weights: dict[int, int]) -> int:
        if isinstance(item, int):
            return self._emitted[item]
        if isinstance(item, Call):
            return 1
        return 1 + sum(weights[id(part)] for part in item.parts)

    def _cut(self, block: Block, weights: dict[int, int]) -> int:
        pieces: list[list[Item]] = [[]]
        size = 0
        for item in block.items:
            weight = self._weight(item, weights)
            if pieces[-1] and size + weight > self._max:
                pieces.append([])
                size = 0
            pieces[-1].append(item)
            size += weight
        block.items = []
        for piece in pieces:
            body = Block(piece)
            self.functions.append(Function(body, self._escapes(body)))
            block.items.append(Call(len(self.functions)))
        return len(pieces)

    def _escapes(self, body: Block) -> frozenset[int]:
        escapes: set[int] = set()
        pending: list[tuple[Block, bool]] = [(body, False)]
        while pending:
            block, in_loop = pending.pop()
            for item in block.items:
                found: frozenset[int]
                if isinstance(item, Nest):
                    is_loop = self._op[item.row] != Op.IF
                    loop = in_loop or is_loop
                    if is_loop and self._loops_exit:
                        escapes.add(Op.RETURN)
                    pending += [(part, loop) for part in item.parts]
                    continue
                if isinstance(item, Call):
                    found = self.functions[item.function - 1].escapes
                else:
                    op = self._op[item]
                    if self._exits[item]:
                        escapes.add(Op.RETURN)
                    found = frozenset({op} - {Op.RETURN})
                escapes |= found & {Op.RETURN}
                if not in_loop:
                    escapes |= found & {Op.BREAK, Op.CONTINUE}
        return frozenset(escapes)


def _rows(body: Block) -> Iterator[int]:
    """All rows of a function, opening, dividing rows and nested ones too."""
    pending = [body]
    while pending:
        for item in pending.pop().items:
            if isinstance(item, Nest):
                yield item.row
                if item.split >= 0:
                    yield item.split
                pending.extend(item.parts)
            elif isinstance(item, int):
                yield item
