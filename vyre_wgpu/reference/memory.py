"""Buffers as a part of the lanes sees them: loads and stores with indices out of bounds.

Storage is one array for all lanes. Workgroup memory and private arrays are one array each for a
whole part, in which every workgroup or lane has its own stretch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .masks import Mask, lanes_of
from .order import Order

Array = npt.NDArray[Any]
Int64s = npt.NDArray[np.int64]

__all__ = ["Memory"]


class Memory:
    """One buffer.

    Args:
        data: the elements, 1-D.
        length: elements that a lane can reach.
        base: where each lane's own elements start; None where all lanes share them.
        written: 1 for each element that was written, where that is tracked.
    """

    def __init__(
        self,
        data: Array,
        length: int,
        base: Int64s | None = None,
        written: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        self.data = data
        self.length = length
        self.base = base
        self.written = written

    def in_bounds(self, index: Array) -> tuple[Int64s, npt.NDArray[np.bool_]]:
        """An index of any integer type as int64, and where it is in bounds."""
        at = index.astype(np.int64, copy=False)
        # Negative ones, and those of u64 beyond 2^63, are huge as unsigned numbers.
        return at, at.view(np.uint64) < self.length

    def load(self, index: Array) -> Array:
        """The elements, 0 out of bounds; one for all lanes where index and buffer are shared."""
        at, inside = self.in_bounds(index)
        if inside.all():
            return self.data[self._place(at)]
        if self.length == 0:
            return np.zeros(at.size, self.data.dtype)
        found = self.data[self._place(np.where(inside, at, 0))]
        return np.where(inside, found, self.data.dtype.type(0))

    def targets(self, index: Array, mask: Mask, count: int, order: Order) -> tuple[Int64s, Int64s]:
        """Which of ``count`` lanes act, and on which elements of `data`, in their order.

        Args:
            index: index operand.
            mask: the lanes that run the statement; those out of bounds are left out.
            count: lanes of the part.
            order: the order in which they act.
        """
        at, inside = self.in_bounds(index)
        if inside.size == 1:
            acting = lanes_of(mask if inside[0] else False, count)
        elif inside.all():
            acting = lanes_of(mask, count)
        else:
            acting = np.flatnonzero(inside if mask is True else inside & mask)
        lanes = order.lanes(acting)
        place = self._place(at)
        return lanes, np.broadcast_to(place, count)[lanes]

    def store(self, place: Int64s, values: Array) -> None:
        """Writes elements; of several values for one element the last stays."""
        self.data[place] = values
        if self.written is not None:
            self.written[place] = True

    def _place(self, at: Int64s) -> Int64s:
        return at if self.base is None else at + self.base
