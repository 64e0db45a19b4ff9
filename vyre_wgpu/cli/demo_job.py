"""What ``vyre-wgpu demo`` does: real files through one compiled program, each result checked.

It returns a report and prints nothing. Every check compares the device with Python or NumPy; what
differs is listed in the report and never raised, so that the report is complete.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import vyre_wgpu as vw

from .. import programs
from ..backends import Backend, CompiledPipeline
from .corpus import FileStream, Unreadable
from .differences import Counts, Differences

__all__ = ["CountReport", "TrapReport", "count_bytes", "first_non_ascii", "trap_at_first_non_ascii"]

_TAG = "byte is not ASCII"


def reference_counts(data: npt.NDArray[np.uint8]) -> Counts:
    """What the device's counts of a chunk are compared with."""
    return np.bincount(data, minlength=256).astype(np.int64, copy=False)


@dataclass(frozen=True, slots=True)
class CountReport:
    """The byte counts of all files.

    Attributes:
        files: how many were read to their end.
        total_bytes: bytes counted.
        dispatches: chunks pushed, one dispatch each.
        modules_created: shader modules that the device was given on the way.
        first_result_s: seconds from compiling to the first result.
        later_s: seconds of each further dispatch, from bytes on the host to counts on the host.
        later_bytes: bytes of the further dispatches.
        counts: how often each byte value occurs, 256 elements.
        unreadable: what could not be read.
        differences: one sentence for each check that failed; the first few if there are many.
    """

    files: int
    total_bytes: int
    dispatches: int
    modules_created: int
    first_result_s: float
    later_s: tuple[float, ...]
    later_bytes: int
    counts: tuple[int, ...]
    unreadable: tuple[Unreadable, ...]
    differences: tuple[str, ...]

    @property
    def median_later_s(self) -> float | None:
        """Median of `later_s`; None if one dispatch was enough."""
        return median(self.later_s) if self.later_s else None

    @property
    def bytes_per_s(self) -> float | None:
        """Rate of the further dispatches."""
        return self.later_bytes / sum(self.later_s) if self.later_s else None


def count_bytes(
    backend: Backend, stream: FileStream, advance: Callable[[int], None] = lambda _: None
) -> CountReport:
    """Pushes a stream through the histogram and checks every chunk against NumPy.

    Args:
        backend: where to run.
        stream: the files.
        advance: called with the size of each chunk done.
    """
    before = backend.stats()
    total = np.zeros(256, np.int64)
    expected_total = np.zeros(256, np.int64)
    times: list[float] = []
    differences = Differences()
    modules_at_first = 0
    first_bytes = 0
    pipe: CompiledPipeline | None = None
    for offset, chunk in stream.chunks():
        data = np.frombuffer(chunk, np.uint8)
        started = perf_counter()
        if pipe is None:
            pipe = vw.compile(programs.byte_histogram(), backend=backend)
        (counts,) = pipe.push_chunk(data)
        times.append(perf_counter() - started)
        if len(times) == 1:
            first_bytes = len(data)
            modules_at_first = backend.stats().modules_created
        expected = reference_counts(data)
        where = f"chunk {len(times) - 1} (bytes {offset} to {offset + len(data) - 1})"
        differences.compare_counts(where, counts, expected)
        total += counts
        expected_total += expected
        advance(len(data))
    after = backend.stats()
    differences.compare_counts("all chunks together", total, expected_total)
    differences.compare("bytes counted", int(total.sum()), stream.bytes_read)
    differences.compare("dispatches", after.dispatches - before.dispatches, len(times))
    differences.compare(
        "modules created after the first result", after.modules_created - modules_at_first, 0
    )
    return CountReport(
        files=stream.files_read,
        total_bytes=stream.bytes_read,
        dispatches=len(times),
        modules_created=after.modules_created - before.modules_created,
        first_result_s=times[0] if times else 0.0,
        later_s=tuple(times[1:]),
        later_bytes=stream.bytes_read - first_bytes,
        counts=tuple(total.tolist()),
        unreadable=tuple(stream.unreadable),
        differences=differences.found,
    )


