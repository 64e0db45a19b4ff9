"""The element types of the IR: what each is on the host, in storage and in a literal."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import Any, Literal as Choice

import numpy as np

__all__ = [
    "ALL_DTYPES",
    "VOID_CODE",
    "DType",
    "TypedLiteral",
    "bool_",
    "dtype_from_code",
    "f16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
]

Kind = Choice["bool", "int", "uint", "float"]

VOID_CODE = 0
"""Type code of an operation that yields no value."""


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """An element type.

    There is exactly one instance of each type, so identity is equality.

    Attributes:
        name: the type's name in programs and messages, such as ``f32``.
        code: stable number in the serialised form.
        kind: ``bool``, ``int`` (signed), ``uint`` or ``float``.
        bits: width of a value; of an element in storage too, except bool (8).
        numpy: the NumPy type of host arrays, native byte order.
        feature: the wgpu feature a device needs for it, or None.
    """

    name: str
    code: int
    kind: Kind
    bits: int
    numpy: np.dtype[Any]
    feature: str | None = None
    _format: str = field(default="", repr=False)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, ...]:
        return dtype_from_code, (self.code,)

    @property
    def itemsize(self) -> int:
        """Bytes of one element in storage."""
        return int(self.numpy.itemsize)

    @property
    def is_integer(self) -> bool:
        """Whether this is a signed or unsigned integer type (bool is not)."""
        return self.kind in ("int", "uint")

    @property
    def is_float(self) -> bool:
        """Whether this is a floating-point type."""
        return self.kind == "float"

    @property
    def is_signed(self) -> bool:
        """Whether this is a signed integer type."""
        return self.kind == "int"

    @property
    def min(self) -> int:
        """Smallest value of an integer type; 0 for bool."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def max(self) -> int:
        """Largest value of an integer type; 1 for bool."""
        if self.kind == "bool":
            return 1
        return (1 << (self.bits - 1)) - 1 if self.kind == "int" else (1 << self.bits) - 1

    def __call__(self, value: bool | int | float) -> TypedLiteral:
        """A literal of this type: ``vw.f32(1)``.

        Raises:
            ValueError: the value is not representable (integers out of range, floats for an
                integer type, finite floats beyond the type's range); other floats round.
            TypeError: not a Python or NumPy number.
        """
        return TypedLiteral(self, self.encode(value))

    def encode(self, value: object) -> int:
        """The bit pattern of a Python or NumPy scalar as this type, as an unsigned integer.

        Raises:
            ValueError: not representable, as in `__call__`.
            TypeError: not a number.
        """
        if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
            value = value.item()
        if not isinstance(value, (bool, int, float)):
            raise TypeError(f"{value!r} is not a number; convert a kernel value with .cast({self})")
        if self.kind == "bool":
            if isinstance(value, bool):
                return int(value)
            raise ValueError(f"{value!r} is not a bool")
        if isinstance(value, bool):
            raise ValueError(f"{value!r} is a bool, not {self}")
        if self.kind != "float":
            if isinstance(value, float) or not self.min <= value <= self.max:
                raise ValueError(f"{value!r} is not representable in {self}")
            return value & ((1 << self.bits) - 1)
        return self._encode_float(value)

    def _encode_float(self, value: int | float) -> int:
        try:
            wide = float(value)
            packed = struct.pack(self._format, wide)
        except OverflowError:
            raise ValueError(f"{value!r} is beyond the range of {self}") from None
        bits = int.from_bytes(packed, "little")
        if math.isfinite(wide) and not math.isfinite(self.decode(bits)):
            raise ValueError(f"{value!r} is beyond the range of {self}")
        return bits

    def decode(self, bits: int) -> bool | int | float:
        """The Python value of a bit pattern; the inverse of `encode`."""
        if self.kind == "bool":
            return bool(bits)
        if self.kind == "float":
            value: float = struct.unpack(self._format, bits.to_bytes(self.bits // 8, "little"))[0]
            return value
        if self.kind == "int" and bits >> (self.bits - 1):
            return bits - (1 << self.bits)
        return bits


@dataclass(frozen=True, slots=True)
class TypedLiteral:
    """A literal with its type, ``vw.f32(1)``: for places where no other operand gives one.

    Attributes:
        dtype: the type.
        bits: the value's bit pattern.
    """

    dtype: DType
    bits: int

    def __repr__(self) -> str:
        return f"{self.dtype}({self.dtype.decode(self.bits)})"


def _numpy(name: str) -> np.dtype[Any]:
    return np.dtype(name)


bool_ = DType("bool", 1, "bool", 1, _numpy("bool"))
i8 = DType("i8", 2, "int", 8, _numpy("int8"))
u8 = DType("u8", 3, "uint", 8, _numpy("uint8"))
i16 = DType("i16", 4, "int", 16, _numpy("int16"))
u16 = DType("u16", 5, "uint", 16, _numpy("uint16"))
i32 = DType("i32", 6, "int", 32, _numpy("int32"))
u32 = DType("u32", 7, "uint", 32, _numpy("uint32"))
i64 = DType("i64", 8, "int", 64, _numpy("int64"), "shader-int64")
u64 = DType("u64", 9, "uint", 64, _numpy("uint64"), "shader-int64")
f16 = DType("f16", 10, "float", 16, _numpy("float16"), None, "<e")
f32 = DType("f32", 11, "float", 32, _numpy("float32"), None, "<f")
f64 = DType("f64", 12, "float", 64, _numpy("float64"), "shader-f64", "<d")

ALL_DTYPES = (bool_, i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64)
_BY_CODE = {dtype.code: dtype for dtype in ALL_DTYPES}


def dtype_from_code(code: int) -> DType:
    """The type with this serialised code.

    Raises:
        KeyError: no type has it.
    """
    return _BY_CODE[code]
