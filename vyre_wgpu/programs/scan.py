"""Prefix sums of any number of elements, reduce-then-scan.

Three steps (M. Harris, S. Sengupta and J. D. Owens, "Parallel Prefix Sum (Scan) with CUDA", GPU
Gems 3, chapter 39, 2007; D. Merrill and A. Grimshaw, "Parallel Scan for Stream Architectures",
2009): the sum of each block; the prefix sums of those, by the same steps; the prefix sums inside
each block, on top of what comes before it. A dispatch ends between the steps, so no workgroup
waits for another: forward progress between them is promised nowhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre_wgpu as vw

from .chain import Chain, element_type, size_of
from .reduce import reduce_blocks

__all__ = ["prefix_sum", "scan_blocks", "scan_chain"]

_LANES = 256
_PER_LANE = 7
"""An odd number: then lanes that read each their own row meet in no bank of workgroup memory."""
_BLOCK = _LANES * _PER_LANE


def scan_blocks(dtype: vw.DType = vw.u32, *, exclusive: bool = False) -> vw.Program:
    """Prefix sums inside blocks of 1792 elements, each on top of an offset.

    Input ``x``: elements of ``dtype``, any length. Input ``offsets``: ``dtype``, one element for
    each block. Output ``sums``: ``dtype``, as many elements as ``x``: the block's offset plus the
    elements of the block up to this one (inclusive) or before it (exclusive). With the exclusive
    prefix sums of `reduce_blocks` as offsets these are the prefix sums of ``x``: `prefix_sum`.

    Lanes take 7 elements each, and their totals are added up in log2(256) steps (W. D. Hillis and
    G. L. Steele, "Data Parallel Algorithms", CACM 29(12), 1986). Integers wrap.

    Args:
        dtype: u32, i32, f32, or where the device has it u64, i64, f64.
        exclusive: leave out the element itself.
    """
    name = "scan_blocks_exclusive" if exclusive else "scan_blocks"
    b = vw.ProgramBuilder(name, workgroup_size=_LANES)
    x = b.read("x", dtype)
    offsets = b.read("offsets", dtype, count=vw.ceil_div(x.length, _BLOCK))
    sums = b.output("sums", dtype, count=x.length)
    tile = b.workgroup("tile", dtype, _BLOCK)
    totals = b.workgroup("totals", dtype, _LANES)
    b.extent(vw.ceil_div(x.length, _PER_LANE))

    lane = b.local_id(0)
    start = b.let("start", b.workgroup_id(0) * _BLOCK)
    left = b.let("left", x.length - start)
    row = b.let("row", lane * _PER_LANE)
    b.comment("neighbouring lanes load neighbouring elements, and zeros behind the end")
    for k in range(_PER_LANE):
        offset = lane + k * _LANES
        loaded = b.var("", dtype, 0)
        with b.if_(offset < left):
            loaded.set(x[start + offset])
        tile[offset] = loaded
    b.barrier()
    total = b.var("total", dtype, tile[row])
    for k in range(1, _PER_LANE):
        total += tile[row + k]
    totals[lane] = total
    with b.for_range(0, 8, name="level") as level:
        reach = b.let("reach", vw.u32(1) << level)
        b.barrier()
        with b.if_(lane >= reach):
            total += totals[lane - reach]
        b.barrier()
        totals[lane] = total
    b.barrier()
    running = b.var("running", dtype, offsets[b.workgroup_id(0)])
    with b.if_(lane > 0):
        running += totals[lane - 1]
    for k in range(_PER_LANE):
        element = b.let("", tile[row + k])
        if exclusive:
            tile[row + k] = running
            running += element
        else:
            running += element
            tile[row + k] = running
    b.barrier()
    for k in range(_PER_LANE):
        offset = lane + k * _LANES
        with b.if_(offset < left):
            sums[start + offset] = tile[offset]
    return b.build()


def scan_chain(
    chain: Chain, values: Any, dtype: vw.DType, *, exclusive: bool, to_host: bool = False
) -> Any:
    """`prefix_sum` as part of a chain of dispatches."""
    x, count = values, size_of(values)
    offsets: Any = np.zeros(-(-count // _BLOCK), dtype.numpy)
    if count > _BLOCK:
        x = chain.hold(values)
        block_sums = reduce_blocks("sum", dtype, elements_per_lane=_PER_LANE)
        (totals,) = chain.run(block_sums, {"x": x})
        offsets = scan_chain(chain, totals, dtype, exclusive=True)
        chain.free(totals)
    program = scan_blocks(dtype, exclusive=exclusive)
    (sums,) = chain.run(program, {"x": x, "offsets": offsets}, to_host=to_host)
    chain.free(offsets)
    if x is not values:
        chain.free(x)
    return sums


def prefix_sum(values: Any, *, exclusive: bool = False, backend: Any = None) -> Any:
    """The sums of all elements up to each one, in one dimension: `numpy.cumsum`.

    Sums have the type of the elements, and integers wrap. A float sum differs from the exact one by
    at most about ``22 * k * e`` times the sum of the magnitudes so far, e = 2^-24 for f32, k the
    number of levels: n <= 1792^k. So it need not be monotonic where the elements are positive.

    Args:
        values: u32, i32, f32, u64, i64 or f64, any number of elements: an array of any shape, in C
            order, or a device buffer.
        exclusive: leave out the element itself, so that the first sum is 0.
        backend: where to run, as for `vw.compile`.

    Returns:
        As many elements as ``values``: an array; for a device buffer another one, for the caller to
        close.

    Raises:
        InputError: the values are of another type.
        UnsupportedFeatureError: the device has no such type.
        VyreError: what else `vw.compile` and a dispatch raise.
    """
    dtype = element_type("values", values)
    on_device = isinstance(values, vw.DeviceBuffer)
    with Chain(backend) as chain:
        sums = scan_chain(chain, values, dtype, exclusive=exclusive, to_host=not on_device)
        return chain.release(sums)
