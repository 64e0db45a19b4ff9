"""The device that a command runs on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..backends import Backend, get_backend

__all__ = ["opened_backend"]


@contextmanager
def opened_backend(adapter: str | None) -> Iterator[Backend]:
    """The wgpu backend on an adapter, for a block.

    Args:
        adapter: index or part of the name; None takes the environment's, else the best one.

    Raises:
        NoAdapterError: there is no adapter, or none that matches.
    """
    if adapter is None:
        yield get_backend("wgpu")
        return
    from ..backends.wgpu import WgpuBackend  # not for commands that need no device

    with WgpuBackend(adapter) as backend:
        yield backend
