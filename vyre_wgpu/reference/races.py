"""Data races: accesses of one element by two lanes that nothing orders.

Every access to storage and workgroup memory is logged. Two of different lanes race if one of them
is a plain write, unless both write the same value. Barriers order the lanes of a workgroup: each
ends an *epoch* of it. Nothing orders different workgroups. Two atomics never race, and neither do
an atomic and a plain read.

The log is analysed at the end by sorting: accesses of one element, workgroup and epoch form a
segment (for different workgroups: those of one element), and whether a segment holds a race follows
from a few minima and maxima over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import SourceLocation
from ..ir.program import BufferKind, Program
from .lanes import Grid

Array = npt.NDArray[Any]
Int64s = npt.NDArray[np.int64]

__all__ = ["Access", "AccessLog", "Race", "UnwrittenRead"]

READ, WRITE, ATOMIC = 0, 1, 2
_NAMES = ("read", "write", "atomic")
_MOST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Access:
    """One side of a race.

    Attributes:
        kind: ``read``, ``write`` or ``atomic``.
        lane: the logical lane, one index for each axis of the extent.
        source: file and line of the statement, if the program carries it.
    """

    kind: str
    lane: tuple[int, ...]
    source: SourceLocation | None

    def __str__(self) -> str:
        lane = self.lane[0] if len(self.lane) == 1 else self.lane
        where = f" at {self.source[0]}:{self.source[1]}" if self.source else ""
        return f"{self.kind} by lane {lane}{where}"


@dataclass(frozen=True, slots=True)
class Race:
    """Two statements that race, with one example.

    Attributes:
        buffer: the buffer's name.
        index: an element on which they race.
        first: the plain write.
        second: the other access.
        elements: on how many elements these two statements were found to race.
    """

    buffer: str
    index: int
    first: Access
    second: Access
    elements: int

    def __str__(self) -> str:
        more = f" (and {self.elements - 1} more elements)" if self.elements > 1 else ""
        return f"buffer {self.buffer!r}, element {self.index}{more}: {self.first}, {self.second}"


@dataclass(frozen=True, slots=True)
class UnwrittenRead:
    """A statement that reads workgroup or uninitialized memory before anything has written it.

    Workgroup memory starts as zeros, so the value is defined; it is seldom meant.

    Attributes:
        buffer: the buffer's name.
        index: an element that was read.
        access: by whom and where.
    """

    buffer: str
    index: int
    access: Access

    def __str__(self) -> str:
        return (
            f"buffer {self.buffer!r}, element {self.index}, nothing written before: {self.access}"
        )


class _Record(NamedTuple):
    """Accesses by one statement at one time."""

    kind: int
    row: int
    element: Int64s
    lane: Int64s
    epoch: Int64s
    bits: npt.NDArray[np.uint64]


class AccessLog:
    """The accesses of one run.

    Args:
        program: the program.
        grid: the launch.
    """

    def __init__(self, program: Program, grid: Grid) -> None:
        self._program = program
        self._grid = grid
        self._records: dict[int, list[_Record]] = {}
        self._unwritten: dict[int, UnwrittenRead] = {}

    def add(
        self,
        kind: int,
        row: int,
        element: Int64s,
        lane: Int64s,
        epoch: Int64s,
        values: Array | None = None,
    ) -> None:
        """Notes accesses by a row; elements of workgroup memory are numbered over all workgroups.

        Args:
            kind: `READ`, `WRITE` or `ATOMIC`.
            row: the row.
            element: the element of each access.
            lane: the number of its lane in the grid.
            epoch: barriers that the lane's workgroup had met.
            values: what is written.
        """
        if lane.size == 0:
            return
        if values is None:
            bits = np.zeros(lane.size, np.uint64)
        else:
            bits = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}").astype(np.uint64)
        buffer = self._program.table.const[row]
        records = self._records.setdefault(buffer, [])
        records.append(_Record(kind, row, element, lane, epoch, bits))

    def add_unwritten(self, row: int, element: int, lane: int) -> None:
        """Notes the first read by a row of an element that nothing had written."""
        buffer = self._program.table.const[row]
        index = self._index(buffer, element)
        access = self._access(READ, row, lane)
        name = self._program.buffers[buffer].name
        self._unwritten.setdefault(row, UnwrittenRead(name, index, access))

    @property
    def unwritten_reads(self) -> tuple[UnwrittenRead, ...]:
        """One for each statement, in the program's order."""
        return tuple(self._unwritten[row] for row in sorted(self._unwritten))

    def races(self) -> tuple[Race, ...]:
        """One for each pair of statements that races on a buffer."""
        found: list[Race] = []
        for buffer, records in sorted(self._records.items()):
            columns = _columns(records)
            within = _segments(columns, [columns.epoch, columns.group(self._grid), columns.element])
            races = dict(self._pairs(buffer, columns, within, columns.lane))
            if self._program.buffers[buffer].kind is not BufferKind.WORKGROUP:
                across = _segments(columns, [columns.element])
                for pair, race in self._pairs(buffer, columns, across, columns.group(self._grid)):
                    races.setdefault(pair, race)
            found += [races[pair] for pair in sorted(races)]
        return tuple(found)

    def _pairs(
        self, buffer: int, columns: _Columns, segments: _Segments, who: Int64s
    ) -> list[tuple[tuple[int, int], Race]]:
        """A race for each pair of rows, among segments whose accesses are ordered only within who.

        Segments in which the same rows meet are taken as alike; one of them is looked into.
        """
        racing = segments.racing(columns, who)
        kinds: dict[tuple[int, int, int, int], list[int]] = {}
        rows = columns.row[segments.order]
        is_write = columns.kind[segments.order] == WRITE
        ends = np.append(segments.firsts[1:], rows.size)
        for segment in racing.tolist():
            at = slice(segments.firsts[segment], ends[segment])
            written = rows[at][is_write[at]]
            key = (int(written.min()), int(written.max()), int(rows[at].min()), int(rows[at].max()))
            kinds.setdefault(key, []).append(segment)
        result = []
        for alike in kinds.values():
            accesses = segments.order[segments.firsts[alike[0]] : ends[alike[0]]]
            write, other = _example(columns, accesses, who)
            pair = (int(columns.row[write]), int(columns.row[other]))
            race = Race(
                self._program.buffers[buffer].name,
                self._index(buffer, int(columns.element[write])),
                self._access(WRITE, pair[0], int(columns.lane[write])),
                self._access(int(columns.kind[other]), pair[1], int(columns.lane[other])),
                len(alike),
            )
            result.append((pair, race))
        return result

    def _index(self, buffer: int, element: int) -> int:
        declared = self._program.buffers[buffer]
        if declared.kind is BufferKind.WORKGROUP and declared.count is not None:
            return element % (declared.count.constant or 1)
        return element

    def _access(self, kind: int, row: int, lane: int) -> Access:
        source = self._program.debug.source(row)
        return Access(_NAMES[kind], self._grid.lane(lane), source)


