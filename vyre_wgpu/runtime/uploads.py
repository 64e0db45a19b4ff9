"""`Uploads`: memory of the device that the host writes into, for arrays that are worth it.

The queue's own way to write a buffer copies by one thread into memory that is new each time. Here
staging buffers stay mapped while they are idle: an array is copied in by several threads, the
buffer is unmapped, and the device copies it on in the submission that needs it; afterwards it is
mapped again. wgpu-native unmaps nothing by itself, so the memory of an idle one stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy.typing as npt

from .copying import copy_bytes

__all__ = ["UPLOAD_BUDGET", "WORTH_IT", "Upload", "Uploads"]

WORTH_IT = 1 << 20
"""Bytes from which on a staging buffer is faster than the queue's own way."""

UPLOAD_BUDGET = 1 << 28
"""Bytes of all staging buffers for uploads."""

_STEP = 1 << 20


class Upload(NamedTuple):
    """A buffer that content was copied into, unmapped.

    Attributes:
        staging: the handle of the buffer.
        nbytes: bytes of the content, a multiple of 4.
    """

    staging: int
    nbytes: int


class _Slot:
    """One staging buffer: mapped, or on its way to be mapped again."""

    __slots__ = ("handle", "mapping", "memory", "size", "wgpu")

    def __init__(self, wgpu_buffer: Any, handle: int, size: int) -> None:
        self.wgpu, self.handle, self.size = wgpu_buffer, handle, size
        self.memory: npt.NDArray[Any] | None = None  # its bytes, while it is mapped
        self.mapping: Any = None  # what it waits for otherwise


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
        budget: bytes of all buffers.
    """

    def __init__(
        self,
        create: Callable[[int], tuple[Any, int] | None],
        memory: Callable[[int, int], npt.NDArray[Any]],
        unmap: Callable[[int], None],
        map_again: Callable[[int, int], Any],
        poll: Callable[[], None],
        budget: int = UPLOAD_BUDGET,
    ) -> None:
        self._create, self._memory, self._unmap = create, memory, unmap
        self._map_again, self._poll, self._budget = map_again, poll, budget
        self._slots: list[_Slot] = []
        self._used: list[_Slot] = []  # since `settle`

    def put(self, data: npt.NDArray[Any]) -> Upload | None:
        """Copies content into a staging buffer.

        Args:
            data: contiguous bytes.

        Returns:
            What to copy from; None if all buffers are at work or the budget is too small.
        """
        nbytes = -(-data.size // 4) * 4
        slot = self._take(nbytes)
        if slot is None:
            return None
        assert slot.memory is not None
        copy_bytes(slot.memory[: data.size], data)
        slot.memory[data.size : nbytes] = 0
        slot.memory = None
        self._used.append(slot)
        self._unmap(slot.handle)
        return Upload(slot.handle, nbytes)

    def settle(self) -> None:
        """Has the buffers that were filled mapped again, once what was submitted has run."""
        used, self._used = self._used, []
        for slot in used:
            slot.mapping = self._map_again(slot.handle, slot.size)

    def close(self) -> None:
        """Destroys all buffers; none is filled any more. Idempotent."""
        self._budget = 0
        slots, self._slots, self._used = self._slots, [], []
        for slot in slots:
            slot.memory = None
            slot.wgpu.destroy()

    def _take(self, nbytes: int) -> _Slot | None:
        """A mapped buffer with room for so many bytes."""
        self._poll()
        for slot in tuple(self._slots):
            mapping = slot.mapping
            if mapping is not None and mapping.status:
                slot.mapping = None
                if mapping.status == 1:
                    slot.memory = self._memory(slot.handle, slot.size)
                else:
                    self._forget(slot)
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
        return sum(slot.size for slot in self._slots)

    def _forget(self, slot: _Slot) -> None:
        slot.memory = None
        self._slots.remove(slot)
        slot.wgpu.destroy()
