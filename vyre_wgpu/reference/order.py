"""The choices that the meaning of a program leaves open, made at random from a seed.

Without a seed lanes act in rising order, so the last of them wins a race.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]

__all__ = ["Order"]


class Order:
    """One sequence of choices.

    Args:
        seed: None for the plain order.
    """

    def __init__(self, seed: int | None) -> None:
        self._random = None if seed is None else np.random.default_rng(seed)

    @property
    def is_random(self) -> bool:
        """Whether there is a seed."""
        return self._random is not None

    def lanes(self, lanes: Int64s) -> Int64s:
        """Lanes that act on memory at once, in the order in which they do."""
        return lanes if self._random is None else self._random.permutation(lanes)

    def pick(self, count: int) -> int:
        """One of ``count`` things; the first in the plain order."""
        return 0 if self._random is None or count <= 1 else int(self._random.integers(count))

    def coin(self) -> bool:
        """False in the plain order."""
        return self._random is not None and bool(self._random.integers(2))

    def permutation(self, count: int) -> Int64s:
        """The numbers below ``count`` in some order."""
        return np.arange(count) if self._random is None else self._random.permutation(count)

    def garbage(self, count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """What uninitialized memory holds: anything; the same byte throughout without a seed."""
        if dtype.kind == "b":
            if self._random is None:
                return np.ones(count, dtype)
            return self._random.integers(0, 2, count).astype(dtype)
        nbytes = count * dtype.itemsize
        if self._random is None:
            return np.full(nbytes, 0xCD, np.uint8).view(dtype)
        return self._random.integers(0, 256, nbytes, np.uint8).view(dtype)