class _Columns(NamedTuple):
    """The records of one buffer, one entry for each access."""

    kind: Int64s
    row: Int64s
    element: Int64s
    lane: Int64s
    epoch: Int64s
    bits: npt.NDArray[np.uint64]

    def group(self, grid: Grid) -> Int64s:
        """The workgroup of each access."""
        return self.lane // grid.group_lanes


def _columns(records: list[_Record]) -> _Columns:
    sizes = [record.lane.size for record in records]
    return _Columns(
        np.repeat([record.kind for record in records], sizes),
        np.repeat([record.row for record in records], sizes),
        np.concatenate([record.element for record in records]),
        np.concatenate([record.lane for record in records]),
        np.concatenate([record.epoch for record in records]),
        np.concatenate([record.bits for record in records]),
    )


class _Segments(NamedTuple):
    """Accesses sorted so that those of a segment are together."""

    order: Int64s
    firsts: Int64s

    def racing(self, columns: _Columns, who: Int64s) -> Int64s:
        """The segments in which accesses by two different ``who`` race."""
        actor, bits = who[self.order], columns.bits[self.order]
        write = columns.kind[self.order] == WRITE
        least_writer, last_writer = self._range(actor, write)
        least_other, last_other = self._range(actor, ~write)
        has_write, has_other = last_writer >= 0, last_other >= 0
        one_actor = (
            (least_writer == last_writer)
            & (least_other == last_other)
            & (least_writer == least_other)
        )
        low = np.minimum.reduceat(np.where(write, bits, np.uint64(2**64 - 1)), self.firsts)
        high = np.maximum.reduceat(np.where(write, bits, np.uint64(0)), self.firsts)
        # With two writers and two values there are two writers of different values.
        writes_differ = has_write & (least_writer != last_writer) & (low != high)
        return np.flatnonzero(writes_differ | (has_write & has_other & ~one_actor))

    def _range(self, actor: Int64s, chosen: npt.NDArray[np.bool_]) -> tuple[Int64s, Int64s]:
        """The least and last of the chosen actors of each segment; the last is -1 if none is."""
        least = np.minimum.reduceat(np.where(chosen, actor, _MOST), self.firsts)
        return least, np.maximum.reduceat(np.where(chosen, actor, -1), self.firsts)


def _segments(columns: _Columns, keys: list[Int64s]) -> _Segments:
    order = np.lexsort(keys)
    changes = np.zeros(order.size, np.bool_)
    changes[0] = True
    for key in keys:
        changes[1:] |= np.diff(key[order]) != 0
    return _Segments(order, np.flatnonzero(changes))


def _example(columns: _Columns, at: Int64s, who: Int64s) -> tuple[int, int]:
    """Two accesses of a racing segment: a plain write, and one of another actor that races."""
    kind, actor, bits = columns.kind[at], who[at], columns.bits[at]
    for write in np.flatnonzero(kind == WRITE).tolist():
        harmless = (actor == actor[write]) | ((kind == WRITE) & (bits == bits[write]))
        others = np.flatnonzero(~harmless)
        if others.size:
            return int(at[write]), int(at[others[0]])
    raise AssertionError("the segment holds no race")
