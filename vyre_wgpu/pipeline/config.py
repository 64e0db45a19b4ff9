"""`DispatchConfig`: what a caller may ask of one dispatch beside its inputs and params."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..buffer.device_buffer import DeviceBuffer

__all__ = ["DEVICE", "SKIP", "Destination", "DispatchConfig", "Indirect"]


class Destination(Enum):
    """Where a result goes if not into an array: a value of ``out=``.

    ``DEVICE`` allocates a `DeviceBuffer` and returns it; ``SKIP`` reads nothing back and returns
    None in the result's place.
    """

    DEVICE = "device"
    SKIP = "skip"


DEVICE = Destination.DEVICE
SKIP = Destination.SKIP


@dataclass(frozen=True, slots=True)
class Indirect:
    """A number of workgroups that the device itself has computed.

    Attributes:
        buffer: holds the three u32 words, workgroups on x, y, z. Words for axes that the program
            does not have are ignored beyond their first workgroup.
        offset: where in the buffer they begin, in bytes, a multiple of 4.
    """

    buffer: DeviceBuffer
    offset: int = 0


@dataclass(frozen=True, slots=True)
class DispatchConfig:
    """Options of one dispatch. Values are checked by the dispatch.

    Attributes:
        extent: logical elements on each axis instead of the program's own expression; an int for
            one axis. 0 on any axis runs nothing.
        grid: workgroups of the declared size on each axis, from 1 up, or `Indirect`; the extent is
            then the grid times the workgroup size. Not together with ``extent``.
        max_output_bytes: the returned arrays may not have more bytes in all than this.
        label: a name for this dispatch in error messages and in GPU debugging tools.
        deadline: seconds from the call after which it raises `DispatchTimeoutError` if the device
            has not finished; more than 0. The device works on, and what it may write holds
            unspecified elements. The reference backend does not watch it.
        zero_copy: results that would be new arrays are read-only views of the memory that the
            device copied them to, without a further copy. The buffers of the dispatch stay with
            them: keep them for as long as they are needed, not for long. Not in a recording; a
            dispatch that runs in parts copies.
    """

    extent: int | tuple[int, ...] | None = None
    grid: int | tuple[int, ...] | Indirect | None = None
    max_output_bytes: int | None = None
    label: str = ""
    deadline: float | None = None
    zero_copy: bool = False
