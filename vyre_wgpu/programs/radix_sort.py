"""Sorting u32 keys, with or without a payload: least significant digit first, a byte in each pass.

Each pass is a stable counting sort (D. Merrill and A. Grimshaw, "Revisiting Sorting for GPGPU
Stream Architectures", 2010; G. E. Blelloch, "Prefix Sums and Their Applications", 1990): counts of
each digit in each block; their prefix sums, digit by digit and block by block, which are the places
of the first key of each digit and block; every key to its place. Keys of equal digit in a block
keep their order by their rank, counted in bit masks (S. Ashkiani et al., "GPU Multisplit", 2016,
there with subgroup ballots, here with atomics in workgroup memory, which every device has).
"""

from __future__ import annotations

from typing import Any

import vyre_wgpu as vw

from .chain import Chain, element_type, size_of
from .scan import scan_chain

__all__ = ["radix_histogram", "radix_scatter", "radix_sort"]

_LANES = 256
_ROWS = 16
_BLOCK = _LANES * _ROWS
_DIGITS = 256
"""One digit for each lane, so that a workgroup handles its counts in one step."""
_WORDS = _LANES // 32


def radix_histogram() -> vw.Program:
    """How often each value of a byte occurs in each block of 4096 keys.

    Input ``keys``: u32, any length. Param ``shift``: u32, which bits: 0, 8, 16 or 24. Output
    ``counts``: u32, 256 elements for each block, those of a digit in a row: digit ``d`` of block
    ``k`` is ``counts[d * blocks + k]``.
    """
    b = vw.ProgramBuilder("radix_histogram", workgroup_size=_LANES)
    shift = b.param("shift", vw.u32)
    keys = b.read("keys", vw.u32)
    blocks = vw.ceil_div(keys.length, _BLOCK)
    counts = b.output("counts", vw.u32, count=blocks * _DIGITS)
    block_counts = b.workgroup("block_counts", vw.u32, _DIGITS)
    b.extent(vw.ceil_div(keys.length, _ROWS))

    lane = b.local_id(0)
    start = b.let("start", b.workgroup_id(0) * _BLOCK)
    left = b.let("left", keys.length - start)
    with b.for_range(0, _ROWS, name="row") as row:
        offset = row * _LANES + lane
        with b.if_(offset >= left):
            b.break_()
        b.atomic_add(block_counts, (keys[start + offset] >> shift) & 0xFF, 1)
    b.barrier()
    counts[lane * blocks + b.workgroup_id(0)] = block_counts[lane]
    return b.build()


def radix_scatter(*, payload: bool = False) -> vw.Program:
    """Moves keys to their places in the order of a byte; stable.

    Input ``keys``: u32, any length. Input ``starts``: u32, the exclusive prefix sums of what
    `radix_histogram` gives for them. Param ``shift``: u32, as there. Output ``sorted_keys``: u32,
    as many as ``keys``.

    With ``payload`` there is an input ``payload``: u32, one element for each key, and an output
    ``sorted_payload``: u32, the elements in the order of their keys.
    """
    name = "radix_scatter_with_payload" if payload else "radix_scatter"
    b = vw.ProgramBuilder(name, workgroup_size=_LANES)
    shift = b.param("shift", vw.u32)
    keys = b.read("keys", vw.u32)
    blocks = vw.ceil_div(keys.length, _BLOCK)
    starts = b.read("starts", vw.u32, count=blocks * _DIGITS)
    carried = b.read("payload", vw.u32, count=keys.length) if payload else None
    sorted_keys = b.output("sorted_keys", vw.u32, count=keys.length)
    moved = b.output("sorted_payload", vw.u32, count=keys.length) if payload else None
    # Which lanes of the row have a digit: word w of digit d at w * 256 + d.
    lanes_with = b.workgroup("lanes_with", vw.u32, _WORDS * _DIGITS)
    following = b.workgroup("following", vw.u32, _DIGITS)
    b.extent(vw.ceil_div(keys.length, _ROWS))

    lane = b.local_id(0)
    start = b.let("start", b.workgroup_id(0) * _BLOCK)
    left = b.let("left", keys.length - start)
    word, bit = b.let("word", lane >> 5), b.let("bit", vw.u32(1) << (lane & 31))
    b.comment("where the next key of the lane's digit goes")
    following[lane] = starts[lane * blocks + b.workgroup_id(0)]
    with b.for_range(0, vw.minimum(vw.ceil_div(left, _LANES), _ROWS), name="row") as row:
        offset = b.let("offset", row * _LANES + lane)
        key = b.var("key", vw.u32, 0)
        with b.if_(offset < left):
            key.set(keys[start + offset])
        digit = b.let("digit", (key >> shift) & 0xFF)
        with b.if_(offset < left):
            b.atomic_or(lanes_with, word * _DIGITS + digit, bit)
        b.barrier()
        with b.if_(offset < left):
            ahead = vw.popcount(lanes_with[word * _DIGITS + digit] & (bit - 1))
            place = b.var("place", vw.u32, following[digit] + ahead)
            with b.for_range(0, word, name="before") as before:
                place += vw.popcount(lanes_with[before * _DIGITS + digit])
            sorted_keys[place] = key
            if carried is not None and moved is not None:
                moved[place] = carried[start + offset]
        b.barrier()
        b.comment("each lane counts and clears the masks of one digit")
        there = b.var("there", vw.u32, following[lane])
        for w in range(_WORDS):
            there += vw.popcount(lanes_with[lane + w * _DIGITS])
            lanes_with[lane + w * _DIGITS] = 0
        following[lane] = there
        b.barrier()
    return b.build()


def radix_sort(keys: Any, payload: Any = None, *, backend: Any = None) -> Any:
    """Keys in rising order, and a payload in the order of its keys; stable.

    What ``keys[np.argsort(keys, kind="stable")]`` and ``payload[...]`` give; with the payload
    ``np.arange(n)`` the second result is that ``argsort``. Runs 12 dispatches, from 29,000 keys
    or so on 20.

    Args:
        keys: u32, any number of them: an array of any shape, in C order, or a device buffer.
        payload: u32, as many, likewise; None for none.
        backend: where to run, as for `vw.compile`.

    Returns:
        The sorted keys, in one dimension; with a payload a tuple of keys and payload. Arrays; where
        ``keys`` is a device buffer, device buffers for the caller to close.

    Raises:
        InputError: the keys or the payload are not u32, or not as many.
        VyreError: what `vw.compile` and a dispatch raise.
    """
    element_type("keys", keys, vw.u32)
    if payload is not None:
        element_type("payload", payload, vw.u32)
        if size_of(payload) != size_of(keys):
            raise vw.InputError(
                f"the payload has {size_of(payload)} elements, and there are {size_of(keys)} keys",
                fix="pass one element for each key",
            )
    on_device = isinstance(keys, vw.DeviceBuffer)
    count, scatter = radix_histogram(), radix_scatter(payload=payload is not None)
    with Chain(backend) as chain:
        moving = [chain.hold(keys)] if payload is None else [chain.hold(keys), chain.hold(payload)]
        for shift in (0, 8, 16, 24):
            params = {"shift": shift}
            (counts,) = chain.run(count, {"keys": moving[0]}, params)
            starts = scan_chain(chain, counts, vw.u32, exclusive=True)
            chain.free(counts)
            named = dict(zip(("keys", "payload"), moving, strict=False))
            to_host = shift == 24 and not on_device
            placed = chain.run(scatter, {**named, "starts": starts}, params, to_host=to_host)
            chain.free(starts, *moving)
            moving = placed
        results = tuple(chain.release(result) for result in moving)
    return results[0] if payload is None else results
