"""The command line: ``vyre-wgpu``, also ``python -m vyre_wgpu``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command; see `app.main`. An interrupt while modules load is an interrupt too."""
    try:
        from .app import main as run
    except KeyboardInterrupt:
        return 130
    return run(argv)
