"""Bytes to programs: reads what `serialize` writes, from any source.

The input is hostile until proven otherwise. Every count is compared with the bytes that are left
before anything is made from it, so memory and time are bounded by the length of the input; nothing
recurses; each failure is a `ProgramDecodeError` that names the offset. At the end the program is
encoded again and must give the same bytes: then no two byte strings mean the same program, and no
rule of the canonical form has to be repeated here.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ..errors import ProgramDecodeError, ValidationError
from .ops import OPS
from .program import Buffer, BufferKind, DebugInfo, Param, Program, Table
from .serialize import (
    ARITY,
    BUFFER_COUNT,
    BUFFER_LIKE,
    BUFFER_UNINITIALIZED,
    CHECKSUM_BYTES,
    FLAG_DEBUG,
    FORMAT_VERSION,
    HAS_CONST,
    HEADER,
    MAGIC,
    MAX_BYTES,
    MAX_DECLARED,
    MAX_ITEMS,
    SHAPE,
    SIZE_CONST,
    SIZE_NODE,
    YIELDS,
    checksum,
    encode_program,
)
from .sizes import SizeExpr, SizeNode, SizeOp
from .types import ALL_DTYPES, VOID_CODE, DType, dtype_from_code
from .validate import validate

__all__ = ["decode_program"]

_DAMAGED = "get the bytes again from Program.to_bytes(); these are damaged or forged"

_KNOWN_OP = np.isin(np.arange(256), list(OPS))
_KNOWN_DTYPE = np.isin(np.arange(256), [dtype.code for dtype in ALL_DTYPES])
_SIZE_OPS = {int(op): op for op in SizeOp}
_KINDS = {int(kind): kind for kind in BufferKind}


def decode_program(data: bytes | bytearray | memoryview) -> Program:
    """Reads a program, with or without debug information, and validates it.

    Raises:
        ProgramDecodeError: not such bytes, damaged, not canonical, or of a later version.
        ValidationError: well-formed bytes of a program that breaks the rules of the IR.
    """
    raw = _as_bytes(data)
    flags = _check_frame(raw)
    reader = _Reader(raw)
    program = _program(reader, flags)
    if encode_program(program) != raw:
        _fail(
            "the bytes are not in canonical form (an entry is unused, repeated or out of order)",
            "write programs with Program.to_bytes(), which gives each exactly one byte string",
        )
    problems = validate(program)
    if problems:
        raise ValidationError(problems, program=program.name)
    return program


def _fail(message: str, fix: str = _DAMAGED) -> NoReturn:
    raise ProgramDecodeError(message, fix=fix)


def _as_bytes(data: object) -> bytes:
    if not isinstance(data, (bytes, bytearray, memoryview)):
        _fail(
            f"a program is read from bytes, not from {type(data).__name__}",
            "pass what Program.to_bytes() returned: bytes, bytearray or memoryview",
        )
    try:
        size = data.nbytes if isinstance(data, memoryview) else len(data)
        if size > MAX_BYTES:
            _fail(
                f"{size} bytes are more than the {MAX_BYTES} that a program may take",
                "pass the bytes of one program only",
            )
        return bytes(data)
    except ProgramDecodeError:
        raise
    except (ValueError, BufferError, NotImplementedError) as error:
        _fail(f"the memoryview cannot be read: {error}", "pass bytes, or a live memoryview")


def _check_frame(raw: bytes) -> int:
    """Checks magic, version and checksum, in an order that gives the most helpful message."""
    if raw[:4] != MAGIC:
        _fail(
            f"the bytes start with {raw[:4]!r}, not with {MAGIC!r}: this is no program",
            "pass what Program.to_bytes() returned",
        )
    if len(raw) < HEADER.size + SHAPE.size + CHECKSUM_BYTES:
        _fail(f"{len(raw)} bytes are too few for a program: the end is missing")
    _, version, flags = HEADER.unpack_from(raw)
    if not 1 <= version <= FORMAT_VERSION:
        _fail(
            f"the program is in format version {version}; this release of vyre_wgpu reads "
            f"versions 1 to {FORMAT_VERSION}",
            "upgrade vyre_wgpu, or write the program again with this release",
        )
    found, expected = raw[-CHECKSUM_BYTES:], checksum(memoryview(raw)[:-CHECKSUM_BYTES])
    if found != expected:
        _fail(
            f"the checksum at offset {len(raw) - CHECKSUM_BYTES} is {found[::-1].hex()}, but the "
            f"bytes before it give {expected[::-1].hex()}"
        )
    if flags & ~FLAG_DEBUG:
        _fail(f"the flags at offset 6 are {flags:#x}; version {version} knows only {FLAG_DEBUG:#x}")
    return int(flags)


class _Reader:
    """A position in the bytes before the checksum; all reads are bounded by what is left."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.offset = HEADER.size
        self.end = len(raw) - CHECKSUM_BYTES
        self.size_nodes = 0

    def take(self, what: str, size: int) -> int:
        """Passes over ``size`` bytes and returns where they start."""
        start = self.offset
        if size > self.end - start:
            _fail(
                f"{what} at offset {start} need {size} bytes, but only {self.end - start} are left"
            )
        self.offset = start + size
        return start

    def bytes(self, what: str, count: int) -> bytes:
        start = self.take(what, count)
        return self.raw[start : start + count]

    def column(self, what: str, count: int, dtype: str = "<u4") -> npt.NDArray[Any]:
        start = self.take(what, count * np.dtype(dtype).itemsize)
        return np.frombuffer(self.raw, dtype, count, start)

    def codes(self, what: str, count: int, known: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
        """A column of one-byte codes, each of which must be known."""
        column = self.column(what, count, "u1")
        self.require(what, column, known[column], "is not known", self.offset - count)
        return column

    def require(
        self, what: str, column: npt.NDArray[Any], holds: npt.NDArray[np.bool_], not_: str, at: int
    ) -> None:
        """Refuses the first value of a column for which a condition does not hold."""
        if not holds.all():
            place = int(np.argmin(holds))
            _fail(
                f"{what} at offset {at + place * column.itemsize} have the value "
                f"{int(column[place])} in place {place}, which {not_}"
            )

    def below(self, what: str, count: int, limit: int, dtype: str = "<u4") -> list[int]:
        """A column of indices into something of ``limit`` entries."""
        column = self.column(what, count, dtype)
        at = self.offset - count * column.itemsize
        self.require(what, column, column < limit, f"is not below {limit}", at)
        values: list[int] = column.tolist()
        return values

    def texts(self, what: str, count: int) -> list[str]:
        sizes = self.column(f"the lengths of {what}", count)
        start = self.take(what, int(sizes.sum(dtype=np.uint64)))
        result = []
        for size in sizes.tolist():
            try:
                result.append(self.raw[start : start + size].decode("utf-8"))
            except UnicodeDecodeError as error:
                _fail(f"{what} at offset {start + error.start} are not UTF-8 ({error.reason})")
            start += size
        return result


def _program(reader: _Reader, flags: int) -> Program:
    shape_at = reader.take("the counts", SHAPE.size)
    shape = SHAPE.unpack_from(reader.raw, shape_at)
    x, y, z, buffers, params, axes, literals, tags, rows = shape
    limits = (MAX_DECLARED, MAX_DECLARED, 3, MAX_ITEMS, MAX_ITEMS, MAX_ITEMS)
    names = ("buffers", "params", "extent axes", "literals", "tags", "rows")
    for place, (name, count, most) in enumerate(zip(names, shape[3:], limits, strict=True)):
        if count > most:
            at = shape_at + 4 * (3 + place)
            _fail(f"the number of {name} at offset {at} is {count}, more than {most}")
    program = Program(
        (x, y, z),
        _buffers(reader, buffers, params),
        _params(reader, params),
        tuple(_size(reader, buffers, params) for _ in range(axes)),
        tuple(reader.column("literals", literals, "<u8").tolist()),
        tuple(reader.texts("tags", tags)),
        _table(
            reader, rows, {"literal": literals, "param": params, "buffer": buffers, "tag": tags}
        ),
        _debug(reader, rows) if flags & FLAG_DEBUG else DebugInfo(),
    )
    if reader.offset != reader.end:
        _fail(f"the program ends at offset {reader.offset}, but bytes follow up to {reader.end}")
    return program


def _dtypes(reader: _Reader, what: str, count: int) -> list[DType]:
    return [dtype_from_code(code) for code in reader.codes(what, count, _KNOWN_DTYPE).tolist()]


def _buffers(reader: _Reader, count: int, params: int) -> tuple[Buffer, ...]:
    names = reader.texts("buffer names", count)
    known = np.isin(np.arange(256), list(_KINDS))
    kinds = [_KINDS[code] for code in reader.codes("buffer kinds", count, known).tolist()]
    dtypes = _dtypes(reader, "buffer types", count)
    all_flags = BUFFER_UNINITIALIZED | BUFFER_COUNT | BUFFER_LIKE
    flags = reader.below("buffer flags", count, all_flags + 1, "u1")
    like = iter(reader.below("like buffers", sum(bool(f & BUFFER_LIKE) for f in flags), count))
    return tuple(
        Buffer(
            name,
            kind,
            dtype,
            _size(reader, count, params) if flag & BUFFER_COUNT else None,
            next(like) if flag & BUFFER_LIKE else None,
            bool(flag & BUFFER_UNINITIALIZED),
        )
        for name, kind, dtype, flag in zip(names, kinds, dtypes, flags, strict=True)
    )


def _params(reader: _Reader, count: int) -> tuple[Param, ...]:
    names = reader.texts("param names", count)
    return tuple(map(Param, names, _dtypes(reader, "param types", count)))


def _size(reader: _Reader, buffers: int, params: int) -> SizeExpr:
    (count,) = reader.column("the number of size nodes", 1).tolist()
    reader.size_nodes += count
    if not count or reader.size_nodes > MAX_ITEMS:
        _fail(
            f"a size expression at offset {reader.offset - 4} has {count} nodes; it has at least "
            f"one, and all of them together at most {MAX_ITEMS}"
        )
    limits = {SizeOp.LENGTH: buffers, SizeOp.PARAM: params}
    start = reader.take("size nodes", count * SIZE_NODE.size)
    nodes: list[SizeNode] = []
    for index in range(count):
        at = start + index * SIZE_NODE.size
        op = _SIZE_OPS.get(reader.raw[at])
        if op is None:
            _fail(f"the size node at offset {at} has the unknown operation {reader.raw[at]}")
        if op is SizeOp.CONST:
            nodes.append((op, SIZE_CONST.unpack_from(reader.raw, at)[1], 0))
            continue
        _, a, b = SIZE_NODE.unpack_from(reader.raw, at)
        limit = limits.get(op, index)
        if a >= limit or (b >= limit and op not in limits):
            _fail(
                f"the size node at offset {at} ({op.name.lower()} {a}, {b}) refers to something "
                f"that is not below {limit}"
            )
        nodes.append((op, a, b))
    return SizeExpr(tuple(nodes))


def _table(reader: _Reader, rows: int, counts: dict[str, int]) -> Table:
    ops = reader.codes("operations", rows, _KNOWN_OP)
    dtypes = reader.column("result types", rows, "u1")
    reader.require(
        "result types",
        dtypes,
        np.where(YIELDS[ops] != 0, _KNOWN_DTYPE[dtypes], dtypes == VOID_CODE),
        "does not fit the operation",
        reader.offset - rows,
    )
    arity = ARITY[ops]
    columns = []
    for place in range(3):
        holders = np.flatnonzero(arity > place)
        what = f"operands {place}"
        values = reader.column(what, len(holders))
        at = reader.offset - values.nbytes
        reader.require(what, values, values < holders, "is not an earlier row", at)
        columns.append(_spread(rows, holders, values))
    holders = np.flatnonzero(HAS_CONST[ops])
    values = reader.column("constants", len(holders))
    limits = _const_limits(counts)[ops[holders]]
    at = reader.offset - values.nbytes
    reader.require("constants", values, values < limits, "refers to nothing", at)
    a, b, c = columns
    return Table(ops.tobytes(), dtypes.tobytes(), a, b, c, _spread(rows, holders, values))


def _spread(
    rows: int, holders: npt.NDArray[np.intp], values: npt.NDArray[np.uint32]
) -> tuple[int, ...]:
    """A full column: the values at the rows that have one, -1 at the others."""
    column = np.full(rows, -1, np.int64)
    column[holders] = values
    return tuple(column.tolist())


def _const_limits(counts: dict[str, int]) -> npt.NDArray[np.int64]:
    """For each operation, how many entries its constant index may refer to."""
    limits = np.zeros(256, np.int64)
    for op, info in OPS.items():
        limits[op] = 3 if info.const == "axis" else counts.get(info.const, 0)
    return limits


def _debug(reader: _Reader, rows: int) -> DebugInfo:
    counts_at = reader.offset
    files, sites, site_rows, names, comments = reader.column("debug counts", 5).tolist()
    for place, count in enumerate((files, sites, site_rows, names, comments)):
        if count > MAX_ITEMS:
            _fail(
                f"the debug count at offset {counts_at + 4 * place} is {count}, more than "
                f"{MAX_ITEMS}"
            )
    if site_rows not in (0, rows):
        _fail(
            f"the debug section at offset {counts_at} has {site_rows} row locations, not 0 or "
            f"{rows}"
        )
    (name,) = reader.texts("the program's name", 1)
    paths = reader.texts("file names", files)
    file_of = reader.below("site files", sites, files)
    lines = reader.column("site lines", sites).tolist()
    row_sites = reader.column("row locations", site_rows, "<i4")
    reader.require(
        "row locations",
        row_sites,
        (row_sites >= -1) & (row_sites < sites),
        f"is neither -1 nor a site below {sites}",
        reader.offset - row_sites.nbytes,
    )
    named = reader.below("named rows", names, rows)
    labels = reader.texts("names", names)
    commented = reader.below("commented rows", comments, rows + 1)
    remarks = reader.texts("comments", comments)
    return DebugInfo(
        name,
        tuple((paths[file], line) for file, line in zip(file_of, lines, strict=True)),
        tuple(row_sites.tolist()),
        tuple(zip(named, labels, strict=True)),
        tuple(zip(commented, remarks, strict=True)),
    )
