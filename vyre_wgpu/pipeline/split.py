"""`SplitCall`: a dispatch that runs in parts, since its arrays are larger than the device binds.

Parts follow each other with two of them on the device, so that one is copied while another runs;
what a part needs of the device's memory the next but one uses again. Lanes of a dispatch have no
order, so to the program the parts are one launch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..buffer.arrays import Array
from ..buffer.device_buffer import DeviceBuffer
from ..buffer.pool import Span
from ..buffer.staging import aligned
from ..errors import DispatchTimeoutError
from ..ir.program import Program
from ..runtime.interrupts import is_interruption
from .blocks import BlockPacker
from .bound_call import BoundCall
from .parts import Part, SplitPlan
from .results import Place
from .submission import Outcome, Submission
from .submit import Submitter
from .tickets import Ticket

__all__ = ["SplitCall"]

_LEAST_BOUND = 256
"""Bytes that are bound of a buffer which ends before a part begins."""


class SplitCall:
    """One dispatch in parts, ready to be run.

    Args:
        program: the program.
        submitter: where it runs.
        packer: packs its dispatch block.
        call: the arguments.
        plan: the parts.
        places: where results go.
        results: what the caller gets: for a host array the place itself, if that is filled in
            order, or a new one.
        residents: device buffers by buffer index.
        made: those that were made for the caller.
        check: raises what an outcome stands for.

    Attributes:
        submission: that of the last part, once it runs.
    """

    submission: Submission | None = None

    def __init__(
        self,
        program: Program,
        submitter: Submitter,
        packer: BlockPacker,
        call: BoundCall,
        plan: SplitPlan,
        places: Sequence[Place],
        results: list[Any],
        residents: Mapping[int, DeviceBuffer],
        made: Sequence[DeviceBuffer],
        check: Callable[[BoundCall, Outcome], None],
    ) -> None:
        self._program, self._submitter, self._packer = program, submitter, packer
        self._call, self._plan, self._places, self._results = call, plan, places, results
        self._residents, self._made, self._check = dict(residents), made, check
        self._shared: list[DeviceBuffer] = []
        self._targets: list[Array | None] = []
        self._failure: BaseException | None = None

    def run(self, deadline: float | None) -> list[Any]:
        """Runs all parts and waits for them.

        Args:
            deadline: when to give up, on `time.monotonic`'s clock, or None.

        Raises:
            TrapError: a lane trapped.
            LimitError, DispatchTimeoutError, DeviceLostError, ForkedProcessError: as
                `Submitter.run`.
        """
        try:
            ticket = self._start(deadline)
            return self.finish(self._submitter.collect_in_time(ticket, deadline)[0])
        except BaseException:
            self.abort()
            raise

    def begin(self, deadline: float | None) -> Ticket | None:
        """Runs all parts but the last, of which the ticket is returned, for `finish`.

        What fails on the way is raised by `finish`; there is no ticket then.
        """
        try:
            return self._start(deadline)
        except BaseException as error:
            self.abort()
            if is_interruption(error):
                raise
            self._failure = error
            return None

    def allocate(self) -> None:
        """Nothing: its results have their arrays."""

    def finish(self, outcome: Outcome | None) -> list[Any]:
        """The results, in the places that the caller named.

        Args:
            outcome: what the last part left; None if `begin` gave no ticket.

        Raises:
            TrapError: a lane of the last part trapped.
            Exception: what `begin` met.
        """
        if self._failure is not None:
            raise self._failure
        assert outcome is not None
        self._look_at(outcome)
        for number, (place, target) in enumerate(zip(self._places, self._targets, strict=True)):
            if isinstance(place, np.ndarray) and target is not None:
                if not np.may_share_memory(place, target):
                    place[...] = target.reshape(place.shape)
                self._results[number] = place
        self._return_shared()
        return self._results

    def abort(self) -> None:
        """Gives back what was made for the caller, who gets nothing."""
        self._return_shared()
        for buffer in self._made:
            buffer.close()

    def _start(self, deadline: float | None) -> Ticket:
        submitter = self._submitter
        submitter.completion.settle()
        previous: Ticket | None = None
        ticket: Ticket | None = None
        self._targets = self._choose_targets(deadline)
        shared = self._lend()
        try:
            for part in self._plan.parts:
                if ticket is not None and deadline is not None and time.monotonic() >= deadline:
                    raise self._too_late(part)
                self.submission = self._submission(part, shared)
                started = submitter.start(self.submission, is_watched=deadline is not None)
                previous, ticket = ticket, started
                if previous is not None:
                    self._look_at(submitter.collect_in_time(previous, deadline)[0])
        except BaseException:
            for pending in (previous, ticket):
                if pending is not None:
                    submitter.abandon(pending)
            raise
        assert ticket is not None
        return ticket

    def _too_late(self, part: Part) -> DispatchTimeoutError:
        parts, device = self._plan.parts, self._submitter.device
        return DispatchTimeoutError(
            f"{part.frame.label!r} did not end before its deadline on {device.info.name}: "
            f"{parts.index(part)} of {len(parts)} parts were started",
            fix="allow more time, or dispatch less work at once; the pipeline stays usable",
        )

    def _look_at(self, outcome: Outcome) -> None:
        if outcome.trap.flag:
            self._check(self._call, outcome)

    def _choose_targets(self, deadline: float | None) -> list[Array | None]:
        """The flat array that each host result is put together in.

        An array of the caller's keeps its content until it is certain that there is a result. It
        is filled at once where nothing but the loss of the device could come between, and where it
        is not itself an input that later parts read.
        """
        descriptor = self._plan.parts[0].frame.kernel.descriptor
        is_certain = descriptor.trap_binding is None and deadline is None
        targets: list[Array | None] = []
        for place, result in zip(self._places, self._results, strict=True):
            if not isinstance(result, np.ndarray):
                targets.append(None)
                continue
            if isinstance(place, np.ndarray) and np.may_share_memory(place, result):
                inputs = self._call.inputs.values()
                if not is_certain or any(np.may_share_memory(place, given) for given in inputs):
                    result = np.empty_like(result)
            targets.append(result.reshape(-1))
        return targets

    def _lend(self) -> dict[int, DeviceBuffer]:
        """The buffers of all parts, with their content, by buffer index."""
        memory, buffers = self._submitter.memory, self._program.buffers
        shared = {}
        for index, is_uploaded in self._plan.shared:
            dtype, length = buffers[index].dtype.numpy, self._call.lengths[index]
            lent = memory.allocate(length * dtype.itemsize)
            shared[index] = buffer = DeviceBuffer(memory, lent, dtype, (length,))
            self._shared.append(buffer)
            if is_uploaded and length:
                memory.write(buffer.span(), self._call.inputs[index])
        return shared

    def _return_shared(self) -> None:
        for buffer in self._shared:
            buffer.close()
        self._shared.clear()

    def _submission(self, part: Part, shared: Mapping[int, DeviceBuffer]) -> Submission:
        inputs, descriptor = self._call.inputs, part.frame.kernel.descriptor
        results = []
        for number, span in part.results:
            target = self._targets[number]
            assert target is not None
            results.append(target[span])
        return Submission(
            part.frame,
            self._packer.patch(part.block, self._call.params),
            [inputs[index].reshape(-1)[span] for index, span in part.uploads],
            results,
            [self._bound(binding.buffer, part, shared) for binding in descriptor.bindings],
        )

    def _bound(self, index: int, part: Part, shared: Mapping[int, DeviceBuffer]) -> Span | None:
        """What a part binds of a buffer; None for one that is lent to it."""
        buffer = shared.get(index, self._residents.get(index))
        if buffer is None:
            return None
        span = buffer.span()
        if index not in self._plan.cut:
            return span
        start, stop = (min(n, buffer.size) * buffer.dtype.itemsize for n in (part.start, part.stop))
        if start == stop:
            return span._replace(size=min(span.size, _LEAST_BOUND))
        return Span(span.buffer, span.offset + start, aligned(stop - start, 4))
