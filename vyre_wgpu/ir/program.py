"""`Program`: an immutable compute kernel as one flat operation table.

Operations stand in evaluation order; an operation's row number is the name of its value. Blocks are
ranges of rows between an opening row (``if``, ``for``, ``while``) and its ``end``, so every pass is
a loop over rows and no depth of expression or size of program meets a recursion limit.

What makes a program itself (its *erased form*: table, literals, tags, buffers, params, extent,
workgroup size) is apart from what only helps people (`DebugInfo`: names of locals, comments,
source locations, the program's name). Equality, hash and fingerprint see the former only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import xxhash

from ..errors import SourceLocation
from .hints import PROGRAM_HINTS, missing_attribute
from .ops import INFO, Op, OpInfo
from .sizes import SizeExpr
from .types import DType, dtype_from_code

__all__ = ["Buffer", "BufferKind", "DebugInfo", "Param", "Program", "Row", "Table"]


class BufferKind(IntEnum):
    """What a buffer is for; the numbers are part of the serialised form."""

    READ = 1
    READ_WRITE = 2
    OUTPUT = 3
    SCRATCH = 4
    CARRY = 5
    WORKGROUP = 6
    PRIVATE = 7

    @property
    def is_storage(self) -> bool:
        """Whether it lives in device storage and takes a binding."""
        return self <= BufferKind.CARRY

    @property
    def is_host_input(self) -> bool:
        """Whether a dispatch takes an array for it."""
        return self in (BufferKind.READ, BufferKind.READ_WRITE)

    @property
    def is_returned(self) -> bool:
        """Whether a dispatch returns an array for it."""
        return self in (BufferKind.READ_WRITE, BufferKind.OUTPUT)

    @property
    def is_writable(self) -> bool:
        """Whether a program may store to it."""
        return self is not BufferKind.READ

    @property
    def label(self) -> str:
        """The builder's name for the kind, such as ``read_write``."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Buffer:
    """One declared buffer; storage buffers are bound in declaration order.

    Attributes:
        name: its name in inputs, outputs and messages.
        kind: what it is for.
        dtype: element type.
        count: number of elements; None for a host input takes the length of the array passed.
        like: index of the buffer whose shape an output takes, or None.
        uninitialized: a scratch buffer that need not start as zeros.
    """

    name: str
    kind: BufferKind
    dtype: DType
    count: SizeExpr | None = None
    like: int | None = None
    uninitialized: bool = False


@dataclass(frozen=True, slots=True)
class Param:
    """A scalar given at each dispatch.

    Attributes:
        name: its name in ``params=``.
        dtype: its type.
    """

    name: str
    dtype: DType


class Row(NamedTuple):
    """A view of one operation, for matching and printing.

    Attributes:
        op: the operation.
        dtype: type of the value, or None.
        operands: row numbers of the operands.
        const: index of a literal, param, buffer, axis or tag, as `OpInfo.const` says; else -1.
    """

    op: Op
    dtype: DType | None
    operands: tuple[int, ...]
    const: int


@dataclass(frozen=True, slots=True)
class Table:
    """The operations, column by column; all columns have the same length.

    Attributes:
        op: operation codes (`Op`), one byte each.
        dtype: type codes (`DType.code`, 0 for no value), one byte each.
        a: row number of operand 0, or -1.
        b: row number of operand 1, or -1.
        c: row number of operand 2, or -1.
        const: constant index, or -1.
    """

    op: bytes
    dtype: bytes
    a: tuple[int, ...]
    b: tuple[int, ...]
    c: tuple[int, ...]
    const: tuple[int, ...]
    _sources: list[int] = field(default_factory=list, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.op)

    def info(self, row: int) -> OpInfo:
        """The operation-table entry of a row."""
        return INFO[self.op[row]]

    def operands(self, row: int) -> tuple[int, ...]:
        """Row numbers of a row's operands."""
        return (self.a[row], self.b[row], self.c[row])[: INFO[self.op[row]].arity]

    def value_of(self, row: int) -> int:
        """The row that a value really comes from: names given by ``let`` are looked through."""
        if self.op[row] != Op.LET:
            return row
        if not self._sources:
            # All at once: names of names of names may be as many as there are rows.
            sources = list(range(len(self.op)))
            for named, code in enumerate(self.op):
                if code == Op.LET:
                    sources[named] = sources[self.a[named]]
            self._sources[:] = sources
        return self._sources[row]

    def row(self, row: int) -> Row:
        """A view of one row."""
        code = self.dtype[row]
        return Row(
            Op(self.op[row]),
            dtype_from_code(code) if code else None,
            self.operands(row),
            self.const[row],
        )

    def rows(self) -> Iterator[Row]:
        """Views of all rows, in order."""
        return map(self.row, range(len(self)))


