"""Damage to program bytes that still gets past the frame, and often past the decoder.

`mutated` makes of the bytes of one program those of another, or of none. Mostly it changes rows,
declarations and sizes and encodes the result, so that validation sees programs that are wrong in
one place or not at all; else it changes bytes and mends the checksum, for the decoder to see.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from tests.fuzz.drafts import Draft, Line, read, write
from vyre_wgpu.ir import (
    Buffer,
    BufferKind,
    DebugInfo,
    Op,
    Param,
)
from vyre_wgpu.ir.ops import OPS
from vyre_wgpu.ir.serialize import CHECKSUM_BYTES, HEADER, SHAPE, checksum
from vyre_wgpu.ir.sizes import SizeExpr, SizeOp
from vyre_wgpu.ir.types import ALL_DTYPES, VOID_CODE, dtype_from_code

__all__ = ["joined", "mutated", "sealed"]

NUMBERS = (0, 1, 2, 3, 7, 31, 32, 63, 64, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32)
PATTERNS = (0, 1, 0x7F, 0x80, 0x7C00, 0x7E00, 0x7F800000, 0x7FC00000, 2**32 - 1, 2**63, 2**64 - 1)
NAMES = ("", "x", "while", "a b", "é", "\0", "\n", "\x1b[31m", "__class__", "n" * 255, "n" * 256)
CODES = tuple(dtype.code for dtype in ALL_DTYPES)
Declared = TypeVar("Declared", Buffer, Param)

FRAME = HEADER.size + SHAPE.size + CHECKSUM_BYTES


def sealed(data: bytes) -> bytes:
    """The bytes with the checksum that they should have in their last eight."""
    body = data[:-CHECKSUM_BYTES]
    return body + checksum(body)


def mutated(
    data: bytes,
    rng: random.Random,
    change_bytes: Callable[[bytes], bytes] | None = None,
) -> bytes:
    """Other bytes than those given, with a right checksum.

    Args:
        data: bytes of a program, damaged ones too.
        rng: decides.
        change_bytes: changes bytes without knowing what they mean; a simple one unless given.
    """
    draft = read(data)
    if draft is not None and rng.random() < 0.75:
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            rng.choice(CHANGES)(draft, rng)
        written = write(draft)
        if written is not None:
            data = written
        if rng.random() < 0.8:
            return data
    body = data[:-CHECKSUM_BYTES]
    changed = change_bytes(body) if change_bytes else _other_bytes(body, rng)
    return sealed(changed + bytes(max(CHECKSUM_BYTES, FRAME - len(changed))))


def joined(first: bytes, second: bytes, rng: random.Random) -> bytes:
    """The first program with rows of the second behind its own; else the first one's bytes."""
    left, right = read(first), read(second)
    if left is None or right is None:
        return first
    shift = len(left.rows)
    buffers, params = len(left.buffers), len(left.params)
    for row in right.rows:
        row.operands = [operand + shift for operand in row.operands]
        kind = OPS[Op(row.op)].const
        if kind in ("buffer", "param") and isinstance(row.const, int):
            row.const += buffers if kind == "buffer" else params
    left.rows += right.rows
    for buffer in right.buffers:
        left.buffers.append(
            replace(
                buffer,
                name=f"{buffer.name}_{buffers}",
                count=_shifted(buffer.count, buffers, params),
                like=None if buffer.like is None else buffer.like + buffers,
            )
        )
    left.params += [replace(p, name=f"{p.name}_{params}") for p in right.params]
    if rng.random() < 0.5:
        left.workgroup_size = right.workgroup_size
    return write(left) or first


def _shifted(size: SizeExpr | None, buffers: int, params: int) -> SizeExpr | None:
    """A size that speaks of later buffers and params."""
    if size is None:
        return None
    by = {SizeOp.LENGTH: buffers, SizeOp.PARAM: params}
    return SizeExpr(tuple((op, a + by.get(op, 0), b) for op, a, b in size.nodes))


