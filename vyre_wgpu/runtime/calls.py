"""`Calls`: the few things that a dispatch asks of wgpu, and how they are asked for.

Two implementations do the same work: `NativeCalls` (`native.py`) goes straight to wgpu-native's
functions, `PublicCalls` (`public.py`) through wgpu-py's documented interface. `choose_calls` takes
the first where it is known to work.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

__all__ = ["UPLOAD_BUDGET", "Calls", "Mapping", "Step", "choose_calls"]

UPLOAD_BUDGET = 1 << 28
"""Bytes of all staging buffers for large uploads."""

_log = logging.getLogger("vyre_wgpu")


class Step(NamedTuple):
    """One kernel of a command buffer, with what precedes and follows it.

    Attributes:
        clears: buffer, offset and bytes to zero before the kernel; multiples of 4.
        pipeline: what runs.
        group: its bind group 0.
        grid: workgroups on x, y, z; or the buffer and offset where the device has them.
        copies: source, offset, target, offset and bytes of each copy after the kernel; multiples
            of 4.
    """

    clears: Sequence[tuple[Any, int, int]]
    pipeline: Any
    group: Any
    grid: tuple[int, int, int] | tuple[Any, int]
    copies: Sequence[tuple[Any, int, Any, int, int]]


class Mapping(Protocol):
    """A staging buffer that becomes readable when its submission has run."""

    @property
    def is_done(self) -> bool:
        """Whether waiting is over, well or badly."""
        ...


class Calls(Protocol):
    """What a dispatch asks of wgpu. Not safe from several threads, but for waiting and reading.

    Buffers, pipelines, bind groups and labels are handed over as handles, made once from wgpu's
    objects, which the caller keeps alive. A caller never hands over a buffer that is destroyed or
    mapped, since wgpu-native ends the process over one.

    Every method raises wgpu's ``GPUError`` or ``RuntimeError`` for what wgpu reports, and then
    nothing was submitted.
    """

    name: str

    def buffer(self, wgpu_buffer: Any) -> Any:
        """The handle of a buffer."""
        ...

    def pipeline(self, wgpu_pipeline: Any) -> Any:
        """The handle of a compute pipeline."""
        ...

    def group(self, wgpu_group: Any) -> Any:
        """The handle of a bind group."""
        ...

    def label(self, text: str) -> Any:
        """The handle of a label, for `submit`."""
        ...

    def write(self, buffer: Any, data: npt.NDArray[Any] | bytes, offset: int = 0) -> None:
        """Copies contiguous memory into a buffer, padded with zeros to 4 bytes.

        Args:
            buffer: the buffer.
            data: the memory.
            offset: where in the buffer, in bytes; a multiple of 4.
        """
        ...

    def submit(
        self,
        writes: Sequence[tuple[Any, npt.NDArray[Any] | bytes]],
        steps: Sequence[tuple[Step, bytes | None]],
        label: Any,
        staging: Any,
        nbytes: int,
        encoded: Any = None,
    ) -> Mapping:
        """Writes buffers, submits one command buffer, and asks for what it leaves.

        Args:
            writes: buffer and content, each as for `write`.
            steps: kernels in order, each with its immediates or None.
            label: of the command buffer and its passes.
            staging: a buffer of which the first bytes become readable when all has run.
            nbytes: how many of its bytes, a multiple of 4.
            encoded: what `encode` gave for these steps; it is used up, whatever happens.
        """
        ...

    def encode(self, steps: Sequence[tuple[Step, bytes | None]], label: Any) -> Any:
        """Encodes steps for a later `submit`, or gives None.

        A buffer must not be destroyed while something that is encoded uses it.
        """
        ...

    def drop(self, encoded: Any) -> None:
        """Frees what `encode` gave and nobody submitted."""
        ...

    def copy(self, source: Any, staging: Any, nbytes: int, offset: int = 0) -> Mapping:
        """Submits a copy of bytes of a buffer, and asks for them, as `submit` does.

        Args:
            source: the buffer.
            staging: where the copy goes.
            nbytes: a multiple of 4.
            offset: where in the source, in bytes; a multiple of 4.
        """
        ...

    def wait(self, mapping: Any, deadline: float | None) -> bool:
        """Waits until a mapping is done.

        Args:
            mapping: what `submit` or `copy` gave.
            deadline: give up then, on `time.monotonic`'s clock; None waits for as long as it takes.

        Returns:
            Whether it is done.

        Raises:
            RuntimeError: it failed: the buffer is not mapped.
        """
        ...

    def poll(self) -> None:
        """Lets mappings that are ready become done, without waiting."""
        ...

    def words(self, mapping: Any, offset: int, count: int) -> tuple[int, ...]:
        """Unsigned 32-bit words of mapped memory from an offset in bytes."""
        ...

    def fetch(
        self,
        mapping: Any,
        flag_at: int | None,
        offsets: Sequence[int],
        results: Sequence[npt.NDArray[Any]],
    ) -> bool:
        """Copies mapped memory into contiguous arrays, unless a word is set.

        Args:
            mapping: a mapping that is done.
            flag_at: offset in bytes of that word, or None.
            offsets: where each array's content lies, in bytes; as many as results.
            results: the arrays.

        Returns:
            Whether they were copied.
        """
        ...

    def read(self, mapping: Any, offset: int, out: npt.NDArray[Any]) -> None:
        """Copies mapped memory from an offset into a contiguous array."""
        ...

    def lend(self, nbytes: int) -> object | None:
        """Mapped memory to be filled by somebody, with an ``__array_interface__``.

        A contiguous array that shows all of it is taken by `submit` and `write` without a copy. It
        may be filled again when the device is done. It outlives the device.

        Args:
            nbytes: how many bytes, at least 1.

        Returns:
            The memory; None where arrays that outlive its mapping could do harm, or there is no
            room.
        """
        ...

    def address(self, mapping: Any) -> int:
        """Where mapped memory is, until `unmap`."""
        ...

    def close(self) -> None:
        """Frees what it holds on the device, before that is destroyed. Idempotent."""
        ...

    def unmap(self, mapping: Any) -> None:
        """Ends a mapping that is done; nothing may view its memory any more."""
        ...


def choose_calls(
    wgpu_device: Any,
    views: set[object] | None = None,
    *,
    native: bool,
    api: str = "",
    upload_bytes: int = UPLOAD_BUDGET,
) -> Calls:
    """The way of calling that a device gets.

    Args:
        wgpu_device: wgpu's device.
        views: holds what stands for mapped memory that arrays of the caller's show; while it is not
            empty the device is not destroyed.
        native: whether the direct path may be taken (``VYRE_WGPU_NATIVE``).
        api: what wgpu-native drives the device by. Its allocator for Vulkan maps whole blocks of
            memory for as long as they exist, in the versions that were looked at.
        upload_bytes: bytes of staging buffers for large uploads, on the direct path.
    """
    from .native import NativeCalls
    from .native_check import is_known_good, self_test
    from .public import PublicCalls

    if not native:
        return PublicCalls(wgpu_device)
    is_known = is_known_good()
    if not is_known:
        fault = self_test(wgpu_device)
        if fault is not None:
            _log.warning(
                "wgpu's public interface is used, since its direct calls do not pass a self-test: "
                "%s",
                fault,
            )
            return PublicCalls(wgpu_device)
    lends = is_known and api == "Vulkan"
    return NativeCalls(wgpu_device, views, lends=lends, upload_bytes=upload_bytes)
