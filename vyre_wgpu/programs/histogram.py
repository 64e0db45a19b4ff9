"""Counting byte values: private counts for each workgroup, merged once."""

from __future__ import annotations

import vyre_wgpu as vw

from .options import whole_number

__all__ = ["byte_histogram"]

_BINS = 256


def byte_histogram(*, bytes_per_lane: int = 32) -> vw.Program:
    """How often each byte value occurs.

    Input ``data``: u8, any length. Output ``counts``: u32, 256 elements; ``counts[v]`` is the
    number of bytes with the value ``v``, what ``numpy.bincount(data, minlength=256)`` gives.

    Counts are modulo 2^32, which no input reaches: a buffer has at most 2^32 - 1 elements. Whoever
    adds the counts of many chunks does so in 64 bits.

    Args:
        bytes_per_lane: how many bytes each lane counts. More of them mean fewer merges of 256
            counts, fewer mean more workgroups to spread over the device.

    Raises:
        InputError: ``bytes_per_lane`` is not from 1 to 16,384.
    """
    # Well below the 65,535 iterations after which some drivers leave a loop silently.
    bytes_per_lane = whole_number("bytes_per_lane", bytes_per_lane, 1, 16_384)
    # One lane for each bin, so that the lanes of a workgroup merge its counts in one step.
    b = vw.ProgramBuilder("byte_histogram", workgroup_size=_BINS)
    data = b.read("data", vw.u8)
    counts = b.output("counts", vw.u32, count=_BINS)
    # Most of the atomics meet in workgroup memory; device memory sees one for each bin and block.
    block_counts = b.workgroup("block_counts", vw.u32, _BINS)
    b.extent(vw.ceil_div(data.length, bytes_per_lane))

    lane = b.local_id(0)
    start = b.let("start", b.workgroup_id(0) * (_BINS * bytes_per_lane))
    # Compared by what is left, for start + offset may pass 2^32 in the last block.
    left = b.let("left", data.length - start)
    with b.for_range(0, bytes_per_lane, name="k") as k:
        # Neighbouring lanes take neighbouring bytes, so that a subgroup reads one run of memory.
        offset = k * _BINS + lane
        with b.if_(offset < left):
            b.atomic_add(block_counts, data[start + offset].cast(vw.u32), 1)
    b.barrier()
    # With a barrier all lanes of a started workgroup run, in the last block too: no bin is missed.
    count = b.let("count", block_counts[lane])
    with b.if_(count != 0):
        b.atomic_add(counts, lane, count)
    return b.build()
