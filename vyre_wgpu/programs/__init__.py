"""Ready-made programs: functions that return a `Program`, written with the public interface only.

They are meant to be used and to be read: each shows how something is done well with the builder.
A call builds its program afresh, without a GPU; equal arguments give equal programs, so that
compiling one again finds the pipeline in memory.
"""

from __future__ import annotations

from .first import first_index, first_of, trap_if_found
from .histogram import byte_histogram
from .saxpy import saxpy

__all__ = ["byte_histogram", "first_index", "first_of", "saxpy", "trap_if_found"]
