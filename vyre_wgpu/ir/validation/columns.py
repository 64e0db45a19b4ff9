"""A table's columns as arrays, and the operation table's facts as arrays by operation code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..ops import OPS
from ..program import Table

__all__ = ["ARITY", "Columns", "Ints", "Mask", "columns_of", "ops_where"]

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

ARITY = np.zeros(256, np.int64)
for _op, _info in OPS.items():
    ARITY[_op] = _info.arity


def ops_where(*names: str, group: str = "", result: str = "", const: str = "") -> Mask:
    """Which operation codes are among some, or of a group, result rule or kind of constant."""
    mask = np.zeros(256, np.bool_)
    for op, info in OPS.items():
        mask[op] = (
            info.name in names
            or (info.group == group != "")
            or (info.result == result != "")
            or (info.const == const != "")
        )
    return mask


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a `Table`.

    Attributes:
        op: operation codes.
        dtype: type codes.
        operands: the three columns of operand rows, -1 where there is none.
        const: constant indices.
    """

    op: npt.NDArray[np.uint8]
    dtype: npt.NDArray[np.uint8]
    operands: tuple[Ints, Ints, Ints]
    const: Ints

    def __len__(self) -> int:
        return len(self.op)


def columns_of(table: Table) -> Columns:
    """The columns of a table."""
    a, b, c, const = (np.array(x, np.int64) for x in (table.a, table.b, table.c, table.const))
    return Columns(
        np.frombuffer(table.op, np.uint8), np.frombuffer(table.dtype, np.uint8), (a, b, c), const
    )