@dataclass(frozen=True, slots=True)
class TrapReport:
    """The first byte that is not ASCII, found on the device and raised there as a trap.

    Attributes:
        path: the file; None if no file has such a byte.
        offset: of the byte in that file.
        byte: its value.
        error: the exception as Python prints it; empty if there was none.
        source: file and line of the kernel's statement that trapped, if known.
        source_text: that line.
        differences: one sentence for each check that failed.
    """

    path: Path | None = None
    offset: int = 0
    byte: int = 0
    error: str = ""
    source: tuple[str, int] | None = None
    source_text: str = ""
    differences: tuple[str, ...] = ()


def trap_at_first_non_ascii(backend: Backend, stream: FileStream) -> TrapReport:
    """Finds the first non-ASCII byte of a stream on the device and lets the device raise it.

    Args:
        backend: where to run.
        stream: the files, not yet read.
    """
    differences = Differences()
    expected = first_non_ascii(stream.paths)
    finder = vw.compile(
        programs.first_of(lambda byte: byte >= 0x80, name="first_non_ascii"), backend=backend
    )
    hit = _first_chunk_with_one(finder, stream)
    if hit is None:
        differences.compare("first byte that is not ASCII", None, expected)
        return TrapReport(differences=differences.found)
    trap = _trap(backend, hit.found)
    if trap is None:
        differences.add("the program did not trap although a byte was found")
        return TrapReport(differences=differences.found)
    if trap.address >= len(hit.data):
        differences.add(f"the trap names byte {trap.address} of a chunk of {len(hit.data)}")
        return TrapReport(error=str(trap), differences=differences.found)

    path, offset = stream.locate(hit.offset + trap.address)
    byte = int(hit.data[trap.address])
    differences.compare("first byte that is not ASCII", (path, offset, byte), expected)
    differences.compare("tag of the trap", trap.tag, _TAG)
    # A trap leaves pipeline and device usable.
    (again,) = finder.push_chunk(hit.data)
    differences.compare("index found after the trap", programs.first_index(again), trap.address)
    return TrapReport(
        path=path,
        offset=offset,
        byte=byte,
        error="".join(traceback.format_exception_only(trap)).strip(),
        source=trap.source,
        source_text=linecache.getline(*trap.source).strip() if trap.source else "",
        differences=differences.found,
    )


class _Hit(NamedTuple):
    """A chunk in which the device found something."""

    offset: int
    data: npt.NDArray[np.uint8]
    found: npt.NDArray[np.uint32]


def _first_chunk_with_one(finder: CompiledPipeline, stream: FileStream) -> _Hit | None:
    for offset, chunk in stream.chunks():
        data = np.frombuffer(chunk, np.uint8)
        (found,) = finder.push_chunk(data)
        if programs.first_index(found) is not None:
            return _Hit(offset, data, found)
    return None


def _trap(backend: Backend, found: npt.NDArray[np.uint32]) -> vw.TrapError | None:
    """The exception of a program that traps at what was found."""
    pipe = vw.compile(programs.trap_if_found(_TAG), backend=backend)
    try:
        pipe.dispatch([found])
    except vw.TrapError as error:
        return error
    return None


def first_non_ascii(paths: Iterable[Path]) -> tuple[Path, int, int] | None:
    """Python's own search: file, offset and value of the first non-ASCII byte, or None."""
    for path in paths:
        offset = 0
        try:
            with path.open("rb") as file:
                while piece := file.read(1 << 20):
                    if not piece.isascii():
                        index = next(i for i, byte in enumerate(piece) if byte >= 0x80)
                        return path, offset + index, piece[index]
                    offset += len(piece)
        except OSError:
            continue  # the stream names it
    return None
