"""Programs and their text before and after a pass: what the tests of passes share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import vyre_wgpu.ir as vw
from vyre_wgpu.ir import DType, Op, Program, ProgramBuilder, Value
from vyre_wgpu.ir.passes import Draft
from vyre_wgpu.ir.validate import validate

Pass = Callable[[Draft], object]
Write = Callable[..., Any]


def after(program: Program, *passes: Pass, traps: bytes | None = None, **more: Any) -> Program:
    """The program that passes leave, which must be valid."""
    draft = Draft(program, traps, **more)
    for one in passes:
        one(draft)
    result = draft.finish().program
    assert not validate(result), f"{validate(result)[0]}\n{result}"
    return result


def body(program: Program) -> list[str]:
    """The statements of a program's text, without the indentation that all have."""
    text = str(program)
    return [line[4:] for line in text.partition("\n\n")[2].splitlines()]


def lines(text: str) -> list[str]:
    """The lines of an indented text."""
    inside = text.strip("\n").rstrip().splitlines()
    indent = len(inside[0]) - len(inside[0].lstrip()) if inside else 0
    return [line[indent:] for line in inside]


def expression(dtype: DType, write: Callable[[Value], Any]) -> Program:
    """A program that stores what ``write`` makes of a param ``p`` of a type."""
    b = ProgramBuilder()
    p = b.param("p", dtype)
    result = write(p)
    result_type = result.dtype
    y = b.output("y", result_type, count=1)
    b.extent(1)
    y[0] = result
    return b.build()


def statements(write: Write, **more: Any) -> Program:
    """A program whose statements ``write(b, i, x, y)`` records: lane, a read and a written u32."""
    b = ProgramBuilder(**more)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    write(b, b.global_id(), x, y)
    return b.build()


def again(op: Op, *operands: Value) -> Value:
    """A row of a pure operation of its own, as bytes from elsewhere have it: not shared."""
    recorder = operands[0]._recorder
    shared = recorder.operation(op, *[v._row for v in operands])
    dtype = recorder.dtype_of(shared)
    row = recorder.emit(op, dtype.code, *[v._row for v in operands])
    return Value(recorder, row, dtype)
