"""The binary form: lossless, and one byte string for each program."""

from __future__ import annotations

import copy
import pickle
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import vyre_wgpu.ir as vw
from tests.ir.examples import EXAMPLES, saxpy, size_expressions, traps
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
)
from vyre_wgpu.ir.serialize import FORMAT_VERSION
from vyre_wgpu.ir.sizes import SizeOp, constant_size
from vyre_wgpu.ir.types import ALL_DTYPES

DATA = Path(__file__).parent / "data"

every_example = pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())


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
