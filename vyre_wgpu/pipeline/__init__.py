"""Compiled programs: cache, layouts, compilation, arguments, the submit routine, traps.

`config` and `arguments` need no GPU library; every backend binds host arguments through them.
"""

from __future__ import annotations

from .config import DispatchConfig

__all__ = ["DispatchConfig"]
