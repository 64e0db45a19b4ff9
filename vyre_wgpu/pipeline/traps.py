"""Trap words and the exception they stand for.

Words hold numbers only; tag, source line and name come from the program in hand, so a shader taken
from a cache raises with the lines of the program that runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..errors import LOOP_LIMIT, BoundsTrapError, DivisionTrapError, TrapError
from ..ir.ops import Op
from ..ir.program import Program
from ..ir.types import DType, dtype_from_code
from ..wgsl.checks import DIVISIONS, MEMORY_ACCESSES
from ..wgsl.descriptor import UNKNOWN_SITE, KernelDescriptor
from .blocks import workgroups_of

__all__ = ["TrapWords", "trap_error"]

_LONG_LOOP = "its loop was ended before its condition did, by max_iterations or by the driver"
_HIDDEN_LOOP = (
    "the driver ended a loop inside an operation: vw.fmod or % of floats, ** with an integer, an "
    "atomic, or a store of a type below 32 bits"
)
_FEWER = "execute such operations less often in each lane, and use more lanes"


class TrapWords(NamedTuple):
    """The four u32 words that a trapping lane leaves.

    Attributes:
        flag: not 0 if a lane trapped.
        address: the address operand, extended to 32 bits.
        site: row of the trap statement, or of a loop that ran too long; `UNKNOWN_SITE` for a loop
            inside an operation.
        lane: linear logical index of the lane, x fastest.
    """

    flag: int
    address: int
    site: int
    lane: int


def trap_error(
    program: Program,
    descriptor: KernelDescriptor,
    words: TrapWords,
    extent: Sequence[int],
    lengths: Sequence[int] = (),
) -> TrapError:
    """The exception for a trap.

    Args:
        program: the program that was dispatched.
        descriptor: how it was launched.
        words: what the lane left.
        extent: the dispatch's extent.
        lengths: elements of every buffer, for accesses out of bounds.
    """
    table, row = program.table, words.site
    lane = _lane(words.lane, descriptor, extent)
    source, name = program.debug.source(row), program.name
    op = table.op[row] if row < len(table) else 0
    if op in MEMORY_ACCESSES:
        buffer = table.const[row]
        index_type = dtype_from_code(table.dtype[table.a[row]])
        return BoundsTrapError.of(
            program.buffers[buffer].name,
            words.address if index_type.bits == 64 else _signed(words.address, index_type),
            lengths[buffer],
            lane,
            source=source,
            program=name,
            is_low_half=index_type.bits == 64,
        )
    if op in DIVISIONS:
        return DivisionTrapError.of(lane, source=source, program=name)
    if row == UNKNOWN_SITE:
        return TrapError(LOOP_LIMIT, 0, lane, program=name, cause=_HIDDEN_LOOP, fix=_FEWER)
    if op != Op.TRAP:
        return TrapError(
            LOOP_LIMIT,
            words.address,
            lane,
            source=source,
            program=name,
            cause=_LONG_LOOP,
            fix="let each lane run fewer rounds, and use more lanes; or raise max_iterations",
        )
    address = _signed(words.address, dtype_from_code(table.dtype[table.a[row]]))
    return TrapError(program.tags[table.const[row]], address, lane, source=source, program=name)


def _signed(word: int, dtype: DType) -> int:
    return word - (1 << 32) if dtype.is_signed and word >> 31 else word


def _lane(linear: int, descriptor: KernelDescriptor, extent: Sequence[int]) -> tuple[int, ...]:
    sizes = (*extent, 1, 1)[:3]
    if descriptor.whole_workgroups:
        groups = workgroups_of(extent, descriptor.workgroup_size, descriptor.elements_per_lane)
        sizes = tuple(n * w for n, w in zip(groups, descriptor.workgroup_size, strict=True))
    lane = (linear % sizes[0], linear // sizes[0] % sizes[1], linear // sizes[0] // sizes[1])
    return lane[: descriptor.axes]
