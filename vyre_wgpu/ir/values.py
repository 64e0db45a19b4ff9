"""Kernel values: what a builder hands out, with Python's operators.

A `Value` is computed once, where it is written. Pure operations may be used many times; reading an
element or a `Var` takes its value at that point. Python's own control flow cannot see kernel
values, so `bool()` of one raises and names what to write instead.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NoReturn, Union

import numpy as np

from .composed import literal_power_rows, power_rows
from .hints import VALUE_HINTS, missing_attribute
from .ops import Op
from .recorder import Place, Recorder
from .types import DType, TypedLiteral, i32, u32, u64

__all__ = ["Operand", "ParamValue", "Value", "Var", "operand_row"]

Operand = Union["Value", TypedLiteral, bool, int, float, np.generic]
"""What an operator takes beside a value: another one, or a number that becomes a literal."""

_NO_TRUTH = (
    "a kernel value has no truth value while the program is being built. Logic is & | ~ with each "
    "comparison in parentheses, (a < b) & (b < c); a choice is vw.select(cond, a, b), vw.minimum "
    "or vw.maximum; a branch is b.if_(cond), a loop b.while_(lambda: cond)"
)


class Value:
    """A value of a kernel.

    Attributes:
        dtype: its type.
    """

    __slots__ = ("_recorder", "_row", "dtype")
    __array_ufunc__ = None

    def __init__(self, recorder: Recorder, row: int, dtype: DType) -> None:
        self._recorder = recorder
        self._row = row
        self.dtype = dtype

    def _use(self) -> int:
        """The row to use as an operand here."""
        return self._row

    def cast(self, dtype: DType) -> Value:
        """This value converted to another type; see the operation table for the rules."""
        row = self._recorder.pure(Op.CAST, _dtype_code(dtype), self._use())
        return Value(self._recorder, row, dtype)

    def bitcast(self, dtype: DType) -> Value:
        """The same bits as another type of equal width."""
        row = self._recorder.pure(Op.BITCAST, _dtype_code(dtype), self._use())
        return Value(self._recorder, row, dtype)

    def _binary(self, op: Op, other: object, *, reflected: bool = False) -> Value:
        recorder = self._recorder
        mine = self._use()
        dtype = recorder.dtype_of(mine)
        theirs = operand_row(recorder, other, dtype)
        pair = (theirs, mine) if reflected else (mine, theirs)
        row = recorder.operation(op, *pair)
        return Value(recorder, row, recorder.dtype_of(row))

    def _unary(self, op: Op) -> Value:
        row = self._recorder.operation(op, self._use())
        return Value(self._recorder, row, self._recorder.dtype_of(row))

    def __add__(self, other: Operand) -> Value:
        return self._binary(Op.ADD, other)

    def __radd__(self, other: Operand) -> Value:
        return self._binary(Op.ADD, other, reflected=True)

    def __sub__(self, other: Operand) -> Value:
        return self._binary(Op.SUB, other)

    def __rsub__(self, other: Operand) -> Value:
        return self._binary(Op.SUB, other, reflected=True)

    def __mul__(self, other: Operand) -> Value:
        return self._binary(Op.MUL, other)

    def __rmul__(self, other: Operand) -> Value:
        return self._binary(Op.MUL, other, reflected=True)

    def __truediv__(self, other: Operand) -> Value:
        return self._binary(Op.DIV, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._binary(Op.DIV, other, reflected=True)

    def __floordiv__(self, other: Operand) -> Value:
        return self._binary(Op.FLOOR_DIV, other)

    def __rfloordiv__(self, other: Operand) -> Value:
        return self._binary(Op.FLOOR_DIV, other, reflected=True)

    def __mod__(self, other: Operand) -> Value:
        return self._binary(Op.MOD, other)

    def __rmod__(self, other: Operand) -> Value:
        return self._binary(Op.MOD, other, reflected=True)

    def __pow__(self, other: Operand) -> Value:
        if is_integer(self) and is_integer(other):
            return integer_power(self._recorder, self, other, self.dtype)
        is_whole = isinstance(other, (int, np.integer)) and not isinstance(other, bool)
        if is_whole and i32.min <= other <= i32.max:  # type: ignore[operator]
            other = TypedLiteral(i32, i32.encode(other))
        refuse_rounded_exponent(self._recorder, other, self.dtype)
        is_power = isinstance(other, (Value, TypedLiteral)) and other.dtype is i32
        return self._binary(Op.POWI if is_power else Op.POW, other)

    def __rpow__(self, other: Operand) -> Value:
        if is_integer(self) and is_integer(other):
            return integer_power(self._recorder, other, self, self.dtype)
        return self._binary(Op.POW, other, reflected=True)

    def __and__(self, other: Operand) -> Value:
        return self._binary(Op.AND, other)

    def __rand__(self, other: Operand) -> Value:
        return self._binary(Op.AND, other, reflected=True)

    def __or__(self, other: Operand) -> Value:
        return self._binary(Op.OR, other)

    def __ror__(self, other: Operand) -> Value:
        return self._binary(Op.OR, other, reflected=True)

    def __xor__(self, other: Operand) -> Value:
        return self._binary(Op.XOR, other)

    def __rxor__(self, other: Operand) -> Value:
        return self._binary(Op.XOR, other, reflected=True)

    def __lshift__(self, other: Operand) -> Value:
        return self._binary(Op.SHL, _shift_count(other))

    def __rlshift__(self, other: Operand) -> Value:
        return self._binary(Op.SHL, other, reflected=True)

    def __rshift__(self, other: Operand) -> Value:
        return self._binary(Op.SHR, _shift_count(other))

    def __rrshift__(self, other: Operand) -> Value:
        return self._binary(Op.SHR, other, reflected=True)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]  # builds a comparison
        return self._binary(Op.EQ, other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]  # builds a comparison
        return self._binary(Op.NE, other)

    def __lt__(self, other: Operand) -> Value:
        return self._binary(Op.LT, other)

    def __le__(self, other: Operand) -> Value:
        return self._binary(Op.LE, other)

    def __gt__(self, other: Operand) -> Value:
        return self._binary(Op.GT, other)

    def __ge__(self, other: Operand) -> Value:
        return self._binary(Op.GE, other)

    def __neg__(self) -> Value:
        return self._unary(Op.NEG)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return self._unary(Op.ABS)

    def __invert__(self) -> Value:
        return self._unary(Op.NOT)

    def __round__(self, digits: None = None) -> Value:
        if digits is not None:
            raise TypeError("round() of a kernel value takes no number of digits")
        return self._unary(Op.ROUND)

    def __floor__(self) -> Value:
        return self._unary(Op.FLOOR)

    def __ceil__(self) -> Value:
        return self._unary(Op.CEIL)

    def __trunc__(self) -> Value:
        return self._unary(Op.TRUNC)

    def __bool__(self) -> NoReturn:
        raise TypeError(_NO_TRUTH)

    __hash__ = object.__hash__

    def __iter__(self) -> NoReturn:
        raise TypeError(
            "a kernel value is one number and cannot be iterated. For a loop up to it write "
            "`with b.for_range(n) as k:`"
        )

    def __contains__(self, _: object) -> NoReturn:
        raise TypeError("a kernel value is one number and holds nothing; compare with == or <=")

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(self, attribute: str) -> NoReturn:
            raise missing_attribute(self, attribute, VALUE_HINTS)

    def __format__(self, _: str) -> NoReturn:
        raise TypeError(
            "a kernel value has no text, it is known only on the device: the tag of a trap is "
            "fixed, and the number goes beside it, b.trap(tag, address=value); for the value's "
            "type write {value!r}"
        )

    def __index__(self) -> NoReturn:
        raise TypeError(
            "a kernel value is not a Python integer: it is known only on the device. For a loop "
            "over it write `with b.for_range(0, n) as k:`"
        )

    def __int__(self) -> NoReturn:
        raise TypeError(
            "a kernel value has no Python number, it is known only on the device; convert it there "
            "with .cast(vw.i32)"
        )

    def __float__(self) -> NoReturn:
        raise TypeError(
            "a kernel value has no Python number, it is known only on the device: compute with the "
            "functions of vw, such as vw.sqrt, and convert with .cast(vw.f32)"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.dtype}>"


class Var(Value):
    """A variable of the lane: reading it takes its value at that point."""

    __slots__ = ()

    def _use(self) -> int:
        return self._recorder.emit(Op.VAR_GET, self.dtype.code, self._row)

    def set(self, value: Operand) -> None:
        """Assigns a value of the variable's type (or a number that fits it)."""
        row = operand_row(self._recorder, value, self.dtype, "content")
        self._recorder.emit(Op.ASSIGN, a=self._row, b=row)

    def _update(self, op: Op, value: Operand) -> Var:
        self.set(self._binary(op, value))
        return self

    def __iadd__(self, other: Operand) -> Var:
        return self._update(Op.ADD, other)

    def __isub__(self, other: Operand) -> Var:
        return self._update(Op.SUB, other)

    def __imul__(self, other: Operand) -> Var:
        return self._update(Op.MUL, other)

    def __itruediv__(self, other: Operand) -> Var:
        return self._update(Op.DIV, other)

    def __ifloordiv__(self, other: Operand) -> Var:
        return self._update(Op.FLOOR_DIV, other)

    def __imod__(self, other: Operand) -> Var:
        return self._update(Op.MOD, other)

    def __ipow__(self, other: Operand) -> Var:
        self.set(self**other)
        return self

    def __iand__(self, other: Operand) -> Var:
        return self._update(Op.AND, other)

    def __ior__(self, other: Operand) -> Var:
        return self._update(Op.OR, other)

    def __ixor__(self, other: Operand) -> Var:
        return self._update(Op.XOR, other)

    def __ilshift__(self, other: Operand) -> Var:
        return self._update(Op.SHL, _shift_count(other))

    def __irshift__(self, other: Operand) -> Var:
        return self._update(Op.SHR, _shift_count(other))

    def __pos__(self) -> Value:
        return Value(self._recorder, self._use(), self.dtype)


