"""Folding: operations on literals, and identities that hold for every value of a type.

Rows are taken in order with their operands already folded, so one pass finds everything but what
`cse` makes equal later. Nothing is folded that could change a result: integers obey the operation
table, floats only what holds for NaN, infinities and both zeros. So ``x * 0.0``, ``x - x`` and
``x + 0.0`` stay, which give NaN or another zero for some x. Under ``checks="trap"`` a division by a
literal zero stays too, for it traps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..ops import INFO, Op
from ..types import ALL_DTYPES, DType
from .constants import dtype_mask, evaluate
from .rewrite import Draft

__all__ = ["fold"]

_OPERAND = -1
"""In the tables below: the result is the other operand, or the one that both are."""

Identities = dict[tuple[int, int, int], int]
"""From operation, type code and the bits of a literal operand to the result's bits."""

_SHIFTS = (Op.SHL, Op.SHR, Op.ROTL, Op.ROTR)
_DIVISIONS = (Op.FLOOR_DIV, Op.TRUNC_DIV, Op.MOD, Op.REM)
_INVOLUTIONS = (Op.NOT, Op.NEG)
_IDEMPOTENT = (Op.ABS, Op.SIGN, Op.FLOOR, Op.CEIL, Op.TRUNC, Op.ROUND)
_CONVERSIONS = (Op.CAST, Op.BITCAST)


def _of_either(dtype: DType) -> Iterator[tuple[Op, int, int]]:
    """(operation, literal, result) where the literal may be on either side."""
    ones = dtype_mask(dtype)
    if dtype.is_float:
        yield Op.MUL, dtype.encode(1.0), _OPERAND
        yield Op.ADD, dtype.encode(-0.0), _OPERAND
        return
    yield Op.AND, 0, 0
    yield Op.AND, ones, _OPERAND
    yield Op.OR, 0, _OPERAND
    yield Op.OR, ones, ones
    yield Op.XOR, 0, _OPERAND
    if dtype.kind == "bool":
        yield Op.EQ, 1, _OPERAND
        yield Op.NE, 0, _OPERAND
        return
    yield Op.ADD, 0, _OPERAND
    yield Op.MUL, 0, 0
    yield Op.MUL, 1, _OPERAND
    yield Op.MUL_HIGH, 0, 0


def _of_right(dtype: DType) -> Iterator[tuple[Op, int, int]]:
    """The same for a literal as the second operand."""
    if dtype.is_float:
        yield Op.DIV, dtype.encode(1.0), _OPERAND
        yield Op.SUB, dtype.encode(0.0), _OPERAND
    elif dtype.is_integer:
        ones = dtype_mask(dtype)
        yield Op.SUB, 0, _OPERAND
        yield Op.FLOOR_DIV, 1, _OPERAND
        yield Op.FLOOR_DIV, 0, ones
        yield Op.TRUNC_DIV, 1, _OPERAND
        yield Op.TRUNC_DIV, 0, ones
        yield Op.MOD, 1, 0
        yield Op.MOD, 0, 0
        yield Op.REM, 1, 0
        yield Op.REM, 0, 0


def _of_equal(dtype: DType) -> Iterator[tuple[Op, int]]:
    """(operation, result) for two operands that are the same row."""
    if dtype.is_float:
        return
    yield Op.AND, _OPERAND
    yield Op.OR, _OPERAND
    yield Op.XOR, 0
    yield Op.EQ, 1
    yield Op.NE, 0
    if dtype.is_integer:
        yield Op.SUB, 0
        yield Op.LE, 1
        yield Op.GE, 1
        yield Op.LT, 0
        yield Op.GT, 0
        for op in (Op.MINIMUM, Op.MAXIMUM, Op.FMIN, Op.FMAX):
            yield op, _OPERAND


_EITHER: Identities = {(o, t.code, x): r for t in ALL_DTYPES for o, x, r in _of_either(t)}
_RIGHT: Identities = {(o, t.code, x): r for t in ALL_DTYPES for o, x, r in _of_right(t)} | _EITHER
_LEFT: Identities = {
    (op, t.code, 0): 0 for t in ALL_DTYPES if t.is_integer for op in _SHIFTS
} | _EITHER
_EQUAL: dict[tuple[int, int], int] = {
    (op, t.code): result for t in ALL_DTYPES for op, result in _of_equal(t)
}
_COUNT_MASK = {t.code: t.bits - 1 for t in ALL_DTYPES}
_UNSIGNED_CODES = frozenset(t.code for t in ALL_DTYPES if t.kind == "uint")

