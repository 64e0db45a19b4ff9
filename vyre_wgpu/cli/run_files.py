"""The files of ``vyre-wgpu run``: arrays in, arrays out, and never half a file under its name.

A file is a NumPy ``.npy`` file if its name ends so; else it holds the elements one after the other,
little-endian, and nothing else. ``-`` is standard input or output, without a header.
"""

from __future__ import annotations

import io
import math
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..ir.types import DType
from .atomic import NewFile, check_destination, write_files
from .output import printable

__all__ = ["STANDARD", "check_destinations", "read_array", "write_arrays"]

Array = npt.NDArray[Any]

STANDARD = "-"
"""The path that means standard input or standard output."""


def read_array(path: str, dtype: DType, name: str) -> Array:
    """The array of an input file.

    Args:
        path: the file, or ``-``.
        dtype: the declared element type; a ``.npy`` file may hold another, which is for the program
            to refuse.
        name: the input, for messages.

    Raises:
        InputError: the file cannot be read, or holds no such array.
    """
    where = f"input {name!r}, file {printable(path)}"
    if path == STANDARD:
        where = f"input {name!r}, standard input"
        if sys.stdin is None:
            raise InputError(f"{where} is closed", fix="redirect it from a file")
        return _raw(sys.stdin.buffer.read(), dtype, where)
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{where} does not exist", fix="give the path of a file") from None
    except (OSError, ValueError) as error:  # the latter for a name with a NUL character
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{where} cannot be read: {reason}", fix="give the path of a readable file"
        ) from None
    return _npy(data, where) if _is_npy(path) else _raw(data, dtype, where)


def _is_npy(path: str) -> bool:
    return path.lower().endswith(".npy")


def _raw(data: bytes, dtype: DType, where: str) -> Array:
    if len(data) % dtype.itemsize:
        raise InputError(
            f"{where} has {len(data)} bytes, not a whole number of {dtype} elements of "
            f"{dtype.itemsize} bytes",
            fix="give the bare elements, or a NumPy file whose name ends in .npy",
        )
    if dtype.kind == "bool":
        values = np.frombuffer(data, np.uint8)
        if values.size and values.max() > 1:
            raise InputError(
                f"{where} has the byte {values.max()}, and bool elements are 0 or 1",
                fix="write one byte of 0 or 1 for each element",
            )
        return values.view(np.bool_)
    return np.frombuffer(data, dtype.numpy.newbyteorder("<"))


def _npy(data: bytes, where: str) -> Array:
    """An array from the bytes of a ``.npy`` file, which may come from anywhere."""
    fix = "write the file with numpy.save(path, array)"
    formats = {(1, 0): np.lib.format.read_array_header_1_0,
               (2, 0): np.lib.format.read_array_header_2_0}  # fmt: skip
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        if version not in formats:  # 3.0 is for structured types
            raise ValueError(f"its format version is {version[0]}.{version[1]}")
        shape, is_fortran, dtype = formats[version](file)
        if dtype.hasobject:
            raise ValueError("it holds pickled Python objects, which are never loaded")
        if any(n < 0 for n in shape) or not dtype.itemsize:
            raise ValueError(f"it declares shape {shape} of {dtype}")
        count = math.prod(shape)
        found = len(data) - file.tell()
        if found != count * dtype.itemsize:
            raise ValueError(
                f"its header declares {count * dtype.itemsize} bytes of elements, {found} follow"
            )
        elements = np.frombuffer(data, dtype, count, file.tell()) if count else np.empty(0, dtype)
        return elements.reshape(shape, order="F" if is_fortran else "C")
    except Exception as error:  # NumPy parses the header as Python; it raises all sorts of things
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"{where} is not a usable .npy file: {reason}", fix=fix) from None


def check_destinations(outputs: Mapping[str, str], sources: Sequence[str] = ()) -> None:
    """Refuses, before anything runs, what could not be written afterwards.

    Args:
        outputs: output name to path.
        sources: files that no output may replace.

    Raises:
        InputError: two outputs to one file, a missing folder, a folder in place of a file, a source
            or a terminal.
    """
    taken: dict[str, str] = {}
    for name, path in outputs.items():
        if path == STANDARD:
            _check_standard_output(name)
            key = path
        else:
            check_destination(f"output {name!r}", path)
            key = _identity(path)
        if key in taken:
            raise InputError(
                f"the outputs {taken[key]!r} and {name!r} both go to {printable(path)}",
                fix="give each output a file of its own",
            )
        taken[key] = name
        if any(key == _identity(source) for source in sources):
            raise InputError(
                f"output {name!r}, file {printable(path)}, is the program itself",
                fix="give another path",
            )


def _check_standard_output(name: str) -> None:
    fix = f"redirect standard output, or give a file: --output {name}=FILE"
    if sys.stdout is None:
        raise InputError(f"output {name!r} goes to standard output, which is closed", fix=fix)
    if sys.stdout.isatty():
        raise InputError(f"output {name!r} is binary and would go to a terminal", fix=fix)


def _identity(path: str) -> str:
    """What is equal for all paths of one file, whether it exists or not."""
    with suppress(OSError):
        status = os.stat(path)
        if status.st_ino:
            return f"{status.st_dev}:{status.st_ino}"
    return os.path.normcase(os.path.realpath(path))


def write_arrays(arrays: Mapping[str, Array], outputs: Mapping[str, str]) -> None:
    """Writes the outputs: all of them, or none (`write_files`).

    Args:
        arrays: output name to array.
        outputs: output name to path, checked by `check_destinations`.

    Raises:
        OSError: a file cannot be written.
    """
    files: list[NewFile] = []
    standard: list[Array] = []
    for name, path in outputs.items():
        if path == STANDARD:
            standard.append(arrays[name])
        else:
            write = partial(_write, arrays[name], is_npy=_is_npy(path))
            files.append((f"output {name!r}", path, write))

    def to_standard_output() -> None:
        for array in standard:
            _write(array, sys.stdout.buffer, is_npy=False)
            sys.stdout.buffer.flush()

    write_files(files, to_standard_output)


def _write(array: Array, file: IO[bytes], *, is_npy: bool) -> None:
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    if is_npy:
        np.lib.format.write_array_header_1_0(
            file, np.lib.format.header_data_from_array_1_0(little.reshape(array.shape))
        )
    file.write(little.reshape(-1).view(np.uint8).data)
