"""`Shown`: results that the caller sees where the device left them (``zero_copy``).

The arrays are read-only views of mapped staging memory. wgpu-native frees that memory with its
buffer, whoever looks at it, so the buffer stays with its views: whatever happens to the backend, it
is neither unmapped nor destroyed while one of them is alive. When the last one is gone, which may
be anywhere, in any thread, it is only noted; the next call that has its turn takes the buffers
back.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ..buffer.arrays import Array
from ..buffer.leases import Lease
from ..runtime.viewed import Viewed

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


class Shown(Viewed):
    """A staging buffer with live views, or about to have them.

    Args:
        mapping: the mapping, which is done.
        lease: the buffers that come back with it.
        keeps: what keeps the memory alive, should nothing else do so any more.

    Attributes:
        mapping: the mapping.
        lease: the buffers.
    """

    __slots__ = ("_keeps", "_window", "lease", "mapping")

    def __init__(self, mapping: Any, lease: Lease, keeps: object) -> None:
        super().__init__()
        self.mapping, self.lease, self._keeps = mapping, lease, keeps
        self._window: _Window | None = _Window()

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

    def seal(self, views: set[object], returned: deque[Any]) -> None:
        """To be called after the last `view`: from now on it ends with them.

        Args:
            views: as for `show_through`.
            returned: likewise.
        """
        self.show_through(self._window, views, returned)
        self._window = None
