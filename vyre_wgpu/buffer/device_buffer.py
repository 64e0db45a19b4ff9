"""`DeviceBuffer`: an array that lives on a device between dispatches, or a range of one."""

from __future__ import annotations

import math
from types import TracebackType
from typing import Any, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import DeviceLostError, InputError
from .arrays import as_elements, is_of
from .pool import PooledBuffer, Span
from .staging import aligned

__all__ = ["DeviceBuffer", "Keeper"]


class Keeper(Protocol):
    """Who owns the memory of device buffers: checks, copies and frees."""

    @property
    def alignment(self) -> int:
        """Bytes of which the start of a range is a multiple."""
        ...

    def check(self) -> None:
        """Raises `DeviceLostError` or `ForkedProcessError` if the device may not be used."""
        ...

    def write(self, span: Span, data: npt.NDArray[Any]) -> None:
        """Copies a contiguous array to the start of a part of a buffer."""
        ...

    def read(self, span: Span, out: npt.NDArray[Any]) -> None:
        """Copies the start of a part of a buffer into a contiguous array."""
        ...

    def free(self, buffer: PooledBuffer) -> None:
        """Takes a buffer back."""
        ...


class DeviceBuffer:
    """An array in device memory: an input or a destination of dispatches without a copy.

    Made by ``backend.upload(array)`` or by a dispatch with ``out={"name": vw.DEVICE}``. Its memory
    goes back to the backend with `close`, or at the end of a ``with`` block, or when the backend is
    closed; not when the object is forgotten.

    ``buffer[a:b]`` is a range of it along the first axis: a device buffer on the same memory, used
    like any other, which ends with the one that it is of. Disjoint ranges of one buffer may be read
    and written in one dispatch.

    Attributes:
        dtype: NumPy type of the elements, native byte order.
        shape: shape of the array.
    """

    def __init__(
        self, keeper: Keeper, buffer: PooledBuffer, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> None:
        self._keeper = keeper
        self._buffer: PooledBuffer | None = buffer
        self._whole: DeviceBuffer | None = None  # whose range it is
        self._offset = 0  # of a range, in bytes
        self.dtype = dtype
        self.shape = shape

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self.size * self.dtype.itemsize

    @property
    def closed(self) -> bool:
        """Whether `close` was called, here or for what it is a range of."""
        return self._buffer is None or (self._whole is not None and self._whole.closed)

    def belongs_to(self, keeper: Keeper) -> bool:
        """Whether its memory is that keeper's."""
        return self._keeper is keeper

    def pooled(self) -> PooledBuffer:
        """The memory behind it.

        Raises:
            DeviceLostError: it, or its backend, is closed.
            ForkedProcessError: this process is a forked child of the one that made it.
        """
        buffer = self._buffer
        if buffer is None or self.closed:
            raise DeviceLostError(
                "the device buffer is closed",
                fix="use it before it or its backend is closed, or upload or compute it again",
            )
        self._keeper.check()
        return buffer

    def span(self) -> Span:
        """The part of the memory behind it that is bound: all, or where a range lies.

        Raises:
            DeviceLostError, ForkedProcessError: as `pooled`.
        """
        buffer = self.pooled()
        if self._whole is None:
            return Span(buffer, 0, buffer.size)
        return Span(buffer, self._offset, aligned(self.nbytes, 4))

    def __getitem__(self, key: slice) -> DeviceBuffer:
        """A range along the first axis, such as ``buffer[1024:2048]``.

        Raises:
            InputError: no slice with step 1, one with nothing in it, or one that does not begin and
                end where the device can bind it; the message says where that is.
            DeviceLostError, ForkedProcessError: as `pooled`.
        """
        if not isinstance(key, slice) or not self.shape:
            raise InputError(
                f"a device buffer of shape {self.shape} has no element {key!r} on the host",
                fix="take a range along the first axis, buffer[a:b], or download() it",
            )
        start, stop, step = key.indices(self.shape[0])
        row = int(np.prod(self.shape[1:], dtype=np.int64)) * self.dtype.itemsize
        if step != 1 or stop <= start or not row:
            raise InputError(
                f"the range {start}:{stop}:{step} of a device buffer of shape {self.shape} is "
                "empty or has gaps",
                fix="take buffer[a:b] with a < b",
            )
        buffer, alignment = self.pooled(), self._keeper.alignment
        offset, end = self._offset + start * row, self._offset + stop * row
        if offset % alignment:
            raise InputError(
                f"a range that begins at byte {offset} of the device's memory cannot be bound: "
                f"ranges begin at multiples of {alignment} bytes",
                fix=f"begin at a multiple of {alignment // math.gcd(row, alignment)}",
            )
        if end % 4 and stop < self.shape[0]:
            raise InputError(
                f"a range that ends at byte {end} shares 4 bytes with what follows, and the device "
                "writes 4 bytes at a time",
                fix=f"end at a multiple of {4 // math.gcd(row, 4)}, or at the end of the buffer",
            )
        part = DeviceBuffer(self._keeper, buffer, self.dtype, (stop - start, *self.shape[1:]))
        part._whole, part._offset = self, offset
        return part

    __iter__ = None  # NumPy and `for` would ask for element after element

    def upload(self, array: npt.ArrayLike) -> None:
        """Replaces the whole content.

        Args:
            array: as many elements, of the same type; taken in C order.

        Raises:
            InputError: another type or number of elements, a masked array, or no array at all.
            DeviceLostError: it, or its backend, is closed.
        """
        given = as_elements(array, "the content of the device buffer")
        if not is_of(given, self.dtype) or given.size != self.size:
            raise InputError(
                f"the device buffer holds {self.size} elements of {self.dtype}, not {given.size} "
                f"of {given.dtype}",
                fix="pass an array of that type and size, or upload a new buffer",
            )
        self._keeper.write(self.span(), np.ascontiguousarray(given, self.dtype))

    def download(self) -> npt.NDArray[Any]:
        """A copy of the content, of its dtype and shape.

        Raises:
            DeviceLostError: it, or its backend, is closed.
        """
        out = np.empty(self.shape, self.dtype)
        self._keeper.read(self.span(), out)
        return out

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise InputError(
            "a device buffer is no NumPy array: its content is on the device",
            fix="call .download() for a copy",
        )

    def to_numpy(self) -> npt.NDArray[Any]:
        """The same as `download`."""
        return self.download()

    def close(self) -> None:
        """Gives the memory back, and ends its ranges. Closing twice does nothing.

        To close a range gives nothing back: the memory is that of what it is a range of.
        """
        buffer, self._buffer = self._buffer, None
        if buffer is not None and self._whole is None:
            try:
                self._keeper.free(buffer)
            except BaseException:
                if buffer.in_use:  # Ctrl-C came first: it may be closed again
                    self._buffer = buffer
                raise

    def __enter__(self) -> DeviceBuffer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        # Two objects that own one piece of memory would free it twice.
        raise TypeError(
            "a device buffer is neither copied nor pickled: download() gives its content, and "
            "backend.upload(array) another buffer"
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a device buffer of rank 0 has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return f"<DeviceBuffer {self.shape} {self.dtype}{state}>"
