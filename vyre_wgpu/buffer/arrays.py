"""What counts as a NumPy array of the host's: one without a mask, whose content is all there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError

__all__ = ["Array", "as_elements", "describe", "is_of", "refuse_mask"]

Array = npt.NDArray[Any]


def describe(value: object) -> str:
    """A value's type in words, for messages."""
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return "an array"
    name = type(value).__name__
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return f"{article} {name}"


def is_of(array: Array, dtype: np.dtype[Any]) -> bool:
    """Whether an array has elements of a type, in whatever byte order."""
    return array.dtype == dtype or np.can_cast(array.dtype, dtype, "equiv")


def refuse_mask(value: object, what: str, fix: str = "pass x.filled(value)") -> None:
    """Raises for a masked array: a device holds elements, and would take those masked as valid.

    Args:
        value: an array, or anything else.
        what: what it is for, such as ``input 'x'``.
        fix: what to do about it.

    Raises:
        InputError: it is one.
    """
    if isinstance(value, np.ndarray) and hasattr(value, "mask"):
        raise InputError(f"{what} is a masked array, and a kernel sees no mask", fix=fix)


def as_elements(value: object, what: str) -> Array:
    """Anything that NumPy makes an array of, as a plain one.

    Args:
        value: an array, a sequence of numbers or of arrays, a number.
        what: what it is for, for messages.

    Raises:
        InputError: NumPy makes none of it (nested lists of unequal length), or it has a mask.
    """
    if type(value) is np.ndarray:
        return value
    try:
        array = np.asanyarray(value)
    except Exception as error:
        # Foreign objects may raise anything here.
        raise InputError(
            f"{what} is {describe(value)} that NumPy makes no array of: "
            f"{getattr(error, 'message', error)}",
            fix=getattr(error, "fix", "pass an array of numbers"),
        ) from error
    for part in (array, *(value if isinstance(value, (list, tuple)) else ())):
        refuse_mask(part, what)
    return array.view(np.ndarray)
