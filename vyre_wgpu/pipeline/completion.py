"""`Completion`: a thread of a device that finishes what nobody waits for, and calls back."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from ..runtime.interrupts import held_back
from ..runtime.leaving import Leaving

__all__ = ["Completable", "Completion", "call_back"]

_log = logging.getLogger("vyre_wgpu")

_MOST_PENDING = 64
"""Work that nobody has waited for, above which the next submission waits for the oldest."""


class Completable(Protocol):
    """Work on a device that becomes done.

    Attributes:
        nbytes: bytes that it had uploaded.
    """

    nbytes: int

    @property
    def is_ready(self) -> bool:
        """Whether the device is known to be done; nobody is asked."""
        ...

    def finish(self, deadline: float | None = None) -> bool:
        """Finishes it if the device is done by a time of `time.monotonic`; whether it is done."""
        ...


class Completion:
    """Finishes work in the order of submission: when asked, on later occasions, or by a thread.

    The thread is a daemon, started by the first callback.

    Args:
        name: of the device, for the thread's name.
        budget: bytes uploaded for pending work, above which the next submission waits.
    """

    def __init__(self, name: str, budget: int) -> None:
        self._name, self._budget = name, budget
        self._bytes = 0  # of pending work
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[Completable | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._pending: deque[Completable] = deque()

    @property
    def has_pending(self) -> bool:
        """Whether there is work to settle."""
        return bool(self._pending)

    def add(self, work: Completable) -> None:
        """Takes note of work that was submitted; it may be dropped by its owner."""
        with self._lock:
            self._pending.append(work)
            self._bytes += work.nbytes

    def remove(self, work: Completable) -> None:
        """Forgets work that is finished."""
        with self._lock, contextlib.suppress(ValueError):  # it was removed before
            self._pending.remove(work)
            self._bytes = self._bytes - work.nbytes if self._pending else 0

    def settle(self) -> None:
        """Finishes what the device is known to have done, and the oldest work if much is pending.

        Whatever is submitted or waited for later makes more of it known.
        """
        pending = self._pending
        while pending:
            try:
                oldest = pending[0]
            except IndexError:  # another thread was here
                return
            is_full = len(pending) > _MOST_PENDING or self._bytes > self._budget
            if not is_full and not oldest.is_ready:
                return
            if not oldest.finish(None if is_full else 0.0):
                return
            self.remove(oldest)

    def hand_over(self, work: Completable) -> None:
        """Has the thread finish some work."""
        with self._lock:
            if self._thread is None and not self._is_closed:
                with held_back():
                    thread = threading.Thread(target=_serve, args=(self._queue,), daemon=True)
                    thread.name = f"vyre_wgpu {self._name}"
                    thread.start()
                    self._thread = thread
            is_served = not self._is_closed
        if is_served:
            self._queue.put(work)
        else:
            work.finish()

    def join(self, timeout: float) -> None:
        """Waits until the thread has ended, after `close`."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def close(self) -> None:
        """Ends the thread when it has finished what it was given. Idempotent."""
        with self._lock:
            if not self._is_closed and self._thread is not None:
                self._queue.put(None)
            self._is_closed = True


def _serve(work: queue.SimpleQueue[Completable | None]) -> None:
    while (item := work.get()) is not None:
        # SystemExit too, or asyncio's CancelledError: others still wait for this thread.
        call_back(item.finish, BaseException)
        del item  # not kept until the next one comes


def call_back(function: Callable[[], object], logged: type[BaseException] = Exception) -> None:
    """Calls somebody's function; what it raises is logged, as there is nobody to raise it to.

    Args:
        function: the function.
        logged: what is logged; all else is raised.
    """
    try:
        function()
    except logged as error:
        if not isinstance(error, Leaving):
            _log.exception("a callback of a dispatch failed")
