"""`NativeCalls`: dispatching by direct calls of wgpu-native, in the library that wgpu-py loaded.

wgpu-py checks and wraps each call, and waits for a mapping through a thread of its own. Here the
same C functions are called on the handles of wgpu-py's objects: the short ones through
`ctypes.PyDLL`, which keeps the interpreter lock (a busy Python thread would otherwise take it at
each of about twenty calls, for 5 ms each time), waits and large copies through wgpu-py's ``lib``,
which gives it up. One capture of errors spans the sequence: wgpu-native reports them to a callback
on the calling thread, and goes on with objects that are invalid. So it is looked at before the
submission, which must not see one.

The lock is kept while wgpu-native takes its own. That is safe as long as nobody waits for the
interpreter with one of those in hand: wgpu-native calls our callback of mappings with none. Its
callbacks of errors and log lines are called with some; a second thread that reports an error at the
same moment as one of ours could stop both.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from ctypes import c_uint32, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt

from .calls import UPLOAD_BUDGET, Step
from .copying import copy_bytes
from .interrupts import held_back, is_interruption
from .native_functions import CallbackInfo, load
from .uploads import WORTH_IT, LentMemory, Upload, Uploads
from .waiting import Patience, pauses

__all__ = ["NativeCalls", "NativeMapping"]

_SMALL = 1 << 16
"""Bytes up to which a copy is shorter than giving up the interpreter lock."""

_SOON, _NEVER = 100, 5000
"""Times that the device has nothing left to do, and a callback has not come: wait, give up."""

_CAPTURE = "vyre_wgpu"
_READ, _WRITE = 1, 2  # WGPUMapMode_Read, WGPUMapMode_Write
_SUCCESS = 1  # WGPUMapAsyncStatus_Success
_PROCESS_EVENTS = 2  # WGPUCallbackMode_AllowProcessEvents; any poll counts as that


class NativeMapping:
    """A mapping by direct calls.

    Attributes:
        buffer: handle of the staging buffer.
        nbytes: bytes asked for.
        submission: index of the submission that writes the buffer.
        status: 0 until the callback has come, then what it said.
        message: what it said in words, if it failed.
        address: where the memory is, once it was asked for.
    """

    __slots__ = ("address", "buffer", "message", "nbytes", "status", "submission")

    def __init__(self, buffer: int, nbytes: int) -> None:
        self.buffer, self.nbytes = buffer, nbytes
        self.submission = self.status = self.address = 0
        self.message = ""

    @property
    def is_done(self) -> bool:
        """Whether waiting is over, well or badly."""
        return self.status != 0


class NativeCalls:
    """The calls of a dispatch by wgpu-native's C functions; handles are addresses.

    Args:
        wgpu_device: wgpu's device.
        views: what stands for mapped memory of it that arrays of the caller's show.
        lends: whether memory stays where it is when its buffer is unmapped.
        upload_bytes: bytes of staging buffers for uploads.
    """

    name = "native"

    def __init__(
        self,
        wgpu_device: Any,
        views: set[object] | None = None,
        *,
        lends: bool = False,
        upload_bytes: int = UPLOAD_BUDGET,
    ) -> None:
        from wgpu.backends.wgpu_native import _api, _helpers, ffi, lib, lib_path

        self._ffi = ffi
        self._errors: Any = _api.error_handler
        self._error_types: Any = _helpers.ERROR_TYPES
        self._slot: Any = _helpers.ErrorSlot(_CAPTURE)  # of whose turn it is
        self._c = load(lib_path)
        # Types and functions are looked up here, where no signal comes between: cffi would keep its
        # lock for good.
        self._words_type, self._bytes_type, self._index_type, self._text_type = (
            ffi.typeof(name) for name in ("uint32_t *", "char *", "uint64_t *", "char[]")
        )
        self._label_types = [
            ffi.typeof(f"WGPU{name}Descriptor *") for name in ("CommandEncoder", "ComputePass")
        ]
        self._address_type = ffi.typeof("uintptr_t")
        self._buffer_type = ffi.typeof("WGPUBuffer")
        self._wait_call, self._write_call = lib.wgpuDevicePoll, lib.wgpuQueueWriteBuffer
        self._wgpu = wgpu_device
        self._device = self.buffer(wgpu_device)
        self._queue = self.buffer(wgpu_device.queue)
        self._commands = (c_void_p * 2)()
        self._uploads = Uploads(
            self._upload_buffer,
            self._upload_memory,
            self._c.wgpuBufferUnmap,
            self._map_for_writing,
            self.poll,
            set() if views is None else views,
            upload_bytes,
        )
        self._lends = lends
        self._patience = Patience()
        self._pending: dict[int, NativeMapping] = {}
        self._next = 0
        self._interrupts: list[BaseException] = []

        address = self._address_type

        pending = self._pending

        def note(status: int, message: Any, number: Any, _: Any) -> None:
            known = int(ffi.cast(address, number))
            mapping = pending.get(known)
            if mapping is not None:
                if status != _SUCCESS and message.data:
                    text = ffi.string(message.data, message.length)
                    mapping.message = text.decode("utf-8", "replace")
                # In this order, so that what is interrupted can be done once more.
                mapping.status = status
                pending.pop(known, None)

        def finish_note(_: Any, error: Any, traceback: Any) -> None:
            """Keeps what a signal's handler raised in `note`, which cffi drops, for who waits."""
            while error is not None:
                try:
                    self._interrupts.append(error)
                    given = traceback.tb_frame.f_locals
                    note(given["status"], given["message"], given["number"], None)
                    error = None
                except BaseException as another:  # of a handler once more, or no such frame
                    error = another if is_interruption(another) else None

        signature = "void(WGPUMapAsyncStatus, WGPUStringView, void *, void *)"
        mapped = ffi.callback(signature, note, onerror=finish_note)
        self._mapped = mapped  # alive for as long as wgpu-native may call it
        self._info = CallbackInfo(
            None, _PROCESS_EVENTS, int(ffi.cast(self._address_type, mapped)), None, None
        )

    # Handles

    def buffer(self, wgpu_object: Any) -> int:
        """The address behind an object of wgpu-py."""
        internal = wgpu_object._internal
        if internal is None:
            raise RuntimeError(f"{wgpu_object!r} is released")
        return int(self._ffi.cast(self._address_type, internal))

    pipeline = group = buffer

    def label(self, text: str) -> Any:
        """Descriptors of a command encoder and a compute pass, and what keeps them alive."""
        ffi, raw = self._ffi, text.encode()
        data = ffi.new(self._text_type, raw)
        encoder, compute = map(ffi.new, self._label_types)
        for descriptor in (encoder, compute):
            descriptor.label.data, descriptor.label.length = data, len(raw)
        addresses = [int(ffi.cast(self._address_type, pointer)) for pointer in (encoder, compute)]
        return (*addresses, (data, encoder, compute))

    # Work

    def write(self, buffer: int, data: npt.NDArray[Any] | bytes, offset: int = 0) -> None:
        """Copies contiguous memory into a buffer, padded with zeros to 4 bytes."""
        slot = self._begin_capture()
        try:
            upload = self._write(buffer, data, offset, takes_lent=False)
            if upload is not None:
                try:
                    if slot.message is None:
                        self._submit(self._copies([(upload, buffer, offset)]))
                finally:
                    self._uploads.settle()
        finally:
            self._end_capture(slot)

    def submit(
        self,
        writes: Sequence[tuple[int, npt.NDArray[Any] | bytes]],
        steps: Sequence[tuple[Step, bytes | None]],
        label: Any,
        staging: int,
        nbytes: int,
        encoded: int | None = None,
    ) -> NativeMapping:
        """Writes buffers, submits one command buffer, and asks for what it leaves."""
        slot = self._begin_capture()
        uploads: list[tuple[Upload, int, int]] = []
        try:
            try:
                for target, data in writes:
                    upload = self._write(target, data)
                    if upload is not None:
                        uploads.append((upload, target, 0))
            except BaseException:
                if encoded is not None:
                    self.drop(encoded)
                raise
            commands = self._finish(encoded or self._encode(steps, label))
            before = self._copies(uploads) if uploads else 0
            return self._send(commands, staging, nbytes, slot, before)
        finally:
            if uploads:
                self._uploads.settle()
            self._end_capture(slot)

    def encode(self, steps: Sequence[tuple[Step, bytes | None]], label: Any) -> int:
        """Encodes steps for a later `submit`: an encoder.

        wgpu-native never frees a command buffer that is finished and not submitted, nor the
        buffers that it uses. So it is finished when it is submitted.
        """
        slot = self._begin_capture()
        try:
            return self._encode(steps, label)
        finally:
            self._end_capture(slot)

    def drop(self, encoded: int) -> None:
        """Frees what `encode` gave and nobody submitted."""
        self._c.wgpuCommandEncoderRelease(encoded)

    def _encode(self, steps: Sequence[tuple[Step, bytes | None]], label: Any) -> int:
        """A command encoder; invalid if an error was reported meanwhile."""
        c = self._c
        encoder_label, pass_label, _ = label
        encoder: int = c.wgpuDeviceCreateCommandEncoder(self._device, encoder_label)
        for step, block in steps:
            for buffer, start, size in step.clears:
                c.wgpuCommandEncoderClearBuffer(encoder, buffer, start, size)
            compute = c.wgpuCommandEncoderBeginComputePass(encoder, pass_label)
            c.wgpuComputePassEncoderSetPipeline(compute, step.pipeline)
            c.wgpuComputePassEncoderSetBindGroup(compute, 0, step.group, 0, None)
            if block is not None:
                c.wgpuComputePassEncoderSetImmediates(compute, 0, block, len(block))
            grid = step.grid
            if len(grid) == 3:
                c.wgpuComputePassEncoderDispatchWorkgroups(compute, *grid)
            else:
                c.wgpuComputePassEncoderDispatchWorkgroupsIndirect(compute, *grid)
            c.wgpuComputePassEncoderEnd(compute)
            c.wgpuComputePassEncoderRelease(compute)
            for source, start, target, offset, size in step.copies:
                c.wgpuCommandEncoderCopyBufferToBuffer(encoder, source, start, target, offset, size)
        return encoder

    def copy(self, source: int, staging: int, nbytes: int, offset: int = 0) -> NativeMapping:
        """Submits a copy of bytes of a buffer, and asks for them."""
        c = self._c
        slot = self._begin_capture()
        try:
            encoder = c.wgpuDeviceCreateCommandEncoder(self._device, None)
            c.wgpuCommandEncoderCopyBufferToBuffer(encoder, source, offset, staging, 0, nbytes)
            return self._send(self._finish(encoder), staging, nbytes, slot)
        finally:
            self._end_capture(slot)

    def _finish(self, encoder: int) -> int:
        commands: int = self._c.wgpuCommandEncoderFinish(encoder, None)
        self._c.wgpuCommandEncoderRelease(encoder)
        return commands

    def _send(
        self, commands: int, staging: int, nbytes: int, slot: Any, before: int = 0
    ) -> NativeMapping:
        """Submits command buffers, unless an error was reported since the capture began."""
        mapping = NativeMapping(staging, nbytes)
        if slot.message is not None:
            for unused in (before, commands):
                if unused:
                    self._c.wgpuCommandBufferRelease(unused)
            return mapping
        mapping.submission = self._submit(before or commands, commands if before else 0)
        self._map(mapping, _READ)
        return mapping

    def _submit(self, first: int, second: int = 0) -> int:
        """Submits one or two command buffers and frees them; gives the submission's index."""
        c, commands = self._c, self._commands
        try:
            commands[0] = first
            if not second:
                return int(c.wgpuQueueSubmitForIndex(self._queue, 1, commands))
            commands[1] = second
            return int(c.wgpuQueueSubmitForIndex(self._queue, 2, commands))
        finally:
            c.wgpuCommandBufferRelease(first)
            if second:
                c.wgpuCommandBufferRelease(second)

    def _map(self, mapping: NativeMapping, mode: int) -> None:
        self._next = number = self._next + 1
        self._pending[number] = mapping
        self._info.userdata1 = number
        self._c.wgpuBufferMapAsync(mapping.buffer, mode, 0, mapping.nbytes, self._info)

    # Large content, by way of staging buffers that stay mapped

    def _copies(self, uploads: Sequence[tuple[Upload, int, int]]) -> int:
        """A command buffer that copies uploads to where they belong: buffer and offset."""
        c = self._c
        encoder: int = c.wgpuDeviceCreateCommandEncoder(self._device, None)
        for upload, target, offset in uploads:
            c.wgpuCommandEncoderCopyBufferToBuffer(
                encoder, upload.staging, 0, target, offset, upload.nbytes
            )
        return self._finish(encoder)

    def _upload_buffer(self, size: int) -> tuple[Any, int] | None:
        import wgpu

        usage = wgpu.BufferUsage.MAP_WRITE | wgpu.BufferUsage.COPY_SRC
        try:
            made = self._wgpu.create_buffer(
                label="vyre_wgpu upload", size=size, usage=usage, mapped_at_creation=True
            )
        except (wgpu.GPUError, RuntimeError):  # out of memory, or above a limit
            return None
        return made, self.buffer(made)

    def _upload_memory(self, handle: int, size: int) -> npt.NDArray[Any]:
        address = self._c.wgpuBufferGetMappedRange(handle, 0, size)
        if not address:
            raise RuntimeError("the buffer is not mapped")
        pointer = self._ffi.cast(self._bytes_type, address)
        return np.frombuffer(self._ffi.buffer(pointer, size), np.uint8)

    def _map_for_writing(self, handle: int, size: int) -> NativeMapping:
        mapping = NativeMapping(handle, size)
        self._map(mapping, _WRITE)
        return mapping

    def lend(self, nbytes: int) -> LentMemory | None:
        """Mapped memory to be filled by somebody, or None."""
        return self._uploads.lend(nbytes) if self._lends else None

    def close(self) -> None:
        """Frees what it holds on the device, before that is destroyed. Idempotent."""
        self._uploads.close()

    def _write(
        self,
        buffer: int,
        data: npt.NDArray[Any] | bytes,
        offset: int = 0,
        *,
        takes_lent: bool = True,
    ) -> Upload | None:
        """Hands content to the queue, or to an upload that is to be copied by what is submitted."""
        size = len(data) if isinstance(data, bytes) else data.nbytes
        if size > _SMALL:
            if size >= WORTH_IT:
                flat = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else _flat(data)
                with held_back():
                    upload = self._uploads.put(flat, takes_lent=takes_lent)
                if upload is not None:
                    return upload
            self._write_large(buffer, data, size, offset)
            return None
        raw = data if isinstance(data, bytes) else data.tobytes()
        if size % 4:
            raw = raw.ljust(size + -size % 4, b"\0")
        self._c.wgpuQueueWriteBuffer(self._queue, buffer, offset, raw, len(raw))
        return None

    def _write_large(
        self, buffer: int, data: npt.NDArray[Any] | bytes, size: int, offset: int
    ) -> None:
        ffi, write = self._ffi, self._write_call
        queue, target = self._wgpu.queue._internal, ffi.cast(self._buffer_type, buffer)
        flat = data if isinstance(data, bytes) else _flat(data)
        whole = size - size % 4
        write(queue, target, offset, ffi.from_buffer(flat), whole)
        if whole < size:
            write(queue, target, offset + whole, bytes(flat[whole:]).ljust(4, b"\0"), 4)

    def _begin_capture(self) -> Any:
        """Has errors that are reported on this thread put aside, as wgpu-py does for one call."""
        errors, slot = self._errors, self._slot
        slot.message = None
        try:
            stack = errors._per_thread_data.stack
        except AttributeError:  # the first time on this thread
            stack = errors._get_proxy_stack()
        while stack and slot in stack:  # left over from a call that was interrupted
            stack.remove(slot)
        stack.append(slot)
        return slot

    def _end_capture(self, slot: Any) -> None:
        """Raises what was reported since the capture began."""
        self._errors._per_thread_data.stack.pop()
        if slot.message is not None:
            raise self._error_types.get(slot.type, self._error_types[""])(slot.message)

    # Reading

    def wait(self, mapping: NativeMapping, deadline: float | None) -> bool:
        """Waits until a mapping is done or a deadline has passed."""
        if not mapping.status and not self._wait(mapping, deadline):
            return False
        if mapping.status != _SUCCESS:
            raise RuntimeError(f"the buffer could not be mapped: {mapping.message}")
        return True

    def poll(self) -> None:
        """Lets mappings that are ready become done, without waiting."""
        self._c.wgpuDevicePoll(self._device, 0, None)

    def _wait(self, mapping: NativeMapping, deadline: float | None) -> bool:
        is_done = self._wait_for(mapping, deadline)
        if self._interrupts:
            first = self._interrupts[0]
            self._interrupts.clear()
            raise first
        return is_done

    def _wait_for(self, mapping: NativeMapping, deadline: float | None) -> bool:
        poll, device, patience = self._c.wgpuDevicePoll, self._device, self._patience
        poll(device, 0, None)
        if mapping.status:
            return True
        if deadline is None or time.monotonic() < deadline:
            for _ in range(patience.polls):
                poll(device, 0, None)
                if mapping.status:
                    return True
        if deadline is not None:
            for pause in pauses(deadline):
                time.sleep(pause)
                poll(device, 0, None)
                if mapping.status:
                    return True
            return False
        start = time.monotonic()
        index = self._ffi.new(self._index_type, mapping.submission)
        self._errors.capture(_CAPTURE)
        try:
            for tries in itertools.count():
                self._wait_call(self._wgpu._internal, 1, index)
                if mapping.status:
                    break
                # Another thread's poll may have taken our callback, and be about to call it. If it
                # does not come, a signal's handler has raised before the callback could begin.
                if tries > _SOON:
                    time.sleep(0.001)
                if tries > _NEVER:
                    raise RuntimeError("nothing was heard of the mapping")
        finally:
            error = self._errors.release(_CAPTURE)
        if error is not None and mapping.status != _SUCCESS:
            raise self._error_types.get(error[0], self._error_types[""])(error[1])
        patience.blocked(time.monotonic() - start)
        return True

    def words(self, mapping: NativeMapping, offset: int, count: int) -> tuple[int, ...]:
        """Unsigned 32-bit words of mapped memory."""
        words = self._ffi.cast(self._words_type, self._memory(mapping) + offset)
        return tuple(words[0:count])

    def fetch(
        self,
        mapping: NativeMapping,
        flag_at: int | None,
        offsets: Sequence[int],
        results: Sequence[npt.NDArray[Any]],
    ) -> bool:
        """Copies mapped memory into contiguous arrays, unless a word is set."""
        address = mapping.address or self._memory(mapping)
        if flag_at is not None and c_uint32.from_address(address + flag_at).value:
            return False
        for offset, result in zip(offsets, results, strict=True):
            nbytes = result.nbytes
            if 0 < nbytes <= _SMALL:
                pointer = self._ffi.cast(self._bytes_type, address + offset)
                self._ffi.memmove(result, pointer, nbytes)
            elif nbytes:
                self.read(mapping, offset, result)
        return True

    def read(self, mapping: NativeMapping, offset: int, out: npt.NDArray[Any]) -> None:
        """Copies mapped memory from an offset into a contiguous array."""
        pointer = self._ffi.cast(self._bytes_type, self._memory(mapping) + offset)
        nbytes = out.nbytes
        if nbytes <= _SMALL:
            if nbytes:
                self._ffi.memmove(out, pointer, nbytes)
        else:
            memory = np.frombuffer(self._ffi.buffer(pointer, nbytes), np.uint8)
            copy_bytes(_flat(out), memory)

    def address(self, mapping: NativeMapping) -> int:
        """Where mapped memory is, until `unmap`."""
        return self._memory(mapping)

    def unmap(self, mapping: NativeMapping) -> None:
        """Ends a mapping that is done."""
        mapping.address = 0
        self._c.wgpuBufferUnmap(mapping.buffer)

    def _memory(self, mapping: NativeMapping) -> int:
        if not mapping.address:
            address = self._c.wgpuBufferGetConstMappedRange(mapping.buffer, 0, mapping.nbytes)
            if not address:
                raise RuntimeError("the buffer is not mapped")
            mapping.address = address
        return mapping.address


def _flat(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The bytes of a contiguous array."""
    return array.reshape(-1).view(np.uint8)
