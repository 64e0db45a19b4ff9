"""Programs to bytes: the canonical, versioned binary form, erased and with debug information.

The layout is specified in ``docs/reference/program-format.md``; `deserialize` reads it. Two
programs that do the same operations on the same interface have the same erased bytes by
construction: literals, tags and size expressions are numbered afresh in order of first use, and
columns hold only what an operation has, so no unused entry and no junk can tell two of them apart.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from ..errors import LimitError
from .ops import OPS, Op
from .program import Buffer, DebugInfo, Program, Table
from .sizes import SizeExpr, SizeOp, canonical_nodes

__all__ = ["encode_erased", "encode_program"]

MAGIC = b"\x89VYR"
"""First bytes; the first of them is no text, so that a transfer as text is noticed."""

FORMAT_VERSION = 1
"""The version this release writes; it reads this and earlier ones."""

HEADER = struct.Struct("<4sHH")
"""Magic, version, flags."""

SHAPE = struct.Struct("<9I")
"""Workgroup size x, y, z; number of buffers, params, extent axes, literals, tags, rows."""

CHECKSUM_BYTES = 8

FLAG_DEBUG = 1
"""A debug section follows the erased section."""

BUFFER_UNINITIALIZED, BUFFER_COUNT, BUFFER_LIKE = 1, 2, 4

MAX_BYTES = 1 << 26
"""Largest encoding; bounds what reading one costs, together with the two below."""

MAX_ITEMS = 1_000_000
"""Most rows, literals, tags, sites, names, comments, and size nodes of all expressions."""

MAX_DECLARED = 65_535
"""Most buffers, and most params."""

SIZE_CONST = struct.Struct("<Bq")
SIZE_NODE = struct.Struct("<BII")
"""A node of a size expression: a constant, and any other."""


def _lookup(of: dict[int, int]) -> npt.NDArray[np.uint8]:
    table = np.zeros(256, np.uint8)
    for code, value in of.items():
        table[code] = value
    return table


ARITY = _lookup({op: info.arity for op, info in OPS.items()})
HAS_CONST = _lookup({op: bool(info.const) for op, info in OPS.items()})
YIELDS = _lookup({op: info.result != "void" for op, info in OPS.items()})


def encode_erased(program: Program) -> bytes:
    """The bytes that are a program's identity: everything but `Program.debug`.

    `deserialize.decode_program` reads them as a program without debug information.

    Raises:
        LimitError: more items or bytes than the format holds; no valid program has them.
    """
    table = program.table
    ops = np.frombuffer(table.op, np.uint8)
    const, literals, tags = _renumber(program, ops)
    _limit("buffers", len(program.buffers), MAX_DECLARED)
    _limit("params", len(program.params), MAX_DECLARED)
    _limit("operations", len(table), MAX_ITEMS)
    sizes = [b.count for b in program.buffers if b.count is not None] + [*program.extent]
    _limit("size nodes", sum(len(size.nodes) for size in sizes), MAX_ITEMS)
    shape = SHAPE.pack(
        *program.workgroup_size,
        len(program.buffers),
        len(program.params),
        len(program.extent),
        len(literals),
        len(tags),
        len(table),
    )
    # A lone surrogate is let through so that no two programs share their bytes; such names are
    # refused where a program is validated and where bytes are read.
    return _finish(
        0,
        [
            shape,
            *_buffers(program.buffers),
            *_texts((p.name for p in program.params), "surrogatepass"),
            bytes(p.dtype.code for p in program.params),
            *map(_size, program.extent),
            literals.astype("<u8").tobytes(),
            *_texts(tags, "surrogatepass"),
            *_columns(table, ops, const),
        ],
    )


def encode_program(program: Program) -> bytes:
    """A program with its debug information, if it has any; else its erased bytes.

    Raises:
        LimitError: as `encode_erased`, or more debug information than the format holds.
    """
    erased = program.erased_bytes
    if program.debug == DebugInfo():
        return erased
    return _finish(FLAG_DEBUG, [erased[HEADER.size : -CHECKSUM_BYTES], *_debug(program.debug)])


def checksum(data: bytes | memoryview) -> bytes:
    """What the last bytes of an encoding must be, given all those before."""
    return xxhash.xxh3_64_intdigest(data).to_bytes(CHECKSUM_BYTES, "little")


def _finish(flags: int, parts: Iterable[bytes]) -> bytes:
    body = b"".join([HEADER.pack(MAGIC, FORMAT_VERSION, flags), *parts])
    _limit("bytes", len(body) + CHECKSUM_BYTES, MAX_BYTES)
    return body + checksum(body)


def _limit(what: str, count: int, most: int) -> None:
    if count > most:
        raise LimitError(
            f"the program has {count} {what}, more than the {most} that its binary form holds",
            fix="write a smaller program, or leave out comments and names",
        )


def _renumber(
    program: Program, ops: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], list[str]]:
    """The constant column, with literals and tags numbered in order of first use."""
    const = np.array(program.table.const, np.int64)
    rows = np.flatnonzero(ops == Op.LITERAL)
    bits = np.array(program.literals, np.uint64)[const[rows]]
    unique, first, index = np.unique(bits, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    const[rows] = rank[index]
    tags: dict[str, int] = {}
    for row in np.flatnonzero(ops == Op.TRAP).tolist():
        const[row] = tags.setdefault(program.tags[const[row]], len(tags))
    return const, unique[order], list(tags)


def _buffers(buffers: Sequence[Buffer]) -> list[bytes]:
    flags = bytes(
        BUFFER_UNINITIALIZED * b.uninitialized
        | BUFFER_COUNT * (b.count is not None)
        | BUFFER_LIKE * (b.like is not None)
        for b in buffers
    )
    return [
        *_texts((b.name for b in buffers), "surrogatepass"),
        bytes(b.kind for b in buffers),
        bytes(b.dtype.code for b in buffers),
        flags,
        _u32([b.like for b in buffers if b.like is not None]),
        *(_size(b.count) for b in buffers if b.count is not None),
    ]


def _size(size: SizeExpr) -> bytes:
    nodes = canonical_nodes(size.nodes, len(size.nodes) - 1)
    parts = [len(nodes).to_bytes(4, "little")]
    for op, a, b in nodes:
        if op is SizeOp.CONST:
            bits = (a if a >= 0 else ~a).bit_length() + 1
            _limit("bits in a constant of a size expression", bits, 64)
            parts.append(SIZE_CONST.pack(op, a))
        else:
            parts.append(SIZE_NODE.pack(op, a, b))
    return b"".join(parts)


def _columns(table: Table, ops: npt.NDArray[np.uint8], const: npt.NDArray[np.int64]) -> list[bytes]:
    arity = ARITY[ops]
    dtypes = np.frombuffer(table.dtype, np.uint8) * YIELDS[ops]
    parts = [table.op, dtypes.tobytes()]
    for place, column in enumerate((table.a, table.b, table.c)):
        parts.append(np.array(column, "<i4")[arity > place].tobytes())
    parts.append(const[HAS_CONST[ops] != 0].astype("<i4").tobytes())
    return parts


def _debug(debug: DebugInfo) -> list[bytes]:
    files: dict[str, int] = {}
    places = [(files.setdefault(file, len(files)), line) for file, line in debug.sites]
    for what in ("sites", "rows", "names", "comments"):
        _limit(f"{what} in its debug information", len(getattr(debug, what)), MAX_ITEMS)
    counts = (len(files), len(places), len(debug.rows), len(debug.names), len(debug.comments))
    return [
        _u32(counts),
        *_texts([debug.name], "backslashreplace"),
        *_texts(files, "backslashreplace"),
        _u32([file for file, _ in places]),
        _u32([line for _, line in places]),
        np.array(debug.rows, "<i4").tobytes(),
        _u32([row for row, _ in debug.names]),
        *_texts((name for _, name in debug.names), "backslashreplace"),
        _u32([row for row, _ in debug.comments]),
        *_texts((text for _, text in debug.comments), "backslashreplace"),
    ]


def _texts(texts: Iterable[str], errors: str) -> list[bytes]:
    """All lengths in bytes, then all texts."""
    encoded = [text.encode("utf-8", errors) for text in texts]
    return [_u32([len(text) for text in encoded]), *encoded]


def _u32(values: Sequence[int]) -> bytes:
    column: npt.NDArray[Any] = np.array(values, "<u4")
    return column.tobytes()
