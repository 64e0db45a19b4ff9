"""The device that a command runs on, and which graphics APIs are asked for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .. import settings
from ..backends import Backend, get_backend
from ..errors import InputError

__all__ = ["looks_at_opengl", "opened_backend", "skip_opengl"]


def skip_opengl(adapter: str | None, *, everything: bool = False) -> None:
    """Leaves OpenGL out of this process's adapters unless it is asked for; keeps drivers quiet.

    Looking at OpenGL costs about 100 ms. OpenGL adapters come last, so the others keep their index.
    What a process looks at is decided once, before its first look; so this is only for a process
    that is the command line's own.

    Args:
        adapter: the request of ``--adapter``; None is the environment's.
        everything: OpenGL is asked for.
    """
    _quiet_wayland()
    request = settings.current().adapter if adapter is None else adapter
    if everything or looks_at_opengl(request):
        return
    # The API is wgpu-py's own and young: without it the look takes longer, and no more. It
    # raises RuntimeError after the first look; where the library itself is broken, the command's
    # own use of it says so.
    with suppress(ImportError, AttributeError, KeyError, OSError, RuntimeError):
        from wgpu.backends.wgpu_native.extras import set_instance_extras

        set_instance_extras(backends=["Primary"])


def _quiet_wayland() -> None:
    """Keeps Mesa from filling standard error with lines about ``XDG_RUNTIME_DIR``.

    Without a desktop session its layer that sorts devices, and its OpenGL, look for a Wayland
    display and write such a line each time they find the variable unset. With a folder that does
    not exist they find no display either, and say nothing.
    """
    if sys.platform == "linux":
        os.environ.setdefault("XDG_RUNTIME_DIR", "/nonexistent")


def looks_at_opengl(request: str | None) -> bool:
    """Whether a request for an adapter may mean one that is reached through OpenGL.

    Args:
        request: an index or a part of a name. The first adapter is an OpenGL one only where there
            is no other.
    """
    if request is None:
        return False
    wanted = request.strip().lower()
    return (wanted.isdecimal() and int(wanted) > 0) or "gl" in wanted


@contextmanager
def opened_backend(
    adapter: str | None, name: str | None = "wgpu", *, own_process: bool = False
) -> Iterator[Backend]:
    """A backend, for a block.

    Args:
        adapter: index or part of the name; None takes the environment's, else the best one.
        name: which backend; None takes the environment's, else wgpu.
        own_process: whether this process is the command line's own; see `skip_opengl`.

    Raises:
        NoAdapterError: there is no adapter, or none that matches.
        InputError: the backend is unknown, or has no adapters to choose from.
    """
    chosen = settings.current().backend if name is None else name
    if chosen == "wgpu" and own_process:
        skip_opengl(adapter)
    if adapter is None:
        yield get_backend(chosen)
        return
    if chosen != "wgpu":
        get_backend(chosen)  # raises where there is none
        raise InputError(
            f"an adapter is given, but the backend {chosen!r} does not take one",
            fix="leave out --adapter, or use the backend wgpu",
        )
    from ..backends.wgpu import WgpuBackend  # not for commands that need no device

    with WgpuBackend(adapter) as backend:
        yield backend
