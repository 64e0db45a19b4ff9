"""`Uploads`: memory of the device that the host writes into, for arrays that are worth it.

The queue's own way to write a buffer copies by one thread into memory that is new each time. Here
staging buffers stay mapped while they are idle: an array is copied in by several threads, the
buffer is unmapped, and the device copies it on in the submission that needs it; afterwards it is
mapped again. wgpu-native unmaps nothing by itself, so the memory of an idle one stays where it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .copying import copy_bytes
from .viewed import Viewed

__all__ = ["WORTH_IT", "Upload", "Uploads", "lent_memory"]

WORTH_IT = 1 << 20
"""Bytes from which on a staging buffer is faster than the queue's own way."""

_STEP = 1 << 20


class Upload(NamedTuple):
    """A buffer that content was copied into, unmapped.

    Attributes:
        staging: the handle of the buffer.
        nbytes: bytes of the content, a multiple of 4.
    """

    staging: int
    nbytes: int


class _Slot(Viewed):
    """One staging buffer: mapped, or on its way to be mapped again."""

    __slots__ = ("handle", "mapping", "memory", "size", "wgpu")

    def __init__(self, wgpu_buffer: Any, handle: int, size: int) -> None:
        super().__init__()
        self.wgpu, self.handle, self.size = wgpu_buffer, handle, size
        self.memory: npt.NDArray[Any] | None = None  # its bytes, while it is mapped
        self.mapping: Any = None  # what it waits for otherwise


class LentMemory:
    """The base object of arrays that show a staging buffer for somebody to fill."""

    __slots__ = ("__array_interface__", "__weakref__", "_slot", "address", "nbytes", "owner")

    def __init__(self, owner: Uploads, slot: _Slot, nbytes: int) -> None:
        assert slot.memory is not None
        self.owner, self._slot, self.nbytes = owner, slot, nbytes
        self.__array_interface__ = slot.memory[:nbytes].__array_interface__
        self.address: int = self.__array_interface__["data"][0]


