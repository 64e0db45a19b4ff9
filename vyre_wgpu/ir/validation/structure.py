"""E1xx: the table is well-formed, so that whatever reads it later can follow its numbers.

These checks assume nothing about operands, constants and blocks. All others rely on them.
"""

from __future__ import annotations

import numpy as np

from ..blocks import Blocks, find_blocks
from ..ops import OPS, Op
from ..types import VOID_CODE
from .columns import ARITY, Columns, Mask, ops_where
from .report import DTYPE_NAMES, Report

__all__ = ["check_structure"]

_KNOWN = ops_where(*(info.name for info in OPS.values()))
_KNOWN_DTYPE = np.zeros(256, np.bool_)
_KNOWN_DTYPE[[VOID_CODE, *DTYPE_NAMES]] = True
_VOID = ops_where(result="void")
_TAKES_VARIABLE = ops_where("get", "assign")
_AXIS = ops_where(const="axis")
_LOCAL = ops_where("let", "var", "for")
_CONSTANTS = {kind: ops_where(const=kind) for kind in ("literal", "param", "buffer", "tag")}
_WITHOUT_CONSTANT = _KNOWN & ~_AXIS & ~np.logical_or.reduce(list(_CONSTANTS.values()))

_REBUILD = "the bytes are damaged or were not written by this library: build the program again"


def check_structure(report: Report, columns: Columns) -> Blocks | None:
    """Reports what is malformed; the blocks if nothing is that other checks rely on."""
    sizes = report.program.workgroup_size
    if len(sizes) != 3 or min(sizes) < 1:
        report.add(
            "E110",
            f"workgroup_size is {tuple(sizes)}, with a size below 1"
            if len(sizes) == 3
            else f"workgroup_size has {len(sizes)} sizes, not three",
            "give at least one lane on each axis, such as workgroup_size=256",
        )
    _check_debug(report, columns)
    unknown = ~_KNOWN[columns.op] | ~_KNOWN_DTYPE[columns.dtype]
    if unknown.any():
        report.rows("E112", np.flatnonzero(unknown), lambda row: _unknown(columns, row))
        return None
    sound = _check_operands(report, columns)
    sound &= _check_constants(report, columns)
    blocks, faults = find_blocks(report.program.table.op)
    for fault in faults:
        report.add(fault.code, fault.message, _REBUILD, fault.row)
    return blocks if sound and not faults else None


def _unknown(columns: Columns, row: int) -> tuple[str, str]:
    return (
        f"row {row} has operation code {columns.op[row]} and type code {columns.dtype[row]}, "
        "not both known",
        "use a version of this library that knows them",
    )


def _check_operands(report: Report, columns: Columns) -> bool:
    """Whether operands are there, are earlier rows, and yield what is asked for."""
    rows = np.arange(len(columns))
    arity = ARITY[columns.op]
    is_variable = columns.op == Op.VAR
    yields = ~_VOID[columns.op]
    sound = True
    for position, operand in enumerate(columns.operands):
        taken = position < arity
        present = operand >= 0
        inside = taken & present & (operand < rows)
        target = np.where(inside, operand, 0)

        def check(code: str, bad: Mask, message: str, position: int = position) -> bool:
            where = np.flatnonzero(bad)
            report.rows(
                code,
                where,
                lambda row: (
                    message.format(op=report.op(row), row=row, n=position + 1),
                    _REBUILD,
                ),
            )
            return len(where) == 0

        sound &= check("E106", taken & (operand == -1), "{op} in row {row} lacks operand {n}")
        sound &= check("E106", ~taken & (operand != -1), "{op} in row {row} takes no operand {n}")
        sound &= check(
            "E105",
            taken & (operand != -1) & ~inside,
            "operand {n} of {op} in row {row} is not an earlier row",
        )
        sound &= check(
            "E107",
            inside & ~yields[target],
            "operand {n} of {op} in row {row} is a row that yields no value",
        )
        wants = _TAKES_VARIABLE[columns.op] & (position == 0)
        gets = is_variable[target]
        sound &= check(
            "E111",
            inside & yields[target] & (wants != gets),
            "operand {n} of {op} in row {row} confuses a variable with its value",
        )
    return sound


def _check_constants(report: Report, columns: Columns) -> bool:
    program = report.program
    sizes = {
        "literal": len(program.literals),
        "param": len(program.params),
        "buffer": len(program.buffers),
        "tag": len(program.tags),
    }
    sound = True
    for kind, mask in _CONSTANTS.items():
        size = sizes[kind]
        bad = mask[columns.op] & ((columns.const < 0) | (columns.const >= size))
        sound &= not bad.any()
        report.rows(
            "E108",
            np.flatnonzero(bad),
            lambda row, kind=kind, size=size: (  # type: ignore[misc]
                f"{report.op(row)} in row {row} refers to {kind} {columns.const[row]} of {size}",
                _REBUILD,
            ),
        )
    extra = _WITHOUT_CONSTANT[columns.op] & (columns.const != -1)
    report.rows(
        "E108",
        np.flatnonzero(extra),
        lambda row: (f"{report.op(row)} in row {row} takes no constant", _REBUILD),
    )
    axis = _AXIS[columns.op] & ((columns.const < 0) | (columns.const > 2))
    report.rows(
        "E109",
        np.flatnonzero(axis),
        lambda row: (f"{report.op(row)} names axis {columns.const[row]}", "use axis 0, 1 or 2"),
    )
    return sound and not extra.any()


def _check_debug(report: Report, columns: Columns) -> None:
    debug, rows = report.program.debug, len(columns)
    faults = []
    if len(debug.rows) not in (0, rows):
        faults.append(f"there are {len(debug.rows)} source locations for {rows} rows")
    if debug.rows and not -1 <= min(debug.rows) <= max(debug.rows) < len(debug.sites):
        faults.append("a row refers to a source location that does not exist")
    named = [row for row, _ in debug.names]
    if len(set(named)) != len(named):
        faults.append("a row has two names")
    if any(not 0 <= row < rows or not _LOCAL[columns.op[row]] for row in named):
        faults.append("a name belongs to no let, var or for row")
    if any(not 0 <= row <= rows for row, _ in debug.comments):
        faults.append("a comment stands at no row")
    for fault in faults:
        report.add("E113", f"in the debug information, {fault}", _REBUILD)
