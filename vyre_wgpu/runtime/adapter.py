"""Which adapter to open: the caller's request, else the environment's, else the best GPU."""

from __future__ import annotations

import logging
import operator
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from .. import settings
from ..errors import ForkedProcessError, InputError, NoAdapterError
from .forked import first_process, guard_children
from .info import AdapterInfo, AdapterKind

__all__ = ["Adapter", "choose", "enumerate_adapters", "find_again", "select"]

_log = logging.getLogger("vyre_wgpu")

_KINDS: dict[str, AdapterKind] = {
    "DiscreteGPU": "discrete",
    "IntegratedGPU": "integrated",
    "CPU": "software",
}
_KIND_ORDER: tuple[AdapterKind, ...] = ("discrete", "integrated", "other", "software")
_API_ORDER = ("Metal", "Vulkan", "D3D12")

_INSTALL = {
    "linux": (
        "install your GPU's Vulkan driver, or Mesa's software driver (packages "
        "mesa-vulkan-drivers and libvulkan1 on Debian and Ubuntu, mesa-vulkan-drivers and "
        "vulkan-loader on Fedora, vulkan-swrast and vulkan-icd-loader on Arch)"
    ),
    "darwin": "use a Mac with Metal (macOS 10.13 or later); a virtual machine may lack it",
    "win32": "install your GPU vendor's current driver (it brings Vulkan and Direct3D 12)",
}


class Adapter(NamedTuple):
    """An adapter of this machine.

    Attributes:
        info: what it is.
        handle: wgpu's object.
    """

    info: AdapterInfo
    handle: Any


_alone = threading.Lock()
"""Held while adapters are enumerated and until those of OpenGL are freed: wgpu-native ends the
process where two threads are at that (a context of EGL belongs to one thread at a time)."""


def enumerate_adapters() -> list[Adapter]:
    """All adapters of this machine in the order of their index, OpenGL included.

    Not for several threads, nor beside `choose` or `find_again`.

    Raises:
        ForkedProcessError: the GPU library was in use before this process was forked.
        NoAdapterError: the GPU library cannot be loaded.
    """
    _check_process()
    try:
        import wgpu.backends.wgpu_native  # loads the native library, a third of a second
    except (ImportError, OSError, RuntimeError) as error:
        raise NoAdapterError(
            f"the GPU library cannot be loaded: {error}", fix="reinstall the package wgpu"
        ) from error
    guard_children()
    handles = wgpu.gpu.enumerate_adapters_sync()
    return [Adapter(_describe(index, dict(h.info)), h) for index, h in enumerate(handles)]


def _check_process() -> None:
    if first_process() != os.getpid():
        raise ForkedProcessError(
            "this process was forked from one that already used the GPU",
            fix='start workers with multiprocessing.get_context("spawn")',
        )


@contextmanager
def _all_adapters() -> Iterator[list[Adapter]]:
    """All adapters, for the length of a block; see `enumerate_adapters`."""
    _check_process()  # a child's copy of the lock may be held for ever
    with _alone:
        adapters = enumerate_adapters()
        try:
            yield adapters
        finally:
            adapters.clear()  # here, whoever holds on to an error


def _describe(index: int, info: dict[str, Any]) -> AdapterInfo:
    return AdapterInfo(
        index=index,
        name=str(info["device"]) or "unnamed adapter",
        kind=_KINDS.get(info["adapter_type"], "other"),
        api=str(info["backend_type"]),
        driver=str(info["description"]),
        vendor=str(info["vendor"]),
        vendor_id=int(info["vendor_id"]),
        device_id=int(info["device_id"]),
    )


def choose(request: int | str | None = None) -> Adapter:
    """The adapter to open.

    Logs one warning where nobody asked for a software driver and there is nothing else.

    Args:
        request: an index, or a part of the name, kind, API or driver in any case; None takes the
            environment's request, else the best: discrete before integrated before other GPUs
            before software drivers, never OpenGL.

    Raises:
        NoAdapterError: there is none, or none that matches.
        InputError: the request is neither an index nor text.
        ForkedProcessError: as `enumerate_adapters`.
    """
    origin = "adapter"
    if request is None:
        request = settings.current().adapter
        origin = "VYRE_WGPU_ADAPTER"
    with _all_adapters() as adapters:
        info = select([adapter.info for adapter in adapters], request, origin)
        chosen = adapters[info.index]
    if request is None and info.is_software:
        _log.warning("no GPU found: running on the software driver %s", info.summary)
    return chosen


def find_again(info: AdapterInfo) -> Adapter:
    """The adapter that was described so before; of equal ones that with the nearest index.

    Raises:
        NoAdapterError: there is none any more.
        ForkedProcessError: as `enumerate_adapters`.
    """
    with _all_adapters() as adapters:
        found = [adapter.info for adapter in adapters]
        same = [other for other in found if replace(other, index=info.index) == info]
        if not same:
            raise NoAdapterError(
                f"the adapter {info.summary} is gone", fix=f"open another: {_listing(found)}"
            )
        return adapters[min(same, key=lambda other: abs(other.index - info.index)).index]


def select(
    adapters: Sequence[AdapterInfo], request: int | str | None, origin: str = "adapter"
) -> AdapterInfo:
    """Picks one of a list of adapters, as `choose` does.

    Args:
        adapters: all of them; the position of each is its index.
        request: an index, a part of the description, or None.
        origin: where the request came from, for messages.

    Raises:
        NoAdapterError: none, or none that matches.
        InputError: the request is neither an index nor text.
    """
    if not adapters:
        raise NoAdapterError("this machine has no GPU adapter", fix=_install_hint())
    if request is None:
        usable = [info for info in adapters if not info.is_opengl]
        if not usable:
            raise NoAdapterError(
                f"only OpenGL adapters were found, which are not used unless named: "
                f"{_listing(adapters)}",
                fix=_install_hint(),
            )
        return min(usable, key=_rank)
    if not isinstance(request, str):
        number = _index(request)
        if number is None:
            raise InputError(
                f"{origin} is {request!r}, not an index or a part of a name",
                fix=f"use one of: {_listing(adapters)}",
            )
        if not 0 <= number < len(adapters):
            raise NoAdapterError(
                f"{origin} {number} does not exist", fix=f"use one of: {_listing(adapters)}"
            )
        return adapters[number]
    wanted = request.strip().lower()
    if wanted.isdecimal() and int(wanted) < len(adapters):
        return adapters[int(wanted)]  # beyond the list it may be a model number
    if not wanted:
        raise InputError(f"{origin} is empty", fix=f"use one of: {_listing(adapters)}")
    matching = [info for info in adapters if wanted in info.summary.lower()]
    if not matching:
        raise NoAdapterError(
            f"no adapter matches {origin} {request!r}", fix=f"use one of: {_listing(adapters)}"
        )
    return min(matching, key=_rank)


def _index(request: object) -> int | None:
    """A Python or NumPy integer as an int; None for anything else, a bool too."""
    if isinstance(request, bool):
        return None
    try:
        return operator.index(request)  # type: ignore[arg-type]
    except TypeError:
        return None


def _rank(info: AdapterInfo) -> tuple[bool, int, int, int]:
    api = _API_ORDER.index(info.api) if info.api in _API_ORDER else len(_API_ORDER)
    return info.is_opengl, _KIND_ORDER.index(info.kind), api, info.index


def _listing(adapters: Sequence[AdapterInfo]) -> str:
    return "; ".join(f"{info.index}: {info.summary}" for info in adapters)


def _install_hint() -> str:
    return _INSTALL.get(sys.platform, "install a Vulkan driver for your GPU")
