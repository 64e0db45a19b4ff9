"""What one run gave: buffers, the set of traps, races."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import (
    DIVISION_BY_ZERO,
    LOOP_LIMIT,
    OUT_OF_BOUNDS,
    BoundsTrapError,
    DivisionTrapError,
    TrapError,
)
from ..ir.ops import INFO, Op
from ..ir.program import Program
from ..ir.types import dtype_from_code
from .lanes import Grid
from .races import Race, UnwrittenRead

Array = npt.NDArray[Any]
Int64s = npt.NDArray[np.int64]

__all__ = ["Outcome", "Trap", "TrapLog"]


class Trap(NamedTuple):
    """One lane's trap.

    Attributes:
        tag: the tag given to ``b.trap``; ``out-of-bounds``, ``division-by-zero`` or ``loop-limit``
            of a trap that no such statement raised.
        address: the integer given to ``b.trap``; the index out of bounds, else 0. Of 64 bits the
            low 32.
        lane: the logical lane, one index for each axis of the extent.
    """

    tag: str
    address: int
    lane: tuple[int, ...]


class TrapLog:
    """The traps of one run, by statement.

    Args:
        program: the program.
        grid: the launch.
        lengths: elements of every buffer, by buffer index.
    """

    def __init__(self, program: Program, grid: Grid, lengths: Sequence[int]) -> None:
        self._program = program
        self._grid = grid
        self._lengths = lengths
        self._rows: list[tuple[int, Int64s, Int64s]] = []

    def add(self, row: int, number: Int64s, address: Array) -> None:
        """Notes that lanes, given by their numbers, trapped at a row: any that has a tag."""
        if address.dtype.itemsize == 8:
            address = address.astype(np.uint32)
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
                lane = self._grid.lane(int(number[chosen]))
                return self._error(row, int(address[chosen]), lane)
            chosen -= number.size
        raise IndexError("there are not so many traps")

    def _error(self, row: int, address: int, lane: tuple[int, ...]) -> TrapError:
        program, table = self._program, self._program.table
        source, name = program.debug.source(row), program.name
        match INFO[table.op[row]].group:
            case "memory":
                buffer = table.const[row]
                return BoundsTrapError.of(
                    program.buffers[buffer].name,
                    address,
                    self._lengths[buffer],
                    lane,
                    source=source,
                    program=name,
                    is_low_half=dtype_from_code(table.dtype[table.a[row]]).bits == 64,
                )
            case "binary":
                return DivisionTrapError.of(lane, source=source, program=name)
            case _:
                return TrapError(self._tag(row), address, lane, source=source, program=name)

    def _smallest(self) -> int:
        number = np.concatenate([number for _, number, _ in self._rows])
        # Compared by z, then y, then x: the last key sorts first.
        return int(np.lexsort(self._grid.coordinates(number))[0])

    def _tag(self, row: int) -> str:
        op = self._program.table.op[row]
        match INFO[op].group:
            case "memory":
                return OUT_OF_BOUNDS
            case "binary":
                return DIVISION_BY_ZERO
            case _ if op == Op.TRAP:
                return self._program.tags[self._program.table.const[row]]
            case _:
                return LOOP_LIMIT


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
