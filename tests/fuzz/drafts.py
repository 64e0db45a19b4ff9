"""Programs in a form that is easily changed, into wrong ones too, and back to bytes.

A `Program` cannot be made wrong by public means, and its table of columns is no pleasure to edit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from vyre_wgpu.errors import LimitError, ProgramDecodeError
from vyre_wgpu.ir import Buffer, DebugInfo, Op, Param, Program, Table

# Read well-formed bytes before any rule is applied.
from vyre_wgpu.ir.deserialize import _check_frame, _program, _Reader
from vyre_wgpu.ir.ops import OPS
from vyre_wgpu.ir.serialize import encode_program
from vyre_wgpu.ir.sizes import SizeExpr

__all__ = ["Draft", "Line", "read", "write"]


@dataclass
class Line:
    """A row: codes, operand rows, and its constant: an index, a literal's bits or a tag."""

    op: int
    dtype: int
    operands: list[int]
    const: int | str = -1


@dataclass
class Draft:
    """A program as lists."""

    workgroup_size: list[int]
    buffers: list[Buffer]
    params: list[Param]
    extent: list[SizeExpr]
    rows: list[Line]
    debug: DebugInfo = field(default_factory=DebugInfo)


def read(data: bytes) -> Draft | None:
    """The program of well-formed bytes, valid or not; None for others."""
    try:
        program = _program(_Reader(data), _check_frame(data))
    except ProgramDecodeError:
        return None
    table = program.table
    rows = []
    for row, op in enumerate(table.op):
        const: int | str = table.const[row]
        if op == Op.LITERAL:
            const = program.literals[table.const[row]]
        elif op == Op.TRAP:
            const = program.tags[table.const[row]]
        rows.append(Line(op, table.dtype[row], list(table.operands(row)), const))
    return Draft(
        list(program.workgroup_size),
        list(program.buffers),
        list(program.params),
        list(program.extent),
        rows,
        program.debug,
    )


def write(draft: Draft) -> bytes | None:
    """The bytes of a draft; None where the format cannot hold it."""
    literals: dict[int, int] = {}
    tags: dict[str, int] = {}
    consts = []
    for line in draft.rows:
        const = line.const
        if line.op == Op.LITERAL:
            const = literals.setdefault(_bits(const), len(literals))
        elif line.op == Op.TRAP:
            const = tags.setdefault(str(const), len(tags))
        consts.append(const & 0x7FFFFFFF if isinstance(const, int) and const >= 0 else -1)
    columns = []
    for place in range(3):
        columns.append(tuple(_operand(line, place) for line in draft.rows))
    table = Table(
        bytes(line.op for line in draft.rows),
        bytes(line.dtype for line in draft.rows),
        *columns,
        tuple(consts),
    )
    x, y, z = draft.workgroup_size
    program = Program(
        (x, y, z),
        tuple(draft.buffers),
        tuple(draft.params),
        tuple(draft.extent),
        tuple(literals),
        tuple(tags),
        table,
        _fitting(draft.debug, len(draft.rows)),
    )
    try:
        return encode_program(program)
    except LimitError:
        return None


def _bits(const: int | str) -> int:
    return const & (1 << 64) - 1 if isinstance(const, int) else 0


def _operand(line: Line, place: int) -> int:
    if place >= OPS[Op(line.op)].arity:
        return -1
    return line.operands[place] if place < len(line.operands) else 0


def _fitting(debug: DebugInfo, rows: int) -> DebugInfo:
    """Debug information with a location for each row, as many as the format asks for."""
    if debug.rows:
        debug = replace(debug, rows=(*debug.rows, *(-1,) * rows)[:rows])
    return replace(
        debug,
        names=tuple((row, name) for row, name in debug.names if row < rows),
        comments=tuple((row, text) for row, text in debug.comments if row <= rows),
    )
