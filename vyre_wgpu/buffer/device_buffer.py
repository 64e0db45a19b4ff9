"""`DeviceBuffer`: an array that lives on a device between dispatches."""

from __future__ import annotations

from types import TracebackType
from typing import Any, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import DeviceLostError, InputError
from .arrays import as_elements, is_of
from .pool import PooledBuffer

__all__ = ["DeviceBuffer", "Keeper"]


class Keeper(Protocol):
    """Who owns the memory of device buffers: checks, copies and frees."""

    def check(self) -> None:
        """Raises `DeviceLostError` or `ForkedProcessError` if the device may not be used."""
        ...

    def write(self, buffer: PooledBuffer, data: npt.NDArray[Any]) -> None:
        """Copies a contiguous array to the start of a buffer."""
        ...

    def read(self, buffer: PooledBuffer, out: npt.NDArray[Any]) -> None:
        """Copies the start of a buffer into a contiguous array."""
        ...

    def free(self, buffer: PooledBuffer) -> None:
        """Takes a buffer back."""
        ...


class DeviceBuffer:
    """An array in device memory: an input or a destination of dispatches without a copy.

    Made by ``backend.upload(array)`` or by a dispatch with ``out={"name": vw.DEVICE}``. Its memory
    goes back to the backend with `close`, or at the end of a ``with`` block, or when the backend is
    closed; not when the object is forgotten.

    Attributes:
        dtype: NumPy type of the elements, native byte order.
        shape: shape of the array.
    """

    def __init__(
        self, keeper: Keeper, buffer: PooledBuffer, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> None:
        self._keeper = keeper
        self._buffer: PooledBuffer | None = buffer
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
        """Whether `close` was called."""
        return self._buffer is None

    def belongs_to(self, keeper: Keeper) -> bool:
        """Whether its memory is that keeper's."""
        return self._keeper is keeper

    def pooled(self) -> PooledBuffer:
        """The memory behind it.

        Raises:
            DeviceLostError: it, or its backend, is closed.
            ForkedProcessError: this process is a forked child of the one that made it.
        """
        if self._buffer is None:
            raise DeviceLostError("the device buffer is closed", fix="upload the array again")
        self._keeper.check()
        return self._buffer

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
        self._keeper.write(self.pooled(), np.ascontiguousarray(given, self.dtype))

    def download(self) -> npt.NDArray[Any]:
        """A copy of the content, of its dtype and shape.

        Raises:
            DeviceLostError: it, or its backend, is closed.
        """
        out = np.empty(self.shape, self.dtype)
        self._keeper.read(self.pooled(), out)
        return out

    def to_numpy(self) -> npt.NDArray[Any]:
        """The same as `download`."""
        return self.download()

    def close(self) -> None:
        """Gives the memory back. Closing twice does nothing."""
        buffer, self._buffer = self._buffer, None
        if buffer is not None:
            self._keeper.free(buffer)

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
