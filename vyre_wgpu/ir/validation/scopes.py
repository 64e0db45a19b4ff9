"""E3xx: values are used where they are known, and names of locals mean one thing."""

from __future__ import annotations

import numpy as np

from ..blocks import Blocks
from ..ops import Op
from .columns import Columns
from .report import Report, quote

__all__ = ["check_scopes"]


def check_scopes(report: Report, columns: Columns, blocks: Blocks) -> None:
    """Reports uses outside of the value's block, and names that are taken."""
    ends = np.array(blocks.end, np.int64)[blocks.scope]
    rows = np.arange(len(columns))
    for operand in columns.operands:
        used = operand >= 0
        outside = used & (ends[np.where(used, operand, 0)] <= rows) if len(rows) else used
        report.rows(
            "E302",
            np.flatnonzero(outside),
            lambda row, operand=operand: _outside(report, int(operand[row])),  # type: ignore[misc]
        )
    _check_names(report, ends.tolist())


def _outside(report: Report, value: int) -> tuple[str, str]:
    op = report.program.table.op[value]
    source = report.source(value)
    at = f" (computed at line {source[1]})" if source else ""
    if op == Op.FOR:
        return (
            f"the loop index {report.local(value)} is used outside its loop"
            if value in report.names
            else "a loop index is used outside its loop"
        ) + at, "declare a variable with b.var before the loop and set it inside"
    if op == Op.VAR:
        return (
            f"variable {report.local(value)} is used outside its block{at}",
            "declare it with b.var before the block",
        )
    variable = _variable_in(report, value)
    if variable >= 0:
        return (
            f"{report.value(value)} is used outside the block that computes it{at}",
            f"assign to {report.local(variable)} with v += ... or v.set(...): "
            "v = v + ... makes the Python name v mean another value",
        )
    return (
        f"{report.value(value)} is used outside the block that computes it{at}",
        "compute it before the block, or declare a variable with b.var there and set it inside",
    )


def _variable_in(report: Report, value: int) -> int:
    """The variable that a value is computed of directly, as in ``t = t + x[i]``; -1 if of none."""
    table = report.program.table
    for operand in table.operands(value):
        if table.op[operand] == Op.VAR_GET:
            return table.a[operand]
    return -1


def _check_names(report: Report, ends: list[int]) -> None:
    program = report.program
    taken = {buffer.name: "a buffer" for buffer in program.buffers}
    taken.update({param.name: "a param" for param in program.params})
    still_open: dict[str, int] = {}
    for row, name in sorted(program.debug.names):
        if not 0 <= row < len(ends):
            continue
        if name in taken:
            report.add(
                "E304",
                f"local {quote(name)} has the name of {taken[name]}",
                "give the local another name",
                row,
            )
        if still_open.get(name, -1) > row:
            report.add(
                "E303",
                f"local {quote(name)} has the name of another local of an enclosing block or "
                "earlier in its own",
                "give one of them another name; to change a variable use its set()",
                row,
            )
        still_open[name] = max(still_open.get(name, -1), ends[row])
