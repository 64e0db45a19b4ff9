"""Buffers as a builder hands them out, with Python's indexing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from .hints import BUFFER_HINTS, missing_attribute
from .ops import Op
from .recorder import Recorder
from .size_values import SizeValue
from .sizes import SizeOp
from .types import DType, u32
from .values import Operand, Value, describe, index_row, operand_row

__all__ = ["BufferHandle"]


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
        raise TypeError(f"{describe(self)} is not a kernel value or a number")

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
