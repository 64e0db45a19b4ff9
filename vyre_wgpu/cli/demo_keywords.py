"""The demo's keywords: forty of them counted at once on the device, and one by one by Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

from .. import programs
from ..backends import Backend
from .corpus import FileStream
from .differences import Differences

__all__ = ["KEYWORDS", "KeywordReport", "count_in_stream", "occurrences"]

KEYWORDS = tuple(
    b"and as assert async await break class continue def del elif else except False finally for "
    b"from global if import in is lambda None nonlocal not or pass raise return True try while "
    b"with yield case match self type print".split()
)
"""Python's own words and a few more. Some end or begin others, or overlap with themselves."""


@dataclass(frozen=True, slots=True)
class KeywordReport:
    """How often each keyword occurs in all files as one stream.

    Attributes:
        counts: for each of `KEYWORDS`.
        total_bytes: bytes of the stream.
        device_s: seconds that the device's part took, compiling included.
        python_s: seconds that Python's own counting took.
        differences: one sentence for each check that failed; the first few if there are many.
    """

    counts: tuple[int, ...]
    total_bytes: int
    device_s: float
    python_s: float
    differences: tuple[str, ...]


def count_in_stream(
    backend: Backend, stream: FileStream, advance: Callable[[int], None] = lambda _: None
) -> KeywordReport:
    """Counts the keywords on the device and in Python.

    Args:
        backend: where to run.
        stream: the files, not yet read.
        advance: called with the size of each chunk done.
    """
    expected = [0] * len(KEYWORDS)
    python_s = 0.0

    def chunks() -> Iterator[bytearray]:
        nonlocal python_s
        reach = max(map(len, KEYWORDS)) - 1
        before = b""
        for _, chunk in stream.chunks():
            started = perf_counter()
            text = before + chunk
            for index, keyword in enumerate(KEYWORDS):
                # What ends in the part before was counted with the chunk before.
                first = max(len(before) - len(keyword) + 1, 0)
                expected[index] += occurrences(text, keyword, first)
            before = text[-reach:]
            python_s += perf_counter() - started
            yield chunk
            advance(len(chunk))

    started = perf_counter()
    counts = programs.count_keywords(KEYWORDS, chunks(), backend=backend).tolist()
    device_s = perf_counter() - started - python_s
    differences = Differences()
    for keyword, count, right in zip(KEYWORDS, counts, expected, strict=True):
        differences.compare(f"occurrences of {keyword.decode()!r}", count, right)
    return KeywordReport(tuple(counts), stream.bytes_read, device_s, python_s, differences.found)


def occurrences(text: bytes, keyword: bytes, first: int = 0) -> int:
    """How often a keyword begins in a text, overlapping occurrences included.

    Args:
        text: the text.
        keyword: the keyword, not empty.
        first: offset of the first place to look at.
    """
    if not any(keyword[:n] == keyword[-n:] for n in range(1, len(keyword))):
        return text.count(keyword, first)  # cannot overlap with itself
    count = 0
    at = text.find(keyword, first)
    while at >= 0:
        count += 1
        at = text.find(keyword, at + 1)
    return count
