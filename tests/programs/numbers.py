"""What the tests of scans, reductions and sorts run over."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["COUNTS", "Numbers", "error_bound", "random_numbers"]

COUNTS = [0, 1, 2, 63, 64, 65, 255, 256, 257, 1000, 4095, 4096, 4097, 65_537]

Numbers = npt.NDArray[Any]


def random_numbers(count: int, dtype: Any) -> Numbers:
    """The same for the same count and type: integers of the whole range, floats of both signs."""
    random, dtype = np.random.default_rng(count), np.dtype(dtype)
    if dtype.kind == "f":
        return (random.standard_normal(count) * 2.0 ** random.integers(-6, 7, count)).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, count, dtype, endpoint=True)


def error_bound(roundings: int, magnitudes: Any, dtype: Any) -> Any:
    """How far a sum can be off whose elements each go through so many additions, to first order
    and a little more (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 4.2)."""
    unit = float(np.finfo(dtype).eps) / 2
    return 1.01 * roundings * unit * magnitudes
