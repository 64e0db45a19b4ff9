"""Checks of a dispatch's options that need no program."""

from __future__ import annotations

import math
import operator
from dataclasses import fields

import numpy as np

from ..buffer.arrays import describe
from ..buffer.device_buffer import DeviceBuffer
from ..errors import InputError
from .config import DispatchConfig, Indirect

__all__ = [
    "check_config",
    "check_deadline",
    "checked_grid",
    "checked_timeout",
    "integer",
    "shape_options",
    "shown",
]


def check_config(config: object) -> None:
    """Raises for what is no config, or has a label or deadline that is none.

    Raises:
        InputError: so it is.
    """
    if not isinstance(config, DispatchConfig):
        names = ", ".join(f"{field.name}=..." for field in fields(DispatchConfig))
        raise InputError(
            f"config is {describe(config)}, not a DispatchConfig",
            fix=f"pass DispatchConfig({names})",
        )
    if not isinstance(config.label, str):
        raise InputError(f"label is {describe(config.label)}, not text", fix="pass a str")
    if type(config.zero_copy) is not bool:
        raise InputError(
            f"zero_copy is {describe(config.zero_copy)}, not a bool", fix="pass True or False"
        )
    check_deadline(config.deadline)


def check_deadline(seconds: object) -> None:
    """Raises for what is no time to wait.

    Raises:
        InputError: it is neither None nor a number above 0.
    """
    if seconds is not None and not (
        isinstance(seconds, (int, float, np.integer, np.floating))
        and not isinstance(seconds, bool)
        and seconds > 0
    ):
        raise InputError(
            f"deadline is {shown(seconds)}, not a time above 0",
            fix="give the seconds from the call, or None",
        )


def checked_timeout(seconds: object) -> float:
    """Seconds to wait; what is not above 0 only looks.

    Raises:
        InputError: it is no number.
    """
    if isinstance(seconds, (int, float, np.integer, np.floating)) and not isinstance(seconds, bool):
        try:
            found = float(seconds)
        except OverflowError:
            found = math.inf if seconds > 0 else -math.inf
        if not math.isnan(found):
            return found
    raise InputError(
        f"timeout is {shown(seconds)}, not a time", fix="give the seconds to wait, or None"
    )


def shape_options(config: DispatchConfig) -> tuple[object, ...] | None:
    """What of a config takes part in a shape's key; None if equal values may differ in meaning."""
    grid = Indirect if isinstance(config.grid, Indirect) else config.grid
    values = (config.extent, grid, config.max_output_bytes)
    for value in values:
        for item in value if isinstance(value, tuple) else (value,):
            # True and 1.0 equal 1 and are refused.
            if item is not None and type(item) is not int and item is not Indirect:
                return None
    return (*values, config.label)


def checked_grid(grid: Indirect) -> Indirect:
    """An indirect grid whose three words lie in a device buffer of u32.

    Raises:
        InputError: they do not.
    """
    buffer, offset = grid.buffer, integer(grid.offset)
    if not isinstance(buffer, DeviceBuffer):
        raise InputError(
            f"the indirect grid is {describe(buffer)}, not a device buffer of u32",
            fix="pass Indirect(backend.upload(words)), or a grid of ints",
        )
    if buffer.dtype != np.uint32:
        raise InputError(
            f"the indirect grid is a device buffer of {buffer.dtype}, not of u32",
            fix="compute the three words as u32",
        )
    if offset is None or offset % 4 or not 0 <= offset <= buffer.nbytes - 12:
        raise InputError(
            f"the offset of the indirect grid is {grid.offset!r}, not a multiple of 4 that leaves "
            f"room for three words in {buffer.nbytes} bytes",
            fix="pass the offset in bytes",
        )
    return Indirect(buffer, offset)


def integer(value: object) -> int | None:
    """A value as an int, or None if it is none; a bool is none."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def shown(value: object) -> str:
    """A value for messages, in few words."""
    text = repr(value)
    return text if len(text) <= 60 else describe(value)
