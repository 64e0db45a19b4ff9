"""The smallest index at which something holds, and a trap that names it.

Lanes run in any order, so the one that finds something first is not the first that finds something,
and of several traps any one may be raised. A program that must name the smallest index therefore
takes two steps: an atomic over all lanes (`first_of`), then one lane that traps (`trap_if_found`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import vyre_wgpu as vw

__all__ = ["first_index", "first_of", "trap_if_found"]

_LANES = 256
_ELEMENTS_PER_LANE = 16
_LAST = 0xFFFF_FFFF
"""What an index is subtracted from: above every index, for a buffer has at most 2^32 - 1 elements.

Outputs start as zeros, so "nothing yet" has to be zero and an earlier index the larger number.
"""


def first_of(
    predicate: Callable[[vw.Value], vw.Value],
    dtype: vw.DType = vw.u8,
    *,
    name: str = "first_of",
) -> vw.Program:
    """The smallest index whose element satisfies a predicate.

    Input ``data``: elements of ``dtype``, any length. Output ``found``: u32, one element,
    ``0xFFFFFFFF - index``, or 0 if no element satisfies the predicate. `first_index` reads it::

        pipe = vw.compile(programs.first_of(lambda byte: byte >= 0x80))
        index = programs.first_index(pipe.fn(data))  # an int or None

    Args:
        predicate: called once, while the program is built, with an element as a kernel value;
            returns a bool kernel value.
        dtype: type of the elements.
        name: the program's name in messages.

    Raises:
        TypeError: ``predicate`` is not callable, returns anything but a bool kernel value, or uses
            Python's ``and``, ``or``, ``not`` or a chained comparison instead of ``& | ~``.
        ValidationError: the predicate's operations do not fit ``dtype``.
    """
    if not callable(predicate):
        raise TypeError(f"predicate is a function of an element, not {predicate!r}")
    b = vw.ProgramBuilder(name, workgroup_size=_LANES)
    data = b.read("data", dtype)
    found = b.output("found", vw.u32, count=1)
    block_found = b.workgroup("block_found", vw.u32, 1)
    b.extent(vw.ceil_div(data.length, _ELEMENTS_PER_LANE))

    lane = b.local_id(0)
    start = b.let("start", b.workgroup_id(0) * (_LANES * _ELEMENTS_PER_LANE))
    left = b.let("left", data.length - start)
    mine = b.var("mine", vw.u32, 0)
    with b.for_range(0, _ELEMENTS_PER_LANE, name="k") as k:
        offset = k * _LANES + lane
        with b.if_(offset >= left):
            b.break_()
        matches = predicate(data[start + offset])
        if not isinstance(matches, vw.Value) or matches.dtype is not vw.bool_:
            raise TypeError(f"predicate returns a bool kernel value, not {matches!r}")
        with b.if_(matches):
            mine.set(_LAST - (start + offset))
            b.break_()
    # One atomic of each kind at most: where everything matches, all lanes would queue for one word.
    with b.if_(mine != 0):
        b.atomic_max(block_found, 0, mine)
    b.barrier()
    with b.if_((lane == 0) & (block_found[0] != 0)):
        b.atomic_max(found, 0, block_found[0])
    return b.build()


def first_index(found: npt.NDArray[np.uint32]) -> int | None:
    """The index that a `first_of` program found, or None if it found nothing.

    Args:
        found: the program's output ``found``: u32, one element.

    Raises:
        InputError: it is anything else.
    """
    is_word = isinstance(found, np.ndarray) and found.dtype == np.uint32 and found.size == 1
    if not is_word:
        raise vw.InputError(
            "found is not one element of u32", fix="pass the output of a first_of program"
        )
    word = found.item()
    return _LAST - int(word) if word else None


def trap_if_found(tag: str) -> vw.Program:
    """Traps with the index that a `first_of` program found; does nothing if it found nothing.

    Input ``found``: u32, one element, the output of a `first_of` program. No outputs. A dispatch
    raises `TrapError` with ``address`` the index, always the smallest one.

    Args:
        tag: the tag of the trap; says what was looked for.
    """
    b = vw.ProgramBuilder("trap_if_found", workgroup_size=1)
    found = b.read("found", vw.u32, count=1)
    b.extent(1)
    word = b.let("word", found[0])
    with b.if_(word != 0):
        b.trap(tag, address=_LAST - word)
    return b.build()
