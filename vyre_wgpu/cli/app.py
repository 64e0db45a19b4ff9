"""`main`: picks the command, and turns whatever ends it into an exit status and one message.

A command is a module with ``register(commands)``, which adds its parser and sets ``run`` to a
function of the parsed arguments that returns the exit status.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence

from .. import __version__
from ..errors import VyreError
from . import cache, completion, demo, doctor, info, run, shipped, wgsl
from .output import PROGRAM, complain, printable

__all__ = ["main", "make_root_parser"]

COMMANDS = (info, doctor, demo, run, wgsl, cache, shipped, completion)

_EPILOG = """\
examples:
  vyre-wgpu info                          the adapters of this machine, and which one is used
  vyre-wgpu doctor                        does everything work here?
  vyre-wgpu run --help                    how to run a program on files

"vyre-wgpu COMMAND --help" has the options and examples of a command.
"""

FAILED = 1
INTERRUPTED = 130
"""What a shell reports for a program that SIGINT ended."""
PIPE_CLOSED = 141
"""What a shell reports for a program that SIGPIPE ended."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status.

    0: success. 1: an error, said in one message on standard error, or a check that failed. 2: wrong
    usage. 130: interrupted. 141: standard output was closed early. User mistakes give no traceback.

    Args:
        argv: the arguments without the program's name. None takes those of the process, which is
            then the command line's own.
    """
    try:
        _escape_what_cannot_be_encoded()
        status = _run(argv)
        if sys.stdout is not None:
            # Here, not at interpreter exit, where a closed pipe could no longer be caught.
            sys.stdout.flush()
        return status
    except VyreError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _abandon_output()
        return PIPE_CLOSED
    except OSError as error:
        if error.errno == errno.ENOSPC and not error.filename:
            return _fail(
                f"standard output: {error.strerror}. Fix: free some space, or write somewhere else"
            )
        return _fail(str(error))
    except MemoryError as error:
        return _fail(f"not enough memory. {error}".rstrip(". "))


def _run(argv: Sequence[str] | None) -> int:
    parser = make_root_parser()
    try:
        args, unknown = parser.parse_known_args(argv)
        if unknown:  # said with the usage of the command that was meant, not with the root's
            args.parser.error(f"unrecognized arguments: {' '.join(map(printable, unknown))}")
    except SystemExit as leaving:  # --help, or wrong usage that argparse has already explained
        return leaving.code if isinstance(leaving.code, int) else 2
    if args.version:
        print(f"{PROGRAM} {__version__}")
        return 0
    if args.run is None:
        parser.print_help(sys.stderr)
        return 2
    args.own_process = argv is None
    status: int = args.run(args)
    return status


def make_root_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Portable GPU compute: look at, check and run GPU programs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    parser.set_defaults(run=None, parser=parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        command.register(commands)
    return parser


def _abandon_output() -> None:
    """The interpreter flushes once more at exit, which must not meet the same closed pipe."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _escape_what_cannot_be_encoded() -> None:
    """File names may hold any character; a terminal that lacks one shows an escape instead."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _fail(message: str) -> int:
    complain(f"error: {message}")
    return FAILED
