"""The operation table while it is being written: appending rows, sharing pure ones, open blocks.

`ProgramBuilder` and the kernel values of `values` are the public face; this is the one place that
appends to the columns. It never raises for a mistake in the program: it notes the problem, keeps
the table well-formed, and ``build()`` reports everything together.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Literal

from ..errors import Problem, SourceLocation
from .ops import OPS, Op
from .program import Table
from .sizes import SizeExpr, SizeNode, SizeOp, canonical_nodes
from .types import ALL_DTYPES, VOID_CODE, DType, TypedLiteral, bool_, dtype_from_code, u32

__all__ = ["Place", "Recorder"]

_HERE = str(Path(__file__).parent)

_VOID, _SAME, _BOOL, _U32 = range(4)
_RESULT_RULE = {"void": _VOID, "same": _SAME, "bool": _BOOL, "u32": _U32}
RESULT_RULES: dict[int, int] = {
    op: _RESULT_RULE[info.result] for op, info in OPS.items() if info.result in _RESULT_RULE
}
DTYPES: dict[int, DType] = {dtype.code: dtype for dtype in ALL_DTYPES}

_Key = tuple[int, int, int, int, int, int]


Place = Literal["operand", "condition", "index", "bound", "content"]
"""What a number is where it stands: beside an operand, a loop's bound or step, what is stored."""


def _fix(place: Place, dtype: DType) -> str:
    """What to do about a number that is not representable in the type that its place asks for."""
    article = "a" if dtype.name[0] in "ub" else "an"
    match place:
        case "operand":
            return f"write {article} {dtype} literal, or cast the other operand"
        case "condition":
            return "write a comparison, such as value != 0, or True or False"
        case "index":
            return f"index with an integer that {article} {dtype} holds"
        case "bound":
            return (
                f"give bounds and a step that {article} {dtype} holds, or another type of the "
                "index, as in dtype=vw.i32"
            )
        case "content":
            return f"write a number that {article} {dtype} holds"