@dataclass(frozen=True, slots=True)
class DebugInfo:
    """What helps people and takes no part in a program's identity.

    Attributes:
        name: the program's name.
        sites: the distinct source locations that `rows` refers to.
        rows: for each row an index into `sites`, -1 if unknown. May be empty.
        names: row number to the name of a local (``let``, ``var``, ``for``).
        comments: ``(row, text)``: a comment written before that row, in order.
    """

    name: str = ""
    sites: tuple[SourceLocation, ...] = ()
    rows: tuple[int, ...] = ()
    names: tuple[tuple[int, str], ...] = ()
    comments: tuple[tuple[int, str], ...] = ()

    def source(self, row: int) -> SourceLocation | None:
        """Where a row was written, if known."""
        site = self.rows[row] if row < len(self.rows) else -1
        return self.sites[site] if site >= 0 else None


@dataclass(frozen=True, eq=False)
class Program:
    """A validated compute kernel. Made by ``ProgramBuilder.build()`` or `from_bytes`.

    Attributes:
        workgroup_size: lanes of a workgroup on x, y, z.
        buffers: in declaration order.
        params: in declaration order.
        extent: the logical number of elements on each of 1 to 3 axes.
        literals: bit patterns that literal rows refer to.
        tags: trap tags that trap rows refer to.
        table: the operations.
        debug: names, comments and locations; no part of the program's identity.
    """

    workgroup_size: tuple[int, int, int]
    buffers: tuple[Buffer, ...]
    params: tuple[Param, ...]
    extent: tuple[SizeExpr, ...]
    literals: tuple[int, ...]
    tags: tuple[str, ...]
    table: Table
    debug: DebugInfo = field(default_factory=DebugInfo)

    @property
    def name(self) -> str:
        """The program's name; empty if it has none."""
        return self.debug.name

    @property
    def inputs(self) -> tuple[Buffer, ...]:
        """The buffers that a dispatch takes arrays for, in declaration order."""
        return tuple(b for b in self.buffers if b.kind.is_host_input)

    @property
    def outputs(self) -> tuple[Buffer, ...]:
        """The buffers that a dispatch returns arrays for, in declaration order."""
        return tuple(b for b in self.buffers if b.kind.is_returned)

    @cached_property
    def erased_bytes(self) -> bytes:
        """The canonical bytes without debug information: the program's identity."""
        from .serialize import encode_erased  # that module imports this one

        return encode_erased(self)

    @cached_property
    def fingerprint(self) -> str:
        """XXH3-128 of `erased_bytes` as 32 hex digits."""
        return xxhash.xxh3_128_hexdigest(self.erased_bytes)

    def to_bytes(self) -> bytes:
        """The program in its canonical, versioned binary form, with debug information."""
        from .serialize import encode_program

        return encode_program(self)

    @staticmethod
    def from_bytes(data: bytes | bytearray | memoryview) -> Program:
        """Reads what `to_bytes` wrote, validating it; the input may be hostile.

        Raises:
            ProgramDecodeError: not such bytes, damaged, or of a later version.
            ValidationError: well-formed bytes of a program that breaks the rules of the IR.
        """
        from .deserialize import decode_program

        return decode_program(data)

    def literal_value(self, row: int) -> bool | int | float | None:
        """The number that a row stands for, through ``let``; None if it is no literal."""
        table = self.table
        row = table.value_of(row)
        if table.op[row] != Op.LITERAL:
            return None
        return dtype_from_code(table.dtype[row]).decode(self.literals[table.const[row]])

    def format_size(self, size: SizeExpr) -> str:
        """A size expression as text with this program's names."""
        return size.format([b.name for b in self.buffers], [p.name for p in self.params])

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(self, attribute: str) -> NoReturn:
            raise missing_attribute(self, attribute, PROGRAM_HINTS)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return self is other or self.erased_bytes == other.erased_bytes

    def __hash__(self) -> int:
        return hash(self.erased_bytes)

    def __str__(self) -> str:
        from .printing import format_program

        return format_program(self)

    def __repr__(self) -> str:
        return (
            f"<Program {self.name!r}: {len(self.buffers)} buffers, {len(self.params)} params, "
            f"{len(self.table)} operations>"
        )

    def __copy__(self) -> Program:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Program:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return Program.from_bytes, (self.to_bytes(),)
