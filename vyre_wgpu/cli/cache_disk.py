"""The cache folder as the commands see it: which one it is, and what to do where it is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import settings
from ..errors import InputError
from ..pipeline.disk_cache import DiskCache
from .output import printable

__all__ = ["opened_disk", "reading"]


def opened_disk(*, changes: bool) -> DiskCache:
    """The disk cache of the settings, ``off`` or not.

    Args:
        changes: whether it will be changed.

    Raises:
        InputError: there is no folder, or it is to be changed and the mode is ``ro``.
    """
    chosen = settings.current()
    if changes and chosen.cache == "ro":
        raise InputError(
            "VYRE_WGPU_CACHE is 'ro', so nothing in the cache folder is changed",
            fix="unset it, or set it to rw",
        )
    root = chosen.cache_folder
    if root is None:
        raise settings.no_cache_folder()
    return DiskCache(root, max_bytes=chosen.cache_max_bytes, read_only=not changes)


@contextmanager
def reading(root: Path) -> Iterator[None]:
    """Says what to do where the folder cannot be read.

    Raises:
        InputError: in place of an OSError of the block.
    """
    try:
        yield
    except OSError as error:
        raise InputError(
            f"the cache folder {printable(str(root))} cannot be read: {error.strerror or error}",
            fix="make it and what is in it readable for this user, or set VYRE_WGPU_CACHE_DIR",
        ) from None
