"""Programs that no builder writes: a valid one with a column, a declaration or a size changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import vyre_wgpu.ir as vw
from tests.ir.rules.kernel import Kernel
from vyre_wgpu.ir.ops import Op
from vyre_wgpu.ir.program import BufferKind, Program
from vyre_wgpu.ir.sizes import SizeExpr, SizeOp, constant_size


def small() -> Program:
    """A valid program with every kind of block."""
    k = Kernel()
    left = k.b.var("left", vw.u32, k.n)
    with k.b.while_(lambda: left > 0):
        left -= 1
    with k.b.if_(k.flag):
        k.y[k.i] = k.x[k.i]
    with k.b.else_():
        k.b.trap("tag")
    with k.b.for_range(0, k.n) as j:
        k.u[j] = j
    return k.b.build()


def row_of(program: Program, op: Op, nth: int = 0) -> int:
    return [row for row, code in enumerate(program.table.op) if code == op][nth]


def edit(program: Program, column: str, row: int, value: int) -> Program:
    table = program.table
    old = getattr(table, column)
    new: Any = [*old[:row], value, *old[row + 1 :]]
    new = bytes(new) if isinstance(old, bytes) else tuple(new)
    return dataclasses.replace(program, table=dataclasses.replace(table, **{column: new}))


def edit_op(column: str, op: Op, value: int) -> Callable[[Program], Program]:
    return lambda p: edit(p, column, row_of(p, op), value)


def with_buffer(**fields: Any) -> Callable[[Program], Program]:
    """A change to the first buffer."""
    return lambda p: dataclasses.replace(
        p, buffers=(dataclasses.replace(p.buffers[0], **fields), *p.buffers[1:])
    )


def with_count(*nodes: tuple[int, int, int]) -> Callable[[Program], Program]:
    return with_buffer(count=SizeExpr(nodes))  # type: ignore[arg-type]


def with_debug(**fields: Any) -> Callable[[Program], Program]:
    return lambda p: dataclasses.replace(p, debug=dataclasses.replace(p.debug, **fields))


EDITS: list[tuple[str, str, Callable[[Program], Program]]] = [
    ("E101", "an else stands in the program itself", edit_op("op", Op.IF, Op.RETURN)),
    ("E102", "for block is not closed", lambda p: edit(p, "op", row_of(p, Op.END, 2), Op.RETURN)),
    ("E103", "no block is open", edit_op("op", Op.TRAP, Op.END)),
    ("E104", "a while has no do", edit_op("op", Op.DO, Op.RETURN)),
    ("E104", "a do stands in the else block", edit_op("op", Op.TRAP, Op.DO)),
    ("E105", "operand 1 of load", edit_op("a", Op.LOAD, 1000)),
    ("E105", "operand 2 of store", edit_op("b", Op.STORE, -7)),
    ("E106", "store in row", edit_op("b", Op.STORE, -1)),
    ("E106", "takes no operand 3", edit_op("c", Op.STORE, 0)),
    ("E107", "yields no value", lambda p: edit(p, "a", row_of(p, Op.LOAD), row_of(p, Op.WHILE))),
    ("E108", "buffer 9 of 3", edit_op("const", Op.LOAD, 9)),
    ("E108", "tag -1 of 1", edit_op("const", Op.TRAP, -1)),
    ("E108", "takes no constant", edit_op("const", Op.SUB, 0)),
    ("E109", "global_id names axis 3", edit_op("const", Op.GLOBAL_ID, 3)),
    ("E110", "2 sizes", lambda p: dataclasses.replace(p, workgroup_size=(1, 1))),
    ("E111", "confuses", lambda p: edit(p, "a", row_of(p, Op.LOAD), row_of(p, Op.VAR))),
    ("E111", "confuses", lambda p: edit(p, "a", row_of(p, Op.VAR_GET), 0)),
    ("E112", "code 250", edit_op("op", Op.LOAD, 250)),
    ("E112", "type code 99", edit_op("dtype", Op.LOAD, 99)),
    ("E113", "source locations for", with_debug(rows=(0,))),
    ("E113", "source location that does not exist", with_debug(sites=())),
    ("E113", "no let, var or for", with_debug(names=((0, "a"),))),
    ("E113", "two names", lambda p: with_debug(names=p.debug.names * 2)(p)),
    ("E113", "comment", with_debug(comments=((-1, "a"),))),
    ("E206", "load in row", edit_op("dtype", Op.LOAD, vw.u32.code)),
    ("E206", "of f32, not of no value", edit_op("dtype", Op.STORE, vw.f32.code)),
    ("E206", "of no value, not of a type", edit_op("dtype", Op.LITERAL, 0)),
    ("E403", "comment", with_debug(comments=((0, "\ud800"),))),
    ("E408", "has no nodes", with_count()),
    ("E408", "unknown operation 77", with_count((77, 0, 0))),
    ("E408", "not an earlier one", with_count((SizeOp.CONST, 1, 0), (SizeOp.ADD, 0, 1))),
    ("E409", "buffer 9 of 3", with_count((SizeOp.LENGTH, 9, 0))),
    ("E410", "length of 'u', which is not known", with_count((SizeOp.LENGTH, 2, 0))),
    ("E410", "length of 'x'", with_count((SizeOp.LENGTH, 0, 0))),
    ("E411", "param 's' of type f32", with_count((SizeOp.PARAM, 1, 0))),
    ("E411", "param 9 of 3", with_count((SizeOp.PARAM, 9, 0))),
    ("E414", "read buffer 'x' is declared like", with_buffer(like=0)),
    ("E414", "not an earlier one", with_buffer(kind=BufferKind.OUTPUT, like=0)),
    ("E416", "read buffer 'x'", with_buffer(uninitialized=True)),
    ("E419", "4 axes", lambda p: dataclasses.replace(p, extent=(constant_size(1),) * 4)),
]
