"""`BufferPool`: device buffers that are used again instead of made again.

Sizes are rounded up to classes, so that a buffer fits many requests. An idle buffer is kept until
the byte budget needs its memory; the one idle for longest goes first. Buffers are handed out last
in, first out: equal sequences of requests get equal buffers, which is what makes bind groups hit.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from ..errors import DeviceLostError, LimitError, VyreError
from ..runtime.device import Device
from ..runtime.interrupts import held_back

__all__ = [
    "DEFAULT_BUDGET",
    "BufferPool",
    "PoolStatistics",
    "PooledBuffer",
    "Span",
    "size_class",
    "storage_pool",
    "uniform_pool",
]

DEFAULT_BUDGET = 1 << 30
"""Bytes that a pool may hold beyond what is in use at the moment."""

ALIGNMENT = 16
MIN_CLASS = 256
_FINE_ABOVE = 64 * 1024


def size_class(nbytes: int, limit: int) -> int:
    """The size of the buffer that serves a request.

    Powers of two from 256 bytes to 64 KiB, above that quarter steps between them, so that less than
    a quarter of the request is wasted. Multiples of 16. No class lies above the limit: the last one
    is the limit itself.

    Args:
        nbytes: bytes asked for, 0 or more.
        limit: largest size allowed.

    Raises:
        LimitError: more than the limit (rounded down to a multiple of 16) is asked for.
    """
    largest = limit - limit % ALIGNMENT
    if nbytes > largest:
        raise LimitError(
            f"a buffer of {nbytes} bytes is above the limit of {largest} bytes",
            fix="use smaller arrays",
        )
    if nbytes <= MIN_CLASS:
        size = MIN_CLASS
    else:
        bits = (nbytes - 1).bit_length()
        step = 1 << (bits if nbytes <= _FINE_ABOVE else bits - 3)
        size = -(-nbytes // step) * step
    return min(size, largest)


@dataclass(slots=True, eq=False)
class PooledBuffer:
    """A buffer lent by a pool.

    Attributes:
        id: its number, never given to another buffer.
        size: its bytes, the size class.
        wgpu: wgpu's buffer.
        in_use: lent at the moment; the pool's to change.
    """

    id: int
    size: int
    wgpu: Any
    in_use: bool = True


class Span(NamedTuple):
    """A part of a buffer.

    Attributes:
        buffer: the buffer.
        offset: where the part begins, in bytes.
        size: its bytes, as they are bound: a multiple of 4.
    """

    buffer: PooledBuffer
    offset: int
    size: int

    def overlaps(self, other: Span) -> bool:
        """Whether both have a byte in common."""
        return (
            self.buffer is other.buffer
            and self.offset < other.offset + other.size
            and other.offset < self.offset + self.size
        )


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    """Counters of a pool; the first three only grow.

    Attributes:
        created: buffers made.
        reuses: requests served by a buffer made before.
        evictions: idle buffers destroyed to stay in the budget.
        buffers: buffers that exist.
        bytes: bytes of the buffers that exist.
        idle_bytes: bytes of those not lent.
    """

    created: int = 0
    reuses: int = 0
    evictions: int = 0
    buffers: int = 0
    bytes: int = 0
    idle_bytes: int = 0

    def __add__(self, other: PoolStatistics) -> PoolStatistics:
        return PoolStatistics(
            *(getattr(self, f.name) + getattr(other, f.name) for f in fields(PoolStatistics))
        )


class BufferPool:
    """Lends buffers of one usage. Safe to use from several threads.

    A method that Ctrl-C leaves half done has changed nothing, or all: what is idle is found again
    by the next one, from the buffers themselves.

    Args:
        create: makes a buffer of a size in bytes; what it returns has ``destroy()``.
        limit: largest buffer in bytes that is used whole; no size class crosses it.
        most: largest buffer in bytes, of which parts are used; as ``limit`` unless given.
        budget: bytes to hold at most; what is in use counts, but is never taken away.
        on_destroy: told the id of each buffer that is destroyed.
        ids: where numbers come from, if pools share them.
    """

    def __init__(
        self,
        create: Callable[[int], Any],
        *,
        limit: int,
        most: int = 0,
        budget: int = DEFAULT_BUDGET,
        on_destroy: Callable[[int], None] = lambda _: None,
        ids: Iterator[int] | None = None,
    ) -> None:
        self._create = create
        self._limit, self._most = limit, max(limit, most)
        self._budget = budget
        self._on_destroy = on_destroy
        self._lock = threading.RLock()
        self._ids = itertools.count(1) if ids is None else ids
        self._live: dict[int, PooledBuffer] = {}
        self._idle: OrderedDict[int, PooledBuffer] = OrderedDict()  # idle for longest first
        self._by_size: dict[int, list[PooledBuffer]] = {}  # the same buffers, in the same order
        self._bytes = self._idle_bytes = 0
        self._created = self._reuses = self._evictions = 0
        self._closed = self._is_torn = False

    @property
    def limit(self) -> int:
        """The largest request in bytes for a buffer that is used whole."""
        return self._limit - self._limit % ALIGNMENT

    def acquire(self, nbytes: int) -> PooledBuffer:
        """Lends a buffer of at least so many bytes; its content is whatever was there.

        Raises:
            LimitError: above the limit, or the device is out of memory.
            DeviceLostError: the pool is closed.
        """
        size = size_class(nbytes, self._limit if nbytes <= self.limit else self._most)
        buffer = None
        try:
            with self._lock:
                if self._is_torn:
                    self._mend()
                if self._closed:
                    raise DeviceLostError("the buffer pool is closed", fix="open a new backend")
                same = self._by_size.get(size)
                if same:
                    buffer = same.pop()
                    del self._idle[buffer.id]
                    self._idle_bytes -= size
                    self._reuses += 1
                else:
                    buffer = self._new(size)
                buffer.in_use = True
            return buffer
        except VyreError:
            raise
        except BaseException:
            # No handler of a signal runs before these two are set.
            self._is_torn = True
            if buffer is not None:
                buffer.in_use = False
            raise

    def release(self, buffer: PooledBuffer) -> None:
        """Takes a buffer back. Release in the reverse order of acquisition.

        Raises:
            VyreError: it is not lent: released before, or another pool's.
        """
        try:
            with self._lock:
                if self._is_torn:
                    self._mend()
                self._take_back(buffer)
                if self._closed:
                    self._destroy(buffer)
                    return
                self._idle[buffer.id] = buffer
                self._by_size.setdefault(buffer.size, []).append(buffer)
                self._idle_bytes += buffer.size
                self._evict(self._budget)
        except VyreError:
            raise
        except BaseException:
            self._is_torn = True
            raise

    def discard(self, buffer: PooledBuffer) -> None:
        """Takes a buffer back and destroys it: its state is not known.

        Raises:
            VyreError: as `release`.
        """
        with self._lock, held_back():
            self._take_back(buffer)
            self._destroy(buffer)

    def leave(self, buffer: PooledBuffer) -> None:
        """Forgets a buffer that is lent; it ends with whoever holds it.

        Raises:
            VyreError: as `release`.
        """
        with self._lock, held_back():
            self._take_back(buffer)
            self._forget(buffer)

    def trim(self, nbytes: int = 0) -> None:
        """Destroys idle buffers until the pool holds no more than so many bytes."""
        with self._lock, held_back():
            if self._is_torn:
                self._mend()
            self._evict(nbytes)

    def close(self) -> None:
        """Destroys all idle buffers, and those lent when they come back. Idempotent."""
        with self._lock, held_back():
            if self._is_torn:
                self._mend()
            self._closed = True
            while self._idle:
                self._destroy(self._oldest())

    def statistics(self) -> PoolStatistics:
        """The counters now."""
        with self._lock:
            return PoolStatistics(
                self._created,
                self._reuses,
                self._evictions,
                len(self._live),
                self._bytes,
                self._idle_bytes,
            )

    def _new(self, size: int) -> PooledBuffer:
        with held_back():
            self._evict(self._budget - size)
            buffer = PooledBuffer(next(self._ids), size, self._make(size), in_use=False)
            self._live[buffer.id] = buffer
            self._bytes += size
            self._created += 1
            return buffer

    def _make(self, size: int) -> Any:
        try:
            return self._create(size)
        except LimitError:
            if not self._idle:
                raise
            self._evict(0)  # idle buffers may be what the memory went to
            return self._create(size)

    def _mend(self) -> None:
        """Finds what is idle again, from the buffers themselves, after an interruption."""
        with held_back():
            idle = [buffer for buffer in self._live.values() if not buffer.in_use]
            self._idle = OrderedDict((buffer.id, buffer) for buffer in idle)
            self._by_size = {}
            for buffer in idle:
                self._by_size.setdefault(buffer.size, []).append(buffer)
            self._idle_bytes = sum(buffer.size for buffer in idle)
            self._is_torn = False

    def _take_back(self, buffer: PooledBuffer) -> None:
        if self._live.get(buffer.id) is not buffer:
            raise VyreError(f"buffer {buffer.id} does not belong to this pool or is destroyed")
        if not buffer.in_use:
            raise VyreError(f"buffer {buffer.id} is released twice")
        buffer.in_use = False

    def _evict(self, budget: int) -> None:
        if self._bytes > budget and self._idle:
            with held_back():
                while self._bytes > budget and self._idle:
                    self._destroy(self._oldest())
                    self._evictions += 1

    def _oldest(self) -> PooledBuffer:
        _, buffer = self._idle.popitem(last=False)
        self._by_size[buffer.size].pop(0)
        self._idle_bytes -= buffer.size
        return buffer

    def _destroy(self, buffer: PooledBuffer) -> None:
        with held_back():
            self._forget(buffer)
            buffer.wgpu.destroy()

    def _forget(self, buffer: PooledBuffer) -> None:
        del self._live[buffer.id]
        self._bytes -= buffer.size
        self._on_destroy(buffer.id)


def storage_pool(
    device: Device,
    on_destroy: Callable[[int], None],
    ids: Iterator[int],
    budget: int = DEFAULT_BUDGET,
) -> BufferPool:
    """A pool of storage buffers which can be bound whole, written and read back.

    Args:
        device: whose memory it is.
        on_destroy: told the id of each buffer that is destroyed.
        ids: where numbers come from; pools whose buffers share bind groups share it.
        budget: bytes to hold at most.
    """
    import wgpu

    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
    usage |= wgpu.BufferUsage.INDIRECT
    most = device.limits.max_buffer_size
    limit = min(device.limits.max_binding_size, most)
    return _pool(device, "storage", usage, limit, on_destroy, ids, budget, most)


def uniform_pool(
    device: Device, on_destroy: Callable[[int], None], ids: Iterator[int]
) -> BufferPool:
    """A pool of uniform buffers, for the dispatch blocks that do not go as immediates.

    Args:
        device: whose memory it is.
        on_destroy: told the id of each buffer that is destroyed.
        ids: as for `storage_pool`.
    """
    import wgpu

    usage = wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST
    limit = device.limits.max_uniform_size
    return _pool(device, "uniform", usage, limit, on_destroy, ids, 1 << 20)


def _pool(
    device: Device,
    what: str,
    usage: int,
    limit: int,
    on_destroy: Callable[[int], None],
    ids: Iterator[int],
    budget: int,
    most: int = 0,
) -> BufferPool:
    def create(size: int) -> Any:
        with device.reporting(f"making a {what} buffer of {size} bytes"):
            return device.wgpu.create_buffer(label=f"vyre_wgpu {what}", size=size, usage=usage)

    return BufferPool(create, limit=limit, most=most, budget=budget, on_destroy=on_destroy, ids=ids)
