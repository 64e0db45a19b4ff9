"""Ready-made programs: functions that return a `Program`, written with the public interface only.

They are meant to be used and to be read: each shows how something is done well with the builder.
A call builds its program afresh, without a GPU; equal arguments give equal programs, so that
compiling one again finds the pipeline in memory.
"""

from __future__ import annotations

from .base64 import base64_decode, base64_decoder, base64_trap
from .crc32 import crc32, crc32_combine, crc32_of_chunks
from .first import first_index, first_of, trap_if_found
from .histogram import byte_histogram
from .keywords import KeywordTables, count_keywords, keyword_counts, keyword_tables
from .mandelbrot import mandelbrot
from .saxpy import saxpy
from .xor_map import xor_map

__all__ = [
    "KeywordTables",
    "base64_decode",
    "base64_decoder",
    "base64_trap",
    "byte_histogram",
    "count_keywords",
    "crc32",
    "crc32_combine",
    "crc32_of_chunks",
    "first_index",
    "first_of",
    "keyword_counts",
    "keyword_tables",
    "mandelbrot",
    "saxpy",
    "trap_if_found",
    "xor_map",
]