_IGNORED, _LITERAL, _LET, _LENGTH, _UNARY, _BINARY, _SELECT = range(7)
_KIND: Mapping[int, int] = {
    **{op: _UNARY for op, info in INFO.items() if info.group == "unary"},
    **{op: _BINARY for op, info in INFO.items() if info.group == "binary"},
    Op.LITERAL: _LITERAL,
    Op.LET: _LET,
    Op.LENGTH: _LENGTH,
    Op.SELECT: _SELECT,
}
_KINDS = [_KIND.get(code, _IGNORED) for code in range(256)]


def fold(draft: Draft) -> bool:
    """Folds every row that can be; says whether any was.

    Uses of what a ``let`` names become uses of the value itself.
    """
    with np.errstate(all="ignore"):
        return _Folder(draft).run()


class _Folder:
    """What each row has become: another row, or known bits."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.same = list(range(len(draft)))
        self.bits: list[int | None] = [None] * len(draft)
        self.changed = False

    def run(self) -> bool:
        draft, same = self.draft, self.same
        columns = (draft.a, draft.b, draft.c)
        a = draft.a
        for row, code in enumerate(draft.op):
            if a[row] >= 0:
                for column in columns:
                    operand = column[row]
                    if operand < 0:
                        break
                    column[row] = same[operand]
            kind = _KINDS[code]
            if kind == _IGNORED:
                continue
            if kind == _BINARY:
                self.binary(row, code)
            elif kind == _LITERAL:
                self.bits[row] = draft.literals[draft.const[row]]
            elif kind == _UNARY:
                self.unary(row, code)
            elif kind == _LET:
                same[row] = a[row]
            elif kind == _SELECT:
                self.select(row)
            else:
                self.length(row)
        return self.changed

    def becomes(self, row: int, other: int) -> None:
        """A row has the value of an earlier one."""
        self.same[row] = other
        self.draft.drop(row, row + 1)
        self.changed = True

    def is_known(self, row: int, bits: int) -> None:
        """A row is a literal."""
        self.draft.set_literal(row, bits)
        self.bits[row] = bits
        self.changed = True

    def settle(self, row: int, result: int | None, other: int) -> None:
        """A row is what a table says: known bits, or its operand ``other``."""
        if result == _OPERAND:
            self.becomes(row, other)
        elif result is not None:
            self.is_known(row, result)

    def length(self, row: int) -> None:
        count = self.draft.program.buffers[self.draft.const[row]].count
        if count is not None and count.constant is not None:
            self.is_known(row, count.constant)

    def unary(self, row: int, code: int) -> None:
        draft = self.draft
        x = draft.a[row]
        bits, kind, result = self.bits[x], draft.dtype[x], draft.dtype[row]
        if bits is not None:
            known = evaluate(code, result, kind, (bits,))
            if known is not None:
                self.is_known(row, known)
            return
        if code == Op.BITCAST and draft.op[x] == Op.BITCAST:
            x = draft.a[row] = draft.a[x]
            kind = draft.dtype[x]
            self.changed = True
        if code in _CONVERSIONS:
            if kind == result:
                self.becomes(row, x)
        elif (code in _IDEMPOTENT and draft.op[x] == code) or (
            code == Op.ABS and kind in _UNSIGNED_CODES
        ):
            self.becomes(row, x)
        elif code in _INVOLUTIONS and draft.op[x] == code:
            self.becomes(row, draft.a[x])

    def binary(self, row: int, code: int) -> None:
        draft = self.draft
        x, y = draft.a[row], draft.b[row]
        left, right = self.bits[x], self.bits[y]
        if left is None and right is None and x != y:
            return
        kind = draft.dtype[x]
        if code in _DIVISIONS and draft.traps[row]:
            if not right:
                return  # it may trap
            draft.traps[row] = 0
        if left is not None and right is not None:
            known = evaluate(code, draft.dtype[row], kind, (left, right))
            if known is not None:
                self.is_known(row, known)
        elif right is not None:
            if code in _SHIFTS and right & _COUNT_MASK[kind] == 0:
                self.becomes(row, x)
            else:
                self.settle(row, _RIGHT.get((code, kind, right)), x)
        elif left is not None:
            self.settle(row, _LEFT.get((code, kind, left)), y)
        else:
            self.settle(row, _EQUAL.get((code, kind)), x)

    def select(self, row: int) -> None:
        draft = self.draft
        condition, y, z = draft.a[row], draft.b[row], draft.c[row]
        known = self.bits[condition]
        if y == z or known:
            self.becomes(row, y)
        elif known is not None:
            self.becomes(row, z)
