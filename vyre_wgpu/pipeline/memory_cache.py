"""`MemoryCache`: compiled programs kept in memory, each made once however many threads ask."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

from cachetools import LRUCache

__all__ = ["MAX_BYTES", "MemoryCache", "MemoryStatistics"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MAX_BYTES = 256 << 20
"""Bytes of the values of one cache unless told otherwise."""

_MOST_USES = 1024
"""Uses noted before the order of use is brought up to date."""


class MemoryStatistics(NamedTuple):
    """What a cache holds and did.

    Attributes:
        entries: values that it holds.
        bytes: their size.
        hits: values that were there, or were being made.
        misses: values that had to be made.
        evictions: values dropped for others, or too large to be kept.
    """

    entries: int
    bytes: int
    hits: int
    misses: int
    evictions: int


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
        max_bytes: bytes of values kept at most.
        size_of: bytes of a value.
        on_evict: called with each value that is dropped for others, under no lock.
    """

    def __init__(
        self,
        max_entries: int,
        *,
        max_bytes: int = MAX_BYTES,
        size_of: Callable[[V], int] = lambda _: 0,
        on_evict: Callable[[V], None] = lambda _: None,
    ) -> None:
        self._values: LRUCache[K, V] = LRUCache(max_bytes, getsizeof=size_of)
        self._max_entries = max_entries
        self._size_of = size_of
        self._on_evict = on_evict
        # A hit is a look into a dictionary and a note, without the lock; the order of use is
        # brought up to date from the notes before it matters.
        self._at_hand: dict[K, V] = {}
        self._uses: deque[K] = deque()
        self._flights: dict[K, _Flight[V]] = {}
        self._lock = threading.Lock()
        self._hits = self._misses = self._evictions = 0

    def __len__(self) -> int:
        with self._lock:
            return len(self._values)

    def keys(self) -> list[K]:
        """The keys of the values that it holds; no use of them."""
        with self._lock:
            self._order()
            return list(self._values)

    def items(self) -> list[tuple[K, V]]:
        """The keys and values that it holds; no use of them."""
        with self._lock:
            self._order()
            return list(self._values.items())

    def statistics(self) -> MemoryStatistics:
        """What it holds and did."""
        with self._lock:
            self._order()
            return MemoryStatistics(
                len(self._values),
                int(self._values.currsize),
                self._hits,
                self._misses,
                self._evictions,
            )

    def find(self, key: K) -> V | None:
        """The value of a key if it is there; None while it is being made."""
        value = self._at_hand.get(key)
        if value is not None:
            uses = self._uses
            uses.append(key)
            if len(uses) > _MOST_USES:
                with self._lock:
                    self._order()
        return value

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key; made by one caller on a miss, while others of the key wait for it.

        Args:
            key: which value.
            make: makes it.

        Raises:
            Exception: what ``make`` raised, in every caller that waited; nothing is kept of it.
        """
        while True:
            value = self.find(key)
            if value is not None:
                return value
            with self._lock:
                if key in self._values:
                    continue  # another thread was faster
                flight = self._flights.get(key)
                is_ours = flight is None
                if flight is None:
                    flight = self._flights[key] = _Flight()
                    self._misses += 1
                else:
                    flight.waiters += 1
            if is_ours:
                return self._fly(key, make, flight)
            flight.done.wait()
            if flight.error is not None:
                raise flight.error
            if flight.value is not None:
                with self._lock:
                    self._hits += 1
                return flight.value
            # The maker was interrupted (KeyboardInterrupt): that is not ours, try again.

    def clear(self) -> None:
        """Forgets all values."""
        with self._lock:
            self._order()
            self._at_hand.clear()
            self._values.clear()

    def _fly(self, key: K, make: Callable[[], V], flight: _Flight[V]) -> V:
        evicted: list[V] = []
        try:
            value = flight.value = make()
        except Exception as error:
            flight.error = error
            raise
        else:
            with self._lock:
                evicted = self._keep(key, value)
            return value
        finally:
            with self._lock:
                del self._flights[key]
            flight.done.set()
            for old in evicted:
                self._on_evict(old)

    def _order(self) -> None:
        """Brings the order of use up to date, with the lock held."""
        uses = self._uses
        while uses:
            key = uses.popleft()
            self._hits += 1
            if key in self._values:
                self._values[key]  # the use

    def _keep(self, key: K, value: V) -> list[V]:
        """Puts a value in and gives what had to leave for it: itself, if it is too large."""
        self._order()
        values, size = self._values, self._size_of(value)
        evicted = []
        if size > values.maxsize:
            evicted.append(value)
        else:
            while len(values) >= self._max_entries or values.currsize + size > values.maxsize:
                oldest, old = values.popitem()
                del self._at_hand[oldest]
                evicted.append(old)
            values[key] = self._at_hand[key] = value
        self._evictions += len(evicted)
        return evicted
