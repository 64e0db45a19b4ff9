"""The one submit routine: every way to run a kernel describes a `Submission` and comes here.

One command buffer: clears, one compute pass, copies of the trap words and of every result into one
staging buffer; one submission; one map. Buffers come from pools and go back on every path.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..buffer.bindings import BindGroupCache, BindGroupStatistics
from ..buffer.pool import BufferPool, PooledBuffer, PoolStatistics, storage_pool, uniform_pool
from ..buffer.staging import StagingPool, aligned
from ..errors import LimitError
from ..runtime.device import Device
from ..wgsl.descriptor import TRAP_BYTES
from .compile import Kernel
from .counters import Counters
from .host import Array
from .traps import TrapWords

__all__ = ["Slot", "Submission", "Submitter"]

_ALIGNMENT = 16
_NO_TRAP = TrapWords(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Slot:
    """One storage buffer of a submission.

    Attributes:
        nbytes: bytes of its logical content.
        upload: array copied in before the kernel runs, contiguous, or None.
        clear: zero it before the kernel runs.
        result: array that receives the content, contiguous and writable, or None.
    """

    nbytes: int
    upload: Array | None = None
    clear: bool = False
    result: Array | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """One dispatch as the device sees it.

    Attributes:
        kernel: what runs.
        slots: its storage buffers, in the order of ``kernel.descriptor.bindings``.
        block: the dispatch block.
        grid: workgroups on x, y, z, each at least 1.
        label: a name for messages and GPU debugging tools.
    """

    kernel: Kernel
    slots: Sequence[Slot]
    block: bytes
    grid: tuple[int, int, int]
    label: str = ""


class Submitter:
    """Runs submissions on one device, one at a time. Safe to use from several threads.

    Args:
        device: the device.
        counters: told what is done.
    """

    def __init__(self, device: Device, counters: Counters) -> None:
        self._device = device
        self._counters = counters
        self._lock = threading.Lock()
        self._groups = BindGroupCache()
        ids = itertools.count(1)
        self._storage: BufferPool = storage_pool(device, self._groups.drop, ids)
        self._blocks: BufferPool = uniform_pool(device, self._groups.drop, ids)
        self._staging = StagingPool(device)

    @property
    def device(self) -> Device:
        """The device it submits to."""
        return self._device

    @property
    def max_buffer_bytes(self) -> int:
        """The largest storage buffer of a submission."""
        return self._storage.limit

    @property
    def max_result_bytes(self) -> int:
        """The most bytes that all results of a submission may take, each rounded up to 16."""
        return self._staging.limit - TRAP_BYTES

    def run(self, submission: Submission) -> TrapWords:
        """Runs a submission and waits for it; results are filled only if no lane trapped.

        Raises:
            LimitError: the device is out of memory.
            DeviceLostError: the device is closed or lost.
            ForkedProcessError: this is a forked child.
        """
        self._device.check()
        with self._lock:
            self._device.check()  # it may have been closed while we waited
            held: list[tuple[BufferPool, PooledBuffer]] = []
            try:
                for pool, nbytes in self._needs(submission):
                    held.append((pool, pool.acquire(nbytes)))
                words = self._run(submission, [buffer for _, buffer in held])
            finally:
                # In reverse, so that the next submission of this shape gets the same buffers.
                for pool, buffer in reversed(held):
                    pool.release(buffer)
        if words.flag:
            self._counters.add(traps=1)
        return words

    def close(self) -> None:
        """Waits for a running submission, then frees all buffers and the device. Idempotent."""
        # In a forked child the lock may be held by a thread that does not exist there.
        if self._device.is_ours:
            with self._lock:
                self._groups.clear()
                self._storage.close()
                self._blocks.close()
                self._staging.close()
                self._device.close()
        else:
            self._device.close()

    def statistics(self) -> tuple[PoolStatistics, PoolStatistics, BindGroupStatistics]:
        """Counters of buffers that are bound, of staging buffers and of bind groups."""
        bound = self._storage.statistics() + self._blocks.statistics()
        return bound, self._staging.statistics(), self._groups.statistics()

    def _needs(self, submission: Submission) -> list[tuple[BufferPool, int]]:
        """Pool and bytes of each binding, the trap words and the dispatch block at their place."""
        descriptor = submission.kernel.descriptor
        needs = [(self._storage, slot.nbytes) for slot in submission.slots]
        if descriptor.trap_binding is not None:
            needs.insert(descriptor.trap_binding, (self._storage, TRAP_BYTES))
        if descriptor.block_binding is not None:
            needs.insert(descriptor.block_binding, (self._blocks, len(submission.block)))
        return needs

    def _run(self, submission: Submission, buffers: Sequence[PooledBuffer]) -> TrapWords:
        trap = submission.kernel.descriptor.trap_binding
        slots = list(submission.slots)
        if trap is not None:
            slots.insert(trap, Slot(TRAP_BYTES, clear=True))
        offsets, total = _staging_offsets(slots)
        what = f"dispatching {submission.label!r}"
        with self._staging.lend(total) as staging:
            with self._device.reporting(what):
                for slot, buffer in zip(slots, buffers, strict=False):  # the block may follow
                    if slot.upload is not None and slot.upload.size:
                        self._write(buffer, slot.upload)
                if submission.kernel.descriptor.block_binding is not None:
                    self._device.queue.write_buffer(buffers[-1].wgpu, 0, submission.block)
                encoder = self._device.wgpu.create_command_encoder(label=submission.label)
                self._encode(encoder, submission, slots, buffers)
                if trap is not None:
                    encoder.copy_buffer_to_buffer(
                        buffers[trap].wgpu, 0, staging.wgpu, 0, TRAP_BYTES
                    )
                for index, offset in offsets.items():
                    size = aligned(slots[index].nbytes, 4)
                    encoder.copy_buffer_to_buffer(
                        buffers[index].wgpu, 0, staging.wgpu, offset, size
                    )
                self._device.queue.submit([encoder.finish()])
                self._counters.add(dispatches=1, submissions=1)
            with self._staging.mapped(staging, total) as memory:
                return _deliver(memory, slots, offsets, has_trap=trap is not None)

    def _write(self, buffer: PooledBuffer, array: Array) -> None:
        """Copies an array in, padded with zeros to a multiple of 4 bytes."""
        data = _bytes_of(array)
        whole = data.size - data.size % 4
        if whole:
            self._device.queue.write_buffer(buffer.wgpu, 0, data, 0, whole)
        if whole < data.size:
            tail = data[whole:].tobytes().ljust(4, b"\0")
            self._device.queue.write_buffer(buffer.wgpu, whole, tail)

    def _encode(
        self,
        encoder: Any,
        submission: Submission,
        slots: Sequence[Slot],
        buffers: Sequence[PooledBuffer],
    ) -> None:
        for slot, buffer in zip(slots, buffers, strict=False):
            if slot.clear and slot.nbytes:
                encoder.clear_buffer(buffer.wgpu, 0, aligned(slot.nbytes, 4))
        kernel = submission.kernel
        group = self._groups.get(
            kernel.layout.id,
            [buffer.id for buffer in buffers],
            lambda: self._bind_group(kernel, buffers),
        )
        compute = encoder.begin_compute_pass(label=submission.label)
        compute.set_pipeline(kernel.wgpu)
        compute.set_bind_group(0, group)
        if kernel.descriptor.block_binding is None:
            compute.set_immediates(0, submission.block, 0, len(submission.block))
        compute.dispatch_workgroups(*submission.grid)
        compute.end()

    def _bind_group(self, kernel: Kernel, buffers: Sequence[PooledBuffer]) -> Any:
        # Whole buffers: lengths come from the dispatch block, so any content fits the group.
        entries = [
            {"binding": number, "resource": {"buffer": b.wgpu, "offset": 0, "size": b.size}}
            for number, b in enumerate(buffers)
        ]
        return self._device.wgpu.create_bind_group(layout=kernel.layout.wgpu, entries=entries)


def _staging_offsets(slots: Sequence[Slot]) -> tuple[dict[int, int], int]:
    """Where each result lies behind the trap words, by slot, and the bytes in all."""
    offsets: dict[int, int] = {}
    end = TRAP_BYTES
    for index, slot in enumerate(slots):
        if slot.result is not None and slot.nbytes:
            offsets[index] = end
            end += aligned(slot.nbytes, _ALIGNMENT)
    return offsets, end


def _deliver(
    memory: npt.NDArray[np.uint8],
    slots: Sequence[Slot],
    offsets: dict[int, int],
    *,
    has_trap: bool,
) -> TrapWords:
    if has_trap:
        words = TrapWords(*map(int, memory[:TRAP_BYTES].view(np.uint32)))
        if words.flag:
            return words
    for index, offset in offsets.items():
        slot = slots[index]
        assert slot.result is not None
        _bytes_of(slot.result)[:] = memory[offset : offset + slot.nbytes]
    return _NO_TRAP


def _bytes_of(array: Array) -> npt.NDArray[np.uint8]:
    """A view of a contiguous array's bytes."""
    return array.reshape(-1).view(np.uint8)


def check_result_bytes(sizes: Sequence[int], limit: int) -> None:
    """Raises if results do not fit one staging buffer.

    Args:
        sizes: bytes of each result.
        limit: `Submitter.max_result_bytes`.

    Raises:
        LimitError: they do not.
    """
    total = sum(aligned(size, _ALIGNMENT) for size in sizes)
    if total > limit:
        raise LimitError(
            f"the outputs have {total} bytes in all, more than the {limit} bytes that are read "
            "back at once",
            fix="return less, or split the work over several dispatches",
        )
