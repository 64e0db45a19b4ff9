"""Programs as readable pseudo-code, one statement a line.

Expressions are put back together from the table: a value used once stands where it is used. What is
used more often, is long or deep, or reads memory that changes before its use becomes a temporary
``t0``, ``t1``, ... at the row that computes it, so the text never says anything but what the table
does, and its length is linear in the number of rows. Names that are no plain identifiers are quoted
and escaped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

import numpy as np

from .ops import OPS, Op, OperandClass, OpInfo
from .program import Buffer, Program
from .sizes import SizeExpr
from .spelling import (
    ATOM,
    COMPARISON,
    PRECEDENCE,
    UNARY,
    escape,
    literal_text,
    name_text,
    quote,
)
from .types import bool_, dtype_from_code, u32

__all__ = ["format_program"]

_MAX_TEXT = 60
"""Longest text of an expression that is not broken into temporaries."""

_MAX_DEPTH = 8
"""The greatest depth of one."""

_MAX_INDENT = 64


def format_program(program: Program) -> str:
    """The program as text; equal programs with equal names and comments give equal texts."""
    return _Printer(program).text()


class _Printer:
    """The lines written so far, and the text of each value that waits for its use."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.table = program.table
        self.columns = (self.table.a, self.table.b, self.table.c)
        self.buffers = [name_text(b.name) for b in program.buffers]
        self.params = [name_text(p.name) for p in program.params]
        self.lines: list[str] = []
        self.indent = "    "
        self.depth_of_block = 1
        rows = len(self.table)
        self.uses = _uses(program)
        self.texts = [""] * rows
        self.precedence = [ATOM] * rows
        self.depth = [0] * rows
        # Rows of literals: where the place of use does not give the type, they are written with
        # it, as in f32(1.0).
        self.literals: set[int] = set()
        # Values not yet written that read memory: row -> the variables (as row) and buffers (as
        # negative numbers) they read; and the other way round.
        self.reads: dict[int, list[int]] = {}
        self.readers: defaultdict[int, list[int]] = defaultdict(list)
        self.names = {row: name_text(name) for row, name in program.debug.names if name}
        self.taken = {*self.names.values(), *self.buffers, *self.params}
        self.temporaries = 0
        # For each open block, the number of lines when it (or its current part) was opened.
        self.opened: list[int] = []

    def text(self) -> str:
        self.header()
        comments = iter([*self.program.debug.comments, (len(self.table) + 1, "")])
        at, remark = next(comments)
        table = self.table
        handlers: list[_Handler | None] = [_HANDLERS.get(code) for code in range(256)]
        for row, code in enumerate(table.op):
            while at <= row:
                self.comment(remark)
                at, remark = next(comments)
            handler = handlers[code]
            if handler is None:
                self.call(row)
            else:
                handler(self, row)
        while at <= len(table):
            self.comment(remark)
            at, remark = next(comments)
        return "\n".join(self.lines)

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def comment(self, text: str) -> None:
        for part in text.expandtabs(4).splitlines() or [""]:
            self.line(f"# {part if part.isprintable() else escape(part)}".rstrip())

    # Declarations

    def header(self) -> None:
        program = self.program
        x, y, z = program.workgroup_size
        size = str(x) if y == z == 1 else f"({x}, {y}, {z})"
        name = f" {name_text(program.name)}" if program.name else ""
        self.lines.append(f"program{name}(workgroup_size={size}):")
        for param, label in zip(program.params, self.params, strict=True):
            self.line(f"param {label}: {param.dtype}")
        for buffer, label in zip(program.buffers, self.buffers, strict=True):
            self.line(self.declaration(buffer, label))
        self.line(f"extent {', '.join(map(self.size, program.extent)) or '?'}")
        if len(self.table) or program.debug.comments:
            self.lines.append("")

    def declaration(self, buffer: Buffer, label: str) -> str:
        count = "" if buffer.count is None else f"[{self.size(buffer.count)}]"
        like = "" if buffer.like is None else f" like {self.buffers[buffer.like]}"
        start = " uninitialized" if buffer.uninitialized else ""
        return f"{buffer.kind.label} {label}: {buffer.dtype}{count}{like}{start}"

    def size(self, size: SizeExpr) -> str:
        return size.format(self.buffers, self.params)

    # Values

    def name_of(self, row: int) -> str:
        """The user's name for a row, or a new temporary's."""
        name = self.names.get(row)
        while name is None:
            candidate = f"t{self.temporaries}"
            self.temporaries += 1
            name = None if candidate in self.taken else candidate
        return name

    def bind(self, row: int) -> None:
        """Writes the waiting text of a row as a temporary."""
        name = self.name_of(row)
        self.line(f"{name} = {self.texts[row]}")
        self.texts[row] = name
        self.precedence[row] = ATOM
        self.depth[row] = 0

    def value(
        self,
        row: int,
        text: str,
        precedence: int,
        operands: tuple[int, ...],
        place: int | None = None,
    ) -> None:
        """Lets the text of a pure operation or a read wait for its use, or writes it.

        Args:
            row: its row.
            text: its expression.
            precedence: of the outermost operator.
            operands: the rows it uses.
            place: what it reads: a variable's row, or a buffer index inverted.
        """
        self.texts[row] = text
        uses = self.uses[row]
        depth = 1
        for operand in operands:
            if self.depth[operand] >= depth:
                depth = self.depth[operand] + 1
        if uses == 1 and depth < _MAX_DEPTH and len(text) <= _MAX_TEXT:
            self.precedence[row] = precedence
            self.depth[row] = depth
            if self.reads or place is not None:
                self.wait(row, operands, place)
        else:
            if self.reads:
                for operand in operands:
                    self.reads.pop(operand, None)
            if uses:
                self.bind(row)
            else:
                self.line(f"_ = {text}")

    def wait(self, row: int, operands: tuple[int, ...], place: int | None) -> None:
        """Notes all that a waiting value reads, its operands' places included."""
        places = [] if place is None else [place]
        for operand in operands:
            places += self.reads.pop(operand, ())
        if places:
            self.reads[row] = places
            for place in places:
                self.readers[place].append(row)

    def changes(self, places: Iterable[int]) -> None:
        """Writes what waits and reads these places: they are about to change."""
        rows = {row for place in places for row in self.readers.pop(place, ())}
        for row in sorted(rows & self.reads.keys()):
            del self.reads[row]
            self.bind(row)

    def spell(self, row: int, place: int) -> str:
        """The text of an operand, with its type if it is a literal whose place gives none."""
        operand = self.columns[place][row]
        if operand in self.literals and not self.place_gives_type(row, place):
            return self.typed(operand)
        return self.texts[operand]

    def typed(self, row: int) -> str:
        """The text of a literal with its type."""
        text = self.texts[row]
        dtype = dtype_from_code(self.table.dtype[row])
        return text if dtype is bool_ or text.startswith(dtype.name) else f"{dtype}({text})"

    def use(self, row: int, place: int) -> str:
        """The text of an operand that is evaluated here, at the latest."""
        self.reads.pop(self.columns[place][row], None)
        return self.spell(row, place)

    def place_gives_type(self, row: int, place: int) -> bool:
        """Whether a plain number as this operand can only be a literal of the type it has."""
        classes = _CLASSES[self.table.op[row]]
        if classes[place] in _GIVEN:
            return True
        dtype = dtype_from_code(self.table.dtype[self.columns[place][row]])
        if dtype is bool_ or (dtype is u32 and classes[place] in _U32_UNLESS_SAID):
            return True
        return any(
            other == "same" and self.columns[index][row] not in self.literals
            for index, other in enumerate(classes)
        )

    # Operations that yield values

    def literal(self, row: int) -> None:
        dtype = dtype_from_code(self.table.dtype[row])
        text = literal_text(dtype, self.program.literals[self.table.const[row]])
        self.literals.add(row)
        if text[0] == "-":
            self.precedence[row] = UNARY
        self.texts[row] = text
        if not self.uses[row]:
            self.line(f"_ = {self.typed(row)}")

    def param(self, row: int) -> None:
        self.leaf(row, self.params[self.table.const[row]])

    def length(self, row: int) -> None:
        self.leaf(row, f"{self.buffers[self.table.const[row]]}.length")

    def leaf(self, row: int, text: str) -> None:
        """A constant: it may stand wherever it is used, however often."""
        self.texts[row] = text
        if not self.uses[row]:
            self.line(f"_ = {text}")

    def axis_id(self, row: int) -> None:
        axis = self.table.const[row]
        self.value(row, f"{_INFO[self.table.op[row]].name}({axis or ''})", ATOM, ())

    def prefix(self, row: int) -> None:
        a = self.table.a[row]
        text = self.spell(row, 0)
        if self.precedence[a] < UNARY:
            text = f"({text})"
        self.value(row, f"{_INFO[self.table.op[row]].symbol}{text}", UNARY, (a,))

    def infix(self, row: int) -> None:
        table = self.table
        a, b = table.a[row], table.b[row]
        literals = self.literals
        left = self.spell(row, 0) if a in literals else self.texts[a]
        right = self.spell(row, 1) if b in literals else self.texts[b]
        symbol = _INFO[table.op[row]].symbol
        level = PRECEDENCE[symbol]
        # Equal levels group to the left; comparisons must not look chained.
        if self.precedence[a] < level + (level == COMPARISON):
            left = f"({left})"
        if self.precedence[b] <= level:
            right = f"({right})"
        self.value(row, f"{left} {symbol} {right}", level, (a, b))

    def call(self, row: int) -> None:
        """Any operation without a spelling of its own, as a function call."""
        table = self.table
        info = _INFO[table.op[row]]
        texts = [self.spell(row, place) for place in range(info.arity)]
        if info.const == "buffer":
            texts.insert(0, self.buffers[table.const[row]])
        elif info.result == "declared" and info.group == "unary":
            texts.append(dtype_from_code(table.dtype[row]).name)
        text = f"{info.name}({', '.join(texts)})"
        if info.pure:
            self.value(row, text, ATOM, table.operands(row))
        else:
            self.effect(row, text)

    def effect(self, row: int, text: str) -> None:
        """An operation that is evaluated exactly here: an atomic, a subgroup operation."""
        for operand in self.table.operands(row):
            self.reads.pop(operand, None)
        if _INFO[self.table.op[row]].const == "buffer":
            self.changes([~self.table.const[row]])
        if self.uses[row]:
            self.texts[row] = text
            self.bind(row)
        else:
            self.line(text)

    def load(self, row: int) -> None:
        buffer = self.table.const[row]
        text = f"{self.buffers[buffer]}[{self.spell(row, 0)}]"
        self.value(row, text, ATOM, (self.table.a[row],), ~buffer)

    def get(self, row: int) -> None:
        variable = self.table.a[row]
        self.value(row, self.texts[variable], ATOM, (), variable)

    # Statements

    def store(self, row: int) -> None:
        buffer = self.table.const[row]
        at, value = self.use(row, 0), self.use(row, 1)
        self.changes([~buffer])
        self.line(f"{self.buffers[buffer]}[{at}] = {value}")

    def let(self, row: int) -> None:
        value = self.use(row, 0)
        self.texts[row] = self.name_of(row)
        self.line(f"let {self.texts[row]} = {value}")

    def var(self, row: int) -> None:
        value = self.use(row, 0)
        self.texts[row] = self.name_of(row)
        self.line(f"var {self.texts[row]}: {dtype_from_code(self.table.dtype[row])} = {value}")

    def assign(self, row: int) -> None:
        variable = self.table.a[row]
        value = self.use(row, 1)
        self.changes([variable])
        self.line(f"{self.texts[variable]} = {value}")

    def if_(self, row: int) -> None:
        condition = self.use(row, 0)
        self.settle()
        self.open(f"if {condition}:")

    def for_(self, row: int) -> None:
        bounds = ", ".join(self.use(row, place) for place in range(3))
        self.settle()
        self.texts[row] = self.name_of(row)
        self.open(f"for {self.texts[row]} in range({bounds}):")

    def while_(self, row: int) -> None:
        self.settle()
        self.open("while:")

    def do(self, row: int) -> None:
        """The condition block of a loop: one line if it is one expression, else a block."""
        condition = self.use(row, 0)
        self.settle()
        if self.opened and len(self.lines) == self.opened[-1]:
            self.lines.pop()
            self.shift(-1)
            self.opened.pop()
            self.open(f"while {condition}:")
        else:
            self.shift(-1)
            self.line(f"do {condition}:")
            self.shift(1)
            self.part()

    def else_(self, row: int) -> None:
        self.close()
        self.open("else:")

    def end(self, row: int) -> None:
        self.close()

    def open(self, text: str) -> None:
        self.line(text)
        self.shift(1)
        self.opened.append(len(self.lines))

    def part(self) -> None:
        if self.opened:
            self.opened[-1] = len(self.lines)

    def close(self) -> None:
        self.settle()
        if self.opened and len(self.lines) == self.opened.pop():
            self.line("pass")
        self.shift(-1)

    def settle(self) -> None:
        """Writes all waiting reads: what follows may run at another time, or often."""
        if self.reads:
            for row in sorted(self.reads):
                self.bind(row)
            self.reads.clear()
        self.readers.clear()

    def shift(self, by: int) -> None:
        self.depth_of_block += by
        self.indent = "    " * min(max(self.depth_of_block, 1), _MAX_INDENT)

    def word(self, row: int) -> None:
        self.line(_INFO[self.table.op[row]].name)

    def barrier(self, row: int) -> None:
        self.changes([place for place in self.readers if place < 0])  # not variables
        self.line("barrier")

    def trap(self, row: int) -> None:
        tag = quote(self.program.tags[self.table.const[row]])
        self.line(f"trap {tag} at {self.use(row, 0)}")


