"""Which buffers a program writes from end to end, so that nobody need clear them before."""

from __future__ import annotations

from .ops import INFO, Op
from .program import Program

__all__ = ["written_by_every_lane", "written_in_loops"]


def written_by_every_lane(program: Program) -> frozenset[int]:
    """The buffers in which each lane certainly writes the element of its first global id.

    So where the first axis of the extent covers such a buffer, all of its elements are written, or
    the dispatch traps and delivers nothing. Buffers that the program also reads are left out, for a
    lane may see an element before another one writes it.

    A store counts if every lane comes to it: not in a loop, which may turn zero times; in both
    parts of an ``if``, or outside of them; and not behind a ``return``, wherever that stands. The
    index must be ``global_id(0)`` itself. All else is taken as not written, which costs a clear.

    Args:
        program: a valid program.

    Returns:
        Indices of the program's buffers.
    """
    table = program.table
    seen: set[int] = set()
    # Of each open block, what it has certainly written; of an `else` also what the other part has.
    written: list[set[int]] = [set()]
    others: list[set[int] | None] = [None]
    kinds: list[int] = [0]
    has_returned = False
    for row, code in enumerate(table.op):
        match code:
            case Op.STORE:
                index = table.value_of(table.a[row])
                own = table.op[index] == Op.GLOBAL_ID and table.const[index] == 0
                if own and not has_returned:
                    written[-1].add(table.const[row])
            case Op.IF | Op.FOR | Op.WHILE:
                written.append(set())
                others.append(None)
                kinds.append(code)
            case Op.ELSE:
                others[-1] = written[-1]
                written[-1] = set()
            case Op.END:
                inner, other, kind = written.pop(), others.pop(), kinds.pop()
                if kind == Op.IF and other is not None:
                    written[-1] |= inner & other
            case Op.RETURN:
                has_returned = True
            case _ if INFO[code].group == "memory":
                seen.add(table.const[row])
    return frozenset(written[0] - seen)


def written_in_loops(program: Program) -> frozenset[int]:
    """The buffers that have a store within a loop, which may write an element many times.

    Args:
        program: a valid program.

    Returns:
        Indices of the program's buffers.
    """
    table = program.table
    found: set[int] = set()
    blocks: list[bool] = [False]  # whether each open block is in a loop
    for row, code in enumerate(table.op):
        match code:
            case Op.IF | Op.FOR | Op.WHILE:
                blocks.append(blocks[-1] or code != Op.IF)
            case Op.END:
                blocks.pop()
            case Op.STORE if blocks[-1]:
                found.add(table.const[row])
    return frozenset(found)
