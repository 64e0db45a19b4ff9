"""`PublicCalls`: dispatching through wgpu-py's documented interface, on every version of it.

wgpu-py's own steps are not made to be interrupted (a callback that Ctrl-C comes into is forgotten,
and who waits for it waits for ever), so it is held back in them. While the device works it is not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .calls import Step
from .interrupts import held_back
from .waiting import pauses

__all__ = ["PublicCalls", "PublicMapping"]


class PublicMapping:
    """A mapping through wgpu-py.

    Attributes:
        buffer: wgpu's buffer.
        nbytes: bytes asked for.
        promise: wgpu-py's promise; its own thread polls the device until it is kept.
    """

    __slots__ = ("buffer", "nbytes", "promise")

    def __init__(self, buffer: Any, nbytes: int, promise: Any) -> None:
        self.buffer, self.nbytes, self.promise = buffer, nbytes, promise

    @property
    def is_done(self) -> bool:
        """Whether waiting is over, well or badly."""
        # A promise that is kept changes the buffer's state only where it is waited for.
        return bool(self.promise._thread_event.is_set())


class PublicCalls:
    """The calls of a dispatch through wgpu-py's objects; handles are those objects.

    Args:
        wgpu_device: wgpu's device.
    """

    name = "public"

    def __init__(self, wgpu_device: Any) -> None:
        from wgpu.backends.wgpu_native import ffi

        # For `read_mapped`, which is called where a signal may come: cffi would keep its lock for
        # good if one came while it parses a type.
        ffi.typeof("intptr_t")
        self._device = wgpu_device
        self._queue = wgpu_device.queue

    def buffer(self, wgpu_buffer: Any) -> Any:
        """The buffer itself."""
        return wgpu_buffer

    def pipeline(self, wgpu_pipeline: Any) -> Any:
        """The pipeline itself."""
        return wgpu_pipeline

    def group(self, wgpu_group: Any) -> Any:
        """The bind group itself."""
        return wgpu_group

    def label(self, text: str) -> Any:
        """The text itself."""
        return text

    def write(self, buffer: Any, data: npt.NDArray[Any] | bytes, offset: int = 0) -> None:
        """Copies contiguous memory into a buffer, padded with zeros to 4 bytes."""
        with held_back():
            self._write(buffer, data, offset)

    def _write(self, buffer: Any, data: npt.NDArray[Any] | bytes, offset: int = 0) -> None:
        view = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else _bytes_of(data)
        whole = view.size - view.size % 4
        if whole:
            self._queue.write_buffer(buffer, offset, view, 0, whole)
        if whole < view.size:
            rest = view[whole:].tobytes().ljust(4, b"\0")
            self._queue.write_buffer(buffer, offset + whole, rest)

    def submit(
        self,
        writes: Sequence[tuple[Any, npt.NDArray[Any] | bytes]],
        steps: Sequence[tuple[Step, bytes | None]],
        label: Any,
        staging: Any,
        nbytes: int,
        encoded: Any = None,
    ) -> PublicMapping:
        """Writes buffers, submits one command buffer, and asks for what it leaves."""
        with held_back():
            for target, data in writes:
                self._write(target, data)
            if encoded is None:
                encoded = self._encode(steps, label)
            self._queue.submit([encoded.finish()])
            del encoded  # freed in here, as far as it is ours
            return self._map(staging, nbytes)

    def encode(self, steps: Sequence[tuple[Step, bytes | None]], label: Any) -> Any:
        """Encodes steps for a later `submit`."""
        with held_back():
            return self._encode(steps, label)

    def _encode(self, steps: Sequence[tuple[Step, bytes | None]], label: Any) -> Any:
        encoder = self._device.create_command_encoder(label=label)
        for step, block in steps:
            for buffer, start, size in step.clears:
                encoder.clear_buffer(buffer, start, size)
            compute = encoder.begin_compute_pass(label=label)
            compute.set_pipeline(step.pipeline)
            compute.set_bind_group(0, step.group)
            if block is not None:
                compute.set_immediates(0, block, 0, len(block))
            if len(step.grid) == 3:
                compute.dispatch_workgroups(*step.grid)
            else:
                compute.dispatch_workgroups_indirect(*step.grid)
            compute.end()
            for source, start, target, offset, size in step.copies:
                encoder.copy_buffer_to_buffer(source, start, target, offset, size)
        return encoder

    def drop(self, encoded: Any) -> None:
        """Nothing: wgpu-py frees the object when it is forgotten."""

    def copy(self, source: Any, staging: Any, nbytes: int, offset: int = 0) -> PublicMapping:
        """Submits a copy of bytes of a buffer, and asks for them."""
        with held_back():
            encoder = self._device.create_command_encoder()
            encoder.copy_buffer_to_buffer(source, offset, staging, 0, nbytes)
            self._queue.submit([encoder.finish()])
            del encoder
            return self._map(staging, nbytes)

    def _map(self, staging: Any, nbytes: int) -> PublicMapping:
        # wgpu-py submits an empty command buffer before a plain "READ"; the copy into this buffer
        # has been submitted, so there is something to wait for already.
        promise = staging.map_async("READ_NOSYNC", 0, nbytes)
        # A promise that is made inside an event loop is kept through that loop, which may be closed
        # by then. It is waited for, not awaited: it needs none.
        promise._call_soon_threadsafe = None
        return PublicMapping(staging, nbytes, promise)

    def wait(self, mapping: PublicMapping, deadline: float | None) -> bool:
        """Waits until a mapping is done or a deadline has passed."""
        # Not in the promise's own event: Ctrl-C could leave its lock taken, for wgpu-py's thread to
        # wait for.
        for pause in pauses(math.inf if deadline is None else deadline):
            if mapping.is_done:
                break
            time.sleep(pause)
        if not mapping.is_done:
            return False
        with held_back():
            mapping.promise.sync_wait()
        return True

    def lend(self, nbytes: int) -> None:
        """None: nothing is known of where wgpu-py's mapped memory is afterwards."""

    def close(self) -> None:
        """Nothing: it holds nothing."""

    def poll(self) -> None:
        """Nothing: wgpu-py's own thread polls as long as a promise is open."""

    def words(self, mapping: PublicMapping, offset: int, count: int) -> tuple[int, ...]:
        """Unsigned 32-bit words of mapped memory."""
        view = mapping.buffer.read_mapped(0, mapping.nbytes, copy=False)
        return tuple(map(int, np.frombuffer(view, np.uint32, count, offset)))

    def fetch(
        self,
        mapping: PublicMapping,
        flag_at: int | None,
        offsets: Sequence[int],
        results: Sequence[npt.NDArray[Any]],
    ) -> bool:
        """Copies mapped memory into contiguous arrays, unless a word is set."""
        if flag_at is not None and self.words(mapping, flag_at, 1)[0]:
            return False
        for offset, result in zip(offsets, results, strict=True):
            self.read(mapping, offset, result)
        return True

    def read(self, mapping: PublicMapping, offset: int, out: npt.NDArray[Any]) -> None:
        """Copies mapped memory from an offset into a contiguous array."""
        view = mapping.buffer.read_mapped(0, mapping.nbytes, copy=False)
        _bytes_of(out)[:] = np.frombuffer(view, np.uint8, out.nbytes, offset)

    def address(self, mapping: PublicMapping) -> int:
        """Where mapped memory is, until `unmap`."""
        view = mapping.buffer.read_mapped(0, mapping.nbytes, copy=False)
        return int(np.frombuffer(view, np.uint8).__array_interface__["data"][0])

    def unmap(self, mapping: PublicMapping) -> None:
        """Ends a mapping that is done."""
        with held_back():
            if mapping.buffer.map_state == "pending":
                mapping.promise.sync_wait()
            mapping.buffer.unmap()


def _bytes_of(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)
