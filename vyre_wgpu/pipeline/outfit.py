"""What frames and leases become for the calls of a device: handles, bind groups, steps.

All of it is made at the first submission of a shape and found again at the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..buffer.bindings import BindGroupCache
from ..buffer.leases import Lease, LeaseCache
from ..buffer.pool import PooledBuffer, Span
from ..errors import VyreError
from ..runtime.calls import Calls, Step
from ..runtime.device import Device
from .submission import Frame, Submission

__all__ = ["Outfit", "Outfitter", "PreparedFrame"]


class PreparedFrame(NamedTuple):
    """What is made of a frame, once.

    Attributes:
        owner: who made it.
        key: what leases for it are filed under, the staging buffer included.
        pipeline: handle of its pipeline.
        label: handle of its label.
    """

    owner: Outfitter
    key: tuple[Any, ...]
    pipeline: Any
    label: Any


class Outfit(NamedTuple):
    """What is made of a lease for a frame; good for as long as both stay together.

    Attributes:
        frame: the frame.
        step: the kernel with its clears and copies.
        uploads: handle of each buffer that is uploaded.
        block: handle of the uniform buffer of the dispatch block, or None.
        staging: handle of the staging buffer.
        group: wgpu's bind group, which lives as long as this.
    """

    frame: Frame
    step: Step
    uploads: Sequence[Any]
    block: Any
    staging: Any
    group: Any

    @property
    def watched(self) -> Step:
        """The step, for an outfit that copies nothing, so that the staging buffer waits for it.

        A buffer that no submission uses is mapped at once.
        """
        clears = [*self.step.clears, (self.staging, 0, 4)]
        return self.step._replace(clears=clears)

    def writes(self, submission: Submission) -> list[tuple[Any, Any]]:
        """What to write before a submission: uploads, and the dispatch block if it is a buffer."""
        writes: list[tuple[Any, Any]] = list(zip(self.uploads, submission.uploads, strict=True))
        if self.block is not None:
            writes.append((self.block, submission.block))
        return writes


class Outfitter:
    """Makes outfits on one device; whoever calls it takes turns.

    Args:
        device: the device.
        leases: where the buffers come from.
        groups: bind groups made so far.
    """

    def __init__(self, device: Device, leases: LeaseCache, groups: BindGroupCache) -> None:
        self._device = device
        self._calls: Calls = device.calls
        self._leases, self._groups = leases, groups

    def frame(self, frame: Frame) -> PreparedFrame:
        """What is made of a frame, now or earlier."""
        prepared = frame.prepared
        if prepared is None or prepared.owner is not self:
            prepared = frame.prepared = PreparedFrame(
                self,
                self._leases.key(frame.kernel.layout.id, frame.needs),
                self._calls.pipeline(frame.kernel.wgpu),
                self._calls.label(frame.label),
            )
        return prepared  # type: ignore[no-any-return]

    def outfit(self, lease: Lease, submission: Submission) -> Outfit:
        """The outfit of a lease with a staging buffer of its own, now or earlier."""
        outfit = lease.prepared
        if outfit is None or outfit.frame is not submission.frame or submission.residents:
            outfit = self.make(lease, submission, lease.buffers[-1], 0)
            is_lasting = not submission.residents and submission.indirect is None
            lease.prepared = outfit if is_lasting else None
        return outfit  # type: ignore[no-any-return]

    def make(
        self, lease: Lease, submission: Submission, staging: PooledBuffer | None, base: int
    ) -> Outfit:
        """An outfit.

        Args:
            lease: buffers for all bindings but residents; more may follow.
            submission: brings the residents.
            staging: where copies go.
            base: offset in the staging buffer at which they begin.
        """
        frame, calls = submission.frame, self._calls
        spans: list[Span | None] = [
            None if buffer is None else Span(buffer, 0, buffer.size)
            for buffer in lease.buffers[: len(frame.needs) - 1]
        ]
        for place, resident in zip(frame.places, submission.residents, strict=False):
            if resident is not None:
                spans[place] = resident
        for place, offset, size in frame.bound:
            spans[place] = Span(_live(staging), base + offset, size)
        bound = [_live_span(span) for span in spans]
        handles = [calls.buffer(span.buffer.wgpu) for span in bound]
        target = calls.buffer(_live(staging).wgpu)
        copies = [(handles[b], 0, target, base + offset, size) for b, offset, size in frame.copies]
        grid: Any = frame.grid
        if submission.indirect is not None:
            source = _live_span(submission.indirect)
            grid = calls.buffer(source.buffer.wgpu), source.offset
            copies.append((*grid, target, base + frame.indirect_at, 12))
        group = self._group(lease, frame, bound)
        step = Step(
            [(handles[binding], bound[binding].offset, size) for binding, size in frame.clears],
            self.frame(frame).pipeline,
            calls.group(group),
            grid,
            copies,
        )
        block = frame.kernel.descriptor.block_binding
        return Outfit(
            frame,
            step,
            [handles[place] for place in frame.uploads],
            None if block is None else handles[block],
            target,
            group,
        )

    def _group(self, lease: Lease, frame: Frame, bound: Sequence[Span]) -> Any:
        is_whole = not frame.has_residents and not frame.bound
        if is_whole and lease.group is not None:
            return lease.group
        group = self._groups.get(
            frame.kernel.layout.id,
            [span.buffer.id for span in bound],
            lambda: self._bind_group(frame, bound),
            () if is_whole else [(span.offset, span.size) for span in bound],
        )
        if is_whole:
            lease.group = group  # kept alive, whatever the cache of groups forgets
        return group

    def _bind_group(self, frame: Frame, bound: Sequence[Span]) -> Any:
        # Whole buffers, but for ranges that a caller names and for pieces of the staging buffer:
        # lengths come from the dispatch block, so any content fits the group.
        entries = [
            {
                "binding": k,
                "resource": {"buffer": s.buffer.wgpu, "offset": s.offset, "size": s.size},
            }
            for k, s in enumerate(bound)
        ]
        return self._device.wgpu.create_bind_group(layout=frame.kernel.layout.wgpu, entries=entries)


def _live_span(span: Span | None) -> Span:
    """A part of a buffer that may be used."""
    if span is None:
        raise VyreError("a submission names no buffer for a binding")
    _live(span.buffer)
    return span


def _live(buffer: PooledBuffer | None) -> PooledBuffer:
    """A buffer that may be used: wgpu-native ends the process over one that is destroyed."""
    if buffer is None or not buffer.in_use:
        raise VyreError("a submission names a buffer that is not lent")
    return buffer
