"""E5xx and E6xx: leaving loops, meeting at barriers, and the limits on a program's size."""

from __future__ import annotations

import numpy as np

from ..blocks import Blocks
from ..ops import OPS, Op
from ..uniformity import Uniformity, spread
from .columns import Columns, ops_where
from .report import Report
from .rules import MAX_BINDINGS, MAX_NESTING, MAX_OPERATIONS, MAX_ROWS, MAX_WORKGROUP_AXIS

__all__ = ["check_flow", "check_limits"]

_SUBGROUP = ops_where(group="subgroup")
_COLLECTIVE = _SUBGROUP | ops_where("barrier")
_COUNTED = ops_where(*(i.name for i in OPS.values() if i.group not in ("leaf", "name")))
_SOURCE_GROUP = ops_where(group="memory") | _SUBGROUP
_LONGEST_WAY = 1_000
_UNIFORM = "literals, params, lengths and workgroup ids"
_COUNTED[[Op.END, Op.ELSE, Op.DO, Op.LOAD, Op.STORE]] = False


def exceeds_rows(report: Report) -> bool:
    """Reports a table so long that nothing else about it is worth the time."""
    rows = len(report.program.table)
    if rows > MAX_ROWS:
        report.add(
            "E601",
            f"the program has {rows} rows, more than {MAX_ROWS}",
            "use a loop instead of writing out its iterations, or split the program",
        )
    return rows > MAX_ROWS


def check_flow(report: Report, columns: Columns, blocks: Blocks) -> None:
    """Reports leaps out of nowhere, lanes that may not meet, and loops that never step."""
    leaps = np.flatnonzero((columns.op == Op.BREAK) | (columns.op == Op.CONTINUE))
    for row in leaps.tolist():
        loop = blocks.loop[blocks.flow[row]]
        if loop < 0:
            report.add(
                "E501",
                f"{report.op(row)} stands outside of any loop",
                "move it into a b.for_range or b.while_ block; b.return_() ends the lane",
                row,
            )
        elif row < blocks.do[loop]:
            report.add(
                "E502",
                f"{report.op(row)} stands in the condition of its while",
                "make the condition false instead, or move it into the loop's body",
                row,
            )
    if _COLLECTIVE[columns.op].any():
        _check_meeting(report, columns, blocks)
    steps = np.flatnonzero(columns.op == Op.FOR)
    for row, step in zip(steps.tolist(), columns.operands[2][steps].tolist(), strict=True):
        if columns.op[step] == Op.LITERAL:
            bits = report.program.literals[columns.const[step]]
            if bits == 0:
                report.add(
                    "E505",
                    f"the step of {_loop(report, row)} is 0",
                    "give a step other than 0, or use b.while_",
                    row,
                )


def _loop(report: Report, row: int) -> str:
    return f"the loop over {report.local(row)}" if row in report.names else "a loop"


def _check_meeting(report: Report, columns: Columns, blocks: Blocks) -> None:
    """Barriers and subgroup operations, which all lanes of a workgroup must reach together."""
    uniformity = spread(report.program.table, blocks)
    apart = _COLLECTIVE[columns.op] & (np.frombuffer(uniformity.flow, np.uint8) == 0)
    barriers = columns.op == Op.BARRIER
    report.rows(
        "E503",
        np.flatnonzero(apart & barriers),
        lambda row: _apart(
            report, blocks, uniformity, row, "a barrier", "move it out of that block"
        ),
    )
    report.rows(
        "E504",
        np.flatnonzero(apart & ~barriers),
        lambda row: _apart(
            report,
            blocks,
            uniformity,
            row,
            report.op(row),
            "compute it before that block and use the result inside",
        ),
    )


def _apart(
    report: Report, blocks: Blocks, uniformity: Uniformity, row: int, what: str, fix: str
) -> tuple[str, str]:
    """Message and fix for a row that lanes may not reach together."""
    table = report.program.table
    block = int(blocks.flow[row])
    while not uniformity.flow[blocks.opener[block]]:
        block = blocks.parent[block]
    opener = blocks.opener[block]
    deciding = [row for row in table.operands(opener) if not uniformity.value[row]]
    if table.op[opener] == Op.WHILE and not uniformity.value[table.a[blocks.do[block]]]:
        deciding = [table.a[blocks.do[block]]]
    kind = Op(blocks.kind[block]).name.lower()
    where = f"in the {kind} block{_line(report, ' of line', opener)}"
    if not deciding:
        return (
            f"{what} stands {where}, which lanes of a workgroup break, continue or end at "
            "different times",
            f"{fix}, or make what decides that depend on {_UNIFORM} only",
        )
    origin = _origin(report, uniformity, deciding[0])
    cause, remedy = report.value(origin), f"make what decides depend on {_UNIFORM} only"
    if table.op[origin] == Op.VAR_GET:
        remedy = f"set {cause} from {_UNIFORM} only, where all lanes come, before it"
        setting = uniformity.cause(origin)
        is_same = table.op[setting] == Op.ASSIGN and uniformity.value[table.b[setting]]
        cause += _line(report, f", as set {'by some lanes ' if is_same else ''}on line", setting)
    return (
        f"{what} stands {where}, which goes by {cause}: lanes of a workgroup may differ there",
        f"{fix}, or {remedy}",
    )


def _line(report: Report, words: str, row: int) -> str:
    """Words and the line of a row; nothing if it is unknown."""
    source = report.source(row)
    return f"{words} {source[1]}" if source else ""


def _origin(report: Report, uniformity: Uniformity, row: int) -> int:
    """A row that makes another one differ from lane to lane: back along its operands, a way."""
    table = report.program.table
    for _ in range(_LONGEST_WAY):
        if table.op[row] in (Op.LET, Op.FOR) and row in report.names:
            break
        varying = [x for x in table.operands(row) if not uniformity.value[x]]
        if table.op[row] == Op.VAR_GET or _SOURCE_GROUP[table.op[row]] or not varying:
            break
        row = varying[0]
    return row


def check_limits(report: Report, columns: Columns, blocks: Blocks | None) -> None:
    """Reports what is larger than any program may be."""
    program = report.program
    operations = int(np.count_nonzero(_COUNTED[columns.op]))
    if operations > MAX_OPERATIONS:
        report.add(
            "E601",
            f"the program has {operations} operations, more than {MAX_OPERATIONS}",
            "use a loop instead of writing out its iterations, or split the program",
        )
    bindings = len(program.buffers) + len(program.params)
    if bindings > MAX_BINDINGS:
        report.add(
            "E603",
            f"the program has {bindings} buffers and params, more than {MAX_BINDINGS}",
            "put values of one type into one buffer",
        )
    large = [size for size in program.workgroup_size if size > MAX_WORKGROUP_AXIS]
    if large:
        report.add(
            "E604",
            f"workgroup_size {tuple(program.workgroup_size)} has an axis of {large[0]} lanes",
            f"give at most {MAX_WORKGROUP_AXIS}; adapters take 256 to 1024 in all",
        )
    if blocks is not None:
        for block, depth in enumerate(blocks.depth):
            # Only the first block of each nest that goes too deep.
            if depth == MAX_NESTING + 1:
                report.add(
                    "E602",
                    f"blocks are nested more than {MAX_NESTING} deep",
                    "instead of a chain of else blocks use vw.select, or a loop over a table of "
                    "cases; join the conditions of ifs inside each other with &",
                    blocks.opener[block],
                )