_Handler = Callable[[_Printer, int], None]

_INFO: dict[int, OpInfo] = {int(op): info for op, info in OPS.items()}

# As in the operation table, but for what the printed form of two operations adds.
_CLASSES: dict[int, tuple[OperandClass, ...]] = {
    **{int(op): info.operands for op, info in OPS.items()},
    Op.SELECT: ("bool", "any", "same"),
    Op.VAR: ("same",),  # the type is in the declaration
}

_GIVEN = frozenset({"same", "element", "bool", "u32", "i32", "var"})
_U32_UNLESS_SAID = frozenset({"int", "shift", "word"})

_HANDLERS: dict[int, _Handler] = {
    **{op: _Printer.prefix for op, info in OPS.items() if info.symbol and info.arity == 1},
    **{op: _Printer.infix for op, info in OPS.items() if info.symbol and info.arity == 2},
    **{op: _Printer.axis_id for op, info in OPS.items() if info.const == "axis"},
    Op.LITERAL: _Printer.literal,
    Op.PARAM: _Printer.param,
    Op.LENGTH: _Printer.length,
    Op.LOAD: _Printer.load,
    Op.STORE: _Printer.store,
    Op.LET: _Printer.let,
    Op.VAR: _Printer.var,
    Op.VAR_GET: _Printer.get,
    Op.ASSIGN: _Printer.assign,
    Op.IF: _Printer.if_,
    Op.ELSE: _Printer.else_,
    Op.END: _Printer.end,
    Op.FOR: _Printer.for_,
    Op.WHILE: _Printer.while_,
    Op.DO: _Printer.do,
    Op.BREAK: _Printer.word,
    Op.CONTINUE: _Printer.word,
    Op.RETURN: _Printer.word,
    Op.BARRIER: _Printer.barrier,
    Op.TRAP: _Printer.trap,
}


def _uses(program: Program) -> list[int]:
    """How often the value of each row is an operand."""
    table = program.table
    columns = np.concatenate([np.array(c, np.int64) for c in (table.a, table.b, table.c)])
    counts: list[int] = np.bincount(columns[columns >= 0], minlength=len(table)).tolist()
    return counts
