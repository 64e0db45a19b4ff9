"""The command line: ``vyre-wgpu``, also ``python -m vyre_wgpu``."""

from __future__ import annotations

from .app import main

__all__ = ["main"]
