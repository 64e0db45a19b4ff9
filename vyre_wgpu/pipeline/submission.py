"""What a dispatch is to the device: a `Frame` for each shape, a `Submission` for each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..buffer.arrays import Array
from ..buffer.leases import Need
from ..buffer.pool import Span
from ..buffer.staging import aligned
from ..errors import LimitError
from ..wgsl.descriptor import TRAP_BYTES
from .compile import Kernel
from .traps import TrapWords

__all__ = ["Frame", "Outcome", "Slot", "Submission", "check_result_bytes", "result_bytes"]

_ALIGNMENT = 16
STAGING_STEP = 256
"""What a piece of a staging buffer that is bound begins at a multiple of, on every device."""

_INDIRECT_BYTES = 12
STORAGE_POOL, BLOCK_POOL, STAGING_POOL = range(3)
"""Indices of the pools that needs name."""


class Slot(NamedTuple):
    """One storage buffer of a frame.

    Attributes:
        nbytes: bytes of its logical content.
        upload: an array is copied in before the kernel runs.
        clear: zero it before the kernel runs.
        result: its content is copied to the host.
        resident: a buffer is brought along with each submission, instead of one being lent for it.
        in_place: a result that is written, whole and once, right into the staging buffer.
    """

    nbytes: int
    upload: bool = False
    clear: bool = False
    result: bool = False
    resident: bool = False
    in_place: bool = False


class Frame:
    """What all dispatches of one shape share; everything but content.

    Args:
        kernel: what runs.
        slots: its storage buffers, in the order of ``kernel.descriptor.bindings``.
        grid: workgroups on x, y, z, each at least 1; None for an indirect launch.
        label: a name for messages and GPU debugging tools.

    Attributes:
        needs: what each binding needs, trap words and block at their place, then the staging
            buffer; None for a resident, and for what lies in the staging buffer.
        places: binding of each slot.
        uploads: binding of each slot that is uploaded and not empty.
        clears: binding and bytes of each buffer to zero.
        bound: binding, offset and bytes of each piece of the staging buffer that is bound: results
            in place and, with those, the trap words.
        copies: binding, offset in the staging buffer and bytes of what is copied there.
        results: offset in the staging buffer of each result.
        indirect_at: where in the staging buffer the words of an indirect grid go.
        staging_bytes: bytes of the staging buffer in use.
        has_residents: whether any slot is resident.
        prepared: what the submitter made of it; its own.
    """

    __slots__ = (
        "bound",
        "clears",
        "copies",
        "grid",
        "has_residents",
        "has_trap",
        "indirect_at",
        "kernel",
        "label",
        "needs",
        "places",
        "prepared",
        "results",
        "slots",
        "staging_bytes",
        "uploads",
    )

    def __init__(
        self,
        kernel: Kernel,
        slots: Sequence[Slot],
        grid: tuple[int, int, int] | None,
        label: str = "",
    ) -> None:
        descriptor = kernel.descriptor
        trap, block = descriptor.trap_binding, descriptor.block_binding
        self.kernel, self.slots, self.grid, self.label = kernel, tuple(slots), grid, label
        self.has_residents = any(slot.resident for slot in slots)
        self.has_trap = trap is not None
        self.prepared: Any = None
        needs: list[Need | None] = [
            None if slot.resident or slot.in_place else Need(STORAGE_POOL, slot.nbytes)
            for slot in slots
        ]
        is_in_place = any(slot.in_place for slot in slots)
        self.bound: list[tuple[int, int, int]] = []
        self.places = list(range(len(slots)))
        if trap is not None:
            needs.insert(trap, None if is_in_place else Need(STORAGE_POOL, TRAP_BYTES))
            self.places = [place + (place >= trap) for place in self.places]
        if block is not None:
            needs.insert(block, Need(BLOCK_POOL, descriptor.block_words * 4))
            self.places = [place + (place >= block) for place in self.places]
        self.clears = [(trap, TRAP_BYTES)] if trap is not None else []
        self.copies: list[tuple[int, int, int]] = []
        if trap is not None:
            (self.bound if is_in_place else self.copies).append((trap, 0, TRAP_BYTES))
        self.results: list[int] = []
        self.uploads = [
            place
            for place, slot in zip(self.places, slots, strict=True)
            if slot.upload and slot.nbytes
        ]
        end = TRAP_BYTES
        for index, slot in enumerate(slots):
            if slot.clear and slot.nbytes:
                self.clears.append((self.places[index], aligned(slot.nbytes, 4)))
            if slot.result:
                end = aligned(end, STAGING_STEP if slot.in_place else _ALIGNMENT)
                self.results.append(end)
                if slot.nbytes:
                    pieces = self.bound if slot.in_place else self.copies
                    pieces.append((self.places[index], end, aligned(slot.nbytes, 4)))
                    end += aligned(slot.nbytes, _ALIGNMENT)
        self.indirect_at = end
        if grid is None:
            end += _ALIGNMENT
        self.staging_bytes = end
        self.needs = (*needs, Need(STAGING_POOL, end))


class Submission(NamedTuple):
    """One dispatch as the device sees it.

    Attributes:
        frame: what runs, on buffers of which sizes.
        block: the dispatch block.
        uploads: the contiguous array of each slot that is uploaded and not empty.
        results: the contiguous, writable array that receives each result; may be filled in between
            submitting and waiting.
        residents: by slot, what to bind, or None; empty if there is none.
        indirect: where the device has the three words of the grid.
        shows: results that are None in ``results``, a list then, become read-only bytes of the
            staging buffer, which stays with them.
    """

    frame: Frame
    block: bytes
    uploads: Sequence[Array] = ()
    results: Sequence[Array] | list[Any] = ()
    residents: Sequence[Span | None] = ()
    indirect: Span | None = None
    shows: bool = False


class Outcome(NamedTuple):
    """What a submission left beside its results.

    Attributes:
        trap: the trap words.
        grid: the workgroups launched on x, y, z; of an indirect launch as the device had them.
    """

    trap: TrapWords
    grid: tuple[int, int, int]


def result_bytes(sizes: Sequence[int]) -> int:
    """Bytes that results of these sizes take in a staging buffer."""
    return sum(aligned(size, _ALIGNMENT) for size in sizes)


def check_result_bytes(sizes: Sequence[int], limit: int) -> None:
    """Raises if results do not fit one staging buffer.

    Args:
        sizes: bytes of each result.
        limit: `Submitter.max_result_bytes`.

    Raises:
        LimitError: they do not.
    """
    total = result_bytes(sizes)
    if total > limit:
        raise LimitError(
            f"the outputs have {total} bytes in all, more than the {limit} bytes that are read "
            "back at once",
            fix="return less, or split the work over several dispatches",
        )
