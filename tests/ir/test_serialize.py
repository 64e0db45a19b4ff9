"""The binary form: lossless, canonical, and safe to read from anyone."""

from __future__ import annotations

import copy
import pickle
import random
import struct
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import vyre_wgpu.ir as vw
from tests.ir.examples import EXAMPLES, saxpy, size_expressions, traps
from vyre_wgpu.errors import LimitError
from vyre_wgpu.ir import (
    Buffer,
    BufferKind,
    DebugInfo,
    Op,
    Param,
    Program,
    ProgramBuilder,
    ProgramDecodeError,
    SizeExpr,
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
from vyre_wgpu.ir.sizes import SizeOp, constant_size
from vyre_wgpu.ir.types import ALL_DTYPES

DATA = Path(__file__).parent / "data"

every_example = pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())


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


def test_examples_use_every_operation_type_and_buffer_kind() -> None:
    programs = [example() for example in EXAMPLES.values()]
    assert {code for p in programs for code in p.table.op} == set(Op)
    assert {b.kind for p in programs for b in p.buffers} == set(BufferKind)
    assert {b.dtype for p in programs for b in p.buffers} == set(ALL_DTYPES)
    sizes = [s for p in programs for s in [*p.extent, *(b.count for b in p.buffers)] if s]
    assert {op for size in sizes for op, _, _ in size.nodes} == set(SizeOp)


# Round trips


@every_example
def test_program_survives_a_round_trip(example: Callable[[], Program]) -> None:
    program = example()
    again = Program.from_bytes(program.to_bytes())
    assert again == program
    assert hash(again) == hash(program)
    assert again.fingerprint == program.fingerprint
    assert str(again) == str(program)
    assert again.debug == program.debug
    # Not only equal as bytes: the builder's tables are canonical already.
    assert (again.table, again.literals, again.tags) == (
        program.table,
        program.literals,
        program.tags,
    )
    assert (again.buffers, again.params, again.extent) == (
        program.buffers,
        program.params,
        program.extent,
    )
    assert again.to_bytes() == program.to_bytes()


@every_example
def test_erased_bytes_are_the_program_without_debug_information(
    example: Callable[[], Program],
) -> None:
    program = example()
    erased = Program.from_bytes(program.erased_bytes)
    assert erased == program
    assert erased.debug == DebugInfo()
    assert erased.to_bytes() == program.erased_bytes


@every_example
def test_building_twice_gives_the_same_bytes(example: Callable[[], Program]) -> None:
    assert example().to_bytes() == example().to_bytes()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_keeps_program_and_debug_information(protocol: int) -> None:
    program = traps()
    again = pickle.loads(pickle.dumps(program, protocol))
    assert again == program
    assert again.debug == program.debug


def test_copies_are_equal() -> None:
    program = saxpy()
    for again in (copy.copy(program), copy.deepcopy(program)):
        assert again == program
        assert again.debug == program.debug


def test_any_buffer_of_bytes_is_read() -> None:
    program = saxpy()
    data = program.to_bytes()
    spread = bytes(byte for value in data for byte in (value, 0))
    for given in (data, bytearray(data), memoryview(data), memoryview(spread)[::2]):
        assert Program.from_bytes(given) == program


@pytest.mark.parametrize("given", ["text", None, 3, [1, 2]])
def test_other_types_are_refused_by_name(given: object) -> None:
    with pytest.raises(ProgramDecodeError, match=f"not from {type(given).__name__}"):
        Program.from_bytes(given)  # type: ignore[arg-type]


def test_released_memoryview_is_refused() -> None:
    view = memoryview(saxpy().to_bytes())
    view.release()
    with pytest.raises(ProgramDecodeError, match="memoryview"):
        Program.from_bytes(view)


# Identity


@every_example
def test_names_places_and_comments_are_no_part_of_identity(example: Callable[[], Program]) -> None:
    program = example()
    other = replace(program, debug=DebugInfo("another", comments=((0, "a comment"),)))
    assert other == program
    assert hash(other) == hash(program)
    assert other.fingerprint == program.fingerprint
    assert other.to_bytes() != program.to_bytes()


def _with_row(program: Program, first: Op, **changes: int) -> Program:
    """The program with some columns changed at the first row of an operation."""
    table = program.table
    row = table.op.index(first)
    columns: dict[str, object] = {}
    for name, value in changes.items():
        column = list(getattr(table, name))
        column[row] = value
        columns[name] = bytes(column) if name in ("op", "dtype") else tuple(column)
    return replace(program, table=replace(table, **columns))


