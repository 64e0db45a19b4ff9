"""Program bytes from anyone: typed errors, bounded work, and nothing read in two spellings."""

from __future__ import annotations

import pickle
import random
import struct
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import pytest

import vyre_wgpu.ir as vw
from tests.ir.examples import EXAMPLES, saxpy, size_expressions, traps
from vyre_wgpu.errors import LimitError
from vyre_wgpu.ir import (
    DebugInfo,
    Op,
    Program,
    ProgramDecodeError,
    Table,
    ValidationError,
)
from vyre_wgpu.ir.serialize import (
    CHECKSUM_BYTES,
    FORMAT_VERSION,
    HEADER,
    MAX_BYTES,
    SHAPE,
    checksum,
    encode_erased,
)
from vyre_wgpu.ir.sizes import SizeOp


def sealed(data: bytes) -> bytes:
    """The bytes with their checksum made right, so that what lies behind it is reached."""
    body = data[:-CHECKSUM_BYTES]
    return body + checksum(body)


def patched(data: bytes, offset: int, new: bytes) -> bytes:
    return sealed(data[:offset] + new + data[offset + len(new) :])


def check_hostile(data: bytes) -> Program | None:
    """Reads bytes that may be anything; what is read must be a sound, canonical program."""
    try:
        program = Program.from_bytes(data)
    except (ProgramDecodeError, ValidationError):
        return None
    assert program.to_bytes() == data
    assert str(program)
    return program


@pytest.mark.parametrize("example", [saxpy, traps, size_expressions])
def test_every_truncation_is_refused(example: Callable[[], Program]) -> None:
    data = example().to_bytes()
    for size in range(len(data)):
        with pytest.raises(ProgramDecodeError):
            Program.from_bytes(data[:size])
        if size >= CHECKSUM_BYTES:
            with pytest.raises(ProgramDecodeError):
                Program.from_bytes(sealed(data[:size]))


def test_every_damaged_byte_is_found() -> None:
    data = saxpy().to_bytes()
    for offset in range(len(data)):
        damaged = bytearray(data)
        damaged[offset] ^= 1 << offset % 8
        with pytest.raises(ProgramDecodeError):
            Program.from_bytes(damaged)


def test_changes_of_every_header_byte_are_handled() -> None:
    data = saxpy().to_bytes()
    for offset in range(HEADER.size + SHAPE.size):
        for value in (0, 1, 2, 3, 4, 16, 64, 127, 128, 255):
            check_hostile(patched(data, offset, bytes([value])))


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("example", [saxpy, traps, size_expressions])
def test_extreme_numbers_anywhere_are_handled(example: Callable[[], Program], size: int) -> None:
    data = example().to_bytes()
    for offset in range(HEADER.size, len(data) - CHECKSUM_BYTES - size + 1):
        for value in (0, 1 << 8 * size - 1, (1 << 8 * size) - 1):
            check_hostile(patched(data, offset, value.to_bytes(size, "little")))


def test_random_damage_gives_a_typed_error_or_a_valid_program() -> None:
    rng = random.Random(20240229)
    corpus = [example().to_bytes() for example in EXAMPLES.values()]
    read = 0
    for _ in range(2000):
        data = bytearray(rng.choice(corpus))
        for _ in range(rng.choice((1, 1, 2, 5))):
            start = rng.randrange(HEADER.size, len(data) - CHECKSUM_BYTES)
            match rng.randrange(4):
                case 0:
                    data[start] ^= 1 << rng.randrange(8)
                case 1:
                    data[start:start] = rng.randbytes(rng.randrange(1, 9))
                case 2:
                    del data[start : min(start + rng.randrange(1, 9), len(data) - CHECKSUM_BYTES)]
                case 3:
                    other = rng.choice(corpus)
                    piece = rng.randrange(len(other))
                    data[start : start + rng.randrange(64)] = other[piece : piece + 64]
            data.extend(bytes(max(0, HEADER.size + CHECKSUM_BYTES + 1 - len(data))))
        read += check_hostile(sealed(bytes(data))) is not None
    assert read  # else the damage never went past the first check


def test_random_rows_give_a_typed_error_or_a_valid_program() -> None:
    """Damage that keeps the columns well-formed, so that the validator sees most of it."""
    rng = random.Random(7)
    programs = [example() for example in EXAMPLES.values()]
    for _ in range(1000):
        program = rng.choice(programs)
        rows = len(program.table)
        if not rows:
            continue
        table = program.table
        columns = {name: list(getattr(table, name)) for name in ("op", "dtype", "a", "b", "c")}
        for _ in range(rng.choice((1, 3))):
            row = rng.randrange(rows)
            columns["op"][row] = rng.choice(list(Op))
            columns["dtype"][row] = rng.randrange(13)
            for operand in "abc":
                columns[operand][row] = rng.randrange(max(row, 1))
        broken = Table(
            bytes(columns["op"]),
            bytes(columns["dtype"]),
            *(tuple(max(v, 0) for v in columns[operand]) for operand in "abc"),
            tuple(max(v, 0) for v in table.const),
        )
        padded = replace(
            program,
            table=broken,
            literals=program.literals + (0,) * 99,
            tags=program.tags + ("t",) * 99,
        )
        check_hostile(encode_erased(padded))


