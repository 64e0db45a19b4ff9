"""The WGSL texts behind `prelude.HELPERS`, a file for each kind of operation.

``$T`` and the like are the spelling of the type. A ``//cut`` line holds the condition under which
a loop was left before it was done, which only a driver that ends loops early can bring about.
Entries of ``FIXED`` are there once, those of other groups for each spelling of theirs in `prelude`.
"""

from __future__ import annotations

__all__ = ["Entries"]

Entries = dict[str, tuple[str, tuple[str, ...]]]
"""Name to definition and the helpers that it calls."""
