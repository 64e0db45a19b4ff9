"""`CompileOptions`: what a caller may ask of compilation; part of every cache key."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CompileOptions"]


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How to compile a program.

    Attributes:
        workgroup_size: lanes of a workgroup instead of the program's own; only for programs that
            cannot observe it (no barrier, workgroup memory, subgroup operation, local or
            workgroup id).
        max_iterations: most loop iterations of a lane, over all its loops; a lane that needs more
            traps with the tag ``loop-limit``. None leaves loops alone, so that a program from
            elsewhere can hang the device.
    """

    workgroup_size: tuple[int, int, int] | None = None
    max_iterations: int | None = None
