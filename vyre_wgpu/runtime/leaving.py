"""The end of the interpreter, while threads that nobody joins are within the GPU library.

Python ends daemon threads where they next ask for the interpreter, frees wgpu's objects, and goes
on to C's ``exit()``, which runs the clean-up of the driver. A thread that is in a call of the
library meanwhile finds the driver gone, and wgpu-native ends the process over that. So other
threads are let out of the library first, and kept out. Where one does not come out in time, nothing
is freed under its feet: the process ends without the clean-up of the driver.
"""

from __future__ import annotations

import atexit
import functools
import gc
import weakref
from collections.abc import Callable
from typing import Protocol

from .forked import abandon

__all__ = ["PATIENCE", "Leaver", "Leaving", "at_exit", "collect_at_exit"]

PATIENCE = 5.0
"""Seconds that the interpreter waits, at its end, for what runs on a device."""


class Leaving(SystemExit):
    """Ends a thread that would begin work on a device while the interpreter ends.

    A thread that is ended by it says nothing; that it is no `Exception` keeps a loop which tries
    again from going on.
    """


class Leaver(Protocol):
    """Who uses a device."""

    def leave(self, timeout: float) -> bool:
        """Lets all threads but this one out of the device, for good; whether they came."""
        ...


@functools.cache
def collect_at_exit() -> None:
    """Has cyclic garbage collected once all have left at the end of the interpreter.

    wgpu-py's devices are in reference cycles: those that were closed are with the driver until the
    collector finds them, and NVIDIA's crashes where it is unloaded under some of them. To be called
    before the first `at_exit`, since what was registered first runs last.
    """
    atexit.register(gc.collect)


def at_exit(leaver: Leaver) -> Callable[[], None]:
    """Has somebody leave when the interpreter ends, unless it is forgotten before.

    Returns:
        What calls that off.
    """
    found = weakref.ref(leaver)

    def leave() -> None:
        leaver = found()
        if leaver is not None and not leaver.leave(PATIENCE):
            abandon()

    atexit.register(leave)
    weakref.finalize(leaver, atexit.unregister, leave).atexit = False
    return lambda: atexit.unregister(leave)