def _with_buffer(program: Program, **changes: object) -> Program:
    first, *rest = program.buffers
    return replace(program, buffers=(replace(first, **changes), *rest))


CHANGES: dict[str, Callable[[Program], Program]] = {
    "workgroup size x": lambda p: replace(p, workgroup_size=(128, 1, 1)),
    "workgroup size z": lambda p: replace(p, workgroup_size=(256, 1, 2)),
    "extent": lambda p: replace(p, extent=(constant_size(5),)),
    "extent axes": lambda p: replace(p, extent=(*p.extent, constant_size(1))),
    "buffer name": lambda p: _with_buffer(p, name="another"),
    "buffer kind": lambda p: _with_buffer(p, kind=BufferKind.READ_WRITE),
    "buffer type": lambda p: _with_buffer(p, dtype=vw.i8),
    "buffer count": lambda p: _with_buffer(p, count=constant_size(7)),
    "buffer like": lambda p: _with_buffer(p, like=0),
    "buffer uninitialized": lambda p: _with_buffer(p, uninitialized=True),
    "one buffer more": lambda p: replace(
        p, buffers=(*p.buffers, Buffer("more", BufferKind.READ, vw.u8))
    ),
    "param name": lambda p: replace(p, params=(Param("another", vw.u32),)),
    "param type": lambda p: replace(p, params=(Param("n", vw.i32),)),
    "literal": lambda p: replace(p, literals=(p.literals[0] ^ 1, *p.literals[1:])),
    "tag": lambda p: replace(p, tags=("another", *p.tags[1:])),
    "operation": lambda p: _with_row(p, Op.ADD, op=Op.SUB),
    "result type": lambda p: _with_row(p, Op.ADD, dtype=vw.u16.code),
    "operand 0": lambda p: _with_row(p, Op.SELECT, a=0),
    "operand 1": lambda p: _with_row(p, Op.SELECT, b=0),
    "operand 2": lambda p: _with_row(p, Op.SELECT, c=0),
    "buffer of a row": lambda p: _with_row(p, Op.STORE, const=0),
    "axis of a row": lambda p: _with_row(p, Op.GLOBAL_ID, const=1),
}


def _all_parts() -> Program:
    b = ProgramBuilder()
    x = b.read("x", vw.u8)
    n = b.param("n", vw.u32)
    y = b.output("y", vw.u8, like=x)
    i = b.global_id()
    with b.if_(i > n):
        b.trap("too far", i)
    y[i] = vw.select(x[i] == 3, x[i] + 1, vw.u8(200))
    return b.build()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_every_erased_part_counts(change: Callable[[Program], Program]) -> None:
    program = _all_parts()
    other = change(program)
    assert other != program
    assert other.fingerprint != program.fingerprint


def test_unused_repeated_and_reordered_entries_do_not_count() -> None:
    program = _all_parts()
    first, *others = program.literals
    literals = (99, *others, first, first, 98)
    tags = ("never used", *program.tags)
    const = list(program.table.const)
    for row, op in enumerate(program.table.op):
        if op == Op.LITERAL:
            const[row] = literals.index(program.literals[const[row]])
        elif op == Op.TRAP:
            const[row] += 1
    table = replace(program.table, const=tuple(const))
    assert replace(program, literals=literals, tags=tags, table=table) == program


def test_junk_beyond_an_operations_arity_does_not_count() -> None:
    program = _all_parts()
    junk = _with_row(program, Op.ADD, c=2, const=7)
    assert _with_row(junk, Op.STORE, dtype=vw.u8.code) == program


def test_size_expressions_do_not_depend_on_the_order_of_building() -> None:
    def build(*, backwards: bool) -> Program:
        b = ProgramBuilder()
        n = b.param("n", vw.u32)
        if backwards:
            product, total = n * 2, n + 1
        else:
            total, product = n + 1, n * 2
        b.output("y", vw.u8, count=total - product)
        b.extent(n)
        return b.build()

    forward, backward = build(backwards=False), build(backwards=True)
    assert forward == backward
    assert forward.buffers == backward.buffers


def test_unused_size_nodes_do_not_count() -> None:
    program = size_expressions()
    nodes = program.extent[0].nodes
    moved = tuple(
        (op, a + 1, b + 1) if op not in (SizeOp.CONST, SizeOp.LENGTH, SizeOp.PARAM) else (op, a, b)
        for op, a, b in nodes
    )
    padded = SizeExpr(((SizeOp.CONST, 77, 0), *moved))
    assert replace(program, extent=(padded, *program.extent[1:])) == program