@pytest.mark.parametrize("place", range(3, 9))
def test_huge_counts_allocate_nothing(place: int) -> None:
    data = saxpy().to_bytes()
    for count in (0xFFFFFFFF, 1_000_000, 65_535):
        hostile = patched(data, HEADER.size + 4 * place, struct.pack("<I", count))
        tracemalloc.start()
        with pytest.raises(ProgramDecodeError):
            Program.from_bytes(hostile)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1 << 18


def test_names_of_names_are_looked_through_at_once() -> None:
    """Else a program of 100,000 of them would keep a compiler busy for minutes."""
    b = vw.ProgramBuilder()
    x = b.read_write("x", vw.u32)
    value = b.let("", vw.u32(7))
    for _ in range(100_000):
        value = b.let("", value)
    x[b.global_id()] = value
    program = Program.from_bytes(b.build().to_bytes())
    named = [row for row, op in enumerate(program.table.op) if op == Op.LET]
    assert len(named) == 100_001
    assert {program.literal_value(row) for row in named} == {7}
    assert len({program.table.value_of(row) for row in named}) == 1


def test_other_bytes_are_refused() -> None:
    for data in (b"", b"\x89", b"\x89VYR", b"hello world, this is not a program at all" * 9):
        with pytest.raises(ProgramDecodeError):
            Program.from_bytes(data)
    with pytest.raises(ProgramDecodeError, match="this is no program"):
        Program.from_bytes(pickle.dumps(saxpy()))


def test_too_many_bytes_are_refused_unread() -> None:
    with pytest.raises(ProgramDecodeError, match="more than"):
        Program.from_bytes(bytes(MAX_BYTES + 1))


def test_a_program_too_large_for_the_format_is_refused_when_written() -> None:
    program = saxpy()
    large = replace(program, debug=DebugInfo(comments=((0, "x" * MAX_BYTES),)))
    with pytest.raises(LimitError, match="bytes"):
        large.to_bytes()


@pytest.mark.parametrize("version", [0, FORMAT_VERSION + 1, 0xFFFF])
def test_other_versions_are_named(version: int) -> None:
    data = patched(saxpy().to_bytes(), 4, struct.pack("<H", version))
    expected = f"version {version}; this release of vyre_wgpu reads versions 1 to {FORMAT_VERSION}"
    with pytest.raises(ProgramDecodeError, match=expected):
        Program.from_bytes(data)


def test_damage_is_told_from_a_later_version() -> None:
    data = bytearray(saxpy().to_bytes())
    data[30] ^= 1
    with pytest.raises(ProgramDecodeError, match="checksum at offset"):
        Program.from_bytes(data)


def test_unknown_flags_are_refused() -> None:
    with pytest.raises(ProgramDecodeError, match="flags at offset 6"):
        Program.from_bytes(patched(saxpy().to_bytes(), 6, b"\x03\x00"))


def test_trailing_bytes_are_refused() -> None:
    data = saxpy().to_bytes()
    with pytest.raises(ProgramDecodeError, match="bytes follow"):
        Program.from_bytes(sealed(data[:-CHECKSUM_BYTES] + b"\0" + data[-CHECKSUM_BYTES:]))


def test_text_that_is_not_utf8_is_refused() -> None:
    data = saxpy().to_bytes()
    with pytest.raises(ProgramDecodeError, match=r"names at offset \d+ are not UTF-8"):
        Program.from_bytes(patched(data, data.index(b"xy"), b"\xff"))


def test_second_spellings_of_a_program_are_refused() -> None:
    """An empty debug section, an unused literal, junk in a leaf of a size: nothing may hide."""
    erased = saxpy().erased_bytes
    empty_debug = struct.pack("<6I", 0, 0, 0, 0, 0, 0)
    flagged = erased[:6] + b"\x01\x00" + erased[8:-CHECKSUM_BYTES] + empty_debug + bytes(8)
    length_leaf = struct.pack("<BII", SizeOp.LENGTH, 0, 0)
    junk_at = erased.index(length_leaf) + 5
    literals_at = erased.index(struct.pack("<BII", SizeOp.LENGTH, 0, 0), junk_at) + 9
    shape = bytearray(erased[HEADER.size : HEADER.size + SHAPE.size])
    shape[24] += 1
    unused = (
        erased[: HEADER.size]
        + shape
        + erased[HEADER.size + SHAPE.size : literals_at]
        + bytes(8)
        + erased[literals_at:]
    )
    for data in (flagged, patched(erased, junk_at, b"\x01"), unused):
        with pytest.raises(ProgramDecodeError, match="not in canonical form"):
            Program.from_bytes(sealed(data))


def test_well_formed_bytes_of_an_invalid_program_are_a_validation_error() -> None:
    program = saxpy()
    dtypes = bytearray(program.table.dtype)
    dtypes[program.table.op.index(Op.MUL)] = vw.i32.code
    bad = replace(program, table=replace(program.table, dtype=bytes(dtypes)))
    with pytest.raises(ValidationError) as caught:
        Program.from_bytes(bad.to_bytes())
    assert caught.value.program == "saxpy"
    assert caught.value.codes
