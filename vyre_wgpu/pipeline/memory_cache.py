"""`MemoryCache`: compiled programs kept in memory, each made once however many threads ask."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from cachetools import LRUCache

from .counters import Counters

__all__ = ["MemoryCache"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Flight(Generic[V]):
    """One value being made, and those who wait for it."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.waiters = 0
        self.value: V | None = None
        self.error: Exception | None = None


class MemoryCache(Generic[K, V]):
    """A least-recently-used cache with one maker for each missing key.

    Args:
        max_entries: values kept at most.
        counters: told hits and evictions.
    """

    def __init__(self, max_entries: int, counters: Counters) -> None:
        self._values: LRUCache[K, V] = LRUCache(max_entries)
        self._flights: dict[K, _Flight[V]] = {}
        self._lock = threading.Lock()
        self._counters = counters

    def __len__(self) -> int:
        with self._lock:
            return len(self._values)

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key; made by one caller on a miss, while others of the key wait for it.

        Args:
            key: which value.
            make: makes it.

        Raises:
            Exception: what ``make`` raised, in every caller that waited; nothing is kept of it.
        """
        while True:
            with self._lock:
                value = self._values.get(key)
                if value is not None:
                    self._counters.add(memory_hits=1)
                    return value
                flight = self._flights.get(key)
                if flight is None:
                    flight = self._flights[key] = _Flight()
                    break
                flight.waiters += 1
            flight.done.wait()
            if flight.error is not None:
                raise flight.error
            if flight.value is not None:
                self._counters.add(memory_hits=1)
                return flight.value
            # The maker was interrupted (KeyboardInterrupt): that is not ours, try again.
        return self._fly(key, make, flight)

    def clear(self) -> None:
        """Forgets all values."""
        with self._lock:
            self._values.clear()

    def _fly(self, key: K, make: Callable[[], V], flight: _Flight[V]) -> V:
        try:
            value = flight.value = make()
        except Exception as error:
            flight.error = error
            raise
        else:
            with self._lock:
                if len(self._values) >= self._values.maxsize:
                    self._counters.add(evictions=1)
                self._values[key] = value
            return value
        finally:
            with self._lock:
                del self._flights[key]
            flight.done.set()
