"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from ..errors import InputError
from .output import printable

__all__ = ["NewFile", "check_destination", "write_files"]

NewFile = tuple[str, str, Callable[[IO[bytes]], object]]
"""What it is, for messages; its path; and what writes its content."""


def check_destination(what: str, path: str) -> None:
    """Refuses, before any work is done, a path that could not be written afterwards.

    Args:
        what: what would be written there, for messages.
        path: the path.

    Raises:
        InputError: it is a folder, its folder is missing, or writing is not allowed.
    """
    where = f"{what}, file {printable(path)}"
    try:
        target = Path(os.path.realpath(path))
        is_folder, has_folder = target.is_dir(), target.parent.is_dir()
        allowed = os.access(target.parent if _is_replaced(target) else target, os.W_OK)
    except (OSError, ValueError):  # a name that is too long, or with a NUL character
        is_folder, has_folder, allowed = False, True, False
    if is_folder:
        raise InputError(f"{where}, is a folder", fix="give the path of a file in it")
    if not has_folder:
        raise InputError(
            f"{where}: there is no folder {printable(str(target.parent))}",
            fix="make the folder first, or give another path",
        )
    if not allowed:
        raise InputError(f"{where}, may not be written", fix="give a path that you may write to")


def write_files(files: Sequence[NewFile], commit: Callable[[], None] = lambda: None) -> None:
    """Writes files: all of them, or none.

    Each goes to a temporary file beside its destination. Only when all are complete on the disk do
    they get their names, so a full disk or Ctrl-C leaves what was there before. What is no file,
    such as a pipe, is written to directly. A file that is replaced keeps its permissions, and a
    link stays a link.

    Args:
        files: what to write.
        commit: called when all are written and none has its name yet; may raise.

    Raises:
        OSError: a file cannot be written.
    """
    waiting: list[tuple[Path, Path]] = []
    try:
        for what, path, write in files:
            target = Path(os.path.realpath(path))
            try:
                if _is_replaced(target):
                    temporary = target.with_name(f".vyre-wgpu-{secrets.token_hex(8)}.tmp")
                    waiting.append((temporary, target))
                    _write_new(temporary, write, like=target)
                else:
                    with target.open("wb") as file:
                        write(file)
            except BrokenPipeError:
                raise
            except OSError as error:
                reason = error.strerror or str(error)
                raise OSError(
                    f"{what}, file {printable(path)}, cannot be written: {reason}"
                ) from error
        commit()
        while waiting:
            temporary, target = waiting[0]
            temporary.replace(target)
            waiting.pop(0)
    finally:
        for temporary, _ in waiting:
            with suppress(OSError):
                temporary.unlink()


def _is_replaced(target: Path) -> bool:
    """Whether a new file takes the place of the target; else one writes into what is there."""
    return target.is_file() or not target.exists()


def _write_new(path: Path, write: Callable[[IO[bytes]], object], *, like: Path) -> None:
    # Not tempfile, whose files only their owner may read.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
        with suppress(OSError):
            path.chmod(stat.S_IMODE(like.stat().st_mode))
        write(file)
        file.flush()
        os.fsync(file.fileno())  # some file systems notice only here that they are full
