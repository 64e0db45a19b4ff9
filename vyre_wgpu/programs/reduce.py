"""Sum, minimum, maximum and the place of the maximum, of any number of elements.

Each workgroup takes a block of elements to one, by a tree in workgroup memory (M. Harris,
"Optimizing Parallel Reduction in CUDA", 2007: neighbouring lanes read neighbouring elements, each
lane adds several of them first, and the active lanes stay together). The results of the blocks are
reduced in the same way until one is left. No workgroup waits for another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import vyre_wgpu as vw

from .chain import Chain, element_type, size_of
from .options import whole_number

__all__ = ["argmax", "argmax_blocks", "reduce", "reduce_blocks"]

_LANES = 256
_PER_LANE = 16

_OPERATIONS: dict[str, Callable[[vw.Value, vw.Value], vw.Value]] = {
    "sum": lambda a, b: a + b,
    "min": vw.minimum,
    "max": vw.maximum,
}


def reduce_blocks(
    operation: str = "sum", dtype: vw.DType = vw.f32, *, elements_per_lane: int = _PER_LANE
) -> vw.Program:
    """The sum, minimum or maximum of each block of elements.

    Input ``x``: elements of ``dtype``, any length. Output ``partials``: as many elements of
    ``dtype`` as there are blocks of ``256 * elements_per_lane``, the last one perhaps shorter. Run
    over its own results until one is left, as `reduce` does, it reduces all of ``x``.

    Integer sums wrap. A float sum adds each lane's elements in order and then the lanes' in a tree:
    an element goes through at most ``elements_per_lane + 7`` roundings. Minimum and maximum are
    `vw.minimum` and `vw.maximum`: NaN if there is one; of +0 and -0 either.

    Args:
        operation: ``"sum"``, ``"min"`` or ``"max"``.
        dtype: u32, i32, f32, or where the device has it u64, i64, f64.
        elements_per_lane: how many elements each lane takes.

    Raises:
        InputError: the operation is another, or ``elements_per_lane`` is not from 1 to 16,384.
    """
    combine = _OPERATIONS.get(operation) if isinstance(operation, str) else None
    if combine is None:
        raise vw.InputError(
            f"operation is {operation!r}", fix="give one of: " + ", ".join(_OPERATIONS)
        )
    per_lane = whole_number("elements_per_lane", elements_per_lane, 1, 16_384)
    block = _LANES * per_lane
    b = vw.ProgramBuilder(f"{operation}_blocks", workgroup_size=_LANES)
    x = b.read("x", dtype)
    partials = b.output("partials", dtype, count=vw.ceil_div(x.length, block))
    best = b.workgroup("best", dtype, _LANES)
    b.extent(vw.ceil_div(x.length, per_lane))

    lane = b.local_id(0)
    start = b.let("start", b.workgroup_id(0) * block)
    left = b.let("left", x.length - start)
    # A lane without elements must not change the result: no element is the block's first one again.
    mine = b.var("mine", dtype, 0 if operation == "sum" else x[start])
    with b.for_range(0, per_lane, name="k") as k:
        offset = k * _LANES + lane
        with b.if_(offset >= left):
            b.break_()
        mine.set(combine(+mine, x[start + offset]))
    best[lane] = mine
    with b.for_range(1, 9, name="level") as level:
        half = b.let("half", vw.u32(_LANES) >> level)
        b.barrier()
        with b.if_(lane < half):
            best[lane] = combine(best[lane], best[lane + half])
    with b.if_(lane == 0):
        partials[b.workgroup_id(0)] = best[0]
    return b.build()


def argmax_blocks(
    dtype: vw.DType = vw.f32,
    *,
    elements_per_lane: int = _PER_LANE,
    of_candidates: bool = False,
) -> vw.Program:
    """Where the maximum of each block of elements is.

    Input ``x``: elements of ``dtype``, any length. Output ``indices``: u32, for each block of
    ``256 * elements_per_lane`` the index in ``x`` of its largest element, the first of equal ones.
    As in NumPy a NaN is larger than every number. +0 and -0 are equal.

    With ``of_candidates`` there is a second input ``candidates``: u32, indices in ``x``, rising;
    blocks are of candidates, and only the elements there count. Run over its own results until one
    is left, as `argmax` does, it finds the maximum of all of ``x``.

    Args:
        dtype: u32, i32, f32, or where the device has it u64, i64, f64.
        elements_per_lane: how many elements each lane takes.
        of_candidates: whether to look at candidates only.

    Raises:
        InputError: ``elements_per_lane`` is not from 1 to 16,384.
    """
    per_lane = whole_number("elements_per_lane", elements_per_lane, 1, 16_384)
    block = _LANES * per_lane
    b = vw.ProgramBuilder("argmax_blocks", workgroup_size=_LANES)
    x = b.read("x", dtype)
    candidates = b.read("candidates", vw.u32) if of_candidates else None
    length = x.length if candidates is None else candidates.length
    indices = b.output("indices", vw.u32, count=vw.ceil_div(length, block))
    best = b.workgroup("best", dtype, _LANES)
    best_at = b.workgroup("best_at", vw.u32, _LANES)
    b.extent(vw.ceil_div(length, per_lane))

    def larger(a: vw.Value, than: vw.Value) -> vw.Value:
        if dtype.kind != "float":
            return a > than
        return (a > than) | (vw.is_nan(a) & ~vw.is_nan(than))

    def place(position: vw.Value) -> vw.Value:
        return position if candidates is None else candidates[position]

    lane = b.local_id(0)
    start = b.let("start", b.workgroup_id(0) * block)
    left = b.let("left", length - start)
    mine_at = b.var("mine_at", vw.u32, place(start))
    mine = b.var("mine", dtype, x[mine_at])
    with b.for_range(0, per_lane, name="k") as k:
        offset = k * _LANES + lane
        with b.if_(offset >= left):
            b.break_()
        at = b.let("at", place(start + offset))
        element = b.let("element", x[at])
        with b.if_(larger(element, +mine)):
            mine.set(element)
            mine_at.set(at)
    best[lane], best_at[lane] = mine, mine_at
    with b.for_range(1, 9, name="level") as level:
        half = b.let("half", vw.u32(_LANES) >> level)
        b.barrier()
        with b.if_(lane < half):
            here, there = best[lane], best[lane + half]
            here_at, there_at = best_at[lane], best_at[lane + half]
            equal = ~larger(here, there) & ~larger(there, here)
            with b.if_(larger(there, here) | (equal & (there_at < here_at))):
                best[lane], best_at[lane] = there, there_at
    with b.if_(lane == 0):
        indices[b.workgroup_id(0)] = best_at[0]
    return b.build()


def reduce(values: Any, operation: str = "sum", *, backend: Any = None) -> Any:
    """The sum, minimum or maximum of all elements.

    As `numpy.sum`, `numpy.min` and `numpy.max`, but for this: the sum has the type of the elements,
    and wraps; nothing has the sum 0, the minimum of the type's largest value (infinity) and the
    maximum of its smallest. A NaN makes the result NaN; of +0 and -0 either is given.

    A float sum of n elements differs from the exact one by at most about ``23 * k * e`` times the
    sum of the magnitudes, e = 2^-24 for f32, k the number of dispatches: n <= 4096^k.

    Args:
        values: u32, i32, f32, u64, i64 or f64, an array of any shape or a device buffer.
        operation: ``"sum"``, ``"min"`` or ``"max"``.
        backend: where to run, as for `vw.compile`.

    Returns:
        A NumPy scalar of the type of the elements.

    Raises:
        InputError: the values are of another type, or the operation is another.
        UnsupportedFeatureError: the device has no such type.
        VyreError: what else `vw.compile` and a dispatch raise.
    """
    dtype = element_type("values", values)
    program = reduce_blocks(operation, dtype)
    if size_of(values) == 0:
        return _of_nothing(operation, dtype)
    with Chain(backend) as chain:
        partials = values
        while True:
            last = size_of(partials) <= _LANES * _PER_LANE
            (reduced,) = chain.run(program, {"x": partials}, to_host=last)
            if last:
                return reduced[0]
            chain.free(partials)
            partials = reduced


def argmax(values: Any, *, backend: Any = None) -> int | None:
    """The index of the largest element, the first of equal ones; None if there are no elements.

    As in `numpy.argmax` the first NaN wins, if there is one, and an array counts in C order.

    Args:
        values: u32, i32, f32, u64, i64 or f64, an array of any shape or a device buffer.
        backend: where to run, as for `vw.compile`.

    Raises:
        InputError: the values are of another type.
        UnsupportedFeatureError: the device has no such type.
        VyreError: what else `vw.compile` and a dispatch raise.
    """
    dtype = element_type("values", values)
    count = size_of(values)
    if count == 0:
        return None
    block = _LANES * _PER_LANE
    with Chain(backend) as chain:
        x = values if count <= block else chain.hold(values)
        (indices,) = chain.run(argmax_blocks(dtype), {"x": x}, to_host=count <= block)
        program = argmax_blocks(dtype, of_candidates=True)
        while (count := -(-count // block)) > 1:
            inputs = {"x": x, "candidates": indices}
            (indices,) = chain.run(program, inputs, to_host=count <= block)
    return int(indices[0])


def _of_nothing(operation: str, dtype: vw.DType) -> Any:
    scalar = dtype.numpy.type
    if operation == "sum":
        return scalar(0)
    if dtype.kind == "float":
        return scalar("inf" if operation == "min" else "-inf")
    limits = np.iinfo(dtype.numpy)
    return scalar(limits.max if operation == "min" else limits.min)
