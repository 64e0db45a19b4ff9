"""`PendingWrites`: how much content lies in the queue of a device, not submitted yet.

wgpu copies what is written to a buffer into memory of its own, and frees that when a later
submission has run. Uploads alone submit nothing, so a thousand of them would hold all their bytes.
"""

from __future__ import annotations

__all__ = ["PendingWrites"]


class PendingWrites:
    """Bytes written since the last submission; changed with the submitter's lock held.

    Args:
        budget: how many there may be.

    Attributes:
        nbytes: how many there are.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self.nbytes = 0

    @property
    def most_at_once(self) -> int:
        """Bytes of the largest write: the budget, as a multiple of 4, which writes go by."""
        return max(4, self._budget - self._budget % 4)

    def has_room(self, nbytes: int) -> bool:
        """Whether so many bytes may be written before the next submission."""
        return self.nbytes + nbytes <= self._budget
