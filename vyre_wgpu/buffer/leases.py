"""`LeaseCache`: sets of buffers that are used together again, with their bind group.

A dispatch needs a few storage buffers, a staging buffer, and a bind group over the former. One that
needs the same sizes again gets the same set, in one step, instead of a buffer at a time. A set that
is idle keeps its buffers out of the pools; how many bytes may lie there is bounded, and sets unused
for longest go back to the pools first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import LimitError, VyreError
from ..runtime.interrupts import held_back
from .pool import BufferPool, PooledBuffer, size_class

__all__ = ["LEASE_BUDGET", "Lease", "LeaseCache", "LeaseStatistics", "Need"]

LEASE_BUDGET = 1 << 27
"""Bytes that idle leases may hold."""


class Need(NamedTuple):
    """A buffer that a lease must have.

    Attributes:
        pool: index of the pool that it comes from.
        nbytes: bytes it must have room for.
    """

    pool: int
    nbytes: int


class Lease:
    """Buffers lent together.

    Attributes:
        key: what it serves: a layout and sizes.
        buffers: a buffer for each need, None where there was none.
        pools: index of the pool of each buffer that is not None.
        nbytes: bytes of all buffers.
        prepared: what its last user made of it: the user's own, tied to these buffers.
        ahead: what is encoded to run on it next; the user's own.
        last: the dispatch block that ran on it last; the user's own.
        group: the bind group of its buffers, if they are all that is bound.
        in_use: lent at the moment; the cache's to change.
        hits: how often it was lent again; the cache's to change.
        rest: when it was taken back, as a number that grows; the cache's to change.
    """

    __slots__ = (
        "ahead",
        "buffers",
        "group",
        "hits",
        "in_use",
        "key",
        "last",
        "nbytes",
        "pools",
        "prepared",
        "rest",
    )

    def __init__(
        self,
        key: tuple[Any, ...],
        buffers: tuple[PooledBuffer | None, ...],
        pools: tuple[int, ...],
    ) -> None:
        self.key, self.buffers, self.pools = key, buffers, pools
        self.nbytes = sum(buffer.size for buffer in buffers if buffer is not None)
        self.prepared: Any = None
        self.group: Any = None
        self.ahead: Any = None
        self.last: Any = None
        self.in_use, self.hits, self.rest = True, 0, 0

    def held(self) -> list[tuple[int, PooledBuffer]]:
        """Its buffers, each with the index of its pool."""
        buffers = [buffer for buffer in self.buffers if buffer is not None]
        return list(zip(self.pools, buffers, strict=True))


@dataclass(frozen=True, slots=True)
class LeaseStatistics:
    """Counters of a cache, each by pool.

    Attributes:
        reuses: buffers that were lent again within a lease.
        idle_bytes: bytes of the buffers in idle leases.
        hits: leases lent again.
    """

    reuses: tuple[int, ...]
    idle_bytes: tuple[int, ...]
    hits: int


class LeaseCache:
    """Lends sets of buffers. Not safe from several threads: its owner takes turns.

    Ctrl-C may leave a method half done. No lease is forgotten then, as it is noted where it goes
    before it leaves where it was; its owner, who knows which leases are held, calls `mend`.

    Args:
        pools: where buffers come from and go back to.
        budget: bytes that idle leases may hold.
        on_end: told each lease whose buffers go, before they do.
    """

    def __init__(
        self,
        pools: Sequence[BufferPool],
        budget: int = LEASE_BUDGET,
        on_end: Callable[[Lease], None] = lambda _: None,
    ) -> None:
        self._pools = tuple(pools)
        self._budget = budget
        self._on_end = on_end
        self._idle: dict[tuple[Any, ...], list[Lease]] = {}
        self._idle_bytes = self._clock = 0
        self._hits = 0
        self._reuses = [0] * len(self._pools)  # of leases that are no more
        self._lent: set[Lease] = set()

    def key(self, layout: int, needs: Sequence[Need | None]) -> tuple[Any, ...]:
        """What leases for these needs are filed under.

        Args:
            layout: id of the bind-group layout.
            needs: the needs; None for a buffer that somebody else brings.

        Raises:
            LimitError: one is larger than its pool's buffers may be.
        """
        limits = [pool.limit for pool in self._pools]
        return (
            layout,
            *(n and (n.pool, size_class(n.nbytes, limits[n.pool])) for n in needs),
        )

    def take(self, key: tuple[Any, ...]) -> Lease:
        """Lends a lease; what its buffers hold is whatever was there.

        Args:
            key: what `key` gave.

        Raises:
            LimitError: the device is out of memory.
            VyreError: the pools are closed.
        """
        same = self._idle.get(key)
        if same:
            lease = same[-1]
            self._lent.add(lease)
            lease.in_use = True
            same.pop()
            self._idle_bytes -= lease.nbytes
            lease.hits += 1
        else:
            try:
                lease = self._make(key)
            except LimitError:
                # Idle leases may be what the memory went to.
                if not self._idle_bytes:
                    raise
                self.trim()
                lease = self._make(key)
        return lease

    def give_back(self, lease: Lease) -> None:
        """Takes a lease back whose buffers may be written by the next submission.

        Raises:
            VyreError: it is given back twice.
        """
        self._check(lease)
        self._clock = lease.rest = self._clock + 1
        same = self._idle.get(lease.key)
        if same is None:
            self._idle[lease.key] = [lease]
        else:
            same.append(lease)
        self._idle_bytes += lease.nbytes
        lease.in_use = False
        self._lent.discard(lease)
        if self._idle_bytes > self._budget:
            self.trim(self._budget)

    def discard(self, lease: Lease) -> None:
        """Takes a lease back and destroys its buffers: their state is not known.

        Raises:
            VyreError: it is given back twice.
        """
        with held_back():
            self._check(lease)
            lease.in_use = False
            self._lent.discard(lease)
            self._destroy(lease)

    def leave(self, lease: Lease, place: int) -> None:
        """Forgets a lease: one of its buffers ends with whoever holds it, the others end now.

        Args:
            lease: a lease in use.
            place: which of its buffers is left.
        """
        with held_back():
            self._check(lease)
            lease.in_use = False
            self._lent.discard(lease)
            kept = lease.buffers[place]
            for pool, buffer in lease.held():
                if buffer is kept:
                    self._pools[pool].leave(buffer)
            self._destroy(lease)
            lease.buffers = (kept,)

    def mend(self, held: Collection[Lease]) -> None:
        """Takes back all leases but those that somebody holds, after a call that was interrupted.

        Their buffers are destroyed, for what became of them is not known.

        Args:
            held: the leases that are in use.
        """
        with held_back():
            known = self._lent.union(*self._idle.values())
            self._lent = {lease for lease in known if lease in held}
            self._idle, self._idle_bytes = {}, 0
            for lease in known - self._lent:
                lease.in_use = False
                self._destroy(lease)

    def trim(self, nbytes: int = 0) -> None:
        """Gives idle leases' buffers to the pools until no more than so many bytes lie idle."""
        with held_back():
            # Of each key the first of the list is idle for longest.
            while self._idle_bytes > nbytes:
                idle = (same for same in self._idle.values() if same)
                oldest = min(idle, key=lambda same: same[0].rest)
                lease = oldest.pop(0)
                if not oldest:
                    del self._idle[lease.key]
                self._idle_bytes -= lease.nbytes
                self._count(lease)
                # In reverse, so that the next lease of these sizes gets the same buffers.
                for pool, buffer in reversed(lease.held()):
                    self._pools[pool].release(buffer)

    def statistics(self) -> LeaseStatistics:
        """The counters now."""
        idle = [lease for same in self._idle.values() for lease in same]
        idle_bytes, reuses = [0] * len(self._pools), list(self._reuses)
        for lease in idle:
            for pool, buffer in lease.held():
                idle_bytes[pool] += buffer.size
        hits = self._hits
        for lease in (*idle, *self._lent):
            hits += lease.hits
            for pool in lease.pools:
                reuses[pool] += lease.hits
        return LeaseStatistics(tuple(reuses), tuple(idle_bytes), hits)

    def _make(self, key: tuple[Any, ...]) -> Lease:
        buffers: list[PooledBuffer | None] = []
        pools: list[int] = []
        with held_back():
            try:
                for need in key[1:]:
                    if need is None:
                        buffers.append(None)
                    else:
                        pool, size = need
                        buffers.append(self._pools[pool].acquire(size))
                        pools.append(pool)
            except BaseException:
                for pool, buffer in Lease(key, tuple(buffers), tuple(pools)).held():
                    self._pools[pool].release(buffer)
                raise
            lease = Lease(key, tuple(buffers), tuple(pools))
            self._lent.add(lease)
        return lease

    def _check(self, lease: Lease) -> None:
        if not lease.in_use:
            raise VyreError("a lease of buffers is given back twice")

    def _destroy(self, lease: Lease) -> None:
        self._count(lease)
        for pool, buffer in lease.held():
            if buffer.in_use:
                self._pools[pool].discard(buffer)
        lease.buffers = lease.pools = ()  # wgpu's objects are freed here, not wherever it ends

    def _count(self, lease: Lease) -> None:
        """Keeps the counts of a lease that goes, and cuts what holds on to it."""
        self._on_end(lease)
        lease.prepared = lease.group = None
        self._hits += lease.hits
        for pool in lease.pools:
            self._reuses[pool] += lease.hits
