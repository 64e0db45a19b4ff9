"""Sets of lanes: which lanes of a part run a statement.

A mask is ``True`` for all lanes, ``False`` for none, else an array of bool, one for each lane, that
is neither. So a statement that all lanes run costs nothing for its mask, and one that no lane runs
is skipped. A condition is a bool array of one element (the same for all lanes) or of one for each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Mask = bool | npt.NDArray[np.bool_]

__all__ = ["Mask", "lanes_of", "narrow", "union", "without"]


def _simplest(mask: npt.NDArray[np.bool_]) -> Mask:
    count = np.count_nonzero(mask)
    if count == 0:
        return False
    return True if count == mask.size else mask


def narrow(mask: Mask, condition: Array) -> Mask:
    """The lanes of a mask for which a condition holds."""
    if mask is False:
        return False
    if condition.size == 1:
        return mask if condition[0] else False
    return _simplest(condition if mask is True else mask & condition)


def without(mask: Mask, condition: Array) -> Mask:
    """The lanes of a mask for which a condition does not hold."""
    return narrow(mask, ~condition)


def union(a: Mask, b: Mask) -> Mask:
    """The lanes of either mask."""
    if a is False or b is True:
        return b
    if b is False or a is True:
        return a
    return _simplest(a | b)


def lanes_of(mask: Mask, count: int) -> npt.NDArray[np.int64]:
    """Positions of the lanes of a mask among ``count`` lanes, rising."""
    if mask is True:
        return np.arange(count)
    return np.zeros(0, np.int64) if mask is False else np.flatnonzero(mask)