# Changes of bytes


def _other_bytes(body: bytes, rng: random.Random) -> bytes:
    data = bytearray(body)
    at = rng.randrange(len(data)) if data else 0
    match rng.randrange(4):
        case 0 if data:
            data[at] ^= 1 << rng.randrange(8)
        case 1:
            data[at:at] = rng.randbytes(rng.randrange(1, 9))
        case 2:
            del data[at : at + rng.randrange(1, 9)]
        case _:
            number = rng.choice(NUMBERS) & 0xFFFFFFFF
            data[at : at + 4] = number.to_bytes(4, "little")
    return bytes(data)


# Changes of rows and declarations. Each leaves operands that are earlier rows where it easily can.


def _insert(draft: Draft, at: int, lines: list[Line]) -> None:
    """Puts lines before a row; their operands already speak of rows behind the insertion."""
    for line in draft.rows[at:]:
        line.operands = [o + len(lines) if o >= at else o for o in line.operands]
    draft.rows[at:at] = lines


def _delete(draft: Draft, start: int, end: int) -> None:
    """Takes rows out; who used one of them uses the row before."""
    gone = end - start
    for line in draft.rows[end:]:
        line.operands = [
            o - gone if o >= end else max(start - 1, 0) if o >= start else o for o in line.operands
        ]
    del draft.rows[start:end]


def _some_row(draft: Draft, rng: random.Random) -> int:
    return rng.randrange(len(draft.rows)) if draft.rows else 0


def _earlier(draft: Draft, rng: random.Random, at: int, dtype: int | None = None) -> int:
    """A row before another, of the type if there is one."""
    fitting = [row for row in range(at) if draft.rows[row].dtype == dtype]
    if fitting and rng.random() < 0.9:
        return rng.choice(fitting)
    return rng.randrange(at) if at else 0


def _nest(draft: Draft, row: int) -> tuple[int, int]:
    """The rows from a row that opens a block to the one that closes it, or the row alone."""
    depth = 0
    for at in range(row, len(draft.rows)):
        op = draft.rows[at].op
        depth += (op in (Op.IF, Op.FOR, Op.WHILE)) - (op == Op.END)
        if depth <= 0:
            return row, at + 1
    return row, row + 1


def change_op(draft: Draft, rng: random.Random) -> None:
    if not draft.rows:
        return
    line = draft.rows[_some_row(draft, rng)]
    info = OPS[Op(line.op)]
    alike = [op for op, other in OPS.items() if other.operands == info.operands]
    line.op = int(rng.choice(alike if rng.random() < 0.8 else list(OPS)))
    line.dtype = _dtype_for(line, rng)


def _dtype_for(line: Line, rng: random.Random) -> int:
    if OPS[Op(line.op)].result == "void":
        return VOID_CODE
    return line.dtype or rng.choice(CODES)


def change_dtype(draft: Draft, rng: random.Random) -> None:
    """One row's type, or everywhere one type for another."""
    if not draft.rows:
        return
    old, new = draft.rows[_some_row(draft, rng)].dtype, rng.choice(CODES)
    if rng.random() < 0.3:
        line = draft.rows[_some_row(draft, rng)]
        line.dtype = new if line.dtype else line.dtype
        return
    for line in draft.rows:
        line.dtype = new if line.dtype == old != VOID_CODE else line.dtype
    draft.buffers = [_retyped(b, old, new) for b in draft.buffers]
    draft.params = [_retyped(p, old, new) for p in draft.params]


def _retyped(declared: Declared, old: int, new: int) -> Declared:
    if declared.dtype.code != old:
        return declared
    return replace(declared, dtype=dtype_from_code(new))


def change_operand(draft: Draft, rng: random.Random) -> None:
    at = _some_row(draft, rng)
    if at and draft.rows[at].operands:
        line = draft.rows[at]
        place = rng.randrange(len(line.operands))
        line.operands[place] = _earlier(draft, rng, at, draft.rows[line.operands[place] % at].dtype)