def test_programs_with_half_surrogates_have_different_bytes() -> None:
    """No such program is valid, but == must not raise or confuse two of them."""
    program = saxpy()
    one, two = (_with_buffer(program, name=name) for name in ("\ud800", "\\ud800"))
    assert one != two


def test_surrogates_in_source_paths_are_written_as_escapes() -> None:
    """A path that is no UTF-8 holds surrogates in Python; bytes with them could not be read."""
    program = saxpy()
    odd = replace(program, debug=replace(program.debug, sites=(("k\udcff.py", 1),) * 99))
    assert Program.from_bytes(odd.to_bytes()).debug.sites[0] == ("k\\udcff.py", 1)


# The frozen form of version 1


def frozen_program() -> Program:
    b = ProgramBuilder("frozen", workgroup_size=(8, 4))
    n = b.param("n", vw.i64)
    x = b.read("x", vw.u8)
    y = b.output("ÿ", vw.f32, count=vw.ceil_div(x.length, 2) * n - -5)
    b.scratch("s", vw.u32, count=9, uninitialized=True)
    i = b.let("i", b.global_id())
    b.comment("a comment")
    v = b.var("v", vw.f32, -0.5)
    with b.for_range(0, i, name="k") as k:
        v += x[k].cast(vw.f32)
    with b.if_(v > 1e9):
        b.trap("too large", i)
    y[i] = vw.fma(v, v, vw.f32(2.0))
    b.extent(x.length, 3)
    built = b.build()
    rows = tuple(row % 2 - (row == 3) for row in range(len(built.table)))
    debug = replace(built.debug, sites=(("kernel.py", 7), ("other.py", 70000)), rows=rows)
    return replace(built, debug=debug)


@pytest.mark.parametrize("form", ["full", "erased"])
def test_bytes_of_version_1_are_read_for_ever(form: str) -> None:
    program = frozen_program()
    again = Program.from_bytes((DATA / f"format_1_{form}.bin").read_bytes())
    assert again == program
    assert again.debug == (program.debug if form == "full" else DebugInfo())


def test_this_version_writes_the_frozen_bytes() -> None:
    """Fingerprints are keys of what is stored: they change with the format's version only."""
    assert FORMAT_VERSION == 1
    assert frozen_program().to_bytes() == (DATA / "format_1_full.bin").read_bytes()
    assert frozen_program().erased_bytes == (DATA / "format_1_erased.bin").read_bytes()
    assert frozen_program().fingerprint == "d4a31fe06ea24b2883f59fbcbf21745e"


# Hostile bytes


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
    bad = _with_row(saxpy(), Op.MUL, dtype=vw.i32.code)
    with pytest.raises(ValidationError) as caught:
        Program.from_bytes(bad.to_bytes())
    assert caught.value.program == "saxpy"
    assert caught.value.codes


# Large programs


def fifty_thousand_terms() -> Program:
    b = ProgramBuilder("terms")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    total = x[i]
    for k in range(50_000):
        total = total + float(k)
    y[i] = total
    return b.build()


def five_thousand_deep() -> Program:
    b = ProgramBuilder("deep")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    value = x[i]
    for _ in range(5_000):
        value = vw.sqrt(1.0 - value)
    y[i] = value
    return b.build()


def thirty_squarings() -> Program:
    b = ProgramBuilder("squarings")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    value = x[i]
    for _ in range(30):
        value = value * value
    y[i] = value
    return b.build()


@pytest.mark.parametrize("build", [fifty_thousand_terms, five_thousand_deep, thirty_squarings])
def test_large_programs_take_no_time_and_no_recursion(build: Callable[[], Program]) -> None:
    program = build()
    fresh = replace(program)
    steps: dict[str, Callable[[], object]] = {
        "write": program.to_bytes,
        "read": lambda: Program.from_bytes(program.to_bytes()),
        "compare": lambda: fresh == program,
        "hash": lambda: hash(replace(program)),
        "pickle": lambda: pickle.loads(pickle.dumps(program)) == program,
        "print": lambda: len(str(program)) < 40 * len(program.table),
    }
    for name, step in steps.items():
        start = time.perf_counter()
        assert step(), name
        assert time.perf_counter() - start < 1.0, name
