"""`HostMemory`: memory for results that is used again when nobody looks at them any more.

The system hands out large memory page by page, zeroed, at the first touch of each; on some machines
that takes many times as long as the copy of the result. A result made here owns its memory, like
any array: it may be kept, written, sliced. When the last array that shows it is gone, its memory
serves the next result of about its size.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["RECYCLED_FROM", "RESULT_BUDGET", "HostMemory"]

RECYCLED_FROM = 1 << 20
"""Bytes of the smallest result whose memory is used again: below, new memory costs little."""

RESULT_BUDGET = 1 << 28
"""Bytes that wait to be used again."""

_STEPS = 8  # sizes between two powers of two, so that at most an eighth is wasted

Block = npt.NDArray[np.uint8]


class _Owner:
    """What the arrays of one result share: the memory is given back when the last of them is gone.

    That happens anywhere, in another thread, or while a lock is held. So the memory is put where
    the next result looks, in one step that needs no lock.
    """

    __slots__ = ("__array_interface__", "__weakref__")

    def __init__(self, block: Block, nbytes: int, shelf: _Shelf) -> None:
        self.__array_interface__ = block[:nbytes].__array_interface__
        weakref.finalize(self, _give_back, block, shelf).atexit = False


class _Shelf:
    """Where memory is put that comes back.

    Attributes:
        budget: bytes that may wait to be used again.
        blocks: what came back.
    """

    __slots__ = ("blocks", "budget")

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.blocks: deque[Block] = deque()


def _give_back(block: Block, shelf: _Shelf) -> None:
    """Leaves memory where the next result looks, unless there is enough of it."""
    if (len(shelf.blocks) + 1) * block.size <= shelf.budget:
        shelf.blocks.append(block)


class HostMemory:
    """Makes the arrays of results. Safe to use from several threads.

    Args:
        budget: bytes that may wait to be used again; 0 lets all memory go at once.
    """

    def __init__(self, budget: int = RESULT_BUDGET) -> None:
        self._shelf = _Shelf(budget)
        self._waiting: list[Block] = []  # the one that waits for longest first
        self._lock = threading.Lock()

    @property
    def waiting_bytes(self) -> int:
        """Bytes that wait to be used again."""
        with self._lock:
            self._sort()
            return sum(block.size for block in self._waiting)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """An array in C order whose content is whatever was there.

        Args:
            shape: its shape.
            dtype: its type.
        """
        nbytes = math.prod(shape) * dtype.itemsize
        if nbytes < RECYCLED_FROM or nbytes > self._shelf.budget:
            return np.empty(shape, dtype)
        owner = _Owner(self._take(nbytes), nbytes, self._shelf)
        return np.asarray(owner).view(dtype).reshape(shape)

    def empty_like(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array of the shape and type of another."""
        return self.empty(array.shape, array.dtype)

    def close(self) -> None:
        """Lets all memory go that waits, and from now on what comes back. Idempotent."""
        with self._lock:
            self._shelf.budget = 0
            self._sort()

    def _take(self, nbytes: int) -> Block:
        step = 1 << max(0, nbytes.bit_length() - _STEPS.bit_length())
        size = -(-nbytes // step) * step
        with self._lock:
            self._sort()
            for number in range(len(self._waiting) - 1, -1, -1):  # the warmest first
                if self._waiting[number].size == size:
                    return self._waiting.pop(number)
        return np.empty(size, np.uint8)

    def _sort(self) -> None:
        """Puts what came back where it waits, within the budget; with the lock held."""
        returned, waiting = self._shelf.blocks, self._waiting
        while returned:
            waiting.append(returned.popleft())
        held = sum(block.size for block in waiting)
        while held > self._shelf.budget:
            held -= waiting.pop(0).size
