"""Forked children: what they inherit of the GPU library is never touched, not even to free it.

A child has its parent's handles, but none of the driver's threads, and whatever waits for those
waits for ever. Two things would: wgpu's objects free their handles when the last reference goes,
anywhere in the child (`GPUObjectBase._release` and its overrides); and handlers that the driver
left with the C library for ``exit()`` join its threads (Mesa's do, and crash the child where the
threads' memory is gone). So a hook that runs in every forked child takes the freeing out of wgpu's
classes there, and makes its ``exit()`` leave out the handlers of before the fork, as ``os._exit()``
and so `multiprocessing` always do. Python's own clean-up is complete by then. The parent does not
notice.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable

__all__ = ["abandon", "current_process", "first_process", "guard_children"]

_NATIVE = "wgpu.backends.wgpu_native._api"


@functools.cache
def current_process() -> int:
    """The id of this process, without asking the system each time."""
    if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
        os.register_at_fork(after_in_child=current_process.cache_clear)
    return os.getpid()


@functools.cache
def first_process() -> int:
    """The process that first asked the GPU library for adapters."""
    return os.getpid()


@functools.cache
def guard_children() -> None:
    """Keeps children forked from now on from freeing what they inherit; once in a process."""
    if not hasattr(os, "register_at_fork"):  # on Windows
        return
    leave_early = _early_exit()

    def forsake() -> None:
        _free_nothing()
        leave_early()

    os.register_at_fork(after_in_child=forsake)


def abandon() -> None:
    """Has this process free nothing more of the GPU library, and end without its clean-up."""
    _free_nothing()
    _early_exit()()


def _free_nothing() -> None:
    native = sys.modules.get(_NATIVE)
    for kind in [] if native is None else list(vars(native).values()):
        if isinstance(kind, type) and "_release" in vars(kind):
            kind._release = _keep  # type: ignore[attr-defined]


def _keep(_: object) -> None:
    """Stands for wgpu's ``_release``."""


def _early_exit() -> Callable[[], None]:
    """What a process calls so that its ``exit()`` leaves out the handlers registered before.

    Handlers run from the last to the first: C's streams are flushed, then the process ends with the
    status that ``exit()`` was given. Only glibc has ``on_exit``, whose handlers are told it;
    elsewhere this does nothing.
    """
    import ctypes  # here, since a child must not import what a thread of the parent's may import

    library = ctypes.CDLL(None)
    try:
        on_exit, last, flush = library.on_exit, library._exit, library._IO_flush_all
    except AttributeError:
        return lambda: None
    on_exit.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    handlers = [ctypes.cast(function, ctypes.c_void_p) for function in (last, flush)]

    def arrange() -> None:
        for handler in handlers:
            on_exit(handler, None)

    return arrange
