"""Decoding base64, and naming the first character that is wrong.

A text is wrong at the first offset at which no base64 text could go on as it does. That can be told
from a character, its place in its group of four and the one before it, so all lanes look at once,
and the smallest offset is found and raised in two steps, as in `vyre_wgpu.programs.first`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import vyre_wgpu as vw

from .chunks import byte_array

__all__ = ["base64_decode", "base64_decoder", "base64_trap"]

_LANES = 256
_CHARACTERS = 16
"""Characters of a lane: four groups, which are three whole words of output."""
_LAST = 0xFFFF_FFFF
_PAD = ord("=")
_NO_DIGIT = 64
"""The value of a character that stands for none: above every digit, and zero in its low bits."""


def base64_decoder() -> vw.Program:
    """The bytes that a base64 text stands for, and the first character that cannot stand there.

    The alphabet is the standard one of RFC 4648, section 4; padding is required, and white space
    is refused. As in Python, bits behind the last byte are ignored: ``QQ==`` and ``QR==`` are both
    ``A``. `base64_decode` runs this program and `base64_trap`.

    Input ``data``: u8, any length up to 2^32 - 2. Output ``words``: u32, three for each 16
    characters begun: the decoded bytes, four to a word, the first of them lowest, so
    ``words.view(numpy.uint8)[:size]`` where ``size`` is 3/4 of the length less one for each ``=``.
    Output ``bad``: u32, one element: ``0xFFFFFFFF - offset`` of the first wrong character, or 0 if
    there is none, as `first_index` reads it. Where the text is wrong, ``words`` mean nothing.

    Does not trap, and does not look at the length: a text that ends within a group of four is
    decoded as far as it goes.
    """
    b = vw.ProgramBuilder("base64_decoder", workgroup_size=_LANES)
    data = b.read("data", vw.u8)
    lanes = vw.ceil_div(data.length, _CHARACTERS)
    words = b.output("words", vw.u32, count=lanes * 3)
    bad = b.output("bad", vw.u32, count=1)
    block_bad = b.workgroup("block_bad", vw.u32, 1)
    b.extent(lanes)

    start = b.let("start", b.workgroup_id(0) * (_LANES * _CHARACTERS))
    left = b.let("left", data.length - start)
    first = b.let("first", b.local_id(0) * _CHARACTERS)
    mine = b.var("mine", vw.u32, 0)
    # Text is read in order, so the one before the lane's is needed, and of the others none twice.
    before = data[start + first - 1]
    groups: list[vw.Value] = []
    for place in range(_CHARACTERS):
        offset = first + place
        character = data[start + offset]
        digit = b.let("", _digit(character.cast(vw.u32)))
        wrong = _is_wrong(place % 4, character, before, digit) & (offset < left)
        # Earlier offsets are the larger numbers.
        mine.set(vw.select(wrong, vw.maximum(mine, _LAST - (start + offset)), mine))
        sextet = (digit & 63) << (6 * (3 - place % 4))
        groups.append(sextet if place % 4 == 0 else groups.pop() | sextet)
        before = character
    at = b.let("at", (b.workgroup_id(0) * _LANES + b.local_id(0)) * 3)
    with b.if_(first < left):
        for k, word in enumerate(_words([_in_order(group) for group in groups])):
            words[at + k] = word
    with b.if_(mine != 0):
        b.atomic_max(block_bad, 0, mine)
    b.barrier()
    with b.if_((b.local_id(0) == 0) & (block_bad[0] != 0)):
        b.atomic_max(bad, 0, block_bad[0])
    return b.build()


def base64_trap() -> vw.Program:
    """Traps with the first offset at which a text is no base64; does nothing if it is all right.

    Input ``bad``: u32, one element, the output of `base64_decoder`. Param ``length``: u32, the
    length of the text. No outputs. A dispatch raises `TrapError`:

    - tag ``not base64``, ``address`` the offset of the first character that is not of the alphabet,
      padding where there can be none, or anything but padding where there must be some;
    - tag ``base64 ends early``, ``address`` the length, if that is no multiple of 4 and no
      character is wrong.
    """
    b = vw.ProgramBuilder("base64_trap", workgroup_size=1)
    length = b.param("length", vw.u32)
    bad = b.read("bad", vw.u32, count=1)
    b.extent(1)
    word = b.let("word", bad[0])
    with b.if_(word != 0):
        b.trap("not base64", address=_LAST - word)
    with b.if_(length % 4 != 0):
        b.trap("base64 ends early", address=length)
    return b.build()


def base64_decode(data: object, *, backend: Any = None) -> npt.NDArray[np.uint8]:
    """The bytes that a base64 text stands for: ``base64.b64decode(data, validate=True)``.

    Args:
        data: bytes-like, or an array of u8.
        backend: where to run, as for `vw.compile`.

    Returns:
        The decoded bytes, 1-D.

    Raises:
        TrapError: it is not base64; the tag says why, the address where (`base64_trap`).
        InputError: ``data`` is neither.
        VyreError: what `vw.compile` and a dispatch raise.
    """
    text = byte_array(data)
    words, bad = vw.compile(base64_decoder(), backend=backend).dispatch([text])
    if bad[0] or text.size % 4:
        vw.compile(base64_trap(), backend=backend).dispatch([bad], {"length": text.size})
    padding = int(np.count_nonzero(text[-2:] == _PAD))
    decoded: npt.NDArray[np.uint8] = words.view(np.uint8)[: text.size // 4 * 3 - padding]
    return decoded


def _digit(character: vw.Value) -> vw.Value:
    """The value of a character, `_NO_DIGIT` if it has none."""
    digit: vw.Value | vw.TypedLiteral = vw.u32(_NO_DIGIT)
    for begin, count, value in (
        ("+", 1, 62),
        ("/", 1, 63),
        ("0", 10, 52),
        ("a", 26, 26),
        ("A", 26, 0),
    ):
        position = character - ord(begin)
        digit = vw.select(position < count, position + value, digit)
    assert isinstance(digit, vw.Value)
    return digit


def _is_wrong(place: int, character: vw.Value, before: vw.Value, digit: vw.Value) -> vw.Value:
    """Whether a character cannot follow what is before it, if all that is right.

    Padding is the last one or two of a group, and nothing follows it but padding in that group.
    """
    is_padding = character == _PAD
    after_padding = before == _PAD
    match place:
        case 0:
            return (digit == _NO_DIGIT) | after_padding
        case 1:
            return digit == _NO_DIGIT
        case 2:
            return (digit == _NO_DIGIT) & ~is_padding
        case _:
            return ((digit == _NO_DIGIT) | after_padding) & ~is_padding


def _in_order(group: vw.Value) -> vw.Value:
    """The three bytes of a group, the first lowest."""
    return (group >> 16) | (group & 0xFF00) | ((group & 0xFF) << 16)


def _words(groups: list[vw.Value]) -> list[vw.Value]:
    """Four times three bytes as three times four."""
    a, b, c, d = groups
    return [a | (b << 24), (b >> 8) | (c << 16), (c >> 16) | (d << 8)]
