"""Collecting problems, and the words in which they speak of rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...errors import Problem, SourceLocation
from ..ops import OPS, Op
from ..program import Program
from ..types import ALL_DTYPES
from .rules import MAX_PROBLEMS

__all__ = ["DTYPE_NAMES", "Report", "clip", "quote", "spelling"]

DTYPE_NAMES = {dtype.code: dtype.name for dtype in ALL_DTYPES}
"""Type code to name."""
_BY_CODE = {dtype.code: dtype for dtype in ALL_DTYPES}

_LONGEST = 80
_WORTH_WORDS = 1_000


def clip(text: str) -> str:
    """A text that came from outside, short enough for a message."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def quote(name: str) -> str:
    """A name as a message shows it: escaped, so that it can be printed anywhere."""
    return ascii(clip(name)) if not name.isprintable() else repr(clip(name))


def spelling(code: int) -> str:
    """How a user writes a type, ``vw.f32``."""
    name = DTYPE_NAMES.get(code, "f32")
    return "vw.bool_" if name == "bool" else f"vw.{name}"


class Report:
    """The problems of one program, in the order of its rows."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = dict(program.debug.names)
        self._found: dict[Problem, int] = {}
        self._unlisted = 0

    def add(self, code: str, message: str, fix: str, row: int = -1) -> None:
        """Notes a problem, once; at the source line of a row if one is given."""
        problem = Problem(code, message, fix, self.source(row))
        self._found.setdefault(problem, row)

    def rows(
        self,
        code: str,
        rows: npt.NDArray[np.int64],
        describe: Callable[[int], tuple[str, str]],
    ) -> None:
        """Notes the same rule for many rows; ``describe`` gives message and fix for one."""
        for row in self.listed(rows):
            message, fix = describe(row)
            self.add(code, message, fix, row)

    def listed(self, rows: npt.NDArray[np.int64]) -> list[int]:
        """As many of some bad rows as are worth words; the source lines of others are counted.

        A hostile table may be wrong everywhere: no time goes into what nobody sees.
        """
        first, rest = rows[:_WORTH_WORDS], rows[_WORTH_WORDS:]
        if len(rest):
            sites = np.array([*self.program.debug.rows, -1], np.int64)
            known = sites[np.minimum(rest, len(sites) - 1)]
            others = np.setdiff1d(known, sites[np.minimum(first, len(sites) - 1)])
            self._unlisted += len(others) + int(np.count_nonzero(known < 0))
        listed: list[int] = first.tolist()
        return listed

    def problems(self) -> list[Problem]:
        """The problems by row, declarations first, as many as are listed."""
        ordered = sorted(self._found, key=self._found.__getitem__)
        more = self._unlisted + max(0, len(ordered) - MAX_PROBLEMS)
        if not more:
            return ordered
        rest = Problem(
            "E600",
            f"the program has {more} more problem{'s' if more != 1 else ''}",
            "mend those listed and validate again",
        )
        return [*ordered[:MAX_PROBLEMS], rest]

    def source(self, row: int) -> SourceLocation | None:
        """Where a row was written; None too where the debug information is damaged."""
        debug = self.program.debug
        site = debug.rows[row] if 0 <= row < len(debug.rows) else -1
        return debug.sites[site] if 0 <= site < len(debug.sites) else None

    # Words

    def op(self, row: int) -> str:
        """The name of a row's operation."""
        return OPS[Op(self.program.table.op[row])].name

    def dtype(self, row: int) -> str:
        """The name of a row's type."""
        return DTYPE_NAMES.get(self.program.table.dtype[row], "no value")

    def buffer(self, row: int) -> str:
        """The quoted name of a row's buffer."""
        return quote(self.program.buffers[self.program.table.const[row]].name)

    def value(self, row: int) -> str:
        """What a reader of the kernel would call a row's value; its constants must be in range."""
        program, const = self.program, self.program.table.const[row]
        op = Op(program.table.op[row])
        if op is Op.LITERAL:
            return self._literal(row)
        if op is Op.VAR_GET:
            return self.local(program.table.a[row])
        if op in (Op.LET, Op.VAR, Op.FOR):
            return self.local(row)
        if op is Op.PARAM:
            return f"param {quote(program.params[const].name)}"
        if op is Op.LENGTH:
            return f"the length of {self.buffer(row)}"
        if op is Op.LOAD:
            return f"an element of {self.buffer(row)}"
        if OPS[op].const == "axis":
            return f"{OPS[op].name}({const})"
        return f"the result of {OPS[op].name}"

    def local(self, row: int) -> str:
        """What a reader would call a ``let``, ``var`` or ``for`` row."""
        if row in self.names:
            return quote(self.names[row])
        kinds = {Op.FOR: "a loop index", Op.VAR: "an unnamed variable"}
        return kinds.get(Op(self.program.table.op[row]), "an unnamed value")

    def typed(self, row: int) -> str:
        """A row's type and what it is, ``f32 (an element of 'x')``."""
        return f"{self.dtype(row)} ({self.value(row)})"

    def _literal(self, row: int) -> str:
        bits = self.program.literals[self.program.table.const[row]]
        dtype = _BY_CODE.get(self.program.table.dtype[row])
        if dtype is None or not 0 <= bits < 1 << dtype.bits:
            return "a literal"
        return f"the literal {dtype.decode(bits)!r}"
