"""What one run gave: buffers, the set of traps, races."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import TrapError
from ..ir.ops import Op
from ..ir.program import Program
from .lanes import Grid
from .races import Race, UnwrittenRead

Array = npt.NDArray[Any]
Int64s = npt.NDArray[np.int64]

__all__ = ["LOOP_LIMIT", "Outcome", "Trap", "TrapLog"]

LOOP_LIMIT = "loop-limit"
"""The tag of a trap of a lane whose loops made too many iterations."""


class Trap(NamedTuple):
    """One lane's trap.

    Attributes:
        tag: the tag given to ``b.trap``.
        address: the integer given to ``b.trap``.
        lane: the logical lane, one index for each axis of the extent.
    """

    tag: str
    address: int
    lane: tuple[int, ...]


class TrapLog:
    """The traps of one run, by statement."""

    def __init__(self, program: Program, grid: Grid) -> None:
        self._program = program
        self._grid = grid
        self._rows: list[tuple[int, Int64s, Int64s]] = []

    def add(self, row: int, number: Int64s, address: Array) -> None:
        """Notes that lanes, given by their numbers, trapped at a row: a trap, or a loop."""
        self._rows.append((row, number, address.astype(np.int64)))

    def __bool__(self) -> bool:
        return bool(self._rows)

    def __len__(self) -> int:
        return sum(number.size for _, number, _ in self._rows)

    def all(self) -> frozenset[Trap]:
        """Every trap."""
        found = []
        axes = self._grid.axes
        for row, number, address in self._rows:
            at = [x.tolist() for x in self._grid.coordinates(number)[:axes]]
            tag = self._tag(row)
            found += [
                Trap(tag, a, lane)
                for a, lane in zip(address.tolist(), zip(*at, strict=True), strict=True)
            ]
        return frozenset(found)

    def error(self, chosen: int | None) -> TrapError:
        """The exception for one trap.

        Args:
            chosen: which, counting all of them; None takes the one of the smallest lane.
        """
        if chosen is None:
            chosen = self._smallest()
        for row, number, address in self._rows:
            if chosen < number.size:
                return TrapError(
                    self._tag(row),
                    int(address[chosen]),
                    self._grid.lane(int(number[chosen])),
                    source=self._program.debug.source(row),
                    program=self._program.name,
                )
            chosen -= number.size
        raise IndexError("there are not so many traps")

    def _smallest(self) -> int:
        number = np.concatenate([number for _, number, _ in self._rows])
        # Compared by z, then y, then x: the last key sorts first.
        return int(np.lexsort(self._grid.coordinates(number))[0])

    def _tag(self, row: int) -> str:
        tag = self._program.table.const[row]
        return self._program.tags[tag] if self._program.table.op[row] == Op.TRAP else LOOP_LIMIT


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run gave.

    Attributes:
        contents: the final content of each storage buffer, by buffer index; 1-D. Unspecified if
            there were traps.
        traps: the traps.
        chosen: which of the traps is raised; None for the smallest lane's.
        races: data races, if they were looked for.
        unwritten_reads: reads of memory that nothing had written, if they were looked for.
    """

    contents: dict[int, Array]
    traps: TrapLog
    chosen: int | None
    races: tuple[Race, ...]
    unwritten_reads: tuple[UnwrittenRead, ...]
