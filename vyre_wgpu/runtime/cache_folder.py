"""The cache folder: private to its user, marked as a cache; one subfolder for each kind of content.

Whoever may write there decides what runs on this user's GPU, so folders that we make are the user's
alone. Only the cache folder itself may be a link: what is below must be what we made.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["TAG_NAME", "is_plain_folder", "make_subfolder"]

TAG_NAME = "CACHEDIR.TAG"

_TAG = """\
Signature: 8a477f597d28d172789f06886806bc55
# This folder holds what vyre_wgpu can make again; back-ups may leave it out.
# See https://bford.info/cachedir/
"""


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


def _write_tag(root: Path) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=root, prefix=".tag-", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(_TAG)
        Path(temporary).replace(root / TAG_NAME)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
