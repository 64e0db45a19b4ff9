"""Kernel values: what a builder hands out, with Python's operators.

A `Value` is computed once, where it is written. Pure operations may be used many times; reading an
element or a `Var` takes its value at that point. Python's own control flow cannot see kernel
values, so `bool()` of one raises and names what to write instead.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NoReturn, Union

import numpy as np

from .composed import ceil_div_rows, literal_power_rows, power_rows
from .hints import BUFFER_HINTS, VALUE_HINTS, missing_attribute
from .ops import Op
from .recorder import Place, Recorder
from .sizes import SizeOp
from .types import DType, TypedLiteral, i32, u32, u64

__all__ = ["BufferHandle", "Operand", "SizeValue", "Value", "Var"]

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


class BufferHandle:
    """A declared buffer: ``x[i]`` loads an element, ``x[i] = v`` stores one.

    Attributes:
        name: the buffer's name.
        dtype: its element type.
    """

    __slots__ = ("_recorder", "dtype", "index", "name")
    __array_ufunc__ = None

    def __init__(self, recorder: Recorder, index: int, name: str, dtype: DType) -> None:
        self._recorder = recorder
        self.index = index
        self.name = name
        self.dtype = dtype

    @property
    def length(self) -> SizeValue:
        """Its number of elements, as a size or as a u32 kernel value."""
        return SizeValue(self._recorder, self._recorder.size_node(SizeOp.LENGTH, self.index), u32)

    def __getitem__(self, index: Operand) -> Value:
        row = self._recorder.emit(
            Op.LOAD, self.dtype.code, index_row(self._recorder, index), const=self.index
        )
        return Value(self._recorder, row, self.dtype)

    def __setitem__(self, index: Operand, value: Operand) -> None:
        recorder = self._recorder
        at = index_row(recorder, index)
        content = operand_row(recorder, value, self.dtype, "content")
        recorder.emit(Op.STORE, a=at, b=content, const=self.index)

    def __len__(self) -> NoReturn:
        raise TypeError(
            f"the length of buffer {self.name!r} is known only at dispatch; use {self.name}.length"
        )

    def __bool__(self) -> NoReturn:
        raise TypeError(f"buffer {self.name!r} has no truth value; load an element of it")

    def _no_operand(self, *_: object) -> NoReturn:
        raise TypeError(f"{_describe(self)} is not a kernel value or a number")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _no_operand
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _no_operand
    __pow__ = __rpow__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _no_operand
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _no_operand
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = __invert__ = _no_operand

    def __iter__(self) -> NoReturn:
        raise TypeError(
            f"buffer {self.name!r} cannot be iterated while the program is being built: write "
            f"`with b.for_range({self.name}.length) as k:` and {self.name}[k]"
        )

    def __contains__(self, _: object) -> NoReturn:
        raise TypeError(
            f"buffer {self.name!r} cannot be searched with `in`: compare the elements in `with "
            f"b.for_range({self.name}.length) as k:`, or an index with {self.name}.length"
        )

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(self, attribute: str) -> NoReturn:
            # A buffer that is only half made, as by copy, has no name yet.
            name = "" if attribute in BufferHandle.__slots__ else self.name
            raise missing_attribute(self, attribute, BUFFER_HINTS, name)

    def __repr__(self) -> str:
        return f"<buffer {self.name!r}: {self.dtype}>"


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
    raise TypeError(f"{_describe(value)} is not a kernel value or a number")


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
        raise TypeError(f"{_describe(dtype)} is not an element type such as vw.f32")
    return dtype.code


def _describe(value: object) -> str:
    if isinstance(value, BufferHandle):
        return f"buffer {value.name!r} (write {value.name}[index] for an element)"
    if isinstance(value, np.ndarray):
        return "a NumPy array (declare it with b.read and index it)"
    if inspect.isroutine(value):
        return f"the function {value.__name__} (call it: {value.__name__}(...))"
    return f"{value!r} of type {type(value).__name__}"
