"""Integer operations that are written with those of the operation table, as rows.

Backends know nothing of them: each is a few rows that every backend has, so its result is as exact
and as portable as they are. `values` and `functions` put the public spellings on top.
"""

from __future__ import annotations

from .ops import Op
from .recorder import Recorder
from .types import DType, u8, u16, u32, u64

__all__ = [
    "ceil_div_rows",
    "literal_power_rows",
    "power_rows",
    "round_div_rows",
    "wide_product_rows",
]

_UNSIGNED: dict[int, DType] = {dtype.bits: dtype for dtype in (u8, u16, u32, u64)}


def ceil_div_rows(recorder: Recorder, a: int, b: int) -> int:
    """The row of ceil(a / b): the floor quotient, plus one where a remainder is left."""
    dtype = recorder.dtype_of(a)
    zero = recorder.literal(dtype, 0)
    left = recorder.operation(Op.NE, recorder.operation(Op.MOD, a, b), zero)
    quotient = recorder.operation(Op.FLOOR_DIV, a, b)
    return _plus_one_where(recorder, quotient, left)


def round_div_rows(recorder: Recorder, a: int, b: int) -> int:
    """The row of a / b rounded to the nearest integer, ties to the even one.

    The floor quotient is one too small where its remainder r, which lies between 0 and b, is nearer
    to b than to 0. ``b - r`` cannot overflow, for r has the sign of b.
    """
    dtype = recorder.dtype_of(a)
    zero, one = recorder.literal(dtype, 0), recorder.literal(dtype, 1)
    quotient = recorder.operation(Op.FLOOR_DIV, a, b)
    below = recorder.operation(Op.MOD, a, b)
    above = recorder.operation(Op.SUB, b, below)
    nearer = recorder.operation(Op.GT, below, above)
    if dtype.is_signed:
        nearer_if_negative = recorder.operation(Op.LT, below, above)
        negative = recorder.operation(Op.LT, b, zero)
        nearer = recorder.pure(
            Op.SELECT, recorder.dtype[nearer], negative, nearer_if_negative, nearer
        )
    odd = recorder.operation(Op.NE, recorder.operation(Op.AND, quotient, one), zero)
    # By zero both distances are 0, and the quotient has to stay as the table has it.
    tie = recorder.operation(
        Op.AND,
        recorder.operation(Op.EQ, below, above),
        recorder.operation(Op.NE, below, zero),
    )
    up = recorder.operation(Op.OR, nearer, recorder.operation(Op.AND, tie, odd))
    return _plus_one_where(recorder, quotient, up)


def wide_product_rows(recorder: Recorder, a: int, b: int) -> tuple[int, int]:
    """The rows of the lower half of a product, as unsigned bits, and of its upper half."""
    low = recorder.operation(Op.MUL, a, b)
    dtype = recorder.dtype_of(a)
    if dtype.is_signed:
        # Of equal width, so this changes no bits; small types have casts but few bitcasts.
        low = recorder.pure(Op.CAST, _UNSIGNED[dtype.bits].code, low)
    return low, recorder.operation(Op.MUL_HIGH, a, b)


def power_rows(recorder: Recorder, x: int, exponent: int) -> int:
    """The row of an integer to a power that is known only on the device: x^n modulo 2^bits.

    Square and multiply from the lowest bit of the exponent (D. E. Knuth, "The Art of Computer
    Programming" 2, 4.6.3, algorithm A): as many iterations as the exponent has bits. 0^0 is 1.

    Args:
        recorder: where it is written.
        x: the row of the base.
        exponent: the row of an unsigned integer of any width.
    """
    dtype, count = recorder.dtype_of(x), recorder.dtype_of(exponent)
    zero, one = recorder.literal(count, 0), recorder.literal(count, 1)
    product = _variable(recorder, recorder.literal(dtype, 1))
    square, left = _variable(recorder, x), _variable(recorder, exponent)
    bounds = [recorder.literal(u32, number) for number in (0, count.bits, 1)]
    recorder.open(Op.FOR, u32.code, *bounds)
    bits = _get(recorder, left)
    recorder.open(Op.IF, a=recorder.operation(Op.NE, recorder.operation(Op.AND, bits, one), zero))
    factor = _get(recorder, square)
    _assign(recorder, product, recorder.operation(Op.MUL, _get(recorder, product), factor))
    recorder.close()
    following = recorder.operation(Op.SHR, bits, recorder.literal(u32, 1))
    recorder.open(Op.IF, a=recorder.operation(Op.EQ, following, zero))
    recorder.emit(Op.BREAK)
    recorder.close()
    _assign(recorder, left, following)
    root = _get(recorder, square)
    _assign(recorder, square, recorder.operation(Op.MUL, root, root))
    recorder.close()
    return _get(recorder, product)


def literal_power_rows(recorder: Recorder, x: int, exponent: int) -> int:
    """The row of an integer to a power that is known now: x^n modulo 2^bits.

    Square and multiply from the highest bit of the exponent: less than 2 log2(n) multiplications.
    """
    if exponent == 0:
        return recorder.literal(recorder.dtype_of(x), 1)
    row = x
    for bit in f"{exponent:b}"[1:]:
        row = recorder.operation(Op.MUL, row, row)
        if bit == "1":
            row = recorder.operation(Op.MUL, row, x)
    return row


def _plus_one_where(recorder: Recorder, value: int, condition: int) -> int:
    one_or_zero = recorder.pure(Op.CAST, recorder.dtype[value], condition)
    return recorder.operation(Op.ADD, value, one_or_zero)


def _variable(recorder: Recorder, first: int) -> int:
    return recorder.emit(Op.VAR, recorder.dtype[first], first)


def _get(recorder: Recorder, variable: int) -> int:
    return recorder.emit(Op.VAR_GET, recorder.dtype[variable], variable)


def _assign(recorder: Recorder, variable: int, value: int) -> None:
    recorder.emit(Op.ASSIGN, a=variable, b=value)
