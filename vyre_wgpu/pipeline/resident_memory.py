"""`ResidentMemory`: storage buffers that outlive a dispatch, for `DeviceBuffer`."""

from __future__ import annotations

import threading

import numpy as np

from ..buffer.arrays import Array
from ..buffer.pool import BufferPool, PooledBuffer
from ..buffer.staging import aligned
from ..runtime.device import Device
from .counters import Counters

__all__ = ["ResidentMemory"]


class ResidentMemory:
    """Lends storage buffers of a device and moves their content. Safe to use from several threads.

    Args:
        device: the device.
        lock: held while something is submitted to it.
        storage: where buffers come from.
        staging: what downloads go through.
        counters: told what is done.
    """

    def __init__(
        self,
        device: Device,
        lock: threading.Lock,
        storage: BufferPool,
        staging: BufferPool,
        counters: Counters,
    ) -> None:
        self._device, self._calls, self._lock = device, device.calls, lock
        self._storage, self._staging, self._counters = storage, staging, counters

    def check(self) -> None:
        """Raises if the device may not be used."""
        self._device.check()

    def allocate(self, nbytes: int) -> PooledBuffer:
        """Lends a storage buffer until `free`; its content is whatever was there.

        Raises:
            LimitError: above the limit, or the device is out of memory.
            DeviceLostError: the device is closed.
        """
        self._device.check()
        return self._storage.acquire(nbytes)

    def write(self, buffer: PooledBuffer, data: Array) -> None:
        """Copies a contiguous array to the start of a storage buffer."""
        with self._lock:
            self._device.check()
            with self._device.reporting("uploading an array"):
                if data.size:
                    self._calls.write(self._calls.buffer(buffer.wgpu), data)

    def read(self, buffer: PooledBuffer, out: Array) -> None:
        """Copies the start of a storage buffer into a contiguous array."""
        if not out.size:
            return
        calls, size = self._calls, aligned(out.nbytes, 4)
        with self._lock, self._device.reporting("downloading an array"):
            self._device.check()
            staging = self._staging.acquire(size)
            try:
                source, target = calls.buffer(buffer.wgpu), calls.buffer(staging.wgpu)
                mapping = calls.copy(source, target, size)
                self._counters.add(submissions=1)
                calls.wait(mapping, None)
            except BaseException:
                self._staging.discard(staging)
                raise
            try:
                calls.read(mapping, 0, out)
            finally:
                calls.unmap(mapping)
                self._staging.release(staging)

    def clear(self, buffer: PooledBuffer, nbytes: int) -> None:
        """Zeros the start of a storage buffer."""
        self.write(buffer, np.zeros(nbytes, np.uint8))

    def free(self, buffer: PooledBuffer) -> None:
        """Takes a storage buffer back."""
        if self._device.is_ours:
            self._storage.release(buffer)
