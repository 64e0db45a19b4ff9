"""What looks on while lanes run: logs accesses, with the epochs between barriers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..ir.program import BufferKind, Program
from .lanes import Lanes
from .masks import Mask
from .memory import Memory
from .plan import Step
from .races import ATOMIC, READ, WRITE, AccessLog

Array = npt.NDArray[Any]
Int64s = npt.NDArray[np.int64]

__all__ = ["Watch"]


class Watch:
    """Logs the accesses of one part's lanes.

    Args:
        program: the program.
        lanes: the part.
        log: where to.
    """

    def __init__(self, program: Program, lanes: Lanes, log: AccessLog) -> None:
        self._program = program
        self._lanes = lanes
        self._log = log
        self._epoch = np.zeros(lanes.slots, np.int64)

    def barrier(self, mask: Mask) -> None:
        """Some lanes meet a barrier, and with them the rest of their workgroups."""
        if mask is True:
            self._epoch += 1
        elif mask is not False:
            self._epoch[np.unique(self._lanes.slot[mask])] += 1

    def read(self, step: Step, memory: Memory, lanes: Int64s, place: Int64s) -> None:
        """Lanes read elements, in bounds."""
        if memory.written is not None:
            unwritten = np.flatnonzero(~memory.written[place])
            if unwritten.size:
                first = int(unwritten[0])
                lane = int(self._lanes.number[lanes[first]])
                self._log.add_unwritten(step.row, int(place[first]), lane)
        self._add(READ, step, lanes, place, None)

    def write(
        self, step: Step, memory: Memory, lanes: Int64s, place: Int64s, values: Array
    ) -> None:
        """Lanes write elements."""
        self._add(WRITE, step, lanes, place, values)

    def atomic(self, step: Step, memory: Memory, lanes: Int64s, place: Int64s) -> None:
        """Lanes update elements."""
        if memory.written is not None:
            memory.written[place] = True
        self._add(ATOMIC, step, lanes, place, None)

    def _add(
        self, kind: int, step: Step, lanes: Int64s, place: Int64s, values: Array | None
    ) -> None:
        buffer = self._program.buffers[step.const]
        if buffer.kind is BufferKind.PRIVATE:
            return
        slot = self._lanes.slot[lanes]
        if buffer.kind is BufferKind.WORKGROUP and buffer.count is not None:
            # From the place in this part to one that is the workgroup's own in the whole grid.
            count = buffer.count.constant or 1
            place = place + (self._lanes.group[lanes] - slot) * count
        number = self._lanes.number[lanes]
        self._log.add(kind, step.row, place, number, self._epoch[slot], values)
