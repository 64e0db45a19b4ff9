"""Arrays larger than what the device binds at once: which dispatches are split, and into what.

A split dispatch is several launches of one kernel, each of some whole workgroups. Buffers of which
a lane touches no element but its own (`ir.elementwise`) are cut like the lanes; all others are
bound whole by every part, and live from the first part to the last. The program does not notice:
ids, extent and lengths stay the logical ones.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ..buffer.staging import aligned
from ..errors import LimitError
from ..ir.elementwise import can_run_in_parts, shared_accesses, split_buffers
from ..ir.program import Buffer, BufferKind, Program
from ..runtime.device import safe_label
from .blocks import BlockPacker, launch_grid
from .bound_call import BoundCall
from .submission import Frame, Slot, check_result_bytes, result_bytes
from .submit import Submitter
from .variants import Variants

__all__ = ["Part", "Shared", "SplitPlan", "Splitter", "is_cleared"]

_WORD_STEP = 256
"""Parts begin at multiples of so many elements, and so of words of packed ones; and, with the
alignment that WebGPU asks of a device, where a binding may begin.
"""


class Part(NamedTuple):
    """One launch of a split dispatch.

    Attributes:
        start: its first element, of every buffer that is cut.
        stop: where it ends; beyond the end of some buffers, maybe.
        frame: what runs.
        block: the dispatch block, without params.
        uploads: of each array that is copied in, in the frame's order, buffer index and elements.
        results: of each result that is copied out, in the frame's order, number and elements.
    """

    start: int
    stop: int
    frame: Frame
    block: bytes
    uploads: Sequence[tuple[int, slice]]
    results: Sequence[tuple[int, slice]]


class Shared(NamedTuple):
    """A buffer that all parts bind whole, and that no caller brings.

    Attributes:
        buffer: its index.
        is_uploaded: an array is copied in before the first part.
    """

    buffer: int
    is_uploaded: bool


class SplitPlan(NamedTuple):
    """What split dispatches of one shape with results in the same kinds of places share.

    Attributes:
        parts: the launches, in order.
        shared: buffers of all parts.
        cut: indices of the buffers of which each part has a part.
    """

    parts: Sequence[Part]
    shared: Sequence[Shared]
    cut: frozenset[int]


def is_cleared(buffer: Buffer, *, is_written: bool) -> bool:
    """Whether a buffer must be zeroed before the kernel runs.

    Args:
        buffer: the buffer.
        is_written: the kernel certainly writes all of it, and reads none.
    """
    if buffer.kind is BufferKind.OUTPUT:
        return not is_written
    return buffer.kind is BufferKind.SCRATCH and not buffer.uninitialized


class Splitter:
    """Splits the dispatches of one program on one device. Safe to use from several threads.

    Args:
        program: the program.
        variants: the compiled program.
        submitter: where it runs.
        packer: packs its dispatch block.
        written: buffers that the program writes from end to end; see `written_by_every_lane`.
    """

    def __init__(
        self,
        program: Program,
        variants: Variants,
        submitter: Submitter,
        packer: BlockPacker,
        written: frozenset[int],
    ) -> None:
        self._program, self._variants, self._submitter = program, variants, submitter
        self._packer, self._written = packer, written
        self._sizes = [
            (binding.buffer, program.buffers[binding.buffer].dtype.itemsize)
            for binding in variants.usual.descriptor.bindings
        ]
        self._returned = [i for i, b in enumerate(program.buffers) if b.kind.is_returned]

    @functools.cached_property
    def _cut(self) -> frozenset[int]:
        return split_buffers(self._program)

    def is_needed(self, lengths: Sequence[int]) -> bool:
        """Whether buffers of these lengths are more than one launch takes."""
        limit = self._submitter.max_buffer_bytes
        if any(lengths[index] * size > limit for index, size in self._sizes):
            return True
        return self._result_bytes(lengths) > self._submitter.max_result_bytes

    def check(self, lengths: Sequence[int]) -> None:
        """Raises for what the device cannot hold, before any array is copied.

        Raises:
            LimitError: a buffer is larger than what the device binds and is not cut, or the results
                that are not cut are more than is read back at once.
        """
        if not self.is_needed(lengths):
            return
        program, submitter = self._program, self._submitter
        limit = submitter.max_buffer_bytes
        for index, size in self._sizes:
            if lengths[index] * size > limit and index not in self._cut:
                raise LimitError(
                    f"buffer {program.buffers[index].name!r} has {lengths[index] * size} bytes, "
                    f"more than the {limit} bytes that the adapter {submitter.device.info.name} "
                    f"binds at once, and {self._why_whole(index)}",
                    fix="split the work over several dispatches, or access the buffer at "
                    "global_id(0) only",
                )
        check_result_bytes(
            [lengths[i] * program.buffers[i].dtype.itemsize for i in self._whole_results()],
            submitter.max_result_bytes,
        )

    def plan(
        self,
        call: BoundCall,
        residents: Collection[int],
        skipped: Sequence[bool],
        *,
        is_mixed: bool,
    ) -> SplitPlan:
        """The plan of a call whose shape passed `check`.

        Args:
            call: the call; its extent is not empty.
            residents: indices of the buffers that are on the device.
            skipped: whether each result is not read back.
            is_mixed: whether all buffers are bound as writable.

        Raises:
            LimitError: an indirect grid, lanes beyond 2^32, or too little is bound at once for the
                smallest part.
        """
        program, lengths, extent = self._program, call.lengths, call.extent[0]
        if call.indirect is not None:
            raise LimitError(
                f"a dispatch of program {program.name!r} on arrays larger than what the device "
                "binds at once is split, and a grid that is on the device is not",
                fix="give the extent, or split the work over several dispatches",
            )
        kernel = self._variants.get(split=True, writable=is_mixed)
        descriptor = kernel.descriptor
        lanes = descriptor.workgroup_size[0] * descriptor.elements_per_lane
        most_groups = self._submitter.device.limits.max_workgroups
        if aligned(extent, lanes) > 1 << 32:
            launch_grid(call.extent, descriptor.workgroup_size, most_groups)  # says so
        bounds = self._bounds(lengths, extent, lanes)
        returned = [
            index
            for index, is_skipped in zip(self._returned, skipped, strict=True)
            if index not in residents and not is_skipped
        ]
        frames: dict[object, Frame] = {}
        parts = []
        for number, (start, stop) in enumerate(bounds):
            ends = number == 0, number == len(bounds) - 1
            spans = [self._span(index, lengths[index], start, stop) for index, _ in self._sizes]
            slots = [
                self._slot(index, size, span, call, residents, returned, ends)
                for (index, size), span in zip(self._sizes, spans, strict=True)
            ]
            # A part beyond the extent moves content, and its one workgroup leaves at once.
            running = min(max(extent - start, 1), stop - start)
            grid, row = launch_grid(
                (running,), descriptor.workgroup_size, most_groups, descriptor.elements_per_lane
            )
            frame = frames.get((*slots, grid))
            if frame is None:
                label = safe_label(call.shape.label or program.name)
                frame = frames[(*slots, grid)] = Frame(kernel, slots, grid, label)
            zeros = [0] * len(program.params)
            block = self._packer.pack((min(extent, stop),), row, lengths, zeros, start)
            used = list(zip(self._sizes, spans, slots, strict=True))
            uploads = [(index, span) for (index, _), span, s in used if s.upload and s.nbytes]
            results = [(self._returned.index(i), span) for (i, _), span, s in used if s.result]
            parts.append(Part(start, stop, frame, block, uploads, results))
        shared = [
            Shared(index, index in call.inputs)
            for index, _ in self._sizes
            if index not in self._cut and index not in residents
        ]
        return SplitPlan(parts, shared, self._cut)

    def _span(self, index: int, length: int, start: int, stop: int) -> slice:
        """The elements of a buffer that a part binds."""
        if index not in self._cut:
            return slice(0, length)
        return slice(min(start, length), min(stop, length))

    def _slot(
        self,
        index: int,
        size: int,
        span: slice,
        call: BoundCall,
        residents: Collection[int],
        returned: Collection[int],
        ends: tuple[bool, bool],
    ) -> Slot:
        """How a part treats a buffer; ``ends``: whether it is the first part, and the last."""
        is_cut = index in self._cut
        is_first, is_last = (True, True) if is_cut else ends
        is_written = index in self._written and call.extent[0] >= call.lengths[index]
        return Slot(
            (span.stop - span.start) * size,
            upload=is_cut and index in call.inputs,
            clear=is_first and is_cleared(self._program.buffers[index], is_written=is_written),
            result=is_last and index in returned,
            resident=not is_cut or index in residents,
        )

    def _bounds(self, lengths: Sequence[int], extent: int, lanes: int) -> list[tuple[int, int]]:
        """First and last element of each part: of about equal size, as few as the device allows."""
        submitter, buffers = self._submitter, self._program.buffers
        step = math.lcm(_WORD_STEP, submitter.device.limits.storage_offset_alignment, lanes)
        cut = [(index, size) for index, size in self._sizes if index in self._cut]
        longest = max(lengths[index] for index, _ in cut)
        most = submitter.max_buffer_bytes // max(size for index, size in cut if lengths[index])
        returned = sum(buffers[i].dtype.itemsize for i in self._returned if i in self._cut)
        if returned:
            whole = self._whole_results()
            taken = result_bytes([lengths[i] * buffers[i].dtype.itemsize for i in whole])
            room = submitter.max_result_bytes - taken - result_bytes([1] * len(cut))
            most = min(most, room // returned)
        most -= most % step
        if most <= 0:
            raise LimitError(
                f"a part of program {self._program.name!r} has at least {step} elements, and the "
                f"adapter {submitter.device.info.name} binds {submitter.max_buffer_bytes} bytes at "
                f"once and reads {submitter.max_result_bytes} back",
                fix="use a smaller workgroup size, or smaller arrays",
            )
        count = -(-longest // most)
        each = aligned(-(-longest // count), step)
        bounds = [(start, start + each) for start in range(0, longest, each)]
        if extent > bounds[-1][1]:
            bounds.append((bounds[-1][1], extent))  # lanes that touch whole buffers only
        return bounds

    def _result_bytes(self, lengths: Sequence[int]) -> int:
        buffers = self._program.buffers
        return result_bytes([lengths[i] * buffers[i].dtype.itemsize for i in self._returned])

    def _whole_results(self) -> list[int]:
        return [index for index in self._returned if index not in self._cut]

    def _why_whole(self, index: int) -> str:
        """Why a buffer is not cut, as the end of a sentence."""
        program = self._program
        if not can_run_in_parts(program):
            if len(program.extent) > 1:
                return "only programs with one axis are split"
            return "programs that read num_workgroups are not split"
        source = program.debug.source(shared_accesses(program)[index])
        where = f" at {source[0]}:{source[1]}" if source else ""
        return f"it cannot be split, as it is accessed at another index than global_id(0){where}"