class Recorder:
    """Columns of the table under construction, with scopes and problems."""

    def __init__(self) -> None:
        self.op = bytearray()
        self.dtype = bytearray()
        self.a: list[int] = []
        self.b: list[int] = []
        self.c: list[int] = []
        self.const: list[int] = []
        self.site: list[int] = []
        self.literals: dict[int, int] = {}
        self.tags: dict[str, int] = {}
        self.names: dict[int, str] = {}
        self.comments: list[tuple[int, str]] = []
        self.problems: list[Problem] = []
        self.sizes: list[SizeNode] = []
        self.blocks: list[int] = []
        self.param_dtypes: list[DType] = []
        self._size_rows: dict[SizeNode, int] = {}
        self._sites: dict[SourceLocation, int] = {}
        self._pure: dict[_Key, int] = {}
        self._scopes: list[list[_Key]] = [[]]

    # Rows

    @property
    def rows(self) -> int:
        """Rows written so far."""
        return len(self.op)

    def emit(
        self, op: Op, dtype: int = VOID_CODE, a: int = -1, b: int = -1, c: int = -1, const: int = -1
    ) -> int:
        """Appends a row and returns its number."""
        row = len(self.a)
        self.op.append(op)
        self.dtype.append(dtype)
        self.a.append(a)
        self.b.append(b)
        self.c.append(c)
        self.const.append(const)
        self.site.append(self._site(sys._getframe(1)))
        return row

    def pure(
        self, op: Op, dtype: int, a: int = -1, b: int = -1, c: int = -1, const: int = -1
    ) -> int:
        """The row of a pure operation: an equal one that is in scope, else a new one."""
        key = (op, dtype, a, b, c, const)
        row = self._pure.get(key)
        if row is None:
            row = self.emit(op, dtype, a, b, c, const)
            self._pure[key] = row
            self._scopes[-1].append(key)
        return row

    def operation(self, op: Op, a: int, b: int = -1, c: int = -1) -> int:
        """The row of a pure operation whose type follows from its first operand."""
        rule = RESULT_RULES[op]
        dtype = self.dtype[a] if rule == _SAME else bool_.code if rule == _BOOL else u32.code
        return self.pure(op, dtype, a, b, c)

    def literal(self, dtype: DType, bits: int) -> int:
        """The row of a literal."""
        index = self.literals.setdefault(bits, len(self.literals))
        return self.pure(Op.LITERAL, dtype.code, const=index)

    def number(self, value: object, dtype: DType, place: Place = "operand") -> int:
        """The row of a Python or NumPy number as a literal of a type, noting what does not fit.

        Args:
            value: the number.
            dtype: the type that it takes there.
            place: what it is there, for the advice.
        """
        if isinstance(value, TypedLiteral):
            return self.literal(value.dtype, value.bits)
        try:
            bits = dtype.encode(value)
        except ValueError as error:
            self.problem("E202", f"literal {error}", _fix(place, dtype))
            return self.placeholder(dtype)
        return self.literal(dtype, bits)

    def placeholder(self, dtype: DType) -> int:
        """The row of a literal that stands for a value with a problem that is noted already."""
        return self.literal(dtype, 1)  # a 0 could break a rule of its own, as the step of a loop

    # Blocks

    def open(self, op: Op, dtype: int = VOID_CODE, a: int = -1, b: int = -1, c: int = -1) -> int:
        """Appends a row that opens a block."""
        row = self.emit(op, dtype, a, b, c)
        self.blocks.append(row)
        self._scopes.append([])
        return row

    def next_part(self, op: Op, a: int = -1) -> None:
        """Appends ``else`` or ``do``: ends the open part of a block and starts the next."""
        if op is Op.ELSE:
            self._forget_scope()
        self.emit(op, VOID_CODE, a)
        if op is Op.ELSE:
            self._scopes.append([])

    def close(self) -> None:
        """Appends the ``end`` of the innermost open block."""
        self.blocks.pop()
        self._forget_scope()
        self.emit(Op.END)

    def reopen_for_else(self) -> bool:
        """Turns a just written ``end`` of an ``if`` without ``else`` back into an open block."""
        opener = self._opener_of_last_end()
        if opener is None:
            return False
        for column in (self.op, self.dtype, self.a, self.b, self.c, self.const, self.site):
            column.pop()
        self.blocks.append(opener)
        self._scopes.append([])
        return True

    def _opener_of_last_end(self) -> int | None:
        """The ``if`` row that the last row ends, if the last row is such an ``end``."""
        if not self.op or self.op[-1] != Op.END:
            return None
        depth = 0
        for row in range(len(self.op) - 1, -1, -1):
            op = self.op[row]
            if op == Op.END:
                depth += 1
            elif op == Op.ELSE and depth == 1:
                return None
            elif op in (Op.IF, Op.FOR, Op.WHILE):
                depth -= 1
                if depth == 0:
                    return row if op == Op.IF else None
        return None

    def _forget_scope(self) -> None:
        for key in self._scopes.pop():
            del self._pure[key]

    # Sizes

    def size_node(self, op: SizeOp, a: int, b: int = 0) -> int:
        """The index of a size node, shared with equal ones."""
        node = (op, a, b)
        index = self._size_rows.get(node)
        if index is None:
            index = self._size_rows[node] = len(self.sizes)
            self.sizes.append(node)
        return index

    def size_expr(self, node: int) -> SizeExpr:
        """The size expression that ends in a node, with only what it uses."""
        return SizeExpr(canonical_nodes(self.sizes, node))

    # Problems and places

    def problem(self, code: str, message: str, fix: str) -> None:
        """Notes a mistake of the program at the caller's source line."""
        source = self.caller()
        problem = Problem(code, message, fix, source)
        if problem not in self.problems[-8:]:
            self.problems.append(problem)

    def caller(self) -> SourceLocation | None:
        """File and line of the innermost frame outside this package's ``ir`` folder."""
        site = self._site(sys._getframe(1))
        return None if site < 0 else list(self._sites)[site]

    @property
    def sites(self) -> tuple[SourceLocation, ...]:
        """The distinct source locations, in order of first use."""
        return tuple(self._sites)

    def _site(self, frame: FrameType | None) -> int:
        while frame is not None and frame.f_code.co_filename.startswith(_HERE):
            frame = frame.f_back
        if frame is None:
            return -1
        return self._sites.setdefault((frame.f_code.co_filename, frame.f_lineno), len(self._sites))

    def dtype_of(self, row: int) -> DType:
        """The type of a row that yields a value."""
        return dtype_from_code(self.dtype[row])

    def table(self) -> Table:
        """The finished columns."""
        return Table(
            bytes(self.op),
            bytes(self.dtype),
            tuple(self.a),
            tuple(self.b),
            tuple(self.c),
            tuple(self.const),
        )
