"""Checking what the makers of programs and their helpers are given besides data."""

from __future__ import annotations

import operator

import vyre_wgpu as vw

__all__ = ["whole_number"]


def whole_number(name: str, value: object, low: int, high: int | None = None) -> int:
    """A Python or NumPy integer in a range, as an int.

    Args:
        name: what it is, for messages.
        value: what was given.
        low: the least.
        high: the most; None for no bound.

    Raises:
        InputError: it is none, or out of the range.
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or number < low or (high is not None and number > high):
        text = f"{low} or more" if high is None else f"from {low} to {high}"
        raise vw.InputError(f"{name} is {value!r}", fix=f"give an int, {text}")
    return number
