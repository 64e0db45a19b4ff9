"""Value and bit conversions between all types."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...ir.types import DType

Array = npt.NDArray[Any]

__all__ = ["bitcast", "cast"]


def cast(x: Array, target: DType) -> Array:
    """The value as another type: truncated or extended, saturated, rounded to nearest even."""
    if target.kind == "bool":
        return np.not_equal(x, 0)
    if x.dtype.kind == "f" and target.is_integer:
        return _saturate(x.astype(np.float64), target)
    return x.astype(target.numpy)


def _saturate(x: Array, target: DType) -> Array:
    """Toward zero, into the range of an integer type; NaN gives 0."""
    whole = np.trunc(x)
    # max + 1 and min are powers of two, so they are exact where max itself may not be.
    above, below = whole >= float(target.max + 1), whole < float(target.min)
    inside = np.where(above | below | np.isnan(whole), 0.0, whole).astype(target.numpy)
    limit = np.where(above, target.numpy.type(target.max), target.numpy.type(target.min))
    return np.where(above | below, limit, inside)


def bitcast(x: Array, target: DType) -> Array:
    """The same bits as another type of equal width."""
    return x.view(target.numpy)
