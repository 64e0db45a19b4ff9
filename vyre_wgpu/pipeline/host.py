"""Host arrays: what counts as one, of which type, and its bytes in C order.

Arrays are converted where their memory differs from what a device wants (byte order, strides,
order of axes), and never reinterpreted as another type.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..buffer.arrays import Array, describe, is_of, refuse_mask
from ..buffer.device_buffer import DeviceBuffer
from ..errors import InputError
from ..ir.program import BufferKind, Program
from ..ir.sizes import MAX_ELEMENTS
from ..ir.types import DType, u8

__all__ = ["as_array", "as_chunk", "as_input", "contiguous", "input_shape"]

_RAW = (bytes, bytearray, memoryview)


def as_input(value: object, dtype: DType, name: str) -> Array | DeviceBuffer:
    """A host input as `as_array` gives it, or the device buffer that was passed in its place.

    Raises:
        InputError: as `as_array`, also for a device buffer of another element type.
    """
    if not isinstance(value, DeviceBuffer):
        return as_array(value, dtype, name)
    if value.dtype != dtype.numpy:
        raise InputError(
            f"input {name!r} is a device buffer of {value.dtype}, but the program declares {dtype}",
            fix=f"upload an array of np.{dtype.numpy}",
        )
    return value


def as_array(value: object, dtype: DType, name: str) -> Array:
    """A host input as an array of its own shape, memory untouched.

    Args:
        value: anything with the buffer protocol, ``__array_interface__`` or ``__array__``; bytes
            are elements of u8.
        dtype: the element type the program declares.
        name: the buffer, for messages.

    Raises:
        InputError: no array, one with a mask, or of another element type.
    """
    array = value if type(value) is np.ndarray else _view(value, dtype, name)
    if not is_of(array, dtype.numpy):
        raise InputError(
            f"input {name!r} has dtype {array.dtype}, but the program declares {dtype} "
            f"({dtype.numpy})",
            fix=_conversion(array.dtype, dtype, is_bytes=isinstance(value, _RAW)),
        )
    return array


def _view(value: object, dtype: DType, name: str) -> Array:
    if isinstance(value, np.ndarray):
        refuse_mask(value, f"input {name!r}")
        return value.view(np.ndarray)
    try:
        if hasattr(value, "__array_interface__"):
            array: Array = np.asanyarray(value)
        else:
            try:
                array = np.asarray(memoryview(value))  # type: ignore[arg-type]
            except TypeError:
                if not hasattr(value, "__array__"):
                    raise
                array = np.asanyarray(value)
    except Exception as error:
        # Foreign objects may raise anything here, such as a tensor that lives on another device.
        reason = "" if isinstance(error, TypeError) else f": {error}"
        raise InputError(
            f"input {name!r} is {describe(value)}, not an array{reason}",
            fix=_array_fix(value, dtype),
        ) from error
    refuse_mask(array, f"input {name!r}")
    return array.view(np.ndarray)


def _array_fix(value: object, dtype: DType) -> str:
    if isinstance(value, Mapping):
        return "pass inputs by name with dispatch({name: array})"
    if isinstance(value, (list, tuple, int, float, bool)):
        return f"pass np.asarray(x, np.{dtype.numpy})"
    return f"pass an array of np.{dtype.numpy}"


def as_chunk(value: object, dtype: DType, name: str) -> object:
    """A chunk of a byte stream as elements: bytes become native (little-endian) elements.

    Args:
        value: as for `as_array`; only bytes, bytearray and a memoryview of bytes are reinterpreted.
        dtype: the element type the program declares.
        name: the buffer, for messages.

    Raises:
        InputError: the size is no multiple of the element's, or the elements are bool, whose bytes
            could be other than 0 and 1.
    """
    if dtype is u8 or not isinstance(value, _RAW):
        return value
    view = memoryview(value)
    if view.format not in ("B", "b", "c"):
        return value
    if dtype.kind == "bool":
        raise InputError(
            f"input {name!r} takes bool elements, and bytes may hold other values than 0 and 1",
            fix="pass np.frombuffer(data, np.uint8) != 0",
        )
    if view.nbytes % dtype.itemsize:
        raise InputError(
            f"input {name!r} takes elements of {dtype.itemsize} bytes ({dtype}), and "
            f"{view.nbytes} bytes are not a whole number of them",
            fix=f"pass a multiple of {dtype.itemsize} bytes",
        )
    return np.frombuffer(view.tobytes() if not view.c_contiguous else view, dtype.numpy)


def contiguous(array: Array, dtype: DType) -> Array:
    """The elements in C order and native byte order, of any shape; the array itself if it is so."""
    if array.flags.c_contiguous and array.dtype == dtype.numpy:
        return array
    return np.ascontiguousarray(array, dtype.numpy)


def _conversion(found: np.dtype[Any], dtype: DType, *, is_bytes: bool) -> str:
    if is_bytes and dtype.kind != "bool":
        return f"pass np.frombuffer(data, np.{dtype.numpy}), or use push_chunk"
    if dtype.kind == "bool":
        return "pass x != 0"
    if found.kind in "biuf":
        return f"convert it with .astype(np.{dtype.numpy}), if the values fit"
    return f"pass an array of np.{dtype.numpy}"


def input_shape(
    program: Program, name: object, shape: object
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Axes and type of an array for an input.

    Args:
        program: the program.
        name: one of its inputs.
        shape: elements in all, or on each axis.

    Raises:
        InputError: it is none, or the shape is none.
    """
    inputs = [b for b in program.buffers if b.kind in (BufferKind.READ, BufferKind.READ_WRITE)]
    for buffer in inputs:
        if buffer.name == name:
            break
    else:
        names = ", ".join(repr(b.name) for b in inputs) or "nothing"
        raise InputError(
            f"program {program.name!r} has no input {name!r}", fix=f"name one of: {names}"
        )
    axes = tuple(shape) if isinstance(shape, tuple) else (shape,)
    found = []
    for axis in axes:
        if isinstance(axis, (bool, np.bool_)) or not isinstance(axis, (int, np.integer)):
            raise InputError(
                f"the shape of {name!r} is {describe(shape)}, not an int or a tuple of ints",
                fix="pass the number of elements, or one for each axis",
            )
        found.append(int(axis))
    count = math.prod(found)
    if min(found, default=0) < 0 or not 0 <= count <= MAX_ELEMENTS:
        raise InputError(
            f"the shape of {name!r}, {tuple(found)}, is none of a buffer",
            fix=f"pass sizes from 0 on, at most {MAX_ELEMENTS} elements in all",
        )
    return tuple(found), buffer.dtype.numpy