class ParamValue(Value):
    """A parameter that is no size: bool or float."""

    __slots__ = ()

    def _use(self) -> int:
        return self._recorder.pure(Op.PARAM, self.dtype.code, const=self._row)


def operand_row(recorder: Recorder, value: object, dtype: DType, place: Place = "operand") -> int:
    """The row of an operand; a number becomes a literal of ``dtype``.

    Args:
        recorder: where it is used.
        value: a kernel value or a number.
        dtype: the type that a number takes.
        place: what it is there, for messages.

    Raises:
        TypeError: neither a kernel value nor a number.
    """
    if isinstance(value, Value):
        if value._recorder is recorder:
            return value._use()
        recorder.problem(
            "E301",
            f"a {value.dtype} value of another builder is used",
            "build each program from the values of its own builder",
        )
        return recorder.placeholder(value.dtype)
    if isinstance(value, (TypedLiteral, bool, int, float, np.generic)):
        return recorder.number(value, dtype, place)
    raise TypeError(f"{describe(value)} is not a kernel value or a number")


def is_integer(operand: object) -> bool:
    """Whether an operand is an integer: a value or literal of an integer type, or a number."""
    if isinstance(operand, (Value, TypedLiteral)):
        return operand.dtype.is_integer
    return isinstance(operand, (int, np.integer)) and not isinstance(operand, bool)


