"""Which rows trap on their own under ``CompileOptions(checks="trap")``."""

from __future__ import annotations

from ..ir.ops import Op
from ..ir.program import Program
from ..ir.types import dtype_from_code
from .memory import ATOMIC_OPS

__all__ = ["DIVISIONS", "MEMORY_ACCESSES", "checked_rows"]

MEMORY_ACCESSES: frozenset[int] = frozenset({Op.LOAD, Op.STORE, *ATOMIC_OPS})
DIVISIONS: frozenset[int] = frozenset({Op.FLOOR_DIV, Op.MOD, Op.TRUNC_DIV, Op.REM})


def checked_rows(program: Program) -> bytes:
    """1 for each access whose index, and integer division whose divisor, is tested when it runs.

    A literal divisor other than 0 needs no test, nor a literal index below a constant length.
    """
    table = program.table
    checked = bytearray(len(table))
    for row, code in enumerate(table.op):
        if code in MEMORY_ACCESSES:
            count = program.buffers[table.const[row]].count
            length = count.constant if count is not None else None
            index = _literal(program, table.a[row])
            checked[row] = index is None or length is None or not 0 <= index < length
        elif code in DIVISIONS and not dtype_from_code(table.dtype[row]).is_float:
            checked[row] = not _literal(program, table.b[row])
    return bytes(checked)


def _literal(program: Program, row: int) -> int | None:
    value = program.literal_value(row)
    return None if value is None else int(value)
