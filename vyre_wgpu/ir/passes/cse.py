"""Common subexpressions: an operation that an earlier one in scope has computed is not repeated.

The builder shares equal nodes as it records them; left for this are programs that came from bytes,
and what folding makes equal. Merged are pure operations, and loads of ``read`` buffers, which no
dispatch can change. The earlier row stands in the same block or one around it, so it has been run.
A merged row that could have trapped would have trapped there.
"""

from __future__ import annotations

import numpy as np

from ..ops import INFO, Op
from ..program import BufferKind
from .rewrite import DROPPED, Draft

__all__ = ["merge_equal"]

_PURE = np.zeros(256, np.bool_)
_PURE[[op for op, info in INFO.items() if info.pure]] = True
_COMMUTATIVE = frozenset(
    {Op.ADD, Op.MUL, Op.AND, Op.OR, Op.XOR, Op.MUL_HIGH, Op.EQ, Op.NE}
    | {Op.MINIMUM, Op.MAXIMUM, Op.FMIN, Op.FMAX}
)
_ENTERS = frozenset({Op.IF, Op.FOR, Op.WHILE})

_Key = tuple[int, int, int, int, int, int]


def merge_equal(draft: Draft) -> bool:
    """Makes uses of a repeated operation uses of the first one; says whether any was."""
    op, dtype, const = draft.op, draft.dtype, draft.const
    a, b, c = columns = (draft.a, draft.b, draft.c)
    unchanging = [buffer.kind is BufferKind.READ for buffer in draft.program.buffers]
    pure = _PURE.tolist()
    same = list(range(len(draft)))
    first: dict[_Key, int] = {}
    scopes: list[list[_Key]] = [[]]
    changed = False
    for row, code in enumerate(op):
        if code == DROPPED:
            continue
        if a[row] >= 0:
            for column in columns:
                operand = column[row]
                if operand < 0:
                    break
                column[row] = same[operand]
        if pure[code] or (code == Op.LOAD and unchanging[const[row]]):
            x, y = a[row], b[row]
            if x > y and code in _COMMUTATIVE:
                x, y = y, x
            key = (code, dtype[row], x, y, c[row], const[row])
            known = first.setdefault(key, row)
            if known == row:
                scopes[-1].append(key)
            else:
                same[row] = known
                draft.drop(row, row + 1)
                changed = True
        elif code == Op.LET:
            same[row] = a[row]
        elif code in _ENTERS:
            scopes.append([])
        elif code in (Op.END, Op.ELSE):
            for key in scopes.pop():
                del first[key]
            if code == Op.ELSE:
                scopes.append([])
    return changed
