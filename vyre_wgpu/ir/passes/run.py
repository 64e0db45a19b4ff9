"""The passes in their order."""

from __future__ import annotations

from ..program import Program
from .cse import merge_equal
from .dce import remove_dead
from .flow import settle_flow
from .fold import fold
from .rewrite import Draft, Optimised

__all__ = ["MAX_ROUNDS", "optimise"]

MAX_ROUNDS = 8
"""How often folding and merging take turns at most.

Each finds all that there is at the time, so another turn is due only where one gave the other
something new: twice in ordinary programs. The bound is for programs made to need more; what they
have left is as right as before.
"""


def optimise(
    program: Program, traps: bytes | None = None, *, keep_loops: bool = False
) -> Optimised:
    """A program with the same interface and results that does less, and where its rows came from.

    Takes time linear in the program. Gives the same object back where there is nothing to do.

    Args:
        program: a valid program; so is the result.
        traps: 1 for each row that traps on its own, as accesses do under ``checks="trap"``: it
            is kept whether or not its value is used. None if no row does.
        keep_loops: whether iterations are counted (``max_iterations``), so that a loop without
            effects may still trap.
    """
    draft = Draft(program, traps, keep_loops=keep_loops)
    fold(draft)
    settle_flow(draft)
    for _ in range(MAX_ROUNDS):
        if not merge_equal(draft) or not fold(draft):
            break
        settle_flow(draft)
    remove_dead(draft)
    return draft.finish()
