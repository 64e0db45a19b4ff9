"""Atomic updates by many lanes at once, as if each came after the other.

Where the old values are not used, NumPy's unbuffered ``ufunc.at`` does it. Where they are, lanes
are sorted by element, in their order; what a lane finds is the element's first value combined with
the values of the lanes before it. Rarely shared elements are done in rounds (the k-th lane of every
element at once), much shared ones one at a time by a running ufunc.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..ir.ops import Op

Array = npt.NDArray[Any]
Int64s = npt.NDArray[np.int64]

__all__ = ["compare_exchange", "exchange", "update"]

_UFUNCS: dict[int, np.ufunc] = {
    Op.ATOMIC_ADD: np.add,
    Op.ATOMIC_SUB: np.subtract,
    Op.ATOMIC_AND: np.bitwise_and,
    Op.ATOMIC_OR: np.bitwise_or,
    Op.ATOMIC_XOR: np.bitwise_xor,
    Op.ATOMIC_MIN: np.minimum,
    Op.ATOMIC_MAX: np.maximum,
}

_MANY = 64
"""Lanes on one element from which on it is worth a pass of its own."""


class _Sorted:
    """Lanes sorted by the element that they update, in their order within an element.

    Attributes:
        permutation: sorted position to lane.
        place: the element of each sorted position.
        firsts: sorted position of each element's first lane.
        counts: lanes of each element.
    """

    def __init__(self, place: Int64s) -> None:
        self.permutation = np.argsort(place, kind="stable")
        self.place = place[self.permutation]
        self.firsts = np.flatnonzero(np.diff(self.place, prepend=-1))
        self.counts = np.diff(self.firsts, append=place.size)

    def rounds(self) -> list[Int64s]:
        """For each k the sorted positions of the k-th lanes of the less shared elements."""
        firsts = self.firsts[self.counts < _MANY]
        counts = self.counts[self.counts < _MANY]
        found = []
        for k in range(int(counts.max(initial=0))):
            firsts, counts = firsts[counts > k], counts[counts > k]
            found.append(firsts + k)
        return found

    def crowds(self) -> list[slice]:
        """The sorted positions of each much shared element."""
        many = self.counts >= _MANY
        pairs = zip(self.firsts[many].tolist(), self.counts[many].tolist(), strict=True)
        return [slice(first, first + count) for first, count in pairs]

    def unsorted(self, values: Array) -> Array:
        """Values by sorted position as values by lane."""
        result = np.empty_like(values)
        result[self.permutation] = values
        return result


def update(op: int, data: Array, place: Int64s, values: Array, *, want_old: bool) -> Array | None:
    """Combines elements with values: add, sub, and, or, xor, min, max.

    Args:
        op: the operation.
        data: the elements; changed.
        place: which element each lane updates, in the order of the lanes.
        values: one for each lane.
        want_old: whether to return what each lane found.
    """
    ufunc = _UFUNCS[op]
    if not want_old:
        ufunc.at(data, place, values)
        return None
    lanes = _Sorted(place)
    given = values[lanes.permutation]
    old = np.empty_like(given)
    for at in lanes.rounds():
        where = lanes.place[at]
        found = data[where]
        old[at] = found
        data[where] = ufunc(found, given[at])
    # x - a - b: all but the first are combined by adding.
    combine = np.add if ufunc is np.subtract else ufunc
    sign = np.negative if ufunc is np.subtract else np.positive
    for crowd in lanes.crowds():
        where = lanes.place[crowd.start]
        chain = np.concatenate([data[where : where + 1], sign(given[crowd])])
        running = combine.accumulate(chain, dtype=data.dtype)
        old[crowd] = running[:-1]
        data[where] = running[-1]
    return lanes.unsorted(old)


def exchange(data: Array, place: Int64s, values: Array) -> Array:
    """Replaces elements; each lane finds what the one before it left."""
    lanes = _Sorted(place)
    given = values[lanes.permutation]
    old = np.empty_like(given)
    old[1:] = given[:-1]
    old[lanes.firsts] = data[lanes.place[lanes.firsts]]
    data[lanes.place[lanes.firsts]] = given[lanes.firsts + lanes.counts - 1]
    return lanes.unsorted(old)


def compare_exchange(data: Array, place: Int64s, expected: Array, values: Array) -> Array:
    """Replaces elements that equal what is expected; returns what each lane found."""
    lanes = _Sorted(place)
    awaited, given = expected[lanes.permutation], values[lanes.permutation]
    old = np.empty_like(given)
    for at in lanes.rounds():
        where = lanes.place[at]
        found = data[where]
        old[at] = found
        data[where] = np.where(found == awaited[at], given[at], found)
    for crowd in lanes.crowds():
        where = lanes.place[crowd.start]
        data[where] = _chain(data[where], awaited[crowd], given[crowd], old[crowd])
    return lanes.unsorted(old)


def _chain(current: Any, expected: Array, values: Array, old: Array) -> Any:
    """Runs compare-exchange on one element lane after lane; fills ``old``, gives the last value.

    From success to success: all lanes in between find the same value.
    """
    at, window = 0, 16
    while at < old.size:
        hits = np.flatnonzero(expected[at : at + window] == current)
        if hits.size == 0:
            old[at : at + window] = current
            at, window = at + window, window * 2
        else:
            success = at + int(hits[0])
            old[at : success + 1] = current
            current = values[success]
            at, window = success + 1, 16
    return current
