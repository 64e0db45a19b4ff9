"""`Budgets`: how many bytes of memory a device's pools and its queue may hold."""

from __future__ import annotations

from typing import NamedTuple

from .host_memory import RESULT_BUDGET
from .leases import LEASE_BUDGET
from .pool import DEFAULT_BUDGET
from .staging import READBACK_BUDGET

__all__ = ["PENDING_BUDGET", "Budgets"]

PENDING_BUDGET = 500 << 20
"""Bytes of content that was handed to the queue and that the device has not taken yet."""


class Budgets(NamedTuple):
    """Bytes that a device's memory may take; what is in use is never taken away.

    Attributes:
        storage: storage buffers, idle ones included.
        staging: staging buffers, idle ones included.
        pending: content on the way to the device.
        results: memory of results, dropped by the caller, that waits for the next ones.
    """

    storage: int = DEFAULT_BUDGET
    staging: int = READBACK_BUDGET
    pending: int = PENDING_BUDGET
    results: int = RESULT_BUDGET

    @property
    def leases(self) -> int:
        """Buffers in idle leases: they lie outside of the pools, and count for themselves."""
        return min(LEASE_BUDGET, self.storage, self.staging)
