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
    """

    workgroup_size: tuple[int, int, int] | None = None
