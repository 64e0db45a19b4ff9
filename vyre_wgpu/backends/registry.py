"""Which backends there are, and the one shared instance of each.

Other packages register theirs under the entry-point group ``vyre_wgpu.backends``: name to a class
or function that takes no arguments and gives a `Backend`. Nothing is imported before it is asked
for; the installed packages are searched only for names that are not built in.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib import import_module
from typing import cast

from .. import settings
from ..errors import InputError, VyreError
from .protocol import Backend

__all__ = ["GROUP", "Registry", "backend_names", "get_backend", "register_backend"]

GROUP = "vyre_wgpu.backends"
"""The entry-point group."""

BUILT_IN = {
    "reference": "vyre_wgpu.backends.reference:ReferenceBackend",
    "wgpu": "vyre_wgpu.backends.wgpu:WgpuBackend",
}
"""Known without installed metadata, so that a source tree works too."""

Factory = Callable[[], Backend]


def _installed() -> list[tuple[str, str]]:
    """Name and target of every entry point of the group."""
    from importlib.metadata import entry_points  # 12 ms that few need

    return [(entry.name, entry.value) for entry in entry_points(group=GROUP)]


class Registry:
    """Names, what makes each backend, and the shared instances. Safe to use from several threads.

    Args:
        built_in: name to ``module:attribute`` of what this package brings.
        installed: lists name and target of what other packages bring.
    """

    def __init__(
        self,
        built_in: dict[str, str] = BUILT_IN,
        installed: Callable[[], list[tuple[str, str]]] = _installed,
    ) -> None:
        self._lock = threading.RLock()
        self._built_in = dict(built_in)
        self._installed = installed
        self._registered: dict[str, Factory] = {}
        self._shared: dict[tuple[str, int], Backend] = {}
        # What `get_backend` gives without a name, and the settings that say so.
        self.usual: tuple[settings.Settings, Backend] | None = None
        self._process = os.getpid()

    def after_fork(self) -> None:
        """Starts anew in a forked child: with its own instances, and a lock that nobody holds.

        The parent's instances stay referenced: freeing them here could wait for threads that a
        child does not have.
        """
        self._process = os.getpid()
        self._lock = threading.RLock()
        self.usual = None

    def register(self, name: str, factory: Factory) -> None:
        """Adds a backend for this process.

        Args:
            name: a name that is not taken.
            factory: makes the backend, without arguments.

        Raises:
            VyreError: the name is taken.
        """
        with self._lock:
            if name in self._registered or name in self._targets():
                raise VyreError(
                    f"a backend named {name!r} is registered already", fix="use another name"
                )
            self._registered[name] = factory

    def unregister(self, name: str) -> None:
        """Takes back `register`; the shared instance, if any, is closed."""
        with self._lock:
            del self._registered[name]
            backend = self._shared.pop((name, self._process), None)
        if backend is not None:
            backend.close()

    def names(self) -> list[str]:
        """All names, sorted.

        Raises:
            VyreError: two packages register the same name.
        """
        with self._lock:
            return sorted({*self._targets(), *self._registered})

    def get(self, name: str | None = None) -> Backend:
        """The shared instance of a backend, made at the first use in each process.

        An instance that was closed is replaced by a new one.

        Args:
            name: which; None takes ``VYRE_WGPU_BACKEND``, else ``wgpu``.

        Raises:
            InputError: no backend has this name.
            VyreError: two packages register the name, or it cannot be loaded.
            NoAdapterError: the backend finds nothing to run on.
        """
        origin = "backend"
        if name is None:
            name, origin = settings.current().backend, "backend (VYRE_WGPU_BACKEND)"
        key = (name, self._process)
        backend = self._shared.get(key)
        if backend is not None and not backend.closed:
            return backend
        with self._lock:
            backend = self._shared.get(key)
            if backend is None or backend.closed:
                backend = self._shared[key] = self._factory(name, origin)()
            return backend

    def _factory(self, name: str, origin: str) -> Factory:
        if name in self._registered:
            return self._registered[name]
        target = self._built_in.get(name) or self._targets().get(name)
        if target is None:
            raise InputError(
                f"{origin} {name!r} is unknown", fix=f"use one of: {', '.join(self.names())}"
            )
        module, _, attribute = target.partition(":")
        try:
            return cast(Factory, getattr(import_module(module), attribute))
        except (ImportError, AttributeError) as error:
            raise VyreError(
                f"backend {name!r} cannot be loaded from {target}: {error}",
                fix="reinstall the package that brings it",
            ) from error

    def _targets(self) -> dict[str, str]:
        targets = dict(self._built_in)
        for name, target in self._installed():
            # An installed copy of this package lists the built-in ones again.
            if targets.setdefault(name, target) != target:
                raise VyreError(
                    f"two packages register a backend named {name!r}: {targets[name]} and {target}",
                    fix="uninstall one of them",
                )
        return targets


_registry = Registry()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_registry.after_fork)


def get_backend(name: str | None = None) -> Backend:
    """The shared backend of a name, one for each process; see `Registry.get`."""
    if name is None:
        # The usual case, with as few calls as can be: each costs as much as all the rest.
        usual = _registry.usual
        if usual is not None and usual[0] is settings.chosen and not usual[1].closed:
            return usual[1]
        backend = _registry.get()
        _registry.usual = settings.current(), backend
        return backend
    return _registry.get(name)


def register_backend(name: str, factory: Factory) -> None:
    """Adds a backend for this process; see `Registry.register`."""
    _registry.register(name, factory)


def backend_names() -> list[str]:
    """The names that `get_backend` takes; see `Registry.names`."""
    return _registry.names()
