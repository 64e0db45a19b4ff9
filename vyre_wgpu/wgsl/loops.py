"""How many loop iterations a lane may run: what is provably few, and what must be guarded.

Some drivers end loops silently after a number of iterations in all (llvmpipe: 65,535 for a vector
of lanes, over all loops of the shader). A program that cannot be shown to stay below gets guards:
each loop notes its regular exits, and a lane that left it otherwise traps. A counter of each lane's
own would be unsound, for the driver counts what all lanes of a vector do.
"""

from __future__ import annotations

from ..ir.ops import Op
from ..ir.program import Program

__all__ = ["UNBOUNDED", "most_iterations"]

UNBOUNDED = 1 << 62
"""More iterations than any driver's limit."""

_HELPER_ITERATIONS: dict[int, int] = {
    Op.MOD: 200,
    Op.FMOD: 200,
    Op.POWI: 33,
    Op.ATOMIC_COMPARE_EXCHANGE: 16,
}
"""About what the loops of helper functions take in one call."""

_PACKED_STORE_ITERATIONS = 16


def most_iterations(program: Program, lanes: int) -> int:
    """An upper bound of the loop iterations of one lane, `UNBOUNDED` if none is known.

    Loops with literal bounds are counted, all others have none. Each time a loop is entered counts
    one more than its trips: drivers count the round that only leaves it too. Loops in helper
    functions count with what they take without contention.

    Args:
        program: the program.
        lanes: lanes of a workgroup; they share the clearing of workgroup memory.
    """
    table = program.table
    total = sum(
        -(-(b.count.constant or 0) // lanes) + 1
        for b in program.buffers
        if b.kind.label == "workgroup" and b.count is not None
    )
    around = [1]
    for row, code in enumerate(table.op):
        if code == Op.FOR:
            trips = _literal_trips(program, row)
            if trips is None:
                return UNBOUNDED
            total += around[-1] * (trips + 1)
            around.append(around[-1] * trips)
        elif code == Op.WHILE:
            return UNBOUNDED
        elif code == Op.IF:
            around.append(around[-1])
        elif code == Op.END:
            around.pop()
        elif code == Op.STORE and program.buffers[table.const[row]].dtype.itemsize < 4:
            total += around[-1] * _PACKED_STORE_ITERATIONS
        elif code in _HELPER_ITERATIONS:
            total += around[-1] * _HELPER_ITERATIONS[code]
        if total >= UNBOUNDED:
            return UNBOUNDED
    return total


def _literal_trips(program: Program, row: int) -> int | None:
    """The trip count of a loop whose bounds are literals."""
    values: list[int] = []
    for operand in program.table.operands(row):
        value = program.literal_value(operand)
        if value is None:
            return None
        values.append(int(value))
    start, stop, step = values
    return len(range(start, stop, step)) if step else 0