def lent_memory(array: npt.NDArray[Any]) -> LentMemory | None:
    """What an array shows all of, from the first byte to the last, if it was lent; else None."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if not isinstance(base, LentMemory) or array.nbytes != base.nbytes:
        return None
    return base if array.__array_interface__["data"][0] == base.address else None


class Uploads:
    """Staging buffers of one device. Its owner takes turns.

    Args:
        create: makes a buffer of a size that is mapped, and gives wgpu's object and its handle;
            None if the device has no room for it.
        memory: the bytes of a mapped buffer, by handle and size.
        unmap: unmaps a buffer.
        map_again: asks for a buffer to be mapped when the device has done with it; what it gives
            has ``status``: 0 until then, 1 if it is mapped.
        poll: lets mappings that are ready become done.
        views: while there is something in there, the device is not destroyed.
        budget: bytes of all buffers.
    """

    def __init__(
        self,
        create: Callable[[int], tuple[Any, int] | None],
        memory: Callable[[int, int], npt.NDArray[Any]],
        unmap: Callable[[int], None],
        map_again: Callable[[int, int], Any],
        poll: Callable[[], None],
        views: set[object],
        budget: int,
    ) -> None:
        self._create, self._memory, self._unmap = create, memory, unmap
        self._map_again, self._poll, self._budget = map_again, poll, budget
        self._views = views
        self._lent: set[_Slot] = set()
        self._returned: deque[_Slot] = deque()
        self._slots: list[_Slot] = []
        self._used: list[_Slot] = []  # since `settle`

    def put(self, data: npt.NDArray[Any], *, takes_lent: bool) -> Upload | None:
        """Copies content into a staging buffer.

        Args:
            data: contiguous bytes.
            takes_lent: if they are all of what was lent, nothing is copied, and what is written to
                them before the device reads them counts.

        Returns:
            What to copy from; None if all buffers are at work or the budget is too small.
        """
        nbytes = -(-data.size // 4) * 4
        lent = lent_memory(data) if takes_lent and self._lent else None
        if lent is not None and lent.owner is self:
            slot = lent._slot
            self._poll()
            self._look_at(slot)
            if slot.memory is None or _address(slot.memory) != lent.address:
                return None  # at work for the dispatch before
        else:
            found = self._take(nbytes)
            if found is None:
                return None
            slot = found
            assert slot.memory is not None
            copy_bytes(slot.memory[: data.size], data)
        slot.memory[data.size : nbytes] = 0
        slot.memory = None
        self._used.append(slot)
        self._unmap(slot.handle)
        return Upload(slot.handle, nbytes)

    def lend(self, nbytes: int) -> LentMemory | None:
        """A buffer for somebody to fill, until the last array that shows it is gone.

        The memory stays where it is while the buffer is unmapped, as wgpu-native's allocator for
        Vulkan maps whole blocks once for as long as they exist. So an array that is written to
        while the device reads it changes what the device reads, and does no other harm.

        Args:
            nbytes: how many bytes.

        Returns:
            What arrays are to be made of; None if there is no room within the budget.
        """
        slot = self._take(-(-nbytes // 4) * 4)
        if slot is None:
            return None
        lent = LentMemory(self, slot, nbytes)
        self._slots.remove(slot)
        self._lent.add(slot)
        slot.show_through(lent, self._views, self._returned)
        return lent

    def _take_back(self) -> None:
        while self._returned:
            slot = self._returned.popleft()
            self._lent.discard(slot)
            self._views.discard(slot)
            self._slots.append(slot)
            is_lost = slot.memory is None and slot.mapping is None and slot not in self._used
            if is_lost:  # it could not be mapped again
                self._forget(slot)

    def _look_at(self, slot: _Slot) -> None:
        """Takes note of a buffer that is mapped again, or will not be."""
        mapping = slot.mapping
        if mapping is not None and mapping.status:
            slot.mapping = None
            if mapping.status == 1:
                slot.memory = self._memory(slot.handle, slot.size)
            elif slot in self._slots:
                self._forget(slot)

    def settle(self) -> None:
        """Has the buffers that were filled mapped again, once what was submitted has run."""
        used, self._used = self._used, []
        for slot in used:
            slot.mapping = self._map_again(slot.handle, slot.size)

    def close(self) -> None:
        """Destroys all buffers; none is filled any more. Idempotent."""
        self._budget = 0
        self._take_back()
        for slot in self._lent:
            slot.is_left = True
        slots, self._slots, self._used, self._lent = self._slots, [], [], set()
        for slot in slots:
            slot.memory = None
            slot.wgpu.destroy()

    def _take(self, nbytes: int) -> _Slot | None:
        """A mapped buffer with room for so many bytes."""
        self._poll()
        self._take_back()
        for slot in tuple(self._slots):
            self._look_at(slot)
        fitting = [s for s in self._slots if s.memory is not None and s.size >= nbytes]
        if fitting:
            return min(fitting, key=lambda slot: slot.size)
        size = -(-nbytes // _STEP) * _STEP
        # Idle ones that are too small make room.
        for slot in tuple(self._slots):
            if self._held() + size > self._budget and slot.memory is not None:
                self._forget(slot)
        if self._held() + size > self._budget:
            return None
        made = self._create(size)
        if made is None:
            return None
        slot = _Slot(*made, size)
        self._slots.append(slot)
        slot.memory = self._memory(slot.handle, size)
        return slot

    def _held(self) -> int:
        return sum(slot.size for slot in (*self._slots, *self._lent))

    def _forget(self, slot: _Slot) -> None:
        slot.memory = None
        self._slots.remove(slot)
        slot.wgpu.destroy()


def _address(memory: npt.NDArray[Any]) -> int:
    found: int = memory.__array_interface__["data"][0]
    return found
