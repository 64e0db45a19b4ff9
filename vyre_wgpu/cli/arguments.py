"""Arguments that several commands take, and how their parsers are made."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, Protocol

__all__ = [
    "Commands",
    "add_adapter",
    "add_json",
    "complete_files",
    "make_parser",
    "positive",
]

Run = Callable[[argparse.Namespace], int]


class Commands(Protocol):
    """What ``add_subparsers`` gives."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:
        """Adds the parser of one command."""
        ...


def make_parser(
    commands: Commands, name: str, run: Run, *, summary: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    """Adds a command's parser.

    Args:
        commands: where to.
        name: the command.
        run: what it does; gives the exit status.
        summary: its line in the list of commands.
        description: its help text, in front of the options.
        epilog: the examples, behind them; laid out as written.
    """
    parser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run, parser=parser)
    return parser


def add_adapter(parser: argparse.ArgumentParser) -> None:
    """Adds ``--adapter``."""
    parser.add_argument(
        "--adapter",
        metavar="NAME",
        help="index or part of the name of the adapter to use (default: VYRE_WGPU_ADAPTER, "
        "else the best)",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Adds ``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def positive(text: str) -> int:
    """An argument that is a whole number above 0."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return value


def complete_files(action: argparse.Action) -> None:
    """Lets the shell complete file names for an argument; see the command ``completion``."""
    # What shtab.FILE holds: the parser is made on machines that lack shtab too.
    action.complete = {  # type: ignore[attr-defined]  # read by shtab
        "bash": "_shtab_compgen_files",
        "zsh": "_files",
        "fish": "(__fish_complete_path (commandline -ct))",
    }
