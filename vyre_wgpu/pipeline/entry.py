"""The file of one compiled program: self-checked, and never trusted further than its checks.

    magic 8 | version u16 | 0 u16 | four lengths u32 |
    key parts | program | descriptor | WGSL | XXH3-128

All numbers are little-endian; the last 16 bytes are the hash of all before them. A file's name is
the key's digest; what makes a hit is that key parts and erased program bytes equal the wanted ones.
Nothing in it is ever executed on the host or unpickled.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import xxhash

from ..wgsl.descriptor import ShaderArtifact
from .descriptor_codec import decode_descriptor, encode_descriptor
from .keys import Parts, decode_parts

__all__ = [
    "FORMAT_VERSION",
    "MAX_ENTRY_BYTES",
    "Entry",
    "EntryError",
    "decode_entry",
    "encode_entry",
]

MAGIC = b"\x89VYRC\r\n\x1a"
"""The first byte is no text; line ends show a transfer as text."""

FORMAT_VERSION = 1

_HEADER = struct.Struct("<8sHH4I")
HEADER_BYTES = _HEADER.size
CHECKSUM_BYTES = 16

MAX_ENTRY_BYTES = 1 << 28
"""No larger file is read or written."""


MAX_NESTING = 1000
"""Brackets around brackets in a shader. Compilers of WGSL recurse into them, and from some 20,000
on the process dies; what is lowered is far below.
"""

_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"([{")], _STEPS[list(b")]}")] = 1, -1


class EntryError(Exception):
    """A file is not the entry that it should be; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The sections of a file whose checksum holds.

    Attributes:
        parts_bytes: the parts of its key, as `Key.encoded`.
        program: the erased bytes of the program.
        descriptor: the launch contract, encoded.
        wgsl: the shader's text in UTF-8.
    """

    parts_bytes: bytes
    program: bytes
    descriptor: bytes
    wgsl: bytes

    def parts(self) -> Parts:
        """The parts of its key.

        Raises:
            EntryError: they are no parts.
        """
        try:
            return decode_parts(self.parts_bytes)
        except ValueError as error:
            raise EntryError(f"its key cannot be read: {error}") from None

    def artifact(self) -> ShaderArtifact:
        """What the program was lowered to.

        Raises:
            EntryError: the descriptor or the text cannot be read, or a compiler would die of it.
        """
        if _is_nested_deeply(self.wgsl):
            raise EntryError(f"its shader has more than {MAX_NESTING:,} brackets in each other")
        try:
            return ShaderArtifact(self.wgsl.decode("utf-8"), decode_descriptor(self.descriptor))
        except ValueError as error:
            raise EntryError(f"its content cannot be read: {error}") from None


def encode_entry(parts_bytes: bytes, program: bytes, artifact: ShaderArtifact) -> bytes:
    """The file of a compiled program.

    Args:
        parts_bytes: `Key.encoded`.
        program: the program's erased bytes.
        artifact: what it was lowered to.
    """
    sections = (
        parts_bytes,
        program,
        encode_descriptor(artifact.descriptor),
        artifact.wgsl.encode("utf-8"),
    )
    header = _HEADER.pack(MAGIC, FORMAT_VERSION, 0, *map(len, sections))
    body = b"".join((header, *sections))
    return body + xxhash.xxh3_128_digest(body)


def decode_entry(data: bytes) -> Entry:
    """The sections of a file.

    Raises:
        EntryError: it is no entry, damaged, or of another version.
    """
    if len(data) < HEADER_BYTES + CHECKSUM_BYTES:
        raise EntryError(f"it has only {len(data)} bytes")
    magic, version, reserved, *lengths = _HEADER.unpack_from(data)
    if magic != MAGIC:
        raise EntryError("it is not a file of ours")
    if version != FORMAT_VERSION or reserved:
        raise EntryError(f"it is of format version {version}, not {FORMAT_VERSION}")
    end = len(data) - CHECKSUM_BYTES
    if HEADER_BYTES + sum(lengths) != end:
        raise EntryError("it is cut short, or longer than it says")
    if xxhash.xxh3_128_digest(memoryview(data)[:end]) != data[end:]:
        raise EntryError("its checksum does not hold")
    sections, start = [], HEADER_BYTES
    for length in lengths:
        sections.append(data[start : start + length])
        start += length
    return Entry(*sections)


def _is_nested_deeply(wgsl: bytes) -> bool:
    # Counting is a hundred times as fast as adding up, and enough for nearly all shaders.
    if sum(map(wgsl.count, (b"(", b"[", b"{"))) <= MAX_NESTING:
        return False
    depths = np.cumsum(_STEPS[np.frombuffer(wgsl, np.uint8)], dtype=np.int64)
    return int(depths.max()) > MAX_NESTING
