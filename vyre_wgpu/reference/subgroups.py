"""Subgroup operations: lanes with consecutive local indices exchange values.

Only the lanes that run the statement take part: not those that have ended or lie beyond the extent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..ir.ops import Op
from .lanes import Lanes
from .masks import Mask, lanes_of

Array = npt.NDArray[Any]

__all__ = ["ballot", "reduce", "take"]

_UFUNCS: dict[int, np.ufunc] = {
    Op.SUBGROUP_ADD: np.add,
    Op.SUBGROUP_MUL: np.multiply,
    Op.SUBGROUP_MIN: np.minimum,
    Op.SUBGROUP_MAX: np.maximum,
    Op.SUBGROUP_AND: np.bitwise_and,
    Op.SUBGROUP_OR: np.bitwise_or,
    Op.SUBGROUP_XOR: np.bitwise_xor,
}


def reduce(op: int, lanes: Lanes, mask: Mask, values: Array) -> Array:
    """The combined value of each lane's subgroup; 0 for lanes that take no part."""
    active = lanes_of(mask, lanes.count)
    full = np.broadcast_to(values, lanes.count)[active]
    subgroup = lanes.subgroup[active]
    firsts = np.flatnonzero(np.diff(subgroup, prepend=-1))
    combined = _UFUNCS[op].reduceat(full, firsts, dtype=values.dtype)
    result = np.zeros(lanes.count, values.dtype)
    result[active] = np.repeat(combined, np.diff(firsts, append=active.size))
    return result


def ballot(lanes: Lanes, mask: Mask, condition: Array, word: Array) -> Array:
    """32 bits of the lanes whose condition holds; 0 for a word beyond the subgroup."""
    words = -(-lanes.grid.subgroup_size // 32)
    active = lanes_of(mask, lanes.count)
    holding = active[np.broadcast_to(condition, lanes.count)[active]]
    number, bit = np.divmod(lanes.subgroup_lane[holding], 32)
    bits = np.zeros((int(lanes.subgroup[-1]) + 1) * words, np.uint32)
    place = lanes.subgroup[holding] * words + number
    np.bitwise_or.at(bits, place, np.uint32(1) << bit.astype(np.uint32))
    wanted = np.broadcast_to(word, lanes.count).astype(np.int64)
    found = bits[lanes.subgroup * words + np.minimum(wanted, words - 1)]
    return np.where(wanted < words, found, np.uint32(0))


def take(lanes: Lanes, mask: Mask, values: Array, lane: Array) -> Array:
    """The value of a lane of the same subgroup; 0 if there is none that takes part."""
    size = lanes.grid.subgroup_size
    active = lanes_of(mask, lanes.count)
    table = np.zeros((int(lanes.subgroup[-1]) + 1) * size, values.dtype)
    own = lanes.subgroup * size + lanes.subgroup_lane
    table[own[active]] = np.broadcast_to(values, lanes.count)[active]
    wanted = np.broadcast_to(lane, lanes.count).astype(np.int64)
    found = table[lanes.subgroup * size + np.minimum(wanted, size - 1)]
    return np.where(wanted < size, found, values.dtype.type(0))
