"""base64: what the standard library decodes, and the first offset at which a text is wrong."""

from __future__ import annotations

import base64
import binascii
import itertools
import linecache
import random
import re
import string

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.programs.lengths import random_bytes
from vyre_wgpu import programs

ALPHABET = (string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/").encode()
LANE, BLOCK = 16, 16 * 256
"""Characters of a lane and of a workgroup."""


def is_beginning(text: bytes) -> bool:
    """Whether some base64 text begins so (RFC 4648, section 4)."""
    return bool(
        re.fullmatch(
            rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{0,3}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==?)",
            text,
        )
    )


def first_wrong(text: bytes) -> int | None:
    """The smallest offset at which no base64 text could go on so; None for base64."""
    for end in range(1, len(text) + 1):
        if not is_beginning(text[:end]):
            return end - 1
    return len(text) if len(text) % 4 else None


def decode(text: bytes) -> bytes | tuple[str, int]:
    """What `programs.base64_decode` gives, or the trap's tag and address."""
    try:
        return programs.base64_decode(text).tobytes()
    except vw.TrapError as error:
        return error.tag, error.address


def expected(text: bytes) -> bytes | tuple[str, int]:
    wrong = first_wrong(text)
    if wrong is None:
        return base64.b64decode(text, validate=True)
    return "base64 ends early" if wrong == len(text) else "not base64", wrong


def test_calls_build_equal_programs() -> None:
    assert programs.base64_decoder() == programs.base64_decoder()
    assert programs.base64_trap() == programs.base64_trap()


def test_what_python_refuses_is_wrong_somewhere() -> None:
    """The other way round Python takes more: padding behind a whole group."""
    for characters in itertools.product(b"QA=", repeat=7):
        text = bytes(characters)
        try:
            base64.b64decode(text, validate=True)
        except binascii.Error:
            assert first_wrong(text) is not None


@pytest.mark.gpu
@pytest.mark.parametrize("length", range(201))
def test_random_bytes_of_every_length(length: int) -> None:
    data = random_bytes(length).tobytes()
    assert decode(base64.b64encode(data)) == data


@pytest.mark.gpu
@pytest.mark.parametrize("length", [255, 257, 1000, 3071, 3072, 3073, 4097, (1 << 20) + 1])
def test_long_texts(length: int) -> None:
    data = random_bytes(length).tobytes()
    assert decode(base64.b64encode(data)) == data


@pytest.mark.gpu
def test_every_group_of_two_characters() -> None:
    text = b"".join(bytes([x, y, x, y]) for x in ALPHABET for y in ALPHABET)
    assert decode(text) == base64.b64decode(text, validate=True)


@pytest.mark.gpu
def test_bits_behind_the_last_byte_are_ignored() -> None:
    assert decode(b"QQ==") == decode(b"QR==") == b"A"
    assert decode(b"QUI=") == decode(b"QUJ=") == b"AB"


@pytest.mark.gpu
def test_all_short_texts_of_two_digits_and_padding() -> None:
    rng = random.Random(1)
    short = [bytes(t) for n in range(1, 5) for t in itertools.product(b"Q/=", repeat=n)]
    longer = [bytes(rng.choices(b"Q/=", (9, 9, 1), k=rng.randrange(5, 20))) for _ in range(150)]
    for text in short + longer:
        assert decode(text) == expected(text), text


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("text", "tag", "address"),
    [
        (b"Q", "base64 ends early", 1),
        (b"QUI", "base64 ends early", 3),
        (b"QUJDQ=", "not base64", 5),
        (b"QUJDQQ=", "base64 ends early", 7),
        (b"====", "not base64", 0),
        (b"QUI=QUJD", "not base64", 4),
        (b"QQ=Q", "not base64", 3),
        (b"QQ==\n", "not base64", 4),
        (b"QUJD====", "not base64", 4),
        (b"QUJD QUJD", "not base64", 4),
        (b"QU-_", "not base64", 2),
        (b"\xff", "not base64", 0),
    ],
)
def test_every_kind_of_error(text: bytes, tag: str, address: int) -> None:
    assert decode(text) == (tag, address)


@pytest.mark.gpu
def test_every_byte_value_at_every_place_of_a_group() -> None:
    """A group behind, so that all places are also ones where padding is wrong."""
    pipe = vw.compile(programs.base64_decoder())
    for place in range(4):
        for value in range(256):
            text = bytearray(b"QUJDQUJDQUJD")
            text[4 + place] = value
            _, bad = pipe.push_chunk(text)
            assert programs.first_index(bad) == first_wrong(bytes(text)), (place, value)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "offset", [0, 1, LANE - 1, LANE, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 1, 4 * BLOCK + 3]
)
def test_the_first_of_many_wrong_characters_is_named(offset: int) -> None:
    text = np.full(4 * BLOCK + 4, ord("Q"), np.uint8)
    text[offset:] = ord("!")
    with pytest.raises(vw.TrapError) as caught:
        programs.base64_decode(text)
    error = caught.value
    assert (error.tag, error.address, error.program) == ("not base64", offset, "base64_trap")
    assert error.source is not None
    assert "b.trap(" in linecache.getline(*error.source)


@pytest.mark.gpu
def test_a_wrong_character_comes_before_a_wrong_length() -> None:
    assert decode(b"Q" * 1000 + b"*" + b"Q" * 1001) == ("not base64", 1000)
    assert decode(b"Q" * 2002) == ("base64 ends early", 2002)


@pytest.mark.gpu
def test_errors_leave_everything_usable() -> None:
    for _ in range(2):
        assert decode(b"QUI!") == ("not base64", 3)
        assert decode(b"QUJD") == b"ABC"


@pytest.mark.gpu
def test_arrays_and_views_are_taken_and_text_is_not() -> None:
    array = np.frombuffer(b"Q-U-J-D-", np.uint8)
    assert programs.base64_decode(array[::2]).tobytes() == b"ABC"
    assert programs.base64_decode(memoryview(b"QUJD")).tobytes() == b"ABC"
    with pytest.raises(vw.InputError, match="str"):
        programs.base64_decode("QUJD")
