"""Backends: the interface, the registry, and the wgpu backend.

Higher-level runtimes use `Backend` and `CompiledPipeline` and nothing below them.
"""

from __future__ import annotations

from .protocol import Backend, BackendStats, CompiledPipeline
from .registry import backend_names, get_backend, register_backend

__all__ = [
    "Backend",
    "BackendStats",
    "CompiledPipeline",
    "backend_names",
    "get_backend",
    "register_backend",
]
