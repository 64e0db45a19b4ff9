"""A program while passes change it: columns that may be written, and rows that are dropped.

Rows keep their numbers while passes run, so that a pass is a loop over columns and nothing is
renumbered in between; `Draft.finish` closes the gaps once and says where each row came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..ops import Op
from ..program import DebugInfo, Program, Table

__all__ = ["DROPPED", "Draft", "Optimised"]

DROPPED = 0
"""Operation code of a row that is no longer there; no operation has it."""


@dataclass(frozen=True, slots=True)
class Optimised:
    """What passes made of a program.

    Attributes:
        program: a valid program with the same buffers, params and extent and the same results.
        origin: for each of its rows, the row of the original program that it stands for.
    """

    program: Program
    origin: Sequence[int]


class Draft:
    """The columns of a program, writable.

    Dropping a row or a range is the pass's own business: what is left must not use it.

    Args:
        program: a valid program.
        traps: 1 for each row that may end its lane on its own, as a checked access does: such a row
            is an effect. None if no row does.
        keep_loops: whether loops are counted, so that one without any effect must stay.
    """

    def __init__(
        self, program: Program, traps: bytes | None = None, *, keep_loops: bool = False
    ) -> None:
        table = program.table
        self.program = program
        self.op = bytearray(table.op)
        self.dtype = table.dtype
        self.a = list(table.a)
        self.b = list(table.b)
        self.c = list(table.c)
        self.const = list(table.const)
        self.literals = list(program.literals)
        self.traps = bytearray(traps if traps is not None else len(table))
        self.keep_loops = keep_loops
        self.nameless = bytearray(len(table))
        self._literal_index = {bits: index for index, bits in enumerate(self.literals)}

    def __len__(self) -> int:
        return len(self.op)

    def drop(self, first: int, last: int) -> None:
        """Drops the rows from ``first`` to before ``last``."""
        self.op[first:last] = bytes(last - first)

    def forget_names(self, first: int, last: int) -> None:
        """Takes the names from a range of rows, for they move to a block where others may be."""
        self.nameless[first:last] = b"\1" * (last - first)

    def set_literal(self, row: int, bits: int) -> None:
        """Makes a row, whose type stays, a literal."""
        index = self._literal_index.setdefault(bits, len(self.literals))
        if index == len(self.literals):
            self.literals.append(bits)
        self.op[row] = Op.LITERAL
        self.a[row] = self.b[row] = self.c[row] = -1
        self.const[row] = index
        self.traps[row] = 0

    def literal_bits(self, row: int) -> int | None:
        """The bit pattern of a row that is a literal."""
        return self.literals[self.const[row]] if self.op[row] == Op.LITERAL else None

    def finish(self) -> Optimised:
        """The program that is left; the very one that was given if nothing changed."""
        program = self.program
        columns = (self.a, self.b, self.c, self.const)
        table = program.table
        before = (table.a, table.b, table.c, table.const)
        if self.op == table.op and all(map(_equal, columns, before)):
            return Optimised(program, range(len(table)))
        kept = np.flatnonzero(np.frombuffer(self.op, np.uint8))
        # One more entry at the end, which a missing operand, -1, refers to.
        number = np.full(len(self.op) + 1, -1, np.int64)
        number[kept] = np.arange(len(kept))
        a, b, c = (tuple(number[_array(column)[kept]].tolist()) for column in columns[:3])
        rows = Table(
            bytes(np.frombuffer(self.op, np.uint8)[kept]),
            bytes(np.frombuffer(self.dtype, np.uint8)[kept]),
            a,
            b,
            c,
            tuple(_array(self.const)[kept].tolist()),
        )
        result = replace(
            program,
            table=rows,
            literals=tuple(self.literals),
            debug=_debug(program.debug, kept, number.tolist(), self.nameless),
        )
        return Optimised(result, tuple(kept.tolist()))


def _equal(column: list[int], before: tuple[int, ...]) -> bool:
    return tuple(column) == before


def _array(column: list[int]) -> npt.NDArray[np.int64]:
    return np.array(column, np.int64)


def _debug(
    debug: DebugInfo, kept: npt.NDArray[np.intp], number: list[int], nameless: bytearray
) -> DebugInfo:
    """Debug information for the rows that are left; a comment moves to the next of them."""
    names = tuple(
        (number[row], name) for row, name in debug.names if number[row] >= 0 and not nameless[row]
    )
    commented = np.array([row for row, _ in debug.comments], np.int64)
    places = np.searchsorted(kept, commented).tolist()
    texts = [text for _, text in debug.comments]
    return replace(
        debug,
        rows=tuple(_array(list(debug.rows))[kept].tolist()) if debug.rows else (),
        names=names,
        comments=tuple(zip(places, texts, strict=True)),
    )
