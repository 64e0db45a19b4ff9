"""`Generations`: the device of a backend, and the next one after it is lost.

A generation is a device with what compiles for it and what runs on it. Nothing that was made on a
device outlives it, so nothing is repaired: recovery closes the whole generation and starts another.
Pipelines hold a program and its shader, which are tied to no device, and find the new generation at
their next dispatch.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from ..buffer.bindings import BindGroupStatistics
from ..buffer.pool import PoolStatistics
from ..errors import DeviceLostError
from ..runtime.device import CLOSED, Device, reopen_device
from .compile import Compiler
from .submit import Submitter

__all__ = ["Generation", "Generations", "Totals"]


class Generation(NamedTuple):
    """A device in use.

    Attributes:
        compiler: compiles for it.
        submitter: runs on it.
    """

    compiler: Compiler
    submitter: Submitter

    @property
    def device(self) -> Device:
        """The device."""
        return self.submitter.device


class Totals(NamedTuple):
    """What caches and pools did, on all devices so far; what they hold is the present one's.

    Attributes:
        buffers: storage, uniform and staging buffers.
        groups: bind groups.
        memory_hits: kernels found in memory.
        evictions: kernels that memory dropped for others.
    """

    buffers: PoolStatistics = PoolStatistics()
    groups: BindGroupStatistics = BindGroupStatistics()
    memory_hits: int = 0
    evictions: int = 0


class Generations:
    """The generations of a backend, one at a time. Safe to use from several threads.

    Args:
        device: the first device.
        start: makes a generation of a device, given the compiler of the one before it, if any.

    Attributes:
        current: the present generation.
        is_closed: whether `close` was called.
    """

    def __init__(
        self, device: Device, start: Callable[[Device, Compiler | None], Generation]
    ) -> None:
        self._start = start
        self.current = start(device, None)
        self.is_closed = False
        self._turn = threading.Lock()  # held while a device is opened or closed
        self._swap = threading.Lock()  # held while `current` and `_past` change, or are added up
        self._past = Totals()

    def recover(self) -> bool:
        """Opens a new device on the adapter of one that is lost.

        Returns:
            Whether that was needed; if the device is not lost, nothing happens.

        Raises:
            NoAdapterError: the adapter is gone, or gives no device. It may be tried again.
            DeviceLostError: the backend is closed.
            ForkedProcessError: this is a forked child.
        """
        self.current.submitter.check_process()  # a child's copy of the lock may be held for ever
        with self._turn:
            old = self.current
            if self.is_closed:
                raise DeviceLostError("the backend is closed", fix=CLOSED)
            if old.device.loss is None:
                return False
            old.submitter.close()
            new = self._start(reopen_device(old.device), old.compiler)
            with self._swap:
                past = self._add(self._past, old)
                self._past = past._replace(
                    buffers=replace(past.buffers, buffers=0, bytes=0, idle_bytes=0),
                    groups=replace(past.groups, entries=0),
                )
                self.current = new
            old.compiler.close()
            del old
            # wgpu-py's devices are in reference cycles, which keep what the driver has of this one.
            gc.collect()
            return True

    def lose(self, reason: str) -> None:
        """Destroys the present device as if it were lost; see `Submitter.lose`."""
        self.current.submitter.check_process()
        with self._turn:
            if self.is_closed:
                raise DeviceLostError("the backend is closed", fix=CLOSED)
            self.current.submitter.lose(reason)

    def close(self) -> None:
        """Closes the present generation; there is no other after it. Idempotent."""
        if not self.current.device.is_ours:
            self.is_closed = True
            self.current.submitter.close()
            return
        with self._turn:
            if not self.is_closed:
                self.is_closed = True
                try:
                    self.current.submitter.close()
                    self.current.compiler.close()
                except BaseException:  # Ctrl-C: it may be closed again
                    self.is_closed = False
                    raise

    def totals(self) -> Totals:
        """What was done so far."""
        with self._swap:
            return self._add(self._past, self.current)

    def _add(self, past: Totals, generation: Generation) -> Totals:
        storage, staging, groups = generation.submitter.statistics()
        memory = generation.compiler.memory_statistics()
        return Totals(
            past.buffers + storage + staging,
            BindGroupStatistics(
                past.groups.created + groups.created,
                past.groups.hits + groups.hits,
                past.groups.entries + groups.entries,
            ),
            past.memory_hits + memory.hits,
            past.evictions + memory.evictions,
        )
