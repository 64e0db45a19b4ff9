"""Which integers a driver may know when it compiles the shader.

A float made from such an integer may be a zero that the driver sees: it then folds ``0.0 - x`` to
``-x``, wrong for a zero x, and ``x * 0.0`` to 0. Lowering hides the integer first. This errs on the
side of "may know": a known operand makes a result known where it could decide it, as a factor 0
does.

A row becomes known once and stays so, and hands that on to each of its uses once: the least fixed
point, over loops too, in time linear in the program.
"""

from __future__ import annotations

from ..ir.ops import INFO, Op
from ..ir.program import BufferKind, Program
from ..ir.types import ALL_DTYPES

__all__ = ["may_be_known"]

# One known operand may decide these: x * 0, x & 0, x | -1, min(x, 0), x % 1, 0 // x, 0 << x.
_DECIDED_BY_ONE: frozenset[int] = frozenset(
    {Op.MUL, Op.MUL_HIGH, Op.AND, Op.OR, Op.MINIMUM, Op.MAXIMUM, Op.FLOOR_DIV, Op.TRUNC_DIV}
    | {Op.MOD, Op.REM, Op.SHL, Op.SHR, Op.SELECT}
)
# These are what their first operand is: a name, a variable and its reads, a loop's index.
_PASSED_ON: frozenset[int] = frozenset({Op.LET, Op.VAR, Op.VAR_GET, Op.FOR})
_NO_FLOAT: frozenset[int] = frozenset(dtype.code for dtype in ALL_DTYPES if not dtype.is_float)


def may_be_known(program: Program) -> bytearray:
    """For each row, 1 if it is a bool or an integer whose value a driver may know."""
    table = program.table
    known = bytearray(len(table))
    lacking = [0] * len(table)  # how many known operands a row needs yet; 0 where none would help
    uses: list[list[int]] = [[] for _ in range(len(table))]
    pending: list[int] = []
    for row, op in enumerate(table.op):
        if op == Op.ASSIGN:
            uses[table.b[row]].append(table.a[row])
        elif table.dtype[row] in _NO_FLOAT:
            if _is_known_at_once(program, row, op):
                known[row] = 1
                pending.append(row)
            else:
                deciding = _deciding(program, row, op)
                one_is_enough = op in _PASSED_ON or op in _DECIDED_BY_ONE
                lacking[row] = 1 if one_is_enough else len(deciding)
                for operand in deciding:
                    uses[operand].append(row)
    while pending:
        for use in uses[pending.pop()]:
            lacking[use] -= 1
            if lacking[use] == 0:
                known[use] = 1
                pending.append(use)
    return known


def _is_known_at_once(program: Program, row: int, op: int) -> bool:
    """Whether a row may be known whatever it is computed from.

    Private memory is: it starts as zeros, and a driver may keep it in registers.
    """
    if op == Op.LOAD:
        return program.buffers[program.table.const[row]].kind is BufferKind.PRIVATE
    return op in (Op.LITERAL, Op.LENGTH)


def _deciding(program: Program, row: int, op: int) -> tuple[int, ...]:
    """The operands that make a row known when they are; none where nothing does."""
    table = program.table
    operands = table.operands(row)
    if op in _PASSED_ON:
        return operands[:1]
    # Floats are never known: what they are made from is hidden.
    is_decided = INFO[op].pure and operands and table.dtype[operands[-1]] in _NO_FLOAT
    return operands if is_decided else ()