def change_const(draft: Draft, rng: random.Random) -> None:
    holders = [line for line in draft.rows if OPS[Op(line.op)].const]
    if not holders:
        return
    line = rng.choice(holders)
    match OPS[Op(line.op)].const:
        case "literal":
            width = dtype_from_code(line.dtype).bits if line.dtype else 64
            line.const = rng.choice((*PATTERNS, *NUMBERS)) & (1 << width) - 1
        case "buffer":
            line.const = rng.randrange(max(len(draft.buffers), 1))
        case "param":
            line.const = rng.randrange(max(len(draft.params), 1))
        case "axis":
            line.const = rng.randrange(3)
        case _:
            line.const = rng.choice(NAMES)


def delete_rows(draft: Draft, rng: random.Random) -> None:
    if draft.rows:
        start, end = _nest(draft, _some_row(draft, rng))
        _delete(draft, start, end if rng.random() < 0.8 else start + 1)


def repeat_rows(draft: Draft, rng: random.Random) -> None:
    """A copy of some rows, or of a block, once or many times."""
    if not draft.rows:
        return
    start = _some_row(draft, rng)
    start, end = _nest(draft, start) if rng.random() < 0.7 else (start, start + rng.randrange(1, 9))
    end = min(end, len(draft.rows))
    for _ in range(rng.choice((1, 1, 2, 30))):
        if len(draft.rows) > 3000:
            return
        copied = [replace(line, operands=list(line.operands)) for line in draft.rows[start:end]]
        for line in copied:
            line.operands = [o + end - start if o >= start else o for o in line.operands]
        _insert(draft, end, copied)
        start, end = end, end + end - start


def insert_statement(draft: Draft, rng: random.Random) -> None:
    at = rng.randrange(len(draft.rows) + 1)
    op = rng.choice((Op.BARRIER, Op.RETURN, Op.BREAK, Op.CONTINUE, Op.END, Op.ELSE, Op.TRAP, Op.DO))
    operands = [_earlier(draft, rng, at, 1 if op == Op.DO else 7) for _ in OPS[op].operands]
    _insert(draft, at, [Line(int(op), VOID_CODE, operands, "t" if op == Op.TRAP else -1)])


def insert_value(draft: Draft, rng: random.Random) -> None:
    """An operation over values that are there."""
    at = rng.randrange(len(draft.rows) + 1)
    op = rng.choice(list(OPS))
    dtype = draft.rows[_some_row(draft, rng)].dtype if draft.rows else 7
    operands = [_earlier(draft, rng, at, dtype) for _ in OPS[op].operands]
    line = Line(int(op), dtype, operands, 0 if OPS[op].const else -1)
    line.dtype = _dtype_for(line, rng)
    _insert(draft, at, [line])


def wrap_in_block(draft: Draft, rng: random.Random) -> None:
    """Puts rows into an ``if``, ``for`` or ``while``, or into many of them."""
    start = _some_row(draft, rng)
    _, end = _nest(draft, start)
    end = min(end, len(draft.rows))
    for _ in range(rng.choice((1, 1, 1, 3, 70))):
        match rng.randrange(3):
            case 0:
                opening = [Line(int(Op.IF), VOID_CODE, [_earlier(draft, rng, start, 1)])]
            case 1:
                dtype = rng.choice((6, 7))
                bounds = [_earlier(draft, rng, start, dtype) for _ in range(3)]
                opening = [Line(int(Op.FOR), dtype, bounds)]
            case _:
                condition = _earlier(draft, rng, start, 1)
                opening = [
                    Line(int(Op.WHILE), VOID_CODE, []),
                    Line(int(Op.DO), VOID_CODE, [condition]),
                ]
        _insert(draft, end, [Line(int(Op.END), VOID_CODE, [])])
        _insert(draft, start, opening)
        end += len(opening) + 1


