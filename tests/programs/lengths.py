"""What the tests of byte programs run over."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["LENGTHS", "random_bytes"]

LENGTHS = [0, 1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 1000, 4095, 4096, 4097, 1 << 20]


def random_bytes(length: int, low: int = 0, high: int = 256) -> npt.NDArray[np.uint8]:
    """The same bytes for the same length."""
    return np.random.default_rng(length).integers(low, high, length, dtype=np.uint8)
