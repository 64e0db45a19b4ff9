"""Where results go: new arrays, the caller's arrays, device memory, or nowhere (``out=``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

import numpy as np

from ..buffer.arrays import Array, describe, refuse_mask
from ..buffer.device_buffer import DeviceBuffer
from ..errors import InputError
from ..ir.program import Buffer, Program
from .arguments import BoundCall
from .config import Destination

__all__ = ["Out", "Place", "check_aliases", "check_destinations"]

_MOST_WORK = 10_000
"""Candidates that an exact test of overlap looks at; what needs more counts as overlapping."""

Out = Mapping[str, object]
"""Destination of each result, by name: an array, a `DeviceBuffer`, ``DEVICE`` or ``SKIP``."""

Place = Array | DeviceBuffer | Destination | None
"""A destination that was checked; None for a new array."""


def check_destinations(program: Program, out: Out | None, call: BoundCall) -> list[Place]:
    """The destination of each returned buffer, in declaration order; None for a new array.

    Args:
        program: the program.
        out: what the caller asked for.
        call: the bound arguments.

    Raises:
        InputError: an unknown name, a destination of another type or size, one that cannot be
            written, one that shares memory with another or with itself, or one for a
            ``read_write`` buffer whose input is a device buffer.
    """
    names = [buffer.name for buffer in program.outputs]
    if out is None:
        return [None] * len(names)
    if not isinstance(out, Mapping):
        raise InputError(
            f"out is {describe(out)}, not a mapping by name", fix='pass out={"name": destination}'
        )
    for name in out:
        if name not in names:
            raise InputError(
                f"out names {name!r}, which the program does not return",
                fix=f"name one of {', '.join(map(repr, names)) or 'nothing'}",
            )
    places: list[Place] = []
    returned = [(i, b) for i, b in enumerate(program.buffers) if b.kind.is_returned]
    for (index, buffer), shape in zip(returned, call.shapes, strict=True):
        place = out.get(buffer.name)
        resident = call.residents.get(index)
        # By identity: `in` and `==` would compare the elements of an array.
        is_elsewhere = place is not None and place is not Destination.SKIP and place is not resident
        if resident is not None and is_elsewhere:
            raise InputError(
                f"out gives a destination for {buffer.name!r}, whose input is a device buffer that "
                "is updated in place",
                fix="leave it out, or pass a host array as the input",
            )
        places.append(_checked(place, buffer, int(np.prod(shape, dtype=np.int64))))
    _check_overlaps(
        [(b.name, p) for (_, b), p in zip(returned, places, strict=True) if _is_array(p)]
    )
    return places


def _checked(place: object, buffer: Buffer, size: int) -> Place:
    if place is None or isinstance(place, Destination):
        return place
    name, dtype = buffer.name, buffer.dtype.numpy
    if not isinstance(place, (np.ndarray, DeviceBuffer)):
        raise InputError(
            f"the destination of {name!r} is {describe(place)}",
            fix="pass a NumPy array, a DeviceBuffer, vw.DEVICE or vw.SKIP",
        )
    refuse_mask(place, f"the destination of {name!r}", "pass x.data")
    if place.dtype != dtype:
        raise InputError(
            f"the destination of {name!r} has dtype {place.dtype}, the result {dtype}",
            fix=f"pass one of np.{dtype}",
        )
    if place.size != size:
        raise InputError(
            f"the destination of {name!r} has {place.size} elements, the result {size}",
            fix=f"pass one of {size} elements",
        )
    if isinstance(place, np.ndarray) and not place.flags.writeable:
        raise InputError(f"the destination of {name!r} is read-only", fix="pass a writable array")
    return place


def _is_array(place: Place) -> TypeGuard[Array]:
    return isinstance(place, np.ndarray)


def _check_overlaps(places: Sequence[tuple[str, Array]]) -> None:
    """Raises for destinations in which one result would overwrite another, or itself."""
    for number, (name, array) in enumerate(places):
        if _overlaps_itself(array):
            raise InputError(
                f"the destination of {name!r} has elements that share memory",
                fix="pass an array whose elements are all its own",
            )
        for other, earlier in places[:number]:
            if _overlap(array, earlier):
                raise InputError(
                    f"the destinations of {other!r} and {name!r} share memory",
                    fix="pass a separate array for each",
                )


def _overlap(one: Array, other: Array) -> bool:
    if not np.may_share_memory(one, other):
        return False
    try:
        return np.shares_memory(one, other, max_work=_MOST_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _overlaps_itself(array: Array) -> bool:
    """Whether two elements of an array have a byte in common."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return False
    axes = sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1)
    reach = array.itemsize  # bytes from the first to the last of what smaller steps lead to
    for step, length in axes:
        if step < reach:
            break
        reach += step * (length - 1)
    else:
        return False
    # No axis order separates the elements, which is rare and need not mean that they overlap.
    offsets = np.zeros(1, np.int64)
    for step, length in axes:
        offsets = np.add.outer(offsets, np.arange(length, dtype=np.int64) * step).reshape(-1)
    return bool(np.any(np.diff(np.sort(offsets)) < array.itemsize))


def check_aliases(
    bound: Sequence[tuple[str, DeviceBuffer, bool]], grid: DeviceBuffer | None = None
) -> bool:
    """Raises if memory of a device is written under one name and used under another.

    Args:
        bound: name, device buffer, and whether the kernel may write it.
        grid: where an indirect grid comes from.

    Returns:
        Whether one buffer of the device is read in one range and written in another: wgpu takes
        that only where all bindings are declared as writable.

    Raises:
        InputError: naming both.
    """
    for name, buffer, writes in bound:
        if grid is not None and writes and buffer.pooled() is grid.pooled():
            raise InputError(
                f"the grid and {name!r} are in one device buffer, and the device cannot write a "
                "buffer that it takes the grid from",
                fix="keep the grid in a buffer of its own",
            )
    if len(bound) < 2:
        return False
    is_mixed = False
    parts = [(name, buffer.span(), writes) for name, buffer, writes in bound]
    for number, (name, span, writes) in enumerate(parts):
        for other, earlier, wrote in parts[:number]:
            # By the memory, which more than one object could stand for.
            if other == name or span.buffer is not earlier.buffer or not (writes or wrote):
                continue
            if span.overlaps(earlier):
                raise InputError(
                    f"one device buffer is both {other!r} and {name!r}, or their ranges overlap, "
                    "and the program may write it",
                    fix="pass a copy or ranges that do not overlap, or declare one read_write "
                    "buffer",
                )
            is_mixed = is_mixed or writes != wrote
    return is_mixed
