"""`BindGroupCache`: the bind groups of buffers that are used together again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..runtime.interrupts import held_back

__all__ = ["BindGroupCache", "BindGroupStatistics"]

_Key = tuple[int, tuple[int, ...], tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True)
class BindGroupStatistics:
    """Counters of a cache.

    Attributes:
        created: bind groups made.
        hits: requests served by one made before.
        entries: bind groups held.
    """

    created: int = 0
    hits: int = 0
    entries: int = 0


class BindGroupCache:
    """Bind groups by layout and buffers; an entry goes when one of its buffers is destroyed.

    Ids of buffers are never reused, so an entry can not stand for other buffers than its own.

    Args:
        max_entries: bind groups held at most; the one unused for longest goes first.
    """

    def __init__(self, max_entries: int = 4096) -> None:
        self._max_entries = max_entries
        self._lock = threading.Lock()
        self._groups: OrderedDict[_Key, Any] = OrderedDict()
        self._keys_of: dict[int, set[_Key]] = {}
        self._created = self._hits = 0

    def get(
        self,
        layout: int,
        buffers: Sequence[int],
        create: Callable[[], Any],
        ranges: Sequence[tuple[int, int]] = (),
    ) -> Any:
        """The bind group of these buffers in this order.

        Args:
            layout: id of the bind-group layout.
            buffers: ids of the buffers, by binding.
            create: makes the bind group; called only on a miss.
            ranges: offset and bytes of what is bound of each; empty for whole buffers.
        """
        key = (layout, tuple(buffers), tuple(ranges))
        with self._lock:
            group = self._groups.get(key)
            if group is not None:
                self._groups.move_to_end(key)
                self._hits += 1
                return group
            with held_back():
                group = create()
                self._created += 1
                if len(self._groups) >= self._max_entries:
                    self._forget(next(iter(self._groups)))
                self._groups[key] = group
                for buffer in key[1]:
                    self._keys_of.setdefault(buffer, set()).add(key)
            return group

    def drop(self, buffer: int) -> None:
        """Forgets every bind group of a buffer that is being destroyed."""
        with self._lock:
            for key in list(self._keys_of.get(buffer, ())):
                self._forget(key)

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._groups.clear()
            self._keys_of.clear()

    def statistics(self) -> BindGroupStatistics:
        """The counters now."""
        with self._lock:
            return BindGroupStatistics(self._created, self._hits, len(self._groups))

    def _forget(self, key: _Key) -> None:
        del self._groups[key]
        for buffer in set(key[1]):
            keys = self._keys_of[buffer]
            keys.discard(key)
            if not keys:
                del self._keys_of[buffer]