def integer_power(recorder: Recorder, base: object, exponent: object, dtype: DType) -> Value:
    """An integer to an integer power, which wraps; what is no power is noted for ``build()``.

    Args:
        recorder: where it is used.
        base: an integer operand; a number takes ``dtype``.
        exponent: an integer operand: a number of at least 0, or a value of an unsigned type.
        dtype: the type of a base that is a number.
    """
    x = operand_row(recorder, base, dtype)
    if isinstance(exponent, Value) and not exponent.dtype.is_signed:
        row = power_rows(recorder, x, operand_row(recorder, exponent, exponent.dtype))
    elif isinstance(exponent, Value):
        recorder.problem(
            "E203",
            f"the exponent of an integer power is unsigned, found {exponent.dtype}",
            "write exponent.cast(vw.u32), or for negative exponents cast the base to a float",
        )
        row = recorder.placeholder(recorder.dtype_of(x))
    elif 0 <= (number := _number(exponent)) <= u64.max:
        row = literal_power_rows(recorder, x, number)
    else:
        recorder.problem(
            "E202",
            f"literal {number} is no exponent of an integer",
            "give an exponent from 0 to 2^64 - 1, or cast the base to a float",
        )
        row = recorder.placeholder(recorder.dtype_of(x))
    return Value(recorder, row, recorder.dtype_of(row))


def refuse_rounded_exponent(recorder: Recorder, exponent: object, dtype: DType) -> None:
    """Notes an integer exponent that a float type would round: an odd one would become even.

    Args:
        recorder: where it is used.
        exponent: an operand; only numbers that are integers are looked at.
        dtype: the type of the base, which a number takes.
    """
    if isinstance(exponent, bool) or not isinstance(exponent, (int, np.integer)):
        return
    number = int(exponent)
    try:
        rounded = dtype.decode(dtype.encode(number))
    except ValueError:  # beyond the range: refused as every such literal is
        return
    if rounded != number:
        fits = i32.min <= number <= i32.max
        recorder.problem(
            "E202",
            f"literal {number} is an integer exponent that {dtype} does not have",
            f"write x ** {number}" if fits else f"write {float(number)!r} to have it rounded",
        )


def _number(literal: Any) -> int:
    typed = isinstance(literal, TypedLiteral)
    return int(literal.dtype.decode(literal.bits) if typed else literal)


def index_row(recorder: Recorder, index: object) -> int:
    """The row of an element index: a number becomes u32, or i32 if it is negative."""
    if isinstance(index, (slice, tuple)) or index is None or index is Ellipsis:
        raise TypeError(
            f"buffers are one-dimensional and have no slices: index with one integer, not {index!r}"
        )
    negative = isinstance(index, (int, np.integer)) and index < 0
    return operand_row(recorder, index, i32 if negative else u32, "index")


def _shift_count(count: Operand) -> Operand:
    """A literal shift count is u32, so that its range does not depend on the shifted type."""
    if isinstance(count, (int, np.integer)) and not isinstance(count, bool):
        number = int(count)
        return TypedLiteral(u32, number) if 0 <= number <= u32.max else count
    return count


def _dtype_code(dtype: Any) -> int:
    if not isinstance(dtype, DType):
        raise TypeError(f"{describe(dtype)} is not an element type such as vw.f32")
    return dtype.code


def describe(value: object) -> str:
    """Words for what stands where an operand should, with what to write instead."""
    from .handles import BufferHandle  # that module imports this one

    if isinstance(value, BufferHandle):
        return f"buffer {value.name!r} (write {value.name}[index] for an element)"
    if isinstance(value, np.ndarray):
        return "a NumPy array (declare it with b.read and index it)"
    if inspect.isroutine(value):
        return f"the function {value.__name__} (call it: {value.__name__}(...))"
    return f"{value!r} of type {type(value).__name__}"
