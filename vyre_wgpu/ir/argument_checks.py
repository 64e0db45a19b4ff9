"""What a builder is given besides kernel values: checked at once, with what to write instead."""

from __future__ import annotations

import numpy as np

from .types import ALL_DTYPES, DType, TypedLiteral, bool_
from .values import Value

__all__ = ["refuse_first_value", "require_dtype", "require_text", "three", "whole"]


def three(size: int | tuple[int, ...]) -> tuple[int, int, int]:
    """A workgroup size given as an int or up to three, as three."""
    axes = [whole(n) for n in (size if isinstance(size, (tuple, list)) else (size,))]
    given = [n for n in axes if n is not None]
    if not 1 <= len(axes) <= 3 or len(given) != len(axes):
        raise TypeError(f"workgroup_size is an int or up to three ints, not {size!r}")
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z


def whole(value: object) -> int | None:
    """A Python or NumPy integer as an int; None for anything else, a bool too."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return int(value) if is_whole else None  # type: ignore[call-overload]


def require_text(what: str, text: object) -> None:
    """Raises `TypeError` for what is no text."""
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {text!r}")


def require_dtype(dtype: object) -> None:
    """Raises `TypeError` for what is no element type."""
    if not isinstance(dtype, DType):
        raise TypeError(f"{dtype!r} is not an element type; {_dtype_hint(dtype)}")


def refuse_first_value(name: str, given: object) -> None:
    """Raises `TypeError` for a first value that stands in the place of a variable's type."""
    if isinstance(given, (Value, TypedLiteral)):
        dtype, shown = str(given.dtype), "value"
    elif isinstance(given, (bool, int, float, np.generic)):
        is_bool, is_int = isinstance(given, (bool, np.bool_)), isinstance(given, (int, np.integer))
        dtype, shown = "bool" if is_bool else "i32" if is_int else "f32", str(given)
    else:
        return
    dtype += "_" if dtype == "bool" else ""
    raise TypeError(
        f"a variable's type comes before its first value: write b.var({name!r}, vw.{dtype}, "
        f"{shown})"
    )


def _dtype_hint(dtype: object) -> str:
    """What to write for a NumPy or Python type."""
    try:
        wanted = np.dtype(dtype)  # type: ignore[call-overload]
    except TypeError:
        wanted = None
    for known in ALL_DTYPES:
        if wanted is not None and known.numpy == wanted:
            return f"use vw.{known}{'_' if known is bool_ else ''}"
    return "use vw.f32, vw.u32, vw.u8, ..."
