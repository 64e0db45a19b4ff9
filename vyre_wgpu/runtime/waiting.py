"""How to wait for a device: how often to ask before blocking, how long to pause between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

__all__ = ["Patience", "pauses"]


class Patience:
    """How often to ask before blocking.

    Going to sleep and being woken costs more than a small kernel takes; asking again and again
    costs a core. So a wait asks many times as long as waits are short, and hardly at all after some
    that were long. Questions are counted, since reading a clock costs about as much as one.

    Attributes:
        polls: how often the next wait asks.
    """

    LEAST, MOST = 2, 256
    SHORT = 300e-6
    """Seconds of a wait that would better have been spent asking."""

    def __init__(self) -> None:
        self.polls = self.MOST

    def blocked(self, seconds: float) -> None:
        """Takes note of a wait that had to block for so long."""
        self.polls = self.MOST if seconds < self.SHORT else max(self.LEAST, self.polls // 2)


def pauses(
    deadline: float, clock: Callable[[], float] = time.monotonic, *, most: float = 1e-3
) -> Iterator[float]:
    """Lengths of pauses between questions, growing, never beyond a deadline; ends at it.

    Args:
        deadline: when to end, on the clock.
        clock: seconds.
        most: longest pause in seconds.
    """
    pause = 20e-6
    while (left := deadline - clock()) > 0:
        yield min(pause, left)
        pause = min(pause * 1.25, most)  # at most a fifth of the whole wait
