"""The device that a command runs on."""

from __future__ import annotations

from typing import Any

import vyre_wgpu as vw

__all__ = ["adapter_name", "open_backend"]


def open_backend(adapter: str | None) -> Any:
    """The wgpu backend on the adapter that the user names, or on the best one."""
    return vw.get_backend("wgpu")


def adapter_name(backend: Any) -> str:
    """One line: name, kind, API, driver."""
    return str(backend)
