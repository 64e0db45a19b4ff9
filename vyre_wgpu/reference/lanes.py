"""Lanes and where they are: the grid of a dispatch, and the ids of some of its lanes.

A lane has a number in the grid: its workgroup's number times the lanes of a workgroup, plus its
local index; x runs fastest in both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..ir.ops import Op

Array = npt.NDArray[Any]
Int64s = npt.NDArray[np.int64]
Three = tuple[int, int, int]

__all__ = ["Grid", "Lanes"]


@dataclass(frozen=True)
class Grid:
    """The logical launch of one dispatch.

    Attributes:
        extent: logical elements on x, y, z.
        axes: how many of them the program has.
        size: lanes of a workgroup on x, y, z.
        whole: every lane of a workgroup runs; otherwise lanes beyond the extent do not.
        subgroup_size: lanes of a subgroup.
    """

    extent: Three
    axes: int
    size: Three
    whole: bool
    subgroup_size: int

    @classmethod
    def of(cls, extent: Sequence[int], size: Three, *, whole: bool, subgroup_size: int) -> Grid:
        """The grid of an extent with 1 to 3 axes."""
        x, y, z = (*extent, 1, 1)[:3]
        return cls((x, y, z), len(extent), size, whole, subgroup_size)

    @cached_property
    def groups(self) -> Three:
        """Workgroups on x, y, z."""
        x, y, z = (-(-n // w) for n, w in zip(self.extent, self.size, strict=True))
        return x, y, z

    @cached_property
    def group_lanes(self) -> int:
        """Lanes of a workgroup."""
        return math.prod(self.size)

    @cached_property
    def group_count(self) -> int:
        """Workgroups in all."""
        return math.prod(self.groups)

    def coordinates(self, number: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        """Logical index on x, y, z of lanes given by their numbers."""
        group, local = np.divmod(number, self.group_lanes)
        x, y, z = (
            g * w + at
            for g, w, at in zip(
                _unravel(group, self.groups), self.size, _unravel(local, self.size), strict=True
            )
        )
        return x, y, z

    def lane(self, number: int) -> tuple[int, ...]:
        """Logical index of one lane, one for each axis of the extent."""
        x, y, z = self.coordinates(np.array([number], np.int64))
        return (int(x[0]), int(y[0]), int(z[0]))[: self.axes]

    def lanes_of_groups(self, groups: Int64s) -> Int64s:
        """Numbers of the lanes that run in some workgroups."""
        number = (groups[:, None] * self.group_lanes + np.arange(self.group_lanes)).ravel()
        partial = any(n % w for n, w in zip(self.extent, self.size, strict=True))
        if self.whole or not partial:
            return number
        inside = np.ones(number.size, np.bool_)
        for at, length in zip(self.coordinates(number), self.extent, strict=True):
            inside &= at < length
        return number[inside]


def _unravel(linear: Int64s, shape: Three) -> tuple[Int64s, Int64s, Int64s]:
    x, y, _ = shape
    if x * y == 1:
        return np.zeros_like(linear), np.zeros_like(linear), linear
    if shape[1:] == (1, 1):
        return linear, np.zeros_like(linear), np.zeros_like(linear)
    rest, at_x = np.divmod(linear, x)
    at_z, at_y = np.divmod(rest, y)
    return at_x, at_y, at_z


class Lanes:
    """Some lanes of a grid that run in step: a part.

    Attributes:
        count: how many.
        number: their numbers in the grid, rising within each workgroup, workgroups together.
        group: number of each lane's workgroup.
        slot: number of each lane's workgroup among those of this part.
        slots: workgroups in this part.
        slot_groups: the number of the workgroup in each slot.
    """

    def __init__(self, grid: Grid, number: Int64s) -> None:
        self.grid = grid
        self.count = number.size
        self.number = number
        self.group, self._local = np.divmod(number, grid.group_lanes)
        firsts = np.flatnonzero(np.diff(self.group, prepend=-1))
        self.slot = np.repeat(np.arange(firsts.size), np.diff(firsts, append=self.count))
        self.slots = firsts.size
        self.slot_groups = self.group[firsts]
        self._ids: dict[tuple[int, int], Array] = {}

    @cached_property
    def subgroup(self) -> Int64s:
        """A number for each lane's subgroup, rising over the lanes of a part."""
        per_group = -(-self.grid.group_lanes // self.grid.subgroup_size)
        number: Int64s = self.slot * per_group + self._local // self.grid.subgroup_size
        return number

    @cached_property
    def subgroup_lane(self) -> Int64s:
        """Index of each lane in its subgroup."""
        lane: Int64s = self._local % self.grid.subgroup_size
        return lane

    def id(self, op: int, axis: int) -> Array:
        """The u32 value of an id leaf, one for each lane or one for all."""
        key = (op, axis)
        if key not in self._ids:
            self._ids[key] = self._compute(op, axis).astype(np.uint32)
        return self._ids[key]

    def _compute(self, op: int, axis: int) -> Int64s:
        grid = self.grid
        match op:
            case Op.NUM_WORKGROUPS:
                return np.array([grid.groups[axis]])
            case Op.SUBGROUP_SIZE:
                return np.array([grid.subgroup_size])
            case Op.SUBGROUP_LANE:
                return self.subgroup_lane
            case Op.LOCAL_ID:
                return _unravel(self._local, grid.size)[axis]
            case Op.WORKGROUP_ID:
                return _unravel(self.group, grid.groups)[axis]
            case _:
                return grid.coordinates(self.number)[axis]
