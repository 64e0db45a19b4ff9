"""`held_back`: steps that Ctrl-C must not come between.

Python runs the handler of a signal between two steps of the main thread, wherever that is: within
wgpu-py, which then forgets an object or keeps a lock; within a callback, where the exception is
dropped. Around such steps Ctrl-C waits. It costs a few system calls, so it is for work that is
rare, or costs more anyway. What runs often is ordered so that it may be interrupted anywhere, and
repaired by the next call (see `Submitter`).
"""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any

__all__ = ["held_back"]


class held_back:
    """In its ``with`` block Ctrl-C does nothing; if it came, it does what it does after the block.

    Outside the main thread, where no handler of signals runs, and within another such block, this
    is nothing.
    """

    __slots__ = ("_came", "_handler")
    _handler: Any

    def __enter__(self) -> None:
        self._came, self._handler = False, None
        if threading.get_ident() != threading.main_thread().ident:
            return
        handler: Any = signal.getsignal(signal.SIGINT)
        if not callable(handler) or isinstance(getattr(handler, "__self__", None), held_back):
            return
        try:
            self._handler = handler
            signal.signal(signal.SIGINT, self._note)
        except ValueError:  # the main thread of a subinterpreter
            self._handler = None
        except BaseException:  # the handler of another signal
            signal.signal(signal.SIGINT, handler)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        handler = self._handler
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
            if self._came:
                handler(signal.SIGINT, sys._getframe(1))

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = True
