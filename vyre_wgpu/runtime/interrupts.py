"""`held_back`: steps that a signal's handler must not come between.

Python runs the handler of a signal between two steps of the main thread, wherever that is: within
wgpu-py, which then forgets an object or keeps a lock; within a callback, where the exception is
dropped. Around such steps signals wait: Ctrl-C, and all others whose handler may raise. It costs a
few system calls, so it is for work that is rare, or costs more anyway. What runs often is ordered
so that it may be interrupted anywhere, and repaired by the next call (see `Submitter`).
"""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any

from ..errors import VyreError

__all__ = ["held_back", "is_interruption"]


_NAMES = ("HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "TERM", "VTALRM", "PROF", "BREAK")
_SIGNALS = tuple(
    number for name in _NAMES if (number := getattr(signal, f"SIG{name}", None)) is not None
)
"""Signals that programs have handlers of their own for. Those of other signals seldom raise."""


class held_back:
    """In its ``with`` block signals do nothing; those that came do what they do after the block.

    Outside the main thread, where no handler of signals runs, and within another such block, this
    is nothing.
    """

    __slots__ = ("_came", "_handlers", "_holds")

    def __enter__(self) -> None:
        self._came: list[int] = []
        self._handlers: dict[int, Any] = {}
        self._holds = True
        if threading.get_ident() != threading.main_thread().ident:
            return
        try:
            for number in _SIGNALS:
                handler: Any = _behind(signal.getsignal(number), number)
                if callable(handler) and not _is_holding(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._note)
        except ValueError:  # the main thread of a subinterpreter
            self._handlers.clear()
        except BaseException:  # a handler that was not replaced yet
            self._end()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._handlers:
            try:
                self._end()
            finally:
                self._make_up_for()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._holds:
            if number not in self._came:
                self._came.append(number)
        else:  # it was not put back, since others raised one after the other
            self._handlers[number](number, frame)

    def _end(self) -> None:
        """Puts all handlers back, though some that are back raise meanwhile."""
        left = list(self._handlers.items())
        raised: list[BaseException] = []
        try:
            while left:
                try:
                    while left:
                        signal.signal(*left[-1])
                        left.pop()
                except BaseException as error:
                    raised.append(error)
        finally:
            self._holds = False
        if raised:
            raise raised[0]

    def _make_up_for(self) -> None:
        """Calls the handlers of what came, all of them, though one raises."""
        if self._came:
            number = self._came.pop(0)
            try:
                self._handlers[number](number, sys._getframe(2))
            finally:
                self._make_up_for()


_OF_CALLS = (
    VyreError, RuntimeError, MemoryError, ArithmeticError, AssertionError, AttributeError,
    LookupError, NameError, TypeError, ValueError,
)  # fmt: skip


def is_interruption(error: BaseException) -> bool:
    """Whether an exception may be a signal handler's, rather than what a call here came to.

    Handlers run in the main thread only. One that raises what Python's own operations raise passes
    for these.
    """
    if isinstance(error, _OF_CALLS):
        return False
    if threading.get_ident() != threading.main_thread().ident:
        return not isinstance(error, Exception)
    import wgpu

    return not isinstance(error, wgpu.GPUError)


def _behind(handler: Any, number: int) -> Any:
    """The handler that a block which has ended stands for, if it could not put it back."""
    block = getattr(handler, "__self__", None)
    while isinstance(block, held_back) and not block._holds:
        handler = block._handlers[number]
        block = getattr(handler, "__self__", None)
    return handler


def _is_holding(handler: Any) -> bool:
    block = getattr(handler, "__self__", None)
    return isinstance(block, held_back) and block._holds
