"""`Shown`: results that the caller sees where the device left them (``zero_copy``).

The arrays are read-only views of mapped staging memory. wgpu-native frees that memory with its
buffer, whoever looks at it, so the buffer stays with its views: whatever happens to the backend, it
is neither unmapped nor destroyed while one of them is alive. When the last one is gone, which may
be anywhere, in any thread, it is only noted; the next call that has its turn takes the buffers
back.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

import numpy as np

from ..buffer.arrays import Array
from ..buffer.leases import Lease

__all__ = ["Shown"]


class _Window:
    """Alive as long as any view; what they have in common."""

    __slots__ = ("__weakref__",)


class _View:
    """The base object of one array."""

    __slots__ = ("__array_interface__", "_window")

    def __init__(self, address: int, nbytes: int, window: _Window) -> None:
        self._window = window
        self.__array_interface__ = {
            "version": 3,
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (address, True),  # read-only
        }


class Shown:
    """A staging buffer with live views, or about to have them.

    Args:
        mapping: the mapping, which is done.
        lease: the buffers that come back with it.
        keeps: what keeps the memory alive, should nothing else do so any more.
        returned: told when the last view is gone.
        views: what of the device is viewed; it is in there from `seal` until it is taken back.

    Attributes:
        mapping: the mapping.
        lease: the buffers.
        is_left: nobody takes it back; it ends with its views.
    """

    __slots__ = ("_keeps", "_returned", "_views", "_window", "is_left", "lease", "mapping")

    def __init__(
        self,
        mapping: Any,
        lease: Lease,
        keeps: object,
        returned: deque[Shown],
        views: set[object],
    ) -> None:
        self.mapping, self.lease, self._keeps = mapping, lease, keeps
        self._returned, self._views, self.is_left = returned, views, False
        self._window: _Window | None = _Window()
        weakref.finalize(self._window, Shown._end, self).atexit = False

    def view(self, address: int, nbytes: int) -> Array:
        """Bytes of the mapped memory as a read-only array.

        Args:
            address: where they are.
            nbytes: how many.
        """
        assert self._window is not None
        if not nbytes:
            empty = np.empty(0, np.uint8)
            empty.flags.writeable = False
            return empty
        return np.asarray(_View(address, nbytes, self._window))

    def seal(self) -> None:
        """To be called after the last `view`: from now on it ends with them."""
        self._views.add(self)
        self._window = None

    def _end(self) -> None:
        if self.is_left:
            self._views.discard(self)
        else:
            self._returned.append(self)
