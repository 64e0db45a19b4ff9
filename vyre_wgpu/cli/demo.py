"""``vyre-wgpu demo``: its arguments, and what they make it read."""

from __future__ import annotations

import argparse
import json
import sysconfig
from pathlib import Path
from time import perf_counter

from ..errors import VyreError
from .arguments import Commands, add_adapter, add_json, complete_files, make_parser, positive
from .atomic import check_destination
from .corpus import FileStream, FoundFiles, find_files
from .demo_checksums import check_files
from .demo_job import count_bytes, trap_at_first_non_ascii
from .demo_keywords import count_in_stream
from .demo_mandelbrot import draw
from .demo_report import DemoReport
from .device import opened_backend
from .output import complain, printable, progress

__all__ = ["register", "run"]

_CHUNK_BYTES = 1 << 20
_NOT_OF_THE_LIBRARY = ("site-packages", "dist-packages", "__pycache__")
_GIVE_FOLDER = "give a folder with readable files: --path DIR"

_PNG = "vyre-wgpu-mandelbrot.png"

_DESCRIPTION = """\
Puts real files through GPU programs that are compiled once, and checks all that they find:
the byte counts of every chunk against numpy.bincount, the CRC-32 of every file against zlib,
the counts of forty keywords against Python's. Then it shows a trap as the exception that a
user sees, and draws the Mandelbrot set.
"""

_EPILOG = f"""\
examples:
  vyre-wgpu demo                          the sources of Python's standard library
  vyre-wgpu demo --path ~/src --json      every file below a folder, for a program to read
  vyre-wgpu demo --png set.png            the picture under another name than {_PNG}

The exit status is 1 if anything differs from what NumPy or Python finds.
"""


def register(commands: Commands) -> None:
    """Adds the command's parser."""
    parser = make_parser(
        commands,
        "demo",
        run,
        summary="put real files through GPU programs, checked against NumPy and Python",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    complete_files(
        parser.add_argument(
            "--path",
            type=Path,
            metavar="DIR",
            help="read every file below this folder (default: *.py of the standard library)",
        )
    )
    parser.add_argument(
        "--chunk-bytes",
        type=positive,
        default=_CHUNK_BYTES,
        metavar="N",
        help="bytes of a chunk (default: %(default)s)",
    )
    picture = parser.add_mutually_exclusive_group()
    complete_files(
        picture.add_argument(
            "--png",
            metavar="FILE",
            help=f"where the picture goes (default: {_PNG} in the current folder)",
        )
    )
    picture.add_argument("--no-png", action="store_true", help="write no picture")
    add_adapter(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Runs the demo; 0 if everything agrees and what was asked for is written, else 1.

    Raises:
        VyreError: nothing to read, no adapter, or an error of the device.
    """
    if args.png is not None:
        check_destination("the picture", args.png)
    is_library = args.path is None
    root = Path(sysconfig.get_path("stdlib")) if is_library else args.path
    found = _find(root, is_library=is_library)
    started = perf_counter()
    with (
        opened_backend(args.adapter, own_process=args.own_process) as backend,
        progress(3 * found.total_bytes) as bar,
    ):
        open_s = perf_counter() - started

        def stream() -> FileStream:
            return FileStream(found.paths, args.chunk_bytes)

        bar.part("counting bytes")
        counted = count_bytes(backend, stream(), bar.advance)
        unreadable = (*found.unreadable, *counted.unreadable)
        if not counted.total_bytes:
            raise VyreError(
                f"no bytes to count in the {len(found.paths)} file(s) below {printable(str(root))}"
                + (f", unreadable: {len(unreadable)}" if unreadable else ""),
                fix=_GIVE_FOLDER,
            )
        bar.part("checksums")
        checksums = check_files(backend, found.paths, args.chunk_bytes, bar.advance)
        bar.part("keywords")
        keywords = count_in_stream(backend, stream(), bar.advance)
        bar.part("trap and picture")
        report = DemoReport(
            adapter=backend.adapter_info.summary,
            root=root,
            is_library=is_library,
            chunk_bytes=args.chunk_bytes,
            open_s=open_s,
            counted=counted,
            checksums=checksums,
            keywords=keywords,
            trapped=trap_at_first_non_ascii(backend, stream()),
            picture=draw(backend, None if args.no_png else args.png or _PNG),
            unreadable=unreadable,
        )
    if args.json:
        print(json.dumps(report.as_dict(), indent=2))
    else:
        report.show()
    lacks_picture = args.png is not None and report.picture.png is None
    if lacks_picture and args.json:
        complain(f"error: no picture: {report.picture.png_problem}")
    return 0 if report.agrees and not lacks_picture else 1


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
