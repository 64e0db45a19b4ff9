"""How commands show what they found: through rich on a terminal that has it, else plain text."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

__all__ = [
    "PROGRAM",
    "Bar",
    "complain",
    "heading",
    "note",
    "printable",
    "progress",
    "show",
    "verdict",
]


PROGRAM = "vyre-wgpu"


def show(rows: Sequence[tuple[str, str]]) -> None:
    """Prints labels and values in two columns."""
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        _print(("dim", f"  {label:<{width}}"), ("", f"  {value}"))


def heading(text: str) -> None:
    """Prints the title of a part."""
    _print(("bold", text))


def note(text: str) -> None:
    """Prints a line of a part."""
    _print(("", f"  {text}"))


def verdict(good: bool, text: str) -> None:
    """Prints a line that says whether something holds."""
    _print(("bold green" if good else "bold red", f"  {text}"))


class Bar:
    """A progress bar, or nothing where there is no terminal."""

    def part(self, label: str) -> None:
        """Says what is being done from now on."""

    def advance(self, done: int) -> None:
        """Tells of bytes done since the last call."""


@contextmanager
def progress(total: int) -> Iterator[Bar]:
    """A progress bar on standard error while the block runs; none without a terminal or rich.

    Args:
        total: bytes to go, over all parts.
    """
    if not _is_rich(sys.stderr):
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=total)

        class RichBar(Bar):
            def part(self, label: str) -> None:
                shown.update(task, description=label)

            def advance(self, done: int) -> None:
                shown.advance(task, done)

        yield RichBar()


def printable(text: str) -> str:
    """A file name or line of text with control characters and undecodable bytes as escapes."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def complain(message: str) -> None:
    """Prints a message about the command line itself on standard error."""
    if sys.stderr is not None:  # print would take None for standard output
        print(f"{PROGRAM}: {message}", file=sys.stderr)


def _print(*parts: tuple[str, str]) -> None:
    """Prints a line made of ``(style, text)`` parts."""
    if _is_rich(sys.stdout):
        from rich.console import Console
        from rich.text import Text

        # Text, not markup: a file name may hold brackets. soft_wrap leaves lines to the terminal.
        line = Text.assemble(*((text, style) for style, text in parts))
        Console(highlight=False).print(line, soft_wrap=True)
    else:
        print("".join(text for _, text in parts))


def _is_rich(stream: TextIO | None) -> bool:
    is_terminal = stream is not None and stream.isatty()
    return is_terminal and importlib.util.find_spec("rich") is not None
