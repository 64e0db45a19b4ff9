"""What the device found otherwise than Python or NumPy, in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Counts", "Differences"]

Counts = npt.NDArray[np.int64]

_MOST = 5


class Differences:
    """Sentences about checks that failed."""

    def __init__(self) -> None:
        self._found: list[str] = []
        self._more = 0

    @property
    def found(self) -> tuple[str, ...]:
        """The first few, and how many more there are."""
        more = (f"and {self._more} more",) if self._more else ()
        return (*self._found, *more)

    def add(self, sentence: str) -> None:
        """Notes a failed check."""
        if len(self._found) < _MOST:
            self._found.append(sentence)
        else:
            self._more += 1

    def compare(self, what: str, got: object, expected: object) -> None:
        """Notes two values that should be equal and are not."""
        if got != expected:
            self.add(f"{what}: {got} on the device, {expected} expected")

    def compare_counts(self, where: str, got: npt.NDArray[Any], expected: Counts) -> None:
        """Notes two histograms that should be equal and are not."""
        if got.shape != expected.shape:
            self.add(f"{where}: counts of shape {got.shape}, {expected.shape} expected")
            return
        bad = np.flatnonzero(got != expected)
        if len(bad):
            value = int(bad[0])
            self.add(
                f"{where}: {len(bad)} of 256 counts differ, the first at byte value {value}: "
                f"{got[value]} on the device, {expected[value]} expected"
            )
