"""E4xx: size expressions and the extent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..program import Buffer, Table
from ..sizes import MAX_ELEMENTS, SizeExpr, SizeOp, length_size
from .columns import ops_where
from .report import Report, quote

__all__ = ["check_extent", "check_size", "infer_extent"]

_LEAVES = (SizeOp.CONST, SizeOp.LENGTH, SizeOp.PARAM)
_DIVISIONS = (SizeOp.FLOOR_DIV, SizeOp.CEIL_DIV, SizeOp.MOD)
_OPERATIONS = frozenset(SizeOp)
_AXIS = ops_where(const="axis")
_MAX_AXES = 3


def check_size(report: Report, what: str, size: SizeExpr, buffer: int | None) -> None:
    """Reports what is wrong in a size expression.

    Args:
        report: takes the problems.
        what: names the size in messages.
        size: the expression.
        buffer: the number of the buffer whose count it is; None for the extent.
    """
    if not size.nodes:
        report.add("E408", f"{what} has no nodes", "build the program again")
        return
    for index, (op, a, b) in enumerate(size.nodes):
        if op not in _OPERATIONS:
            report.add("E408", f"{what} has an unknown operation {op}", "build the program again")
        elif op == SizeOp.CONST:
            if not -(1 << 63) <= a < 1 << 63:
                report.add(
                    "E413", f"{what} has a constant of more than 64 bits", "use a smaller constant"
                )
        elif op == SizeOp.LENGTH:
            _check_length(report, what, a, buffer)
        elif op == SizeOp.PARAM:
            _check_param(report, what, a)
        elif not (0 <= a < index and 0 <= b < index):
            report.add(
                "E408", f"{what} uses a node that is not an earlier one", "build the program again"
            )
        elif op in _DIVISIONS and size.nodes[b][:2] == (SizeOp.CONST, 0):
            report.add("E412", f"{what} divides by the constant 0", "divide by another number")
    constant = size.constant
    if constant is not None and not 0 <= constant <= MAX_ELEMENTS:
        report.add(
            "E407" if buffer is not None else "E420",
            f"{what} is {constant}",
            f"give a number from 0 to {MAX_ELEMENTS}",
        )


def _check_length(report: Report, what: str, index: int, counted: int | None) -> None:
    buffers = report.program.buffers
    if not 0 <= index < len(buffers):
        report.add(
            "E409", f"{what} uses the length of buffer {index} of {len(buffers)}", "build it again"
        )
        return
    buffer = buffers[index]
    if not buffer.kind.is_storage:
        report.add(
            "E409",
            f"{what} uses the length of {buffer.kind.label} buffer {quote(buffer.name)}",
            "write the number itself: the length of such a buffer is a constant",
        )
    elif counted is not None and index >= counted:
        given = buffer.kind.is_host_input and buffer.count is None
        if not given or index == counted:
            report.add(
                "E410",
                f"{what} uses the length of {quote(buffer.name)}, which is not known before it",
                "declare that buffer first",
            )


def _check_param(report: Report, what: str, index: int) -> None:
    params = report.program.params
    if not 0 <= index < len(params):
        report.add("E411", f"{what} uses param {index} of {len(params)}", "build it again")
    elif not params[index].dtype.is_integer:
        report.add(
            "E411",
            f"{what} uses param {quote(params[index].name)} of type {params[index].dtype}",
            "declare the param as an integer, such as vw.u32",
        )


def check_extent(report: Report) -> None:
    """Reports a missing or wrong extent."""
    program = report.program
    if not program.extent:
        _, why = _inferred(program.buffers, program.table)
        if why is not None:
            report.add(
                "E418",
                f"the program needs an extent: {why}",
                "say how many lanes run: b.extent(x.length), b.extent(width, height), ...",
            )
        return
    if len(program.extent) > _MAX_AXES:
        report.add("E419", f"the extent has {len(program.extent)} axes", "give at most three axes")
    for axis, size in enumerate(program.extent[:_MAX_AXES]):
        check_size(report, f"axis {axis} of the extent", size, None)


def infer_extent(buffers: Sequence[Buffer], table: Table) -> tuple[SizeExpr, ...] | None:
    """The extent that a program may omit: the one length of all it returns.

    That is so if the program reads no id of axis 1 or 2, and the counts of all returned buffers are
    the length of one and the same host input: by ``count=`` or ``like=``, also by way of other
    buffers, or because it is that input. Else None.
    """
    index, _ = _inferred(buffers, table)
    return None if index is None else (length_size(index),)


def _inferred(buffers: Sequence[Buffer], table: Table) -> tuple[int | None, str | None]:
    """The host input whose length is the extent, or why there is none.

    The reason is None where another rule reports it: a returned buffer without a size.
    """
    op = np.frombuffer(table.op, np.uint8)
    axes = np.array(table.const, np.int64)[_AXIS[op]]
    if (axes > 0).any():
        return None, "it reads ids of more than one axis"
    roots = _roots(buffers)
    found: tuple[int, str] | None = None
    for buffer, root in zip(buffers, roots, strict=True):
        if not buffer.kind.is_returned:
            continue
        name = quote(buffer.name)
        if root is None:
            unsized = buffer.count is None or not buffer.count.nodes
            why = f"the count of {name} is not the length of one input"
            return None, None if unsized else why
        if found is not None and found[0] != root:
            return None, f"{found[1]} and {name} go by different inputs"
        found = found or (root, name)
    if found is None:
        return None, "it returns no buffer"
    return found[0], "it has none"


def _roots(buffers: Sequence[Buffer]) -> list[int | None]:
    """For each buffer the host input whose length its own is, if it is that of one."""
    roots: list[int | None] = []
    for index, buffer in enumerate(buffers):
        root: int | None = None
        if buffer.count is None:
            root = index if buffer.kind.is_host_input else None
        elif buffer.count.nodes:
            source = buffer.count.single_length
            if source is not None and 0 <= source < index:
                given = buffers[source].kind.is_host_input
                root = roots[source] if roots[source] is not None or not given else source
        roots.append(root)
    return roots
