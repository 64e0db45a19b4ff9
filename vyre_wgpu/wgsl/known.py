"""Which integers a driver may know when it compiles the shader.

A float made from such an integer may be a zero that the driver sees: it then folds ``0.0 - x`` to
``-x``, wrong for a zero x, and ``x * 0.0`` to 0. Lowering hides the integer first. This errs on the
side of "may know": a known operand makes a result known where it could decide it, as a factor 0
does.
"""

from __future__ import annotations

from ..ir.ops import INFO, Op
from ..ir.program import BufferKind, Program
from ..ir.types import dtype_from_code

__all__ = ["may_be_known"]

# One known operand may decide these: x * 0, x & 0, x | -1, min(x, 0), x % 1, 0 // x, 0 << x.
_DECIDED_BY_ONE = frozenset(
    {Op.MUL, Op.MUL_HIGH, Op.AND, Op.OR, Op.MINIMUM, Op.MAXIMUM, Op.FLOOR_DIV, Op.TRUNC_DIV}
    | {Op.MOD, Op.REM, Op.SHL, Op.SHR, Op.SELECT}
)


def may_be_known(program: Program) -> bytearray:
    """For each row, 1 if it is a bool or an integer whose value a driver may know."""
    table = program.table
    known = bytearray(len(table))
    variables: dict[int, list[int]] = {}
    for row, op in enumerate(table.op):
        if op in (Op.VAR, Op.ASSIGN):
            rows = table.operands(row)
            variables.setdefault(row if op == Op.VAR else rows[0], []).append(rows[-1])
    # A second round sees what a loop brings back to a variable at its start.
    for _ in range(2):
        for row, op in enumerate(table.op):
            dtype = table.dtype[row]
            if dtype and not dtype_from_code(dtype).is_float:
                known[row] = _knows(program, row, op, known, variables)
    return known


def _knows(
    program: Program, row: int, op: int, known: bytearray, variables: dict[int, list[int]]
) -> bool:
    table = program.table
    rows = table.operands(row)
    match op:
        case Op.LITERAL | Op.LENGTH:
            return True
        case Op.VAR:
            return any(known[given] for given in variables[row])
        case Op.LOAD:
            return program.buffers[table.const[row]].kind is BufferKind.PRIVATE
        case Op.FOR:
            return bool(known[rows[0]])
        case Op.LET | Op.VAR_GET:
            return bool(known[rows[0]])
    if not INFO[op].pure or not rows or dtype_from_code(table.dtype[rows[-1]]).is_float:
        return False
    return (any if op in _DECIDED_BY_ONE else all)(known[operand] for operand in rows)
