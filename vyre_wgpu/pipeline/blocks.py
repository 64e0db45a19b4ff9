"""The dispatch block and the launch grid: how extent, lengths and params reach the shader."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import LimitError
from ..ir.types import DType
from ..wgsl.descriptor import KernelDescriptor, Word

__all__ = ["BlockPacker", "Launch", "launch_grid", "workgroups_of"]

_MASK = 0xFFFFFFFF
_LANE_LIMIT = 1 << 32


class Launch(NamedTuple):
    """A grid as the driver gets it.

    Attributes:
        grid: workgroups on x, y, z.
        row: workgroups in one row of a folded launch, 0 if it is not folded (`Word.ROW`).
    """

    grid: tuple[int, int, int]
    row: int


def workgroups_of(
    extent: Sequence[int], workgroup_size: Sequence[int], elements_per_lane: int = 1
) -> tuple[int, int, int]:
    """The logical workgroups that cover an extent, on x, y, z.

    Args:
        extent: logical elements on 1 to 3 axes.
        workgroup_size: lanes of a workgroup on x, y, z.
        elements_per_lane: consecutive elements on x that one lane computes.
    """
    x, y, z = (*extent, 1, 1)[:3]
    wx, wy, wz = workgroup_size
    return -(-x // (wx * elements_per_lane)), -(-y // wy), -(-z // wz)


def launch_grid(
    extent: Sequence[int],
    workgroup_size: Sequence[int],
    max_per_dimension: int,
    elements_per_lane: int = 1,
) -> Launch:
    """The launch that covers an extent, folded where an axis exceeds the driver's limit.

    Folded, the logical workgroups are numbered in row-major order, x fastest, and launched as
    ``(row, rows, 1)`` with as few surplus workgroups as rows of equal length allow.

    Args:
        extent: logical elements on 1 to 3 axes, each at least 1.
        workgroup_size: lanes of a workgroup on x, y, z.
        max_per_dimension: most workgroups of a launch on each axis.
        elements_per_lane: consecutive elements on x that one lane computes.

    Raises:
        LimitError: more workgroups than a folded launch holds, or lane ids beyond 32 bits.
    """
    groups = workgroups_of(extent, workgroup_size, elements_per_lane)
    spans = (workgroup_size[0] * elements_per_lane, *workgroup_size[1:])
    if any(n * span > _LANE_LIMIT for n, span in zip(groups, spans, strict=True)):
        # The last workgroup would wrap around to the first elements.
        raise LimitError(
            f"the extent {tuple(extent)} in whole workgroups of {tuple(workgroup_size)} is beyond "
            "2^32 lanes on an axis",
            fix="split the work over several dispatches",
        )
    if max(groups) <= max_per_dimension:
        return Launch(groups, 0)
    total = math.prod(groups)
    rows = -(-total // max_per_dimension)
    if rows > max_per_dimension:
        raise LimitError(
            f"the extent {tuple(extent)} needs {total} workgroups of {tuple(workgroup_size)}, and "
            f"a launch holds at most {max_per_dimension**2}",
            fix="use larger workgroups, or split the work over several dispatches",
        )
    row = -(-total // rows)
    return Launch((row, rows, 1), row)


class BlockPacker:
    """Packs the dispatch block of one lowered program.

    Args:
        descriptor: the block's layout.
        dtypes: type of each of the program's params, by index.
    """

    def __init__(self, descriptor: KernelDescriptor, dtypes: Sequence[DType]) -> None:
        self._lengths = descriptor.length_words
        self._dtypes = tuple(dtypes)
        self._params = [
            (
                index,
                word * 4,
                word * 4 + max(4, dtypes[index].itemsize),
                dtypes[index].is_signed and dtypes[index].bits < 32,
            )
            for index, word in descriptor.param_words
        ]
        self._words = descriptor.block_words
        self._format = struct.Struct(f"={descriptor.block_words}I")

    @property
    def nbytes(self) -> int:
        """Size of the block."""
        return self._words * 4

    def pack(
        self,
        extent: Sequence[int],
        row: int,
        lengths: Sequence[int],
        params: Sequence[int],
        base: int = 0,
    ) -> bytes:
        """The block of one dispatch.

        Args:
            extent: logical elements on 1 to 3 axes; further axes count 1.
            row: `Launch.row`.
            lengths: elements of every buffer, by index.
            params: bit pattern of every param, by index.
            base: `Word.BASE`.
        """
        words = [0] * self._words
        words[Word.EXTENT_X], words[Word.EXTENT_Y], words[Word.EXTENT_Z] = (*extent, 1, 1)[:3]
        words[Word.ROW], words[Word.BASE] = row, base
        for buffer, word in self._lengths:
            words[word] = lengths[buffer]
        return self.patch(self._format.pack(*words), params)

    def patch(self, block: bytes, params: Sequence[int]) -> bytes:
        """A block with other params.

        Args:
            block: what `pack` gave.
            params: bit pattern of every param, by index.
        """
        if not self._params:
            return block
        patched = bytearray(block)
        for index, start, end, is_narrow in self._params:
            bits = params[index]
            if is_narrow and bits >> 7:
                bits = int(self._dtypes[index].decode(bits)) & _MASK
            patched[start:end] = bits.to_bytes(end - start, sys.byteorder)
        return bytes(patched)
