"""`CompileOptions`: what a caller may ask of compilation; part of every cache key."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Literal

from ..errors import InputError

__all__ = ["Checks", "CompileOptions"]

Checks = Literal["total", "trap", "trusted"]


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How to compile a program.

    Attributes:
        checks: ``"total"``: every operation has a result, out of bounds and by zero too.
            ``"trap"``: a load, store or atomic out of bounds raises `BoundsTrapError`, an integer
            division by zero `DivisionTrapError`. ``"trusted"``: indices are not tested; the author
            vouches that all are in bounds, else anything may be read or written (the reference
            backend raises `BoundsTrapError`).
        workgroup_size: an int or up to three: lanes of a workgroup instead of the program's own;
            only for programs that cannot observe it (no barrier, workgroup memory, subgroup
            operation, local or workgroup id). Kept as three ints.
        max_iterations: most loop iterations of a lane, over all its loops; a lane that needs more
            traps with the tag ``loop-limit``. None leaves loops alone, so that a program from
            elsewhere can hang the device.
        passes: whether the program is optimised before it is lowered (`vyre_wgpu.ir.passes`:
            constant folding, common subexpressions, dead code). Results are the same either way;
            the reference backend never does it.
    """

    checks: Checks = "total"
    workgroup_size: int | tuple[int, ...] | None = None
    max_iterations: int | None = None
    passes: bool = True

    def __post_init__(self) -> None:
        if self.checks not in ("total", "trap", "trusted"):
            raise InputError(
                f"checks is {self.checks!r}, not 'total', 'trap' or 'trusted'",
                fix='pass checks="trap" to find accesses out of bounds',
            )
        size: object = self.workgroup_size
        if size is not None:
            axes = [_count(n) for n in (size if isinstance(size, (tuple, list)) else (size,))]
            if not 1 <= len(axes) <= 3 or None in axes:
                raise InputError(
                    f"workgroup_size is {size!r}, not an int or up to three ints of at least 1",
                    fix="pass workgroup_size=64, or (8, 8, 1)",
                )
            object.__setattr__(self, "workgroup_size", (*axes, 1, 1)[:3])
        if self.max_iterations is not None:
            most = _count(self.max_iterations)
            if most is None:
                raise InputError(
                    f"max_iterations is {self.max_iterations!r}, not an int from 1 to 2^32 - 1",
                    fix="pass max_iterations=1_000_000, or None for no bound",
                )
            object.__setattr__(self, "max_iterations", most)
        if not isinstance(self.passes, bool):
            raise InputError(
                f"passes is {self.passes!r}, not True or False",
                fix="pass passes=False to lower the program as it was written",
            )


def _count(value: object) -> int | None:
    """A Python or NumPy integer from 1 to 2^32 - 1 as an int; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
    return number if 1 <= number < 1 << 32 else None
