"""The one submit routine: every way to run a kernel describes a `Submission` and comes here.

One command buffer: clears, one compute pass, copies of the trap words and of every result into one
staging buffer; one submission; one map. Buffers come in leases, which go back on every path.

Ctrl-C may come between any two steps, in a handler of an earlier one too. Nothing is repaired on
the way out, where the next one could come: the submitter only notes that it was interrupted, and
the next call takes back every lease that is not held by a ticket or a batch it knows of.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..buffer.arrays import Array
from ..buffer.bindings import BindGroupStatistics
from ..buffer.budgets import Budgets
from ..buffer.host_memory import HostMemory
from ..buffer.leases import Lease
from ..buffer.pool import PoolStatistics
from ..errors import DeviceLostError, DispatchTimeoutError, VyreError
from ..runtime.calls import Calls
from ..runtime.device import CLOSED, Device
from ..runtime.interrupts import held_back, is_interruption
from ..runtime.leaving import Leaving, at_exit
from ..wgsl.descriptor import TRAP_BYTES
from .batches import Batches
from .completion import Completion
from .counters import Counters
from .device_memory import DeviceMemory
from .outfit import Outfitter
from .resident_memory import ResidentMemory
from .shown import Shown
from .submission import Frame, Outcome, Submission
from .tickets import Ahead, Batch, Ticket
from .traps import TrapWords

__all__ = ["Submitter"]

DEFAULT_BUDGETS = Budgets()
_NO_TRAP = TrapWords(0, 0, 0, 0)


class Submitter:
    """Runs submissions on one device. Safe to use from several threads.

    Args:
        device: the device.
        counters: told what is done.
        budgets: bytes that its memory may take.

    Attributes:
        memory: buffers of the device that outlive a dispatch.
        completion: finishes futures of the device that nobody waits for.
        results: makes the arrays that results are copied into.
    """

    def __init__(
        self, device: Device, counters: Counters, budgets: Budgets = DEFAULT_BUDGETS
    ) -> None:
        self._device = device
        self._calls: Calls = device.calls
        self._views = device.views
        self._counters = counters
        self._lock = threading.Lock()
        self._closing = False
        self._leaver: int | None = None  # the only thread that goes on, at the interpreter's end
        self._stay = at_exit(self)
        self._tickets: set[Ticket] = set()  # whose buffers are not back yet
        self._has_orphans = False  # among the tickets; there may be some
        self._is_torn = False  # a call was interrupted
        self._returned: deque[Shown] = deque()  # whose views are gone
        self._memory = memory = DeviceMemory(device, budgets, self._drop_ahead)
        self._leases, self._pending = memory.leases, memory.pending
        self._outfitter = Outfitter(device, memory.leases, memory.groups)
        self._batches = Batches(self._calls, memory.leases, self._outfitter)
        self.memory = ResidentMemory(device, self._lock, memory, counters)
        self.completion = Completion(device.info.name, budgets.pending)
        self.results = HostMemory(budgets.results)

    @property
    def device(self) -> Device:
        """The device it submits to."""
        return self._device

    @property
    def max_buffer_bytes(self) -> int:
        """The largest storage buffer of a submission."""
        return self._memory.storage.limit

    @property
    def max_result_bytes(self) -> int:
        """The most bytes that all results of a submission may take, each rounded up to 16."""
        return self._memory.staging.limit - TRAP_BYTES

    def run(
        self,
        submission: Submission,
        meanwhile: Callable[[], None] | None = None,
        deadline: float | None = None,
    ) -> Outcome:
        """Runs a submission and waits for it; results are filled only if no lane trapped.

        Args:
            submission: what to run.
            meanwhile: called when it is submitted: what can be done while the device works.
            deadline: when to give up, on `time.monotonic`'s clock.

        Raises:
            LimitError: the device is out of memory.
            DispatchTimeoutError: the deadline passed first.
            DeviceLostError: the device is closed or lost.
            ForkedProcessError: this is a forked child.
        """
        busy = threading.Lock()
        try:
            with busy:
                with self._lock:
                    ticket = self._submit(submission, busy, is_watched=deadline is not None)
                outcomes = self._collect(ticket, deadline, meanwhile, looks_ahead=True)
            if outcomes is not None:
                return outcomes[0]
            self._has_orphans = True
        except VyreError:
            raise
        except BaseException:
            self._is_torn = True  # no handler of a signal runs before this
            raise
        raise self._too_late(ticket)

    def start(self, submission: Submission, *, is_watched: bool = False) -> Ticket:
        """Submits, without waiting. The ticket must be collected or abandoned.

        Uploads are taken; the arrays may change afterwards.

        Args:
            submission: what to submit.
            is_watched: its ticket must not be done before the kernel is, even if nothing is read
                back: it has a deadline.

        Raises:
            LimitError, DeviceLostError, ForkedProcessError: as `run`.
        """
        self.check_process()
        ticket = None
        try:
            with self._lock:
                ticket = self._submit(submission, threading.Lock(), is_watched=is_watched)
                ticket.is_kept = True
            return ticket
        except VyreError:
            raise
        except BaseException:
            self._is_torn = True
            if ticket is not None:
                ticket.is_kept = False
            raise

    def collect(self, ticket: Ticket, deadline: float | None = None) -> list[Outcome] | None:
        """Waits for a ticket and fills its results, up to the first submission that trapped.

        Args:
            ticket: an open ticket; no two threads collect one at a time.
            deadline: when to give up, on `time.monotonic`'s clock; None waits as long as it takes.

        Returns:
            An outcome for each submission, up to the first that trapped; None if the deadline
            passed first: the ticket is still open.

        Raises:
            DeviceLostError: the device was lost meanwhile, or closed.
        """
        self.check_process()
        try:
            with ticket.busy:
                with self._lock:
                    if ticket.outcomes is not None:  # delivered before an interruption
                        if ticket in self._tickets:
                            self._discard(ticket)
                        return ticket.outcomes
                    self.check()
                    if ticket not in self._tickets:
                        raise VyreError("a ticket is collected twice")
                return self._collect(ticket, deadline, looks_ahead=ticket.batch is None)
        except VyreError:
            raise
        except BaseException:
            self._is_torn = True
            raise

    def collect_in_time(self, ticket: Ticket, deadline: float | None) -> list[Outcome]:
        """As `collect`, but abandons the ticket if the deadline passes.

        Raises:
            DispatchTimeoutError: it did.
        """
        outcomes = self.collect(ticket, deadline)
        if outcomes is None:
            self.abandon(ticket)
            raise self._too_late(ticket)
        return outcomes

    def abandon(self, ticket: Ticket) -> None:
        """Gives up an open ticket. Its buffers come back when the device has done with them."""
        self.check_process()
        ticket.is_kept = False
        self._has_orphans = True

    def input_memory(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """An array to be filled and dispatched, whose memory the device reads if it can.

        Raises:
            DeviceLostError, ForkedProcessError: as `run`.
        """
        self.check_process()
        with self._lock, held_back():
            self._begin()
            nbytes = math.prod(shape) * dtype.itemsize
            lent = self._calls.lend(nbytes) if nbytes else None
        if lent is None:
            return self.results.empty(shape, dtype)
        return np.asarray(lent).view(dtype).reshape(shape)

    # Sequences that are submitted as one, again and again

    def hold(self, submissions: Sequence[Submission], label: str) -> Batch:
        """Takes the buffers of a sequence of submissions, for `start_batch`.

        Raises:
            LimitError, DeviceLostError, ForkedProcessError: as `run`.
        """
        self.check_process()
        batch = Batch(label)
        try:
            with self._lock, held_back(), self._device.reporting(f"preparing {label!r}"):
                self._begin()
                self._batches.hold(batch, submissions)
            return batch
        except VyreError:
            raise
        except BaseException:
            batch.is_ended = self._is_torn = True  # the caller does not get it
            raise

    def start_batch(
        self, batch: Batch, submissions: Sequence[Submission], *, is_watched: bool = False
    ) -> Ticket:
        """Submits a sequence, without waiting; submissions may differ in content only.

        Args:
            batch: what `hold` gave.
            submissions: the sequence.
            is_watched: as for `start`.

        Raises:
            VyreError: the batch was let go, or its last ticket is open.
            LimitError, DeviceLostError, ForkedProcessError: as `run`.
        """
        self.check_process()
        ticket = None
        try:
            with self._lock:
                ticket = self._start_batch(batch, submissions, is_watched=is_watched)
                ticket.is_kept = True
            return ticket
        except VyreError:
            raise
        except BaseException:
            self._is_torn = True
            if ticket is not None:
                ticket.is_kept = False
            raise

    def _start_batch(
        self, batch: Batch, submissions: Sequence[Submission], *, is_watched: bool
    ) -> Ticket:
        self._begin()
        if batch.is_ended or batch.is_submitted:
            raise VyreError(
                f"the buffers of {batch.label!r} are in use, or given back",
                fix="wait for the device, or record the work again",
            )
        try:
            mapping = self._batches.submit(batch, submissions, is_watched=is_watched)
        except BaseException as error:
            self._device.report(error, f"dispatching {batch.label!r}")
            raise
        self._pending.nbytes = 0
        self._counters.add_dispatches(len(submissions))
        parts = [(s, base) for s, (_, base) in zip(submissions, batch.outfits, strict=True)]
        ticket = Ticket(parts, batch.label, mapping, None, threading.Lock(), batch)
        self._tickets.add(ticket)
        return ticket

    def encode_batch(self, batch: Batch) -> None:
        """Encodes a batch once more, while the device works on it, for its next submission."""
        with self._lock:
            if not self._device.is_over:
                with self._device.reporting(f"preparing {batch.label!r}"):
                    self._batches.encode(batch)

    def let_go(self, batch: Batch) -> None:
        """Gives the buffers of a batch back, when no ticket of it is open any more. Idempotent."""
        if not self._device.is_ours:
            return
        with self._lock:
            if not batch.is_submitted:
                with held_back():
                    self._batches.end(batch, self._leases.give_back)
            batch.is_ended = True

    def check(self) -> None:
        """Raises if the device may not be used.

        Raises:
            DeviceLostError: it is lost, closed, or being closed.
            ForkedProcessError: this is a forked child.
        """
        self._device.check()
        if self._leaver is not None and self._leaver != threading.get_ident():
            raise Leaving
        if self._closing:
            raise DeviceLostError(
                f"the device {self._device.info.name} is being closed", fix=CLOSED
            )

    def check_process(self) -> None:
        """Raises in a forked child, where locks may be held by threads that do not exist.

        Raises:
            ForkedProcessError: this is one.
        """
        if not self._device.is_ours:
            self._device.check()

    def lose(self, reason: str) -> None:
        """Destroys the device as if it were lost: what is pending and what comes raises.

        wgpu-native ends the process where mapped memory of a destroyed device is read, or work is
        submitted to it. So threads that wait for the device are let out first; they raise too.

        Args:
            reason: what the errors say.
        """
        self.check_process()
        self._device.lose(reason)
        self.close()

    def close(self) -> None:
        """Waits for running submissions, then frees all buffers and the device. Idempotent."""
        # In a forked child locks may be held by threads that do not exist there.
        if self._device.is_ours:
            self.completion.close()
            with self._lock:
                self._closing = True
                tickets = tuple(self._tickets)
            for ticket in tickets:
                with ticket.busy:  # whoever waits for it comes out
                    pass
            with self._lock, held_back():
                if self._is_torn:
                    self._mend()
                for ticket in tuple(self._tickets):
                    self._discard(ticket)
                for batch in self._batches:
                    self._batches.end(batch, self._leases.give_back)
                self._take_back()
                for view in tuple(self._views):
                    if isinstance(view, Shown) and not view.is_left:
                        view.is_left = True
                        self._leases.leave(view.lease, -1)
                self._views.difference_update(self._returned)  # gone in between
                self._returned.clear()
                self._memory.close()
                self.results.close()
                self._calls.close()
                self._device.close()
            self._stay()
        else:
            self._device.close()

    def leave(self, timeout: float) -> bool:
        """Lets all threads but this one out of the device, for good, when the interpreter ends.

        Callbacks that the completion thread was given are called first. This thread may go on:
        functions of `atexit` that were registered earlier come later.

        Args:
            timeout: seconds to wait for what runs.

        Returns:
            Whether nothing runs any more, on the device or in its calls.
        """
        if self._device.is_over or not self._device.is_ours:
            return True
        until = time.monotonic() + timeout
        self.completion.close()
        self.completion.join(timeout)
        if not self._lock.acquire(timeout=max(0.0, until - time.monotonic())):
            return False
        try:
            self._leaver = threading.get_ident()
            tickets = tuple(self._tickets)
        finally:
            self._lock.release()
        is_still = True
        for ticket in tickets:
            if not ticket.busy.acquire(timeout=max(0.0, until - time.monotonic())):
                is_still = False
                continue
            try:
                is_still &= ticket.outcomes is not None or self._calls.wait(ticket.mapping, until)
            except Exception:
                is_still = False  # nobody is left to tell; what the device does is not known
            finally:
                ticket.busy.release()
        return is_still

    def statistics(self) -> tuple[PoolStatistics, PoolStatistics, BindGroupStatistics]:
        """Counters of buffers that are bound, of staging buffers and of bind groups."""
        with self._lock:
            return self._memory.statistics()

    def _begin(self) -> None:
        """What comes before every submission; with the lock held."""
        self.check()
        if self._is_torn:
            self._mend()
        if self._has_orphans:
            self._reap()
        if self._returned:
            self._take_back()

    def _take_back(self) -> None:
        """Takes back the buffers of results whose views are gone."""
        with held_back():
            while self._returned:
                shown = self._returned.popleft()
                if shown in self._views:
                    self._views.discard(shown)
                    self._calls.unmap(shown.mapping)
                    self._leases.give_back(shown.lease)

    def _mend(self) -> None:
        """Takes back what nobody holds any more since a call was interrupted."""
        with held_back():
            self._batches.mend({ticket.batch for ticket in self._tickets})
            held = {lease for batch in self._batches for lease in batch.leases}
            held.update(ticket.lease for ticket in self._tickets if ticket.lease is not None)
            held.update(view.lease for view in self._views if isinstance(view, Shown))
            self._leases.mend(held)
            self._has_orphans, self._is_torn = True, False

    def _reap(self) -> None:
        """Takes back the buffers of tickets that nobody collects any more, once they are done."""
        self._calls.poll()
        self._has_orphans = False
        for ticket in tuple(self._tickets):
            if ticket.is_orphan:
                if ticket.mapping.is_done:
                    self._discard(ticket)
                else:
                    self._has_orphans = True

    def _submit(self, submission: Submission, busy: threading.Lock, *, is_watched: bool) -> Ticket:
        """Submits; with the lock held.

        Args:
            submission: what to submit.
            busy: held by whoever waits for it.
            is_watched: as for `start`.
        """
        frame = submission.frame
        self._begin()
        prepared = self._outfitter.frame(frame)
        lease = self._leases.take(prepared.key)
        try:
            outfit = self._outfitter.outfit(lease, submission)
            block = submission.block if outfit.block is None else None
            step, encoded, ahead = outfit.step, None, lease.ahead
            if is_watched and not step.copies:
                step = outfit.watched
            elif ahead is not None:
                if ahead.outfit is outfit and ahead.block == block:
                    encoded, lease.ahead = ahead.encoded, None
                else:
                    ahead.misses += 1
            mapping = self._calls.submit(
                outfit.writes(submission),
                ((step, block),),
                prepared.label,
                outfit.staging,
                frame.staging_bytes,
                encoded,
            )
            self._pending.nbytes = 0
            self._counters.add_dispatches(1)
        except BaseException as error:
            # Whether the staging buffer is about to be mapped is not known.
            self._leases.discard(lease)
            self._device.report(error, f"dispatching {frame.label!r}")
            raise
        ticket = Ticket(((submission, 0),), frame.label, mapping, lease, busy)
        self._tickets.add(ticket)
        return ticket

    def _collect(
        self,
        ticket: Ticket,
        deadline: float | None,
        meanwhile: Callable[[], None] | None = None,
        *,
        looks_ahead: bool = False,
    ) -> list[Outcome] | None:
        """Waits and delivers, for a thread that holds the ticket's lock.

        A ticket that is not done by then, or by a key stroke, stays as it is.

        Args:
            ticket: what to wait for.
            deadline: as for `collect`.
            meanwhile: called first.
            looks_ahead: the same dispatch is likely to come again.
        """
        calls, mapping = self._calls, ticket.mapping
        if meanwhile is not None:
            meanwhile()
        if looks_ahead:
            self._encode_ahead(ticket)
        try:
            if not calls.wait(mapping, deadline):
                return None
        except Exception as error:
            if not is_interruption(error):
                with self._lock:
                    self._discard(ticket)  # it is not mapped
                self._device.report(error, f"waiting for {ticket.label!r}")
            raise
        if self._device.loss is not None:
            with self._lock:
                self._discard(ticket)
            self._device.check()
        try:
            submission = ticket.parts[0][0]
            if submission.shows and any(result is None for result in submission.results):
                return self._show(ticket)
            outcomes = self._deliver(ticket.parts, mapping)
            ticket.outcomes = outcomes
            with self._lock:
                calls.unmap(mapping)
                self._give_back(ticket)
        except Exception as error:
            if not is_interruption(error):
                with self._lock:
                    self._discard(ticket)
            raise
        if outcomes[-1].trap.flag:
            self._counters.add(traps=1)
        return outcomes

    def _encode_ahead(self, ticket: Ticket) -> None:
        """Encodes a dispatch once more while the device works, if it is the second of its kind.

        What a command buffer does depends on buffers, kernel, grid and dispatch block, not on what
        the buffers hold. So where the last two were equal, the next one probably is, and need only
        be submitted.
        """
        lease, (submission, _) = ticket.lease, ticket.parts[0]
        assert lease is not None
        block, outfit = submission.block, lease.prepared
        if lease.last != block or outfit is None or outfit.block is not None:
            lease.last = block
        elif not ticket.mapping.is_done and (lease.ahead is None or lease.ahead.misses > 8):
            with self._lock:
                if self._device.is_over:
                    return
                if lease.ahead is not None:
                    self._drop_ahead(lease)
                label = self._outfitter.frame(submission.frame).label
                try:
                    encoded = self._calls.encode(((outfit.step, block),), label)
                except Exception as error:
                    self._device.report(error, f"preparing {ticket.label!r}")
                    raise
                lease.ahead, lease.last = Ahead(outfit, block, encoded), block

    def _drop_ahead(self, lease: Lease) -> None:
        ahead, lease.ahead, lease.last = lease.ahead, None, None
        if ahead is not None:
            self._calls.drop(ahead.encoded)

    def _too_late(self, ticket: Ticket) -> DispatchTimeoutError:
        return DispatchTimeoutError(
            f"{ticket.label!r} did not end before its deadline on {self._device.info.name}",
            fix="allow more time, or dispatch less work at once; the pipeline stays usable",
        )

    def _deliver(self, parts: Sequence[tuple[Submission, int]], mapping: Any) -> list[Outcome]:
        """Copies results out; an outcome for each part, up to the first that trapped."""
        calls = self._calls
        outcomes = []
        for submission, base in parts:
            frame = submission.frame
            grid, offsets = self._grid(frame, mapping, base), frame.results
            if base:
                offsets = [base + offset for offset in offsets]
            flag_at = base if frame.has_trap else None
            if not calls.fetch(mapping, flag_at, offsets, submission.results):
                outcomes.append(Outcome(TrapWords(*calls.words(mapping, base, 4)), grid))
                break
            outcomes.append(Outcome(_NO_TRAP, grid))
        return outcomes

    def _grid(self, frame: Frame, mapping: Any, base: int = 0) -> tuple[int, int, int]:
        """The workgroups that were launched; of an indirect launch as the device had them."""
        if frame.grid is not None:
            return frame.grid
        x, y, z = self._calls.words(mapping, base + frame.indirect_at, 3)
        return x, y, z

    def _show(self, ticket: Ticket) -> list[Outcome]:
        """As `_deliver` and what follows, where results stay where they are."""
        (submission, _), calls, mapping = ticket.parts[0], self._calls, ticket.mapping
        frame, results = submission.frame, submission.results
        assert isinstance(results, list)
        with self._lock, held_back():
            if self._device.is_over:
                self._discard(ticket)
                self._device.check()
            trap = TrapWords(*calls.words(mapping, 0, 4)) if frame.has_trap else _NO_TRAP
            outcomes = ticket.outcomes = [Outcome(trap, self._grid(frame, mapping))]
            if trap.flag:
                self._counters.add(traps=1)
                calls.unmap(mapping)
                self._give_back(ticket)
                return outcomes
            lease, address = ticket.lease, calls.address(mapping)
            assert lease is not None
            shown = Shown(mapping, lease, (self._device.wgpu, lease))
            sizes = [slot.nbytes for slot in frame.slots if slot.result]
            for number, (offset, nbytes) in enumerate(zip(frame.results, sizes, strict=True)):
                if results[number] is None:
                    results[number] = shown.view(address + offset, nbytes)
                else:
                    calls.read(mapping, offset, results[number])
            shown.seal(self._views, self._returned)
            self._tickets.discard(ticket)
            ticket.lease = None
        return outcomes

    # What becomes of a ticket; all with the lock held

    def _give_back(self, ticket: Ticket) -> None:
        self._tickets.discard(ticket)
        lease, ticket.lease = ticket.lease, None
        if lease is not None:
            self._leases.give_back(lease)
        elif ticket.batch is not None:
            ticket.batch.is_submitted = False
            if ticket.batch.is_ended:
                self._batches.end(ticket.batch, self._leases.give_back)

    def _discard(self, ticket: Ticket) -> None:
        self._tickets.discard(ticket)
        lease, ticket.lease = ticket.lease, None
        if lease is not None:
            self._leases.discard(lease)
        elif ticket.batch is not None:
            self._batches.end(ticket.batch, self._leases.discard)
