"""``vyre-wgpu demo``: its arguments, and what they make it read."""

from __future__ import annotations

import argparse
import json
import sysconfig
from pathlib import Path
from time import perf_counter
from typing import Any

from ..errors import VyreError
from .corpus import FileStream, FoundFiles, find_files
from .demo_job import count_bytes, trap_at_first_non_ascii
from .demo_report import DemoReport
from .device import opened_backend
from .output import printable, progress

__all__ = ["register", "run"]

_CHUNK_BYTES = 1 << 20
_NOT_OF_THE_LIBRARY = ("site-packages", "dist-packages", "__pycache__")
_GIVE_FOLDER = "give a folder with readable files: --path DIR"

_DESCRIPTION = """\
Counts the bytes of real files with a GPU program that is compiled once, checks every
chunk against numpy.bincount, and shows a trap as the exception that a user sees.
"""

_EPILOG = """\
examples:
  vyre-wgpu demo                          the sources of Python's standard library
  vyre-wgpu demo --path ~/src --json      every file below a folder, for a program to read

The exit status is 1 if anything differs from what NumPy or Python finds.
"""


def register(commands: Any) -> None:
    """Adds the command's parser."""
    parser = commands.add_parser(
        "demo",
        help="push real files through a GPU program, checked against NumPy",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument(
        "--path",
        type=Path,
        metavar="DIR",
        help="read every file below this folder (default: *.py of the standard library)",
    )
    parser.add_argument(
        "--chunk-bytes",
        type=_positive,
        default=_CHUNK_BYTES,
        metavar="N",
        help="bytes of a chunk (default: %(default)s)",
    )
    parser.add_argument(
        "--adapter", metavar="NAME", help="index or part of the name of the adapter to use"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Runs the demo; 0 if everything agrees, else 1.

    Raises:
        VyreError: nothing to read, no adapter, or an error of the device.
    """
    is_library = args.path is None
    root = Path(sysconfig.get_path("stdlib")) if is_library else args.path
    found = _find(root, is_library=is_library)
    started = perf_counter()
    with opened_backend(args.adapter) as backend:
        open_s = perf_counter() - started
        with progress(found.total_bytes, "counting bytes") as advance:
            counted = count_bytes(backend, FileStream(found.paths, args.chunk_bytes), advance)
        unreadable = (*found.unreadable, *counted.unreadable)
        if not counted.total_bytes:
            raise VyreError(
                f"no bytes to count in the {len(found.paths)} file(s) below {printable(str(root))}"
                + (f", unreadable: {len(unreadable)}" if unreadable else ""),
                fix=_GIVE_FOLDER,
            )
        report = DemoReport(
            adapter=backend.adapter_info.summary,
            root=root,
            is_library=is_library,
            chunk_bytes=args.chunk_bytes,
            open_s=open_s,
            counted=counted,
            trapped=trap_at_first_non_ascii(backend, FileStream(found.paths, args.chunk_bytes)),
            unreadable=unreadable,
        )
    if args.json:
        print(json.dumps(report.as_dict(), indent=2))
    else:
        report.show()
    return 0 if report.agrees else 1


def _find(root: Path, *, is_library: bool) -> FoundFiles:
    if is_library:
        found = find_files(root, suffix=".py", skip=_NOT_OF_THE_LIBRARY)
    else:
        found = find_files(root)
    if found.paths:
        return found
    where = printable(str(root))
    if not root.exists():
        what = f"there is no file or folder {where}"
    elif found.unreadable:
        what = f"nothing below {where} can be read: {found.unreadable[0].reason}"
    else:
        what = f"there are no files to read below {where}"
    if is_library:  # a Python whose library is one zip file, for example
        what += ", where this Python's standard library should be"
    raise VyreError(what, fix=_GIVE_FOLDER)


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return value
