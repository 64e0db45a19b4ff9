"""`DeviceMemory`: the pools, leases and bind groups that the submissions of a device share."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from ..buffer.bindings import BindGroupCache, BindGroupStatistics
from ..buffer.budgets import Budgets
from ..buffer.leases import Lease, LeaseCache
from ..buffer.pool import BufferPool, PoolStatistics, storage_pool, uniform_pool
from ..buffer.staging import staging_pool
from ..runtime.device import Device
from .pending import PendingWrites
from .submission import BLOCK_POOL, STAGING_POOL, STORAGE_POOL

__all__ = ["DeviceMemory"]


class DeviceMemory:
    """What dispatches take memory from. Leases and pending writes: whoever uses them takes turns.

    Args:
        device: the device.
        budgets: bytes that it may take.
        on_end: told each lease whose buffers go, before they do.

    Attributes:
        storage: storage buffers.
        staging: buffers that results are read back through.
        groups: bind groups.
        leases: sets of buffers that are used together again.
        pending: content that is on the way to the device.
    """

    def __init__(self, device: Device, budgets: Budgets, on_end: Callable[[Lease], None]) -> None:
        self.groups = BindGroupCache()
        ids = itertools.count(1)
        self.storage: BufferPool = storage_pool(device, self.groups.drop, ids, budgets.storage)
        self._blocks: BufferPool = uniform_pool(device, self.groups.drop, ids)
        self.staging: BufferPool = staging_pool(device, self.groups.drop, ids, budgets.staging)
        self.leases = LeaseCache((self.storage, self._blocks, self.staging), budgets.leases, on_end)
        self.pending = PendingWrites(budgets.pending)

    def close(self) -> None:
        """Frees all that is idle, and what is lent when it comes back. Idempotent."""
        self.groups.clear()
        self.leases.trim()
        for pool in (self.storage, self._blocks, self.staging):
            pool.close()

    def statistics(self) -> tuple[PoolStatistics, PoolStatistics, BindGroupStatistics]:
        """Counters of buffers that are bound, of staging buffers and of bind groups."""
        leases, groups = self.leases.statistics(), self.groups.statistics()
        storage, blocks, staging = (
            replace(
                statistics,
                reuses=statistics.reuses + leases.reuses[pool],
                idle_bytes=statistics.idle_bytes + leases.idle_bytes[pool],
            )
            for pool, statistics in (
                (STORAGE_POOL, self.storage.statistics()),
                (BLOCK_POOL, self._blocks.statistics()),
                (STAGING_POOL, self.staging.statistics()),
            )
        )
        return storage + blocks, staging, replace(groups, hits=groups.hits + leases.hits)
