"""Kernel values that are sizes, too: lengths, integer params, and arithmetic on those."""

from __future__ import annotations

import numpy as np

from .composed import ceil_div_rows
from .ops import Op
from .recorder import Recorder
from .sizes import SizeOp
from .types import u32
from .values import Operand, Value

__all__ = ["SizeValue"]


class SizeValue(Value):
    """A buffer length, an integer param, or arithmetic on those.

    It serves both as a size (``count=``, ``b.extent``), evaluated on the host without overflow, and
    as a kernel value: the first use beside one computes it on the device in its type.
    """

    __slots__ = ()

    def _use(self) -> int:
        return _size_row(self._recorder, self._row)

    def _size(self, op: SizeOp, other: object, *, reflected: bool = False) -> SizeValue | None:
        recorder = self._recorder
        if isinstance(other, SizeValue) and other._recorder is recorder:
            node = other._row
        elif isinstance(other, (int, np.integer)) and not isinstance(other, bool):
            node = recorder.size_node(SizeOp.CONST, int(other))
        else:
            return None
        pair = (node, self._row) if reflected else (self._row, node)
        return SizeValue(recorder, recorder.size_node(op, *pair), self.dtype)

    def __add__(self, other: Operand) -> Value:
        size = self._size(SizeOp.ADD, other)
        return super().__add__(other) if size is None else size

    def __radd__(self, other: Operand) -> Value:
        size = self._size(SizeOp.ADD, other, reflected=True)
        return super().__radd__(other) if size is None else size

    def __sub__(self, other: Operand) -> Value:
        size = self._size(SizeOp.SUB, other)
        return super().__sub__(other) if size is None else size

    def __rsub__(self, other: Operand) -> Value:
        size = self._size(SizeOp.SUB, other, reflected=True)
        return super().__rsub__(other) if size is None else size

    def __mul__(self, other: Operand) -> Value:
        size = self._size(SizeOp.MUL, other)
        return super().__mul__(other) if size is None else size

    def __rmul__(self, other: Operand) -> Value:
        size = self._size(SizeOp.MUL, other, reflected=True)
        return super().__rmul__(other) if size is None else size

    def __floordiv__(self, other: Operand) -> Value:
        size = self._size(SizeOp.FLOOR_DIV, other)
        return super().__floordiv__(other) if size is None else size

    def __rfloordiv__(self, other: Operand) -> Value:
        size = self._size(SizeOp.FLOOR_DIV, other, reflected=True)
        return super().__rfloordiv__(other) if size is None else size

    def __mod__(self, other: Operand) -> Value:
        size = self._size(SizeOp.MOD, other)
        return super().__mod__(other) if size is None else size

    def __rmod__(self, other: Operand) -> Value:
        size = self._size(SizeOp.MOD, other, reflected=True)
        return super().__rmod__(other) if size is None else size


def _size_row(recorder: Recorder, last: int) -> int:
    """Emits a size expression as kernel operations; integers wrap there as everywhere."""
    nodes = recorder.size_expr(last).nodes
    rows: list[int] = []
    for op, a, b in nodes:
        if op is SizeOp.LENGTH:
            rows.append(recorder.pure(Op.LENGTH, u32.code, const=a))
        elif op is SizeOp.PARAM:
            rows.append(recorder.pure(Op.PARAM, recorder.param_dtypes[a].code, const=a))
        elif op is SizeOp.CONST:
            rows.append(-1)
        else:
            x, y = rows[a], rows[b]
            x = x if x >= 0 else recorder.number(nodes[a][1], recorder.dtype_of(y))
            y = y if y >= 0 else recorder.number(nodes[b][1], recorder.dtype_of(x))
            if op is SizeOp.CEIL_DIV:
                rows.append(ceil_div_rows(recorder, x, y))
            else:
                rows.append(recorder.operation(_SIZE_OPS[op], x, y))
    return rows[-1]


_SIZE_OPS = {
    SizeOp.ADD: Op.ADD,
    SizeOp.SUB: Op.SUB,
    SizeOp.MUL: Op.MUL,
    SizeOp.FLOOR_DIV: Op.FLOOR_DIV,
    SizeOp.MOD: Op.MOD,
    SizeOp.MIN: Op.MINIMUM,
    SizeOp.MAX: Op.MAXIMUM,
}
