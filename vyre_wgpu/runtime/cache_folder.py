"""The cache folder: private to its user, marked as a cache; one subfolder for each kind of content.

Whoever may write there decides what runs on this user's GPU, so folders that we make are the user's
alone. Only the cache folder itself may be a link: what is below must be what we made.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["TAG_NAME", "NotPlainError", "is_plain_folder", "make_subfolder", "read_file"]

TAG_NAME = "CACHEDIR.TAG"

_READ = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)  # O_NONBLOCK: opening a pipe must not wait
_TAG = """\
Signature: 8a477f597d28d172789f06886806bc55
# This folder holds what vyre_wgpu can make again; back-ups may leave it out.
# See https://bford.info/cachedir/
"""


class NotPlainError(OSError):
    """What stands in the place of one of our files is no plain file: a folder, a link, a pipe."""


def make_subfolder(root: Path, name: str) -> Path:
    """Makes a folder in the cache folder, and that one with its tag, where they are missing.

    Raises:
        OSError: they cannot be made.
    """
    root.parent.mkdir(parents=True, exist_ok=True)
    root.mkdir(mode=0o700, exist_ok=True)
    folder = root / name
    folder.mkdir(mode=0o700, exist_ok=True)
    if not is_plain_folder(folder):
        raise NotADirectoryError(f"{folder} is a link, not a folder")
    if not (root / TAG_NAME).exists():
        with suppress(OSError):  # a courtesy to back-up programs, no more
            _write_tag(root)
    return folder


def is_plain_folder(path: Path) -> bool:
    """Whether a path is a folder, and no link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def read_file(path: Path, limit: int, touch: Callable[[float], bool] = lambda _: False) -> bytes:
    """The content of a plain file.

    Args:
        path: which.
        limit: most bytes that it may have.
        touch: given when it was last used, says whether to note that it is used now.

    Raises:
        NotPlainError: it is a folder, a link or a device, or too large.
        OSError: it is missing or cannot be read.
    """
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise NotPlainError(f"{path} is no plain file")
    if not is_plain_folder(path.parent):
        raise NotPlainError(f"{path.parent} is a link")
    descriptor = os.open(path, _READ)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise NotPlainError(f"{path} is no plain file")
        if found.st_size > limit:
            raise NotPlainError(f"{path} has {found.st_size} bytes, more than {limit}")
        data = file.read(limit + 1)
        if touch(found.st_mtime):
            with suppress(OSError):
                os.utime(descriptor if os.utime in os.supports_fd else path)
        return data


def _write_tag(root: Path) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=root, prefix=".tag-", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(_TAG)
        Path(temporary).replace(root / TAG_NAME)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
