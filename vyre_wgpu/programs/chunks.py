"""Byte chunks as arrays, for the helpers that run programs over a stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import vyre_wgpu as vw

__all__ = ["byte_array"]


def byte_array(data: object) -> npt.NDArray[np.uint8]:
    """Bytes in a row, without a copy where they lie so.

    Args:
        data: bytes or anything else with a buffer of bytes, or an array of u8 of any shape.

    Raises:
        InputError: it is neither, or has a mask.
    """
    if isinstance(data, np.ndarray) and hasattr(data, "mask"):
        raise vw.InputError(
            "a chunk is a masked array, and a kernel sees no mask", fix="pass x.filled(value)"
        )
    array: npt.NDArray[Any]
    try:
        array = np.asarray(memoryview(data))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # the latter from arrays of dates, which have no buffer
        raise vw.InputError(
            f"a chunk is {type(data).__name__}, not bytes or an array of u8",
            fix="encode text, and pass other data as np.asarray(x, np.uint8)",
        ) from None
    if array.dtype != np.uint8:
        raise vw.InputError(
            f"a chunk has dtype {array.dtype}, not uint8",
            fix="pass x.view(np.uint8) for the bytes of its elements",
        )
    return array.reshape(-1)
