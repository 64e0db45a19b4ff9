"""Random numbers that depend on a key and an index alone, so on no device and no chunk size.

Philox 4x32-10 (`vw.random.philox4x32`) makes a block of four words from the key and the number of
the block. Element i of a sequence comes from block ``i // 4`` (``i // 2`` where an element takes
two words) and from its place in it, so any part of a sequence can be made alone, anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import vyre_wgpu as vw

from .options import whole_number

__all__ = ["random_normal", "random_normal_blocks", "random_uniform", "random_uniform_blocks"]

_MOST = (1 << 32) - 4
"""A lane's four indices must not wrap beyond the end."""
_WORD = (1 << 32) - 1

Words = tuple[vw.Value, vw.Value, vw.Value, vw.Value]
Draw = Callable[[Words], Iterable[vw.Value]]


def _uniform_f32(words: Words) -> Iterable[vw.Value]:
    return [vw.random.uniform_f32(word) for word in words]


def _uniform_f64(words: Words) -> Iterable[vw.Value]:
    return [vw.random.uniform_f64(*words[:2]), vw.random.uniform_f64(*words[2:])]


def _normal_f32(words: Words) -> Iterable[vw.Value]:
    return [*vw.random.normal_f32(*words[:2]), *vw.random.normal_f32(*words[2:])]


_UNIFORM: dict[vw.DType, tuple[int, Draw]] = {
    vw.u32: (4, lambda words: words),
    vw.f32: (4, _uniform_f32),
    vw.f64: (2, _uniform_f64),
}
_NORMAL: dict[vw.DType, tuple[int, Draw]] = {
    vw.f32: (4, _normal_f32),
    vw.f64: (2, vw.random.normal_f64),
}
"""For each type the elements that a block of four words gives, and how."""


def random_uniform_blocks(dtype: vw.DType = vw.f32) -> vw.Program:
    """Uniformly distributed random numbers, a part of the sequence of a key.

    Params ``count``: u32, at most 2^32 - 4; ``key_low``, ``key_high``: u32, the words of a 64-bit
    key; ``offset_low``, ``offset_high``: u32, those of the index of the first element. No inputs.
    Output ``numbers``: ``dtype``, ``count`` elements. u32: the words themselves; f32: multiples of
    2^-24 in [0, 1); f64: multiples of 2^-53 in [0, 1), where the device has the type. They are the
    same bits on every device; `random_uniform` says which.

    Args:
        dtype: u32, f32 or f64.

    Raises:
        InputError: another type.
    """
    return _blocks("random_uniform_blocks", _UNIFORM, dtype)


def random_normal_blocks(dtype: vw.DType = vw.f32) -> vw.Program:
    """Normally distributed random numbers, a part of the sequence of a key.

    Params as for `random_uniform_blocks`. Output ``numbers``: ``dtype``, ``count`` elements with
    mean 0 and standard deviation 1, as `random_normal` says.

    Args:
        dtype: f32, or where the device has it f64.

    Raises:
        InputError: another type.
    """
    return _blocks("random_normal_blocks", _NORMAL, dtype)


def _blocks(name: str, kinds: dict[vw.DType, tuple[int, Draw]], dtype: vw.DType) -> vw.Program:
    """A program whose lanes each make the elements of one block."""
    if dtype not in kinds:
        names = ", ".join(f"vw.{kind}" for kind in kinds)
        raise vw.InputError(f"dtype is {dtype!r}", fix=f"give one of: {names}")
    per_block, draw = kinds[dtype]
    shift = per_block.bit_length() - 1
    b = vw.ProgramBuilder(name)
    count = b.param("count", vw.u32)
    key, (offset_low, offset_high) = _two_words(b, "key"), _two_words(b, "offset")
    numbers = b.output("numbers", dtype, count=count)
    skipped = offset_low % per_block  # elements of the first block that come before the offset
    b.extent(vw.ceil_div(count + skipped, per_block))

    lane = b.global_id(0)
    start = (offset_low >> shift) | (offset_high << (32 - shift)), offset_high >> shift
    words = vw.random.philox4x32(vw.random.block_counter(start, lane), key)
    first = b.let("first", lane * per_block - skipped)
    for k, number in enumerate(draw(words)):
        place = first + k
        # What comes before the offset has a negative index, which as a u32 is beyond the end.
        with b.if_(place < count):
            numbers[place] = number
    return b.build()


