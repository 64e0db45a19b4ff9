"""Which float operands a driver could prove equal.

Drivers fold ``x - x`` to 0, ``x / x`` to 1 and ``x == x`` to true, which is wrong for NaN and
infinities. Lowering hides one operand behind an opaque zero wherever the two may be the same value.
This is a value numbering that errs on the side of "may be equal": values that went through
variables or writable memory are taken as equal to anything.
"""

from __future__ import annotations

from ..ir.ops import INFO, Op
from ..ir.program import BufferKind, Program

__all__ = ["may_be_equal"]

_UNKNOWN = 0
"""The number of a value that may equal any other."""

_SAME_OPERANDS_ARE_IDENTITY = frozenset({Op.MINIMUM, Op.MAXIMUM, Op.FMIN, Op.FMAX, Op.AND, Op.OR})
_COMMUTATIVE = frozenset({Op.ADD, Op.MUL, Op.EQ, Op.NE, *_SAME_OPERANDS_ARE_IDENTITY})


def may_be_equal(program: Program) -> list[int]:
    """A number for each row: -1 without a value, 0 for one that may equal any other.

    Two rows may hold the same value if their numbers are equal or one of them is 0.
    """
    table = program.table
    numbers: list[int] = []
    known: dict[tuple[int, ...], int] = {}
    for row in range(len(table)):
        op, dtype = table.op[row], table.dtype[row]
        if not dtype:
            numbers.append(-1)
            continue
        info = INFO[op]
        operands = [numbers[o] for o in table.operands(row)]
        if op == Op.LET:
            numbers.append(operands[0])
            continue
        read_only = op == Op.LOAD and program.buffers[table.const[row]].kind is BufferKind.READ
        if not (info.pure or read_only or op == Op.FOR) or _UNKNOWN in operands:
            numbers.append(_UNKNOWN)
            continue
        if op == Op.SELECT and operands[1] == operands[2]:
            numbers.append(operands[1])
            continue
        if op in _SAME_OPERANDS_ARE_IDENTITY and operands[0] == operands[1]:
            numbers.append(operands[0])
            continue
        if op in _COMMUTATIVE:
            operands.sort()
        key = (op, dtype, table.const[row], *operands, row if op == Op.FOR else -1)
        numbers.append(known.setdefault(key, len(known) + 1))
    return numbers
