"""Lanes that wait for each other at barriers: members of a team, each of which runs in step."""

from __future__ import annotations

from collections.abc import Sequence

from .machine import Run
from .order import Order

__all__ = ["Team"]


class Team:
    """One part of the lanes, or one workgroup in several parts that take turns between barriers.

    Flow around barriers is uniform, so members come to the same ones, but for those whose lanes
    have all ended.

    Args:
        members: what is to be run; several only of one workgroup.
    """

    def __init__(self, members: Sequence[Run]) -> None:
        self._going = list(members)
        self._waiting: list[Run] = []

    def go_on(self, order: Order) -> bool:
        """Lets one member go on to its next atomic or barrier; says whether any has to go on."""
        if not self._going:
            self._going, self._waiting = self._waiting, []
        turn = order.pick(len(self._going))
        try:
            is_at_barrier = next(self._going[turn])
        except StopIteration:
            self._going.pop(turn)
        else:
            if is_at_barrier:
                self._waiting.append(self._going.pop(turn))
        return bool(self._going or self._waiting)
