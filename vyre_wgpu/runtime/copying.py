"""`copy_bytes`: copies of host memory, by several threads where they are large enough.

One thread does not fill the memory bus of a large machine; NumPy copies without the interpreter's
lock, so others can help. On a machine of few cores there is nothing to gain.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy.typing as npt

from .interrupts import held_back

__all__ = ["copy_bytes", "thread_count"]

SHARE = 2 << 20
"""Bytes that make it worth it to hand a part to another thread: a few times what that costs."""

MOST_THREADS = 8
"""Threads that fill the memory bus of the machines that were measured."""


@functools.cache
def _cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not everywhere
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(nbytes: int) -> int:
    """How many threads copy so many bytes, the calling one included."""
    return max(1, min(MOST_THREADS, _cores() // 2, nbytes // SHARE))


@functools.cache
def _helpers() -> ThreadPoolExecutor:
    """Threads that help; started at the first use, in this process and in each forked child."""
    if hasattr(os, "register_at_fork"):  # not on Windows
        os.register_at_fork(after_in_child=_helpers.cache_clear)
    return ThreadPoolExecutor(MOST_THREADS - 1, "vyre_wgpu copy")


def copy_bytes(target: npt.NDArray[Any], source: npt.NDArray[Any]) -> None:
    """Copies bytes; when it returns or raises, nobody reads or writes either any more.

    Args:
        target: a one-dimensional array of bytes.
        source: another of the same size.
    """
    count = thread_count(target.size)
    if count == 1:
        target[:] = source
        return
    step = -(-target.size // count // 4096) * 4096
    parts = [slice(first, first + step) for first in range(step, target.size, step)]

    def copy(part: slice) -> None:
        target[part] = source[part]

    with held_back():  # the memory may be gone after this returns
        try:
            helping = [_helpers().submit(copy, part) for part in parts]
        except RuntimeError:  # the interpreter ends, and starts no threads any more
            target[:] = source
            return
        copy(slice(step))
        for help_ in helping:
            help_.result()
