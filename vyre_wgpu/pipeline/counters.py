"""Counters of what compilation and dispatch did; they only grow. Caches count for themselves."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields, replace

__all__ = ["Counters", "Counts"]


@dataclass(frozen=True, slots=True)
class Counts:
    """A snapshot.

    Attributes:
        lowerings: programs lowered to WGSL.
        modules_created: shader modules made.
        disk_hits: compilations served from the disk cache.
        disk_writes: entries written to the disk cache.
        dispatches: kernel launches.
        submissions: command buffers submitted.
        traps: dispatches that ended in a trap.
    """

    lowerings: int = 0
    modules_created: int = 0
    disk_hits: int = 0
    disk_writes: int = 0
    dispatches: int = 0
    submissions: int = 0
    traps: int = 0


_NAMES = frozenset(field.name for field in fields(Counts))


class Counters:
    """Counts from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(_NAMES, 0)

    def add(self, **amounts: int) -> None:
        """Raises counters by name, all in one step."""
        with self._lock:
            for name, amount in amounts.items():
                self._counts[name] += amount

    def add_dispatches(self, count: int) -> None:
        """Counts so many dispatches in one submission."""
        counts = self._counts
        with self._lock:
            counts["dispatches"] += count
            counts["submissions"] += 1

    def snapshot(self) -> Counts:
        """The counts now."""
        with self._lock:
            return replace(Counts(), **self._counts)
