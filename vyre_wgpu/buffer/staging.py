"""`StagingPool`: mappable buffers that results are read back through, used again like any other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from ..runtime.device import Device
from .pool import BufferPool, PooledBuffer, PoolStatistics

__all__ = ["READBACK_BUDGET", "StagingPool", "aligned"]

READBACK_BUDGET = 1 << 29
"""Bytes of staging memory that a device keeps beyond what is in use."""


def aligned(nbytes: int, step: int) -> int:
    """The next multiple of a step."""
    return -(-nbytes // step) * step


class StagingPool:
    """Lends buffers to copy into on the device and read from on the host.

    Args:
        device: whose memory it is.
        budget: bytes to hold at most.
    """

    def __init__(self, device: Device, budget: int = READBACK_BUDGET) -> None:
        import wgpu

        usage = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.MAP_READ

        def create(size: int) -> Any:
            with device.reporting(f"making a staging buffer of {size} bytes"):
                return device.wgpu.create_buffer(label="vyre_wgpu staging", size=size, usage=usage)

        self._device = device
        self._pool = BufferPool(create, limit=device.limits.max_buffer_size, budget=budget)

    @property
    def limit(self) -> int:
        """The largest staging buffer in bytes."""
        return self._pool.limit

    @contextmanager
    def lend(self, nbytes: int) -> Iterator[PooledBuffer]:
        """Lends an unmapped buffer of at least so many bytes for the block.

        A buffer whose mapping was interrupted is destroyed, since it may become mapped at any time.

        Raises:
            LimitError: above the limit, or the device is out of memory.
        """
        buffer = self._pool.acquire(nbytes)
        try:
            yield buffer
        finally:
            if buffer.wgpu.map_state == "unmapped":
                self._pool.release(buffer)
            else:
                self._pool.discard(buffer)

    @contextmanager
    def mapped(self, buffer: PooledBuffer, nbytes: int) -> Iterator[npt.NDArray[np.uint8]]:
        """Waits for what was submitted and maps the first bytes of a lent buffer for reading.

        Yields:
            A read-only view, shape ``(nbytes,)``, dtype uint8. It must not be used after the block.

        Raises:
            DeviceLostError: the device was lost meanwhile.
        """
        size = aligned(nbytes, 4)
        raw = buffer.wgpu
        with self._device.reporting("reading results"):
            # wgpu-py submits an empty command buffer before a plain "READ"; the copy into this
            # buffer has been submitted, so there is something to wait for already.
            raw.map_sync("READ_NOSYNC", 0, size)
        try:
            view = np.frombuffer(raw.read_mapped(0, size, copy=False), np.uint8, nbytes)
            yield view
        finally:
            # The memory goes away with the mapping: no view of ours may outlive it.
            view = None  # type: ignore[assignment]
            raw.unmap()

    def trim(self, nbytes: int = 0) -> None:
        """Destroys idle buffers until no more than so many bytes are held."""
        self._pool.trim(nbytes)

    def close(self) -> None:
        """Destroys all idle buffers, and lent ones when they come back. Idempotent."""
        self._pool.close()

    def statistics(self) -> PoolStatistics:
        """The counters now."""
        return self._pool.statistics()
