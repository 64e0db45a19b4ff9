"""`CompileOptions`: what a caller may ask of compilation; part of every cache key."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError

__all__ = ["CompileOptions"]


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How to compile a program.

    Attributes:
        workgroup_size: an int or up to three: lanes of a workgroup instead of the program's own;
            only for programs that cannot observe it (no barrier, workgroup memory, subgroup
            operation, local or workgroup id). Kept as three ints.
        max_iterations: most loop iterations of a lane, over all its loops; a lane that needs more
            traps with the tag ``loop-limit``. None leaves loops alone, so that a program from
            elsewhere can hang the device.
    """

    workgroup_size: int | tuple[int, ...] | None = None
    max_iterations: int | None = None

    def __post_init__(self) -> None:
        size: object = self.workgroup_size
        if size is not None:
            axes = size if isinstance(size, (tuple, list)) else (size,)
            if not 1 <= len(axes) <= 3 or not all(_is_count(n) for n in axes):
                raise InputError(
                    f"workgroup_size is {size!r}, not an int or up to three ints of at least 1",
                    fix="pass workgroup_size=64, or (8, 8, 1)",
                )
            object.__setattr__(self, "workgroup_size", (*axes, 1, 1)[:3])
        if self.max_iterations is not None and not _is_count(self.max_iterations):
            raise InputError(
                f"max_iterations is {self.max_iterations!r}, not an int from 1 to 2^32 - 1",
                fix="pass max_iterations=1_000_000, or None for no bound",
            )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 1 << 32