def _two_words(b: vw.ProgramBuilder, name: str) -> tuple[vw.Value, vw.Value]:
    """The params of a 64-bit number, as `_draw` gives them: low word, high word."""
    return b.param(f"{name}_low", vw.u32), b.param(f"{name}_high", vw.u32)


def random_uniform(
    count: int,
    key: int = 0,
    *,
    dtype: vw.DType = vw.f32,
    offset: int = 0,
    out: Any = None,
    backend: Any = None,
) -> Any:
    """Elements ``offset`` to ``offset + count`` of the uniform random sequence of a key.

    Element i of the u32 and f32 sequences comes from word ``i % 4`` of the Philox 4x32-10 block
    whose counter is ``i // 4``; of the f64 sequence from words ``2 * (i % 2)`` and the next one of
    block ``i // 2``. So parts of any size put together are the whole, and the bits are the same on
    every device. Index 2^64 - 1 is not the end: the counter has more bits, and they go on. The
    sequences of one key for different types, and `random_normal` of that key, are made of the same
    words: take another key for each use.

    Args:
        count: how many, at most 2^32 - 4.
        key: which sequence, from 0 to 2^64 - 1.
        dtype: f32 in [0, 1), f64 in [0, 1) where the device has it, or u32 of the whole range.
        offset: index of the first one, from 0 to 2^64 - 1.
        out: where they go, as for ``out=`` of a dispatch: an array, ``vw.DEVICE`` or ``vw.SKIP``.
        backend: where to run, as for `vw.compile`.

    Returns:
        A one-dimensional array; for ``vw.DEVICE`` a device buffer, for the caller to close; for
        ``vw.SKIP`` None.

    Raises:
        InputError: an argument is out of range, or the type is another one.
        UnsupportedFeatureError: the device has no such type.
        VyreError: what else `vw.compile` and a dispatch raise.
    """
    return _draw(random_uniform_blocks(dtype), count, key, offset, out, backend)


def random_normal(
    count: int,
    key: int = 0,
    *,
    dtype: vw.DType = vw.f32,
    offset: int = 0,
    out: Any = None,
    backend: Any = None,
) -> Any:
    """Elements ``offset`` to ``offset + count`` of the normal random sequence of a key.

    Mean 0 and standard deviation 1, by the Box-Muller transform. Elements 2 j and 2 j + 1 are made
    of words 2 j and 2 j + 1 of the u32 sequence of `random_uniform`, for f64 of words 4 j to
    4 j + 3.
    So they depend on key and index alone.

    f32 (`vw.random.normal_f32`) is computed in integers: the same bits on every device, magnitudes
    up to 6.76. f64 (`vw.random.normal_f64`) uses the device's logarithm, sine and cosine, so its
    last bits may differ: two devices agree within a relative 2^-47. Magnitudes up to 9.49.

    Args:
        count: how many; this and the others, but for ``dtype``, are those of `random_uniform`.
        key: which sequence.
        dtype: f32, or f64 where the device has it.
        offset: index of the first one.
        out: where they go.
        backend: where to run.

    Returns:
        As `random_uniform`.

    Raises:
        VyreError: as `random_uniform`.
    """
    return _draw(random_normal_blocks(dtype), count, key, offset, out, backend)


def _draw(
    program: vw.Program, count: object, key: object, offset: object, out: Any, backend: Any
) -> Any:
    """Checks the arguments that both kinds of sequence take, and runs a program of blocks."""
    most = (1 << 64) - 1
    params: dict[str, Any] = {"count": whole_number("count", count, 0, _MOST)}
    for name, value in (("key", key), ("offset", offset)):
        number = whole_number(name, value, 0, most)
        params |= {f"{name}_low": number & _WORD, f"{name}_high": number >> 32}
    pipe = vw.compile(program, backend=backend)
    (numbers,) = pipe.dispatch([], params, out=None if out is None else {"numbers": out})
    return numbers
