"""`DispatchConfig`: what a caller may ask of one dispatch beside its inputs and params."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DispatchConfig"]


@dataclass(frozen=True, slots=True)
class DispatchConfig:
    """Options of one dispatch. Values are checked by the dispatch.

    Attributes:
        extent: logical elements on each axis instead of the program's own expression; an int for
            one axis. 0 on any axis runs nothing.
        grid: workgroups of the declared size on each axis, from 1 up; the extent is then the grid
            times the workgroup size. Not together with ``extent``.
        max_output_bytes: the returned arrays may not have more bytes in all than this.
        label: a name for this dispatch in error messages and in GPU debugging tools.
    """

    extent: int | tuple[int, ...] | None = None
    grid: int | tuple[int, ...] | None = None
    max_output_bytes: int | None = None
    label: str = ""
