"""What the demo found, as text for people and as JSON for programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .corpus import Unreadable
from .demo_checksums import ChecksumReport
from .demo_job import CountReport, TrapReport
from .demo_keywords import KEYWORDS, KeywordReport
from .demo_mandelbrot import PictureReport
from .output import heading, note, printable, show, verdict

__all__ = ["DemoReport"]

_ENOUGH_BYTES = 10_000_000
_MOST_UNREADABLE = 5


@dataclass(frozen=True, slots=True)
class DemoReport:
    """Everything that the demo found.

    Attributes:
        adapter: name of the adapter.
        root: the folder that was read.
        is_library: whether that is Python's standard library.
        chunk_bytes: size of a chunk.
        open_s: seconds that opening the device took.
        counted: the byte counts.
        checksums: the checksums of the files.
        keywords: the counts of the keywords.
        trapped: the trap.
        picture: the Mandelbrot set.
        unreadable: what could not be read.
    """

    adapter: str
    root: Path
    is_library: bool
    chunk_bytes: int
    open_s: float
    counted: CountReport
    checksums: ChecksumReport
    keywords: KeywordReport
    trapped: TrapReport
    picture: PictureReport
    unreadable: tuple[Unreadable, ...]

    @property
    def differences(self) -> tuple[str, ...]:
        """One sentence for each check that failed."""
        parts = (self.counted, self.checksums, self.keywords, self.trapped, self.picture)
        return tuple(difference for part in parts for difference in part.differences)

    @property
    def agrees(self) -> bool:
        """Whether every check held."""
        return not self.differences

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON has it; times in seconds, sizes in bytes."""
        counted, trapped, picture = self.counted, self.trapped, self.picture
        return {
            "adapter": self.adapter,
            "path": str(self.root),
            "files": counted.files,
            "bytes": counted.total_bytes,
            "chunk_bytes": self.chunk_bytes,
            "dispatches": counted.dispatches,
            "modules_created": counted.modules_created,
            "open_s": self.open_s,
            "first_result_s": counted.first_result_s,
            "later_dispatch_median_s": counted.median_later_s,
            "bytes_per_s": counted.bytes_per_s,
            "counts": counted.counts,
            "agrees": self.agrees,
            "differences": self.differences,
            "unreadable": [{"path": str(u.path), "reason": u.reason} for u in self.unreadable],
            "crc32": {
                "files": self.checksums.files,
                "bytes": self.checksums.total_bytes,
                "dispatches": self.checksums.dispatches,
                "device_s": self.checksums.device_s,
            },
            "keywords": {
                "counts": {
                    keyword.decode(): count
                    for keyword, count in zip(KEYWORDS, self.keywords.counts, strict=True)
                },
                "device_s": self.keywords.device_s,
                "python_s": self.keywords.python_s,
            },
            "mandelbrot": {
                "width": picture.width,
                "height": picture.height,
                "max_iterations": picture.max_iterations,
                "device_s": picture.device_s,
                "numpy_s": picture.numpy_s,
                "other_points": picture.other_points,
                "png": picture.png,
                "png_problem": picture.png_problem,
            },
            "trap": None
            if trapped.path is None
            else {
                "error": trapped.error,
                "file": str(trapped.path),
                "offset": trapped.offset,
                "byte": trapped.byte,
                "source": trapped.source,
                "source_text": trapped.source_text,
            },
        }

    def show(self) -> None:
        """Prints the report for people."""
        heading("Byte counts of real files, on the device and with NumPy")
        show(self._count_rows())
        for text in self._notes():
            note(text)
        print()
        heading("CRC-32 of each file, on the device and with zlib")
        show(self._checksum_rows())
        print()
        heading(f"{len(KEYWORDS)} keywords at once, on the device and with Python")
        show(self._keyword_rows())
        print()
        heading("A trap, as the exception that a user sees")
        self._show_trap()
        print()
        heading("The Mandelbrot set, on the device and with NumPy")
        show(self._picture_rows())
        print()
        heading("Result")
        if self.agrees:
            verdict(True, "agrees: all of it with NumPy, zlib and Python")
        else:
            verdict(False, "DISAGREES")
            for difference in self.differences:
                note(difference)

    def _count_rows(self) -> list[tuple[str, str]]:
        counted = self.counted
        rows = [
            ("adapter", self.adapter),
            ("files", f"{counted.files:,} below {printable(str(self.root))}"),
            ("bytes", f"{counted.total_bytes:,}"),
            ("dispatches", f"{counted.dispatches:,} of up to {self.chunk_bytes:,} bytes"),
            ("compiled", f"{counted.modules_created} shader module(s) for all of them"),
            ("device opened", f"in {_milliseconds(self.open_s)}"),
            ("first result", f"after {_milliseconds(counted.first_result_s)}, compiling included"),
        ]
        if counted.median_later_s is not None and counted.bytes_per_s is not None:
            rows += [
                ("each further", f"{_milliseconds(counted.median_later_s)}, the median"),
                ("rate", f"{counted.bytes_per_s / 1e6:,.1f} MB/s, from and to the host"),
            ]
        return rows

    def _checksum_rows(self) -> list[tuple[str, str]]:
        sums = self.checksums
        return [
            ("files", f"{sums.files:,} in {sums.dispatches:,} dispatches"),
            ("time", f"{_milliseconds(sums.device_s)}, compiling included"),
            ("rate", _rate(sums.total_bytes, sums.device_s)),
        ]

    def _keyword_rows(self) -> list[tuple[str, str]]:
        words = self.keywords
        ranked = sorted(zip(words.counts, KEYWORDS, strict=True), reverse=True)
        most = ", ".join(f"{keyword.decode()} {count:,}" for count, keyword in ranked[:5])
        return [
            ("occurrences", f"{sum(words.counts):,}"),
            ("most", most),
            ("time", f"{_milliseconds(words.device_s)}; Python {_milliseconds(words.python_s)}"),
            ("rate", _rate(words.total_bytes, words.device_s)),
        ]

    def _picture_rows(self) -> list[tuple[str, str]]:
        picture = self.picture
        rows = [
            (
                "points",
                f"{picture.width} x {picture.height}, up to {picture.max_iterations} iterations",
            ),
            (
                "time",
                f"{_milliseconds(picture.device_s)}, compiling included; NumPy "
                f"{_milliseconds(picture.numpy_s)}",
            ),
        ]
        if picture.other_points:
            rows.append(("rounded", f"{picture.other_points:,} points at the boundary otherwise"))
        if picture.png is not None:
            rows.append(("written", printable(picture.png)))
        elif picture.png_problem:
            rows.append(("not written", printable(picture.png_problem)))
        return rows

    def _notes(self) -> list[str]:
        notes = []
        if self.is_library and self.counted.total_bytes < _ENOUGH_BYTES:
            notes.append(
                "this Python has little of its library's source; for more bytes give --path DIR"
            )
        if self.unreadable:
            notes.append(f"{len(self.unreadable)} could not be read and took no part:")
            for one in self.unreadable[:_MOST_UNREADABLE]:
                notes.append(f"  {printable(str(one.path))}: {one.reason}")
            if len(self.unreadable) > _MOST_UNREADABLE:
                notes.append("  ...")
        return notes

    def _show_trap(self) -> None:
        trapped = self.trapped
        if trapped.path is None:
            note(trapped.error or "every byte of every file is ASCII: nothing to raise")
            return
        note(printable(trapped.error))
        rows = [
            ("file", printable(str(trapped.path))),
            ("offset", f"{trapped.offset:,}"),
            ("byte", f"0x{trapped.byte:02X}"),
        ]
        if trapped.source is not None:
            file, line = trapped.source
            rows += [
                ("kernel", f"{printable(file)}, line {line}"),
                ("", printable(trapped.source_text)),
            ]
        show(rows)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:,.2f} ms"


def _rate(size: int, seconds: float) -> str:
    return f"{size / seconds / 1e6:,.1f} MB/s" if seconds > 0 else "no time at all"
