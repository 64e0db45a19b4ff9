"""The one submit routine: every way to run a kernel describes a `Submission` and comes here.

One command buffer: clears, one compute pass, copies of the trap words and of every result into one
staging buffer; one submission; one map. Buffers come from pools and go back on every path.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..buffer.arrays import Array
from ..buffer.bindings import BindGroupCache, BindGroupStatistics
from ..buffer.pool import BufferPool, PooledBuffer, PoolStatistics, storage_pool, uniform_pool
from ..buffer.staging import StagingPool, aligned
from ..errors import LimitError
from ..runtime.device import Device
from ..wgsl.descriptor import TRAP_BYTES
from .compile import Kernel
from .counters import Counters
from .traps import TrapWords

__all__ = ["Outcome", "Slot", "Submission", "Submitter"]

_ALIGNMENT = 16
_INDIRECT_BYTES = 12
_NO_TRAP = TrapWords(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Slot:
    """One storage buffer of a submission.

    Attributes:
        nbytes: bytes of its logical content.
        upload: array copied in before the kernel runs, contiguous, or None.
        clear: zero it before the kernel runs.
        result: array that receives the content, contiguous and writable, or None.
        resident: the buffer to bind, lent to somebody else for longer; None takes one for the
            submission.
    """

    nbytes: int
    upload: Array | None = None
    clear: bool = False
    result: Array | None = None
    resident: PooledBuffer | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """One dispatch as the device sees it.

    Attributes:
        kernel: what runs.
        slots: its storage buffers, in the order of ``kernel.descriptor.bindings``.
        block: the dispatch block.
        grid: workgroups on x, y, z, each at least 1; of no meaning for an indirect launch.
        label: a name for messages and GPU debugging tools.
        indirect: buffer and offset in bytes at which the device has the three words of the grid.
    """

    kernel: Kernel
    slots: Sequence[Slot]
    block: bytes
    grid: tuple[int, int, int]
    label: str = ""
    indirect: tuple[PooledBuffer, int] | None = None


class Outcome(NamedTuple):
    """What a submission left beside its results.

    Attributes:
        trap: the trap words.
        grid: the workgroups launched on x, y, z; of an indirect launch as the device had them.
    """

    trap: TrapWords
    grid: tuple[int, int, int]


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

    def run(self, submission: Submission) -> Outcome:
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
            bound: list[PooledBuffer] = []
            try:
                for need in self._needs(submission):
                    if isinstance(need, PooledBuffer):
                        bound.append(need)
                    else:
                        pool, nbytes = need
                        held.append((pool, pool.acquire(nbytes)))
                        bound.append(held[-1][1])
                outcome = self._run(submission, bound)
            finally:
                # In reverse, so that the next submission of this shape gets the same buffers.
                for pool, buffer in reversed(held):
                    pool.release(buffer)
        if outcome.trap.flag:
            self._counters.add(traps=1)
        return outcome

    # Buffers that outlive a submission (`Keeper`)

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
                    self._write(buffer, data)

    def read(self, buffer: PooledBuffer, out: Array) -> None:
        """Copies the start of a storage buffer into a contiguous array."""
        if not out.size:
            return
        with self._lock, self._staging.lend(out.nbytes) as staging:
            self._device.check()
            with self._device.reporting("downloading an array"):
                encoder = self._device.wgpu.create_command_encoder()
                size = aligned(out.nbytes, 4)
                encoder.copy_buffer_to_buffer(buffer.wgpu, 0, staging.wgpu, 0, size)
                self._device.queue.submit([encoder.finish()])
                self._counters.add(submissions=1)
            with self._staging.mapped(staging, out.nbytes) as memory:
                _bytes_of(out)[:] = memory

    def clear(self, buffer: PooledBuffer, nbytes: int) -> None:
        """Zeros the start of a storage buffer."""
        self.write(buffer, np.zeros(nbytes, np.uint8))

    def free(self, buffer: PooledBuffer) -> None:
        """Takes a storage buffer back."""
        if self._device.is_ours:
            self._storage.release(buffer)

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

    def _needs(self, submission: Submission) -> list[PooledBuffer | tuple[BufferPool, int]]:
        """The buffer of each binding or where to get it, trap words and block at their place."""
        descriptor = submission.kernel.descriptor
        needs: list[PooledBuffer | tuple[BufferPool, int]] = [
            slot.resident or (self._storage, slot.nbytes) for slot in submission.slots
        ]
        if descriptor.trap_binding is not None:
            needs.insert(descriptor.trap_binding, (self._storage, TRAP_BYTES))
        if descriptor.block_binding is not None:
            needs.insert(descriptor.block_binding, (self._blocks, len(submission.block)))
        return needs

    def _run(self, submission: Submission, buffers: Sequence[PooledBuffer]) -> Outcome:
        trap = submission.kernel.descriptor.trap_binding
        slots = list(submission.slots)
        if trap is not None:
            slots.insert(trap, Slot(TRAP_BYTES, clear=True))
        indirect = submission.indirect
        offsets, total = _staging_offsets(slots)
        words_at = total
        if indirect is not None:
            total += _ALIGNMENT
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
                if indirect is not None:
                    source, offset = indirect
                    encoder.copy_buffer_to_buffer(
                        source.wgpu, offset, staging.wgpu, words_at, _INDIRECT_BYTES
                    )
                self._device.queue.submit([encoder.finish()])
                self._counters.add(dispatches=1, submissions=1)
            with self._staging.mapped(staging, total) as memory:
                grid = submission.grid
                if indirect is not None:
                    words = memory[words_at : words_at + _INDIRECT_BYTES].view(np.uint32)
                    grid = int(words[0]), int(words[1]), int(words[2])
                trap_words = _deliver(memory, slots, offsets, has_trap=trap is not None)
                return Outcome(trap_words, grid)

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
        if submission.indirect is not None:
            source, offset = submission.indirect
            compute.dispatch_workgroups_indirect(source.wgpu, offset)
        else:
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
