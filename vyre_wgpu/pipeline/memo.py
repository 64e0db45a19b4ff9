"""`Memo`: the pipelines of program objects that were compiled before.

Compiling the same object again is one look into a dictionary: no fingerprint, no key, no lock. What
is found here does not count as a use in the memory cache; what that drops is dropped here too.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["Memo"]

PER_KERNEL = 4
"""Equal program objects remembered for one kernel: each is kept alive."""

_CAME = "_came_to"
"""Where a program object is marked that came once, among what it has worked out for itself."""

P = TypeVar("P")

MemoKey = int | tuple[int, Hashable]
"""The id of a program object, with its options where they are not the default."""


class Memo(Generic[P]):
    """Pipelines by program object and options. Safe to use from several threads.

    Args:
        max_kernels: kernels whose pipelines are remembered at most.

    Attributes:
        pipelines: what is remembered; to be read only. A method would cost as much as the look.
        hit: to be called where one is found: counts it.
    """

    def __init__(self, max_kernels: int) -> None:
        self._max_kernels = max_kernels
        self.pipelines: dict[MemoKey, P] = {}
        self._of_kernel: dict[int, tuple[object, list[MemoKey]]] = {}
        self._mark = object()
        self._lock = threading.Lock()
        # Counts without a lock: the next number of a counter is one step of the interpreter.
        self.hit = itertools.count().__next__
        self._looks = 0

    @property
    def hits(self) -> int:
        """How often a pipeline was found."""
        with self._lock:
            self._looks += 1
            return self.hit() - self._looks + 1

    def add(self, key: MemoKey, pipeline: P, program: object, kernel: object) -> None:
        """Remembers a pipeline until its kernel is dropped, or newer ones of the kernel come.

        The first object of a kernel is remembered at once, another when it comes a second time:
        most programs that are built anew are compiled once and thrown away.
        """
        marks = program.__dict__
        if marks.get(_CAME) is not self._mark and id(kernel) in self._of_kernel:
            marks[_CAME] = self._mark  # one step of the interpreter: no lock
        else:
            self._remember(key, pipeline, kernel)

    def _remember(self, key: MemoKey, pipeline: P, kernel: object) -> None:
        with self._lock:
            known = self._of_kernel.get(id(kernel))
            if known is None:
                known = self._of_kernel[id(kernel)] = (kernel, [])
            keys = known[1]
            if key not in self.pipelines:
                keys.append(key)
            self.pipelines[key] = pipeline
            if len(keys) > PER_KERNEL:
                self.pipelines.pop(keys.pop(0), None)
            if len(self._of_kernel) > self._max_kernels:
                # The memory cache drops kernels in time; one that it dropped before this call is
                # found here only.
                self._drop(next(iter(self._of_kernel)))

    def drop(self, kernel: object) -> None:
        """Forgets the pipelines of a kernel."""
        with self._lock:
            self._drop(id(kernel))

    def _drop(self, number: int) -> None:
        _, keys = self._of_kernel.pop(number, (None, []))
        for key in keys:
            self.pipelines.pop(key, None)

    def clear(self) -> None:
        """Forgets all."""
        with self._lock:
            self.pipelines.clear()
            self._of_kernel.clear()
