"""`BoundCall`: one dispatch's arguments, checked, and the `Shape` that it shares with others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..buffer.arrays import Array
from ..buffer.device_buffer import DeviceBuffer
from .config import Indirect

__all__ = ["BoundCall", "Shape"]


class Shape:
    """What all dispatches of a program with the same sizes share.

    Attributes:
        lengths: elements of every buffer, by buffer index.
        extent: logical elements on each of the program's axes; all 1 for an indirect launch.
        shapes: shape of each returned array, in the order of ``Program.outputs``.
        label: the config's label.
        is_empty: whether the extent has no element, so that nothing is to run.
        plans: what a backend has prepared for it; the backend's own.
    """

    __slots__ = ("extent", "is_empty", "label", "lengths", "plans", "shapes")

    def __init__(
        self,
        lengths: tuple[int, ...],
        extent: tuple[int, ...],
        shapes: tuple[tuple[int, ...], ...],
        label: str,
    ) -> None:
        self.lengths, self.extent, self.shapes, self.label = lengths, extent, shapes, label
        self.is_empty = 0 in extent
        self.plans: dict[Any, Any] = {}


class BoundCall(NamedTuple):
    """One dispatch's arguments, checked against the program.

    Attributes:
        shape: its sizes; shared by calls of equal sizes.
        inputs: buffer index to array: any shape, C order, native byte order, the declared dtype.
            May be the caller's own memory; it must not be written to.
        residents: buffer index to device buffer, for the inputs that already live on a device.
        params: bit pattern of every param, by param index (`DType.encode`).
        indirect: where the device has the number of workgroups, or None.
        given: buffer index to what the caller passed, for the inputs that had to be converted.
    """

    shape: Shape
    inputs: dict[int, Array]
    residents: dict[int, DeviceBuffer]
    params: tuple[int, ...]
    indirect: Indirect | None = None
    given: Mapping[int, object] = MappingProxyType({})

    @property
    def lengths(self) -> tuple[int, ...]:
        """Elements of every buffer, by buffer index."""
        return self.shape.lengths

    @property
    def extent(self) -> tuple[int, ...]:
        """Logical elements on each of the program's axes; all 1 for an indirect launch."""
        return self.shape.extent

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of each returned array, in the order of ``Program.outputs``."""
        return self.shape.shapes

    @property
    def is_empty(self) -> bool:
        """Whether the extent has no element, so that nothing is to run."""
        return self.shape.is_empty
