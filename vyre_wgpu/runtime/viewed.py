"""`Viewed`: what stands for mapped memory that arrays of the caller's show.

Its device is not destroyed while it is among the device's views. When the last array is gone, which
may be anywhere, in any thread, that is only noted: no lock is taken and wgpu is not touched.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

__all__ = ["Viewed"]


class Viewed:
    """To be derived from.

    Attributes:
        is_left: nobody takes it back; it ends with the arrays.
    """

    __slots__ = ("is_left",)

    def __init__(self) -> None:
        self.is_left = False

    def show_through(self, base: object, views: set[object], returned: deque[Any]) -> None:
        """Counts as viewed from now on, until an object is gone.

        Args:
            base: what all the arrays keep alive, and nobody else.
            views: the views of the device; it is in there until it is taken back.
            returned: told when the object is gone, unless `is_left`.
        """
        views.add(self)
        weakref.finalize(base, _end, self, views, returned).atexit = False


def _end(viewed: Viewed, views: set[object], returned: deque[Any]) -> None:
    if viewed.is_left:
        views.discard(viewed)
    else:
        returned.append(viewed)
