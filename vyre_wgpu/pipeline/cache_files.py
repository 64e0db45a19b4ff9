"""The files of the disk cache, one for each entry: reading, writing, listing, removing.

No locks: a file appears whole under its name by a rename, is removed by whoever comes first, and
its modification time is when it was last used. Only plain files with names of ours, directly in our
own folder, are ever read, counted or removed; links are not followed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..runtime.cache_folder import NotPlainError, is_plain_folder, make_subfolder, read_file

__all__ = [
    "FOLDER",
    "TEMPORARY_SECONDS",
    "Listing",
    "NotPlainError",
    "StoredFile",
    "age_of",
    "entry_name",
    "evict",
    "list_files",
    "read_file",
    "remove",
    "write_file",
]

FOLDER = "pipelines"
"""The subfolder of the cache folder."""

TEMPORARY_SECONDS = 600.0
"""A temporary file of this age was left by a process that died."""

_ENTRY = re.compile(r"[0-9a-f]{32}\.entry")
_TEMPORARY = re.compile(r"[0-9a-f]{32}\.tmp")

_CREATE = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
)


class StoredFile(NamedTuple):
    """One file of ours.

    Attributes:
        name: its name in the folder.
        size: bytes.
        used: when it was last used, in seconds since the epoch.
    """

    name: str
    size: int
    used: float


class Listing(NamedTuple):
    """What the folder holds.

    Attributes:
        entries: the entries, in no order.
        temporaries: files being written, or left over.
    """

    entries: list[StoredFile]
    temporaries: list[StoredFile]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in (*self.entries, *self.temporaries))


def entry_name(digest: str) -> str:
    """The name of the entry of a key's digest."""
    return f"{digest}.entry"


def age_of(used: float, now: float) -> float:
    """Seconds since a use. A time in the future is as far from the truth as it is from now.

    That is: where the clock went back, a file is neither fresh for ever nor at once the oldest.
    """
    return abs(now - used)


def write_file(root: Path, name: str, data: bytes) -> None:
    """Puts a file into the cache folder, whole or not at all; replaces one of that name.

    The folders are made where they are missing. The disk is not waited for: a file that a crash of
    the machine cut short fails its checksum later.

    Raises:
        OSError: it cannot be written.
    """
    folder = root / FOLDER
    for attempt in (1, 2):
        try:
            if not is_plain_folder(folder):
                make_subfolder(root, FOLDER)
            _write_new(folder, name, data)
        except FileNotFoundError:  # somebody removed the folder
            if attempt == 2:
                raise
        else:
            return


def _write_new(folder: Path, name: str, data: bytes) -> None:
    temporary = folder / f"{os.urandom(16).hex()}.tmp"
    descriptor = os.open(temporary, _CREATE, 0o600)
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]
        temporary.replace(folder / name)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def list_files(root: Path) -> Listing:
    """The files of ours in the cache folder; empty where there is no such folder, or only a link.

    Raises:
        OSError: the folder cannot be read.
    """
    listing = Listing([], [])
    folder = root / FOLDER
    if not is_plain_folder(folder):
        return listing
    with os.scandir(folder) as found:
        for item in found:
            kinds = ((_ENTRY, listing.entries), (_TEMPORARY, listing.temporaries))
            for pattern, files in kinds:
                if pattern.fullmatch(item.name):
                    with suppress(FileNotFoundError):  # another process removed it
                        facts = item.stat(follow_symlinks=False)
                        if stat.S_ISREG(facts.st_mode):
                            files.append(StoredFile(item.name, facts.st_size, facts.st_mtime))
    return listing


def remove(root: Path, names: Iterable[str]) -> set[str]:
    """Removes files of ours, and gives the names of those that are gone now.

    A file that another process removed first is gone; one that the system does not let go is not.
    """
    folder, gone = root / FOLDER, set[str]()
    if not is_plain_folder(folder):
        return gone
    for name in names:
        path = folder / name
        try:
            if (_ENTRY.fullmatch(name) or _TEMPORARY.fullmatch(name)) and stat.S_ISREG(
                os.lstat(path).st_mode
            ):
                path.unlink()
                gone.add(name)
        except FileNotFoundError:
            gone.add(name)
        except OSError:
            continue
    return gone


def evict(root: Path, listing: Listing, most: int, low: int, now: float) -> list[StoredFile]:
    """Sweeps what dead processes left; where too much is stored, removes the least recently used.

    Several processes may do this at the same time.

    Args:
        root: the cache folder.
        listing: what it holds.
        most: bytes that may stay.
        low: bytes to go down to where there are more.
        now: seconds since the epoch.

    Returns:
        The files that are gone now, whoever removed them.
    """
    gone = [f for f in listing.temporaries if age_of(f.used, now) > TEMPORARY_SECONDS]
    total = listing.size - sum(file.size for file in gone)
    if total > most:
        oldest = sorted(listing.entries, key=lambda f: age_of(f.used, now), reverse=True)
        for number, file in enumerate(oldest, 1):
            # One entry may well be larger than the lower mark: it is worth more than none.
            if total <= low or (number == len(oldest) and total <= most):
                break
            gone.append(file)
            total -= file.size
    removed = remove(root, (file.name for file in gone))
    return [file for file in gone if file.name in removed]
