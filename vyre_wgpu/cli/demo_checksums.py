"""The demo's checksums: the CRC-32 of each file, on the device and by zlib."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

import vyre_wgpu as vw

from .. import programs
from ..backends import Backend
from .differences import Differences
from .output import printable

__all__ = ["ChecksumReport", "check_files", "reference_crc32"]

reference_crc32 = zlib.crc32
"""What the device's checksums are compared with."""


@dataclass(frozen=True, slots=True)
class ChecksumReport:
    """The checksums of all files.

    Attributes:
        files: how many were read to their end.
        total_bytes: bytes of them.
        dispatches: chunks pushed, one dispatch each.
        device_s: seconds from bytes on the host to checksums on the host, compiling included.
        differences: one sentence for each check that failed; the first few if there are many.
    """

    files: int
    total_bytes: int
    dispatches: int
    device_s: float
    differences: tuple[str, ...]


def check_files(
    backend: Backend,
    paths: Iterable[Path],
    chunk_bytes: int,
    advance: Callable[[int], None] = lambda _: None,
) -> ChecksumReport:
    """Compares the CRC-32 of each file with zlib's.

    Args:
        backend: where to run.
        paths: the files; one that cannot be read is left out.
        chunk_bytes: a larger file is taken in chunks whose checksums are combined.
        advance: called with the size of each chunk done.
    """
    differences = Differences()
    files = total_bytes = dispatches = 0
    device_s = 0.0
    pipe = vw.compile(programs.crc32(), backend=backend)
    for path in paths:
        crc = expected = 0
        try:
            with path.open("rb", buffering=0) as file:
                while chunk := file.read(chunk_bytes):
                    started = perf_counter()
                    (part,) = pipe.push_chunk(np.frombuffer(chunk, np.uint8))
                    crc = programs.crc32_combine(crc, int(part[0]), len(chunk))
                    device_s += perf_counter() - started
                    expected = reference_crc32(chunk, expected)
                    dispatches += 1
                    total_bytes += len(chunk)
                    advance(len(chunk))
        except OSError:
            continue  # the byte counts name it
        files += 1
        differences.compare(f"CRC-32 of {printable(str(path))}", f"{crc:08x}", f"{expected:08x}")
    return ChecksumReport(files, total_bytes, dispatches, device_s, differences.found)
