"""What a program can see of how it is launched."""

from __future__ import annotations

from .ops import INFO, Op
from .program import BufferKind, Program

__all__ = ["observes_workgroup"]

_LANE_SHAPE = frozenset(
    {
        Op.BARRIER,
        Op.LOCAL_ID,
        Op.WORKGROUP_ID,
        Op.NUM_WORKGROUPS,
        Op.SUBGROUP_SIZE,
        Op.SUBGROUP_LANE,
    }
)


def observes_workgroup(program: Program) -> bool:
    """Whether results may depend on which lanes share a workgroup, and so on its size.

    They may where the program has workgroup memory, a barrier or a subgroup operation, or reads
    another id than the global one. Such a program keeps the workgroup size it was built with.
    """
    if any(buffer.kind is BufferKind.WORKGROUP for buffer in program.buffers):
        return True
    return any(
        code in _LANE_SHAPE or INFO[code].group == "subgroup" for code in set(program.table.op)
    )
