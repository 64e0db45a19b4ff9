"""E4xx: declarations of buffers and params, and what rows may do with them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..ops import Op
from ..program import Buffer, BufferKind
from ..sizes import length_size
from .columns import Columns, ops_where
from .report import Report, quote
from .rules import MAX_NAME_BYTES
from .sizes import check_size

__all__ = ["check_access", "check_declarations"]

_STATIC = (BufferKind.CARRY, BufferKind.WORKGROUP, BufferKind.PRIVATE)

_STORE = ops_where("store")
_ATOMIC = ops_where(group="memory") & ~ops_where("load", "store")


def check_declarations(report: Report) -> None:
    """Reports wrong names, counts and flags; needs nothing of the table."""
    program = report.program
    _check_names(report)
    for index, buffer in enumerate(program.buffers):
        name = quote(buffer.name)
        if buffer.count is None:
            _check_unsized(report, buffer)
        else:
            if buffer.like is None or buffer.count != length_size(buffer.like):
                check_size(report, f"the count of {name}", buffer.count, index)
            constant = buffer.count.constant if buffer.count.nodes else None
            if buffer.kind in _STATIC and (constant is None or constant < 1):
                text = "an expression" if constant is None else str(constant)
                report.add(
                    "E406",
                    f"the count of {buffer.kind.label} buffer {name} is {text}",
                    "give an integer of at least 1, such as count=64",
                )
        if buffer.uninitialized and buffer.kind is not BufferKind.SCRATCH:
            report.add(
                "E416",
                f"{buffer.kind.label} buffer {name} is declared uninitialized",
                "only b.scratch takes uninitialized=True",
            )
        if buffer.like is not None:
            _check_like(report, index, buffer, buffer.like)


def _check_names(report: Report) -> None:
    program = report.program
    seen: set[str] = set()
    declared = [(f"{b.kind.label} buffer", b.name) for b in program.buffers]
    declared += [("param", p.name) for p in program.params]
    for what, name in declared:
        if name in seen:
            report.add(
                "E401",
                f"{what} {quote(name)} has the name of an earlier buffer or param",
                "give each buffer and param its own name",
            )
        seen.add(name)
        fault = _name_fault(name)
        if fault:
            report.add(
                "E402",
                f"{what} {quote(name)} {fault}",
                f"use 1 to {MAX_NAME_BYTES} bytes of text without NUL",
            )
    debug = program.debug
    texts: list[tuple[str, Iterable[str]]] = [
        ("local", (name for _, name in debug.names)),
        ("trap tag", program.tags),
        ("comment", (text for _, text in debug.comments)),
        ("program", (debug.name,)),
    ]
    for what, values in texts:
        for text in values:
            if not _encodable(text):
                report.add(
                    "E403",
                    f"{what} {quote(text)} holds half of a surrogate pair",
                    "decode the text properly, or remove the character",
                )


def _name_fault(name: str) -> str:
    if not name:
        return "has no name"
    if "\0" in name:
        return "has a NUL in its name"
    if not _encodable(name):
        return "has half of a surrogate pair in its name"
    length = len(name.encode())
    return f"has a name of {length} bytes" if length > MAX_NAME_BYTES else ""


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_unsized(report: Report, buffer: Buffer) -> None:
    name = quote(buffer.name)
    if buffer.kind is BufferKind.OUTPUT and buffer.like is None:
        report.add(
            "E404",
            f"nothing sizes output {name}",
            "give count=, such as count=x.length, or like=x",
        )
    elif buffer.kind is BufferKind.SCRATCH:
        report.add(
            "E405", f"nothing sizes scratch buffer {name}", "give count=, such as count=x.length"
        )
    elif buffer.kind in _STATIC:
        report.add(
            "E406",
            f"{buffer.kind.label} buffer {name} has no count",
            "give an integer of at least 1, such as count=64",
        )


def _check_like(report: Report, index: int, buffer: Buffer, like: int) -> None:
    name = quote(buffer.name)
    buffers = report.program.buffers
    fix = "give like= a storage buffer that is declared before the output"
    if buffer.kind is not BufferKind.OUTPUT:
        report.add(
            "E414",
            f"{buffer.kind.label} buffer {name} is declared like another",
            "only b.output takes like=",
        )
    elif not 0 <= like < index:
        report.add("E414", f"output {name} is like buffer number {like}, not an earlier one", fix)
    elif not buffers[like].kind.is_storage:
        other = buffers[like]
        report.add(
            "E414", f"output {name} is like {other.kind.label} buffer {quote(other.name)}", fix
        )
    elif buffer.count != length_size(like):
        report.add(
            "E414",
            f"output {name} is like {quote(buffers[like].name)} but has another count",
            "give like= without count=",
        )


def check_access(report: Report, columns: Columns) -> None:
    """Reports writes to what cannot be written so; the rows' buffers must exist."""
    kinds = np.array([*(int(buffer.kind) for buffer in report.program.buffers), 0], np.int64)
    writes = _STORE | _ATOMIC
    rows = np.flatnonzero(writes[columns.op])
    kind = kinds[columns.const[rows]]
    report.rows(
        "E415",
        rows[kind == BufferKind.READ],
        lambda row: (
            f"{_verb(columns, row, report)} read-only buffer {report.buffer(row)}",
            "declare it with b.read_write, or write to an output",
        ),
    )
    atomic = _ATOMIC[columns.op[rows]]
    report.rows(
        "E417",
        rows[atomic & (kind == BufferKind.PRIVATE)],
        lambda row: (
            f"{report.op(row)} on private buffer {report.buffer(row)}",
            "load, compute and store: no other lane sees a private array",
        ),
    )


def _verb(columns: Columns, row: int, report: Report) -> str:
    return "store to" if columns.op[row] == Op.STORE else f"{report.op(row)} on"
