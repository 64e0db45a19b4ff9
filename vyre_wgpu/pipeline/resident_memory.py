"""`ResidentMemory`: storage buffers that outlive a dispatch, for `DeviceBuffer`."""

from __future__ import annotations

import threading

import numpy as np

from ..buffer.arrays import Array
from ..buffer.pool import PooledBuffer, Span
from ..buffer.staging import aligned
from ..errors import DeviceLostError
from ..runtime.device import Device
from .counters import Counters
from .device_memory import DeviceMemory

__all__ = ["ResidentMemory"]


class ResidentMemory:
    """Lends storage buffers of a device and moves their content. Safe to use from several threads.

    Args:
        device: the device.
        lock: held while something is submitted to it.
        memory: where buffers come from, and what downloads go through.
        counters: told what is done.
    """

    def __init__(
        self,
        device: Device,
        lock: threading.Lock,
        memory: DeviceMemory,
        counters: Counters,
    ) -> None:
        self._device, self._calls, self._lock = device, device.calls, lock
        self._storage, self._staging, self._counters = memory.storage, memory.staging, counters
        self._pending = memory.pending

    @property
    def alignment(self) -> int:
        """Bytes of which the start of a range is a multiple."""
        return self._device.limits.storage_offset_alignment

    def check(self) -> None:
        """Raises if the device may not be used.

        Raises:
            DeviceLostError: it is lost or closed, and the buffers on it are gone.
            ForkedProcessError: this is a forked child.
        """
        if self._device.loss is not None:
            raise DeviceLostError(
                f"the device buffer is gone: its device {self._device.info.name} was lost "
                f"({self._device.loss})",
                fix="call backend.recover() unless that is done, then upload the array again",
            )
        self._device.check()

    def allocate(self, nbytes: int) -> PooledBuffer:
        """Lends a storage buffer until `free`; its content is whatever was there.

        Raises:
            LimitError: above the limit, or the device is out of memory.
            DeviceLostError: the device is closed.
        """
        self._device.check()
        return self._storage.acquire(nbytes)

    def write(self, span: Span, data: Array) -> None:
        """Copies a contiguous array to the start of a part of a storage buffer.

        Where too much is pending, it first waits until the device has taken that.
        """
        content, most = data.reshape(-1).view(np.uint8), self._pending.most_at_once
        with self._lock:
            self.check()
            with self._device.reporting("uploading an array"):
                target = self._calls.buffer(span.buffer.wgpu)
                for start in range(0, content.size, most):
                    part = content[start : start + most]
                    if not self._pending.has_room(part.size):
                        self._read(span, np.empty(1, np.uint32))  # has all writes submitted
                    self._calls.write(target, part, span.offset + start)
                    self._pending.nbytes += part.size

    def read(self, span: Span, out: Array) -> None:
        """Copies the start of a part of a storage buffer into a contiguous array."""
        if out.size:
            with self._lock, self._device.reporting("downloading an array"):
                self.check()
                self._read(span, out)

    def _read(self, span: Span, out: Array) -> None:
        calls, size = self._calls, aligned(out.nbytes, 4)
        staging = self._staging.acquire(size)
        try:
            source, target = calls.buffer(span.buffer.wgpu), calls.buffer(staging.wgpu)
            mapping = calls.copy(source, target, size, span.offset)
            self._pending.nbytes = 0
            self._counters.add(submissions=1)
            calls.wait(mapping, None)
            self.check()  # it may have been lost meanwhile
            calls.read(mapping, 0, out)
            calls.unmap(mapping)
            self._staging.release(staging)
        except BaseException:
            if staging.in_use:
                self._staging.discard(staging)
            raise

    def clear(self, span: Span, nbytes: int) -> None:
        """Zeros the start of a part of a storage buffer."""
        self.write(span, np.zeros(nbytes, np.uint8))

    def free(self, buffer: PooledBuffer) -> None:
        """Takes a storage buffer back."""
        if self._device.is_ours:
            self._storage.release(buffer)