def swap_rows(draft: Draft, rng: random.Random) -> None:
    at = _some_row(draft, rng)
    if at:
        draft.rows[at - 1], draft.rows[at] = draft.rows[at], draft.rows[at - 1]


def _size(draft: Draft, rng: random.Random) -> SizeExpr:
    nodes: list[tuple[SizeOp, int, int]] = []
    for _ in range(rng.choice((1, 1, 3, 6))):
        op = rng.choice(list(SizeOp)) if len(nodes) > 1 else SizeOp(rng.randrange(1, 4))
        if op is SizeOp.CONST:
            nodes.append((op, rng.choice((*NUMBERS, -1, -(2**63), 2**63 - 1)), 0))
        elif op is SizeOp.LENGTH:
            nodes.append((op, rng.randrange(max(len(draft.buffers), 1)), 0))
        elif op is SizeOp.PARAM:
            nodes.append((op, rng.randrange(max(len(draft.params), 1)), 0))
        else:
            nodes.append((op, rng.randrange(len(nodes)), rng.randrange(len(nodes))))
    return SizeExpr(tuple(nodes))


def change_buffer(draft: Draft, rng: random.Random) -> None:
    if not draft.buffers or rng.random() < 0.1:
        draft.buffers.append(Buffer(f"b{len(draft.buffers)}", BufferKind.READ, ALL_DTYPES[6]))
        return
    at = rng.randrange(len(draft.buffers))
    buffer = draft.buffers[at]
    match rng.randrange(6):
        case 0:
            buffer = replace(buffer, kind=rng.choice(list(BufferKind)))
        case 1:
            buffer = replace(buffer, dtype=rng.choice(ALL_DTYPES))
        case 2:
            buffer = replace(buffer, count=rng.choice((None, _size(draft, rng))))
        case 3:
            buffer = replace(buffer, like=rng.choice((None, rng.randrange(len(draft.buffers)))))
        case 4:
            buffer = replace(buffer, uninitialized=not buffer.uninitialized)
        case _:
            buffer = replace(buffer, name=rng.choice(NAMES))
    draft.buffers[at] = buffer


def change_params(draft: Draft, rng: random.Random) -> None:
    param = Param(rng.choice(("", f"p{len(draft.params)}", *NAMES)), rng.choice(ALL_DTYPES))
    if draft.params and rng.random() < 0.7:
        draft.params[rng.randrange(len(draft.params))] = param
    else:
        draft.params.append(param)


def change_launch(draft: Draft, rng: random.Random) -> None:
    if rng.random() < 0.5:
        draft.workgroup_size[rng.randrange(3)] = rng.choice(NUMBERS) & 0xFFFFFFFF
    else:
        draft.extent = [_size(draft, rng) for _ in range(rng.randrange(4))]


def change_debug(draft: Draft, rng: random.Random) -> None:
    rows = len(draft.rows)
    debug = draft.debug
    match rng.randrange(5):
        case 0:
            debug = replace(debug, name=rng.choice(NAMES))
        case 1:
            at = rng.randrange(rows + 1)
            debug = replace(debug, comments=(*debug.comments, (at, rng.choice(NAMES))))
        case 2:
            named = {_some_row(draft, rng): rng.choice(NAMES), **dict(debug.names)}
            debug = replace(debug, names=tuple(named.items()))
        case 3:
            sites = (("f.py", rng.choice(NUMBERS) & 0xFFFFFFFF), ("g.py", 2))
            debug = replace(
                debug, sites=sites, rows=tuple(rng.randrange(-1, 2) for _ in range(rows))
            )
        case _:
            debug = DebugInfo()
    draft.debug = debug


CHANGES: tuple[Callable[[Draft, random.Random], None], ...] = (
    change_op,
    change_op,
    change_dtype,
    change_operand,
    change_operand,
    change_const,
    delete_rows,
    repeat_rows,
    insert_statement,
    insert_value,
    insert_value,
    wrap_in_block,
    swap_rows,
    change_buffer,
    change_params,
    change_launch,
    change_debug,
)
