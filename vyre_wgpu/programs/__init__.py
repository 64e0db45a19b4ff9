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
from .matmul import matmul, matmul_tiled
from .radix_sort import radix_histogram, radix_scatter, radix_sort
from .random_numbers import (
    random_normal,
    random_normal_blocks,
    random_uniform,
    random_uniform_blocks,
)
from .reduce import argmax, argmax_blocks, reduce, reduce_blocks
from .saxpy import saxpy
from .scan import prefix_sum, scan_blocks
from .xor_map import xor_map

__all__ = [
    "KeywordTables",
    "argmax",
    "argmax_blocks",
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
    "matmul",
    "matmul_tiled",
    "prefix_sum",
    "radix_histogram",
    "radix_scatter",
    "radix_sort",
    "random_normal",
    "random_normal_blocks",
    "random_uniform",
    "random_uniform_blocks",
    "reduce",
    "reduce_blocks",
    "saxpy",
    "scan_blocks",
    "trap_if_found",
    "xor_map",
]
