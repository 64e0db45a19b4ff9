"""`DispatchFuture`: the results of a dispatch that was submitted and not waited for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any

from ..runtime.interrupts import is_interruption
from .completion import call_back
from .config_checks import checked_timeout
from .prepared import PreparedCall
from .split import SplitCall
from .submit import Submitter
from .tickets import Ticket

__all__ = ["DispatchFuture"]


class DispatchFuture:
    """What ``pipe.submit(...)`` gives. Safe to use from several threads, and with ``await``.

    Args:
        submitter: where it runs.
        call: what was submitted.
        ticket: its ticket, of the last part if it runs in parts; None if nothing was to run, or a
            part before that failed.
        deadline: when it fails with `DispatchTimeoutError`, on `time.monotonic`'s clock, or None.

    Attributes:
        nbytes: bytes of the arrays that were copied to the device.
    """

    def __init__(
        self,
        submitter: Submitter,
        call: PreparedCall | SplitCall,
        ticket: Ticket | None,
        deadline: float | None,
    ) -> None:
        self._submitter = submitter
        self._call: PreparedCall | SplitCall | None = call
        self._ticket = ticket
        self._deadline = deadline
        self._lock = threading.Lock()  # held by who waits for the device
        self._callbacks: list[Callable[[], object]] = []
        self._results: list[Any] = []
        self._error: BaseException | None = None
        self._trace: TracebackType | None = None  # of the error, where it came
        self._is_finished = False
        uploads = () if call.submission is None else call.submission.uploads
        self.nbytes = sum([array.nbytes for array in uploads])
        if ticket is None:
            try:
                self._results = call.finish(None)
            except Exception as error:
                self._error, self._trace = error, error.__traceback__
            self._is_finished = True
        else:
            submitter.completion.add(self)

    def done(self) -> bool:
        """Whether results or an error are there; never waits."""
        return self.finish(0.0)

    @property
    def is_ready(self) -> bool:
        """Whether the device is known to be done; nobody is asked, as `done` does."""
        ticket = self._ticket
        return ticket is None or bool(ticket.mapping.is_done)

    def result(self, timeout: float | None = None) -> list[Any]:
        """The results, as ``dispatch`` gives them.

        Args:
            timeout: seconds to wait; None waits as long as it takes.

        Raises:
            TimeoutError: they were not there in time. They may be later: ask again.
            InputError: the timeout is no number.
            DispatchTimeoutError: the deadline of the dispatch has passed (also a `TimeoutError`).
            TrapError, LimitError, DeviceLostError: as ``dispatch``.
        """
        error = self.exception(timeout)
        if error is not None:
            # Each time anew from where it came: else its trace grows with every question.
            raise error.with_traceback(self._trace)
        return self._results

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """The error that `result` raises, or None if there are results.

        Args:
            timeout: as for `result`.

        Raises:
            TimeoutError: neither was there in time.
            InputError: the timeout is no number.
        """
        until = None if timeout is None else time.monotonic() + checked_timeout(timeout)
        if not self.finish(until):
            raise TimeoutError(f"no result within {timeout} seconds")
        return self._error

    def add_done_callback(self, function: Callable[[DispatchFuture], object]) -> None:
        """Has a function called with this future when it is done, at once if it is.

        It is called by a thread of the device, or by whoever finds out first; what it raises is
        logged.
        """
        with self._lock:
            if not self._is_finished:
                self._callbacks.append(lambda: function(self))
            is_waiting = not self._is_finished
        if is_waiting:
            self._submitter.completion.hand_over(self)
        else:
            call_back(lambda: function(self))

    def __await__(self) -> Generator[Any, None, list[Any]]:
        if not self.done():
            import asyncio  # costs 19 ms

            loop = asyncio.get_running_loop()
            woken = loop.create_future()

            def note() -> None:
                if not woken.done():  # it may be cancelled
                    woken.set_result(None)

            def wake(_: DispatchFuture) -> None:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(note)

            self.add_done_callback(wake)
            yield from woken
        return self.result()

    def finish(self, deadline: float | None = None) -> bool:
        """Collects the results if the device is done by a time of `time.monotonic`.

        Args:
            deadline: the time; in the past, this only looks; None waits as long as it takes.

        Returns:
            Whether it is done, well or badly.
        """
        if self._is_finished:
            if self._callbacks:
                self._call_back()
            return True
        self._submitter.check_process()  # a child's copy of the lock may never be released
        timeout = -1.0
        if deadline is not None:
            timeout = min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX)
        taken: list[bool] = []
        try:
            # In one step: between taking a lock and noting it Ctrl-C could come.
            taken.extend(map(self._lock.acquire, (True,), (timeout,)))
            if not taken[0]:
                return False
            if not self._is_finished:
                self._collect(deadline)
        finally:
            if taken and taken[0]:
                self._lock.release()
        if not self._is_finished:
            return False
        self._submitter.completion.remove(self)
        self._call_back()
        return True

    def _call_back(self) -> None:
        """Calls who has to be called, each once; with Ctrl-C the thread calls who is left."""
        try:
            while self._callbacks:
                try:
                    function = self._callbacks.pop(0)
                except IndexError:  # another thread was here
                    return
                call_back(function)
        except BaseException:
            if self._callbacks:
                self._submitter.completion.hand_over(self)
            raise

    def _collect(self, deadline: float | None) -> None:
        submitter, ticket, call = self._submitter, self._ticket, self._call
        assert ticket is not None
        assert call is not None
        try:
            call.allocate()  # here, where somebody waits, not where much is submitted
            if self._deadline is not None and (deadline is None or deadline >= self._deadline):
                outcomes = submitter.collect_in_time(ticket, self._deadline)
            else:
                found = submitter.collect(ticket, deadline)
                if found is None:
                    if self._deadline is None or time.monotonic() < self._deadline:
                        return
                    found = submitter.collect_in_time(ticket, self._deadline)
                outcomes = found
            self._results = call.finish(outcomes[0])
        except Exception as error:
            if is_interruption(error):
                raise  # it may be asked again
            call.abort()
            self._error, self._trace = error, error.__traceback__
        # Nothing more is needed of what was submitted.
        self._is_finished, self._call, self._ticket = True, None, None

    def __repr__(self) -> str:
        state = "done" if self._is_finished else "submitted"
        return f"<DispatchFuture {state}>"
