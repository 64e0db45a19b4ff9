"""`DiskCache`: compiled programs that survive the process; its troubles cost time, never results.

Whatever is wrong with an entry or with the disk, `load` gives None and `store` returns: the program
is compiled as if there were no cache, and the logger is told once for each cause.
"""

from __future__ import annotations

import errno
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from .. import settings
from ..ir.program import Program
from ..wgsl.descriptor import ShaderArtifact
from ..wgsl.options import CompileOptions
from .cache_files import (
    FOLDER,
    NotPlainError,
    StoredFile,
    age_of,
    entry_name,
    evict,
    list_files,
    read_file,
    remove,
    write_file,
)
from .descriptor_codec import check_fit
from .entry import MAX_ENTRY_BYTES, Entry, EntryError, decode_entry, encode_entry
from .keys import Key

__all__ = ["DiskCache", "DiskStatistics", "open_disk_cache"]

_log = logging.getLogger("vyre_wgpu")

TOUCH_SECONDS = 60.0
"""A use is noted on the disk if the last noted one is this old."""

LOW_WATER = 0.8
"""Part of the limit that eviction goes down to, so that it is not needed again at once."""

WRITERS = 16
"""A process looks at the folder again after writing this part of the room that was left."""


MAX_REASON = 300
"""Characters of a reason in a warning."""


class DiskStatistics(NamedTuple):
    """What one `DiskCache` did.

    Attributes:
        hits: entries served.
        misses: entries not there.
        refused: entries that were damaged, foreign or of another program.
        writes: entries written.
        failures: entries that could not be read or written.
        evictions: entries and temporary files removed to keep the limit.
    """

    hits: int = 0
    misses: int = 0
    refused: int = 0
    writes: int = 0
    failures: int = 0
    evictions: int = 0


class DiskCache:
    """The entries in a cache folder. Safe to use from many threads and processes at a time.

    Args:
        root: the cache folder; made at the first write.
        max_bytes: bytes of all entries that are kept.
        read_only: nothing in the folder is changed, not even the note of a use.
        clock: seconds since the epoch, as the file system counts them.
    """

    def __init__(
        self,
        root: Path,
        *,
        max_bytes: int,
        read_only: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.root = root
        self.max_bytes = max_bytes
        self.read_only = read_only
        self._clock = clock
        self._lock = threading.Lock()
        self._trimming = threading.Lock()
        self._counts = dict.fromkeys(DiskStatistics._fields, 0)
        self._warned: set[str] = set()
        self._room = 0  # bytes that may be written before the folder is looked at again

    def load(
        self,
        key: Key,
        program: Program,
        options: CompileOptions,
        *,
        indirect: bool = False,
        split: bool = False,
    ) -> ShaderArtifact | None:
        """The artifact stored under a key, or None.

        Args:
            key: the key of all that follows.
            program: the program; the entry must hold its erased bytes.
            options: the options; the entry's descriptor must agree with them.
            indirect: the variant for indirect grids.
            split: the variant for dispatches in parts.
        """
        path = self.root / FOLDER / entry_name(key.digest)
        try:
            data = read_file(path, MAX_ENTRY_BYTES, self._is_to_be_touched)
        except (FileNotFoundError, NotADirectoryError):
            self._count(misses=1)
            return None
        except NotPlainError as error:
            self._count(refused=1)
            self._warn_not_plain(error)
            return None
        except OSError as error:
            self._count(failures=1)
            self._warn(f"read {error.errno}", f"an entry of the cache cannot be read: {error}")
            return None
        try:
            entry = decode_entry(data)
            if entry.parts_bytes != key.encoded or entry.program != program.erased_bytes:
                raise EntryError("it is the entry of another program, device or option")
            artifact = entry.artifact()
            try:
                check_fit(artifact.descriptor, program, options, indirect=indirect, split=split)
            except ValueError as error:
                raise EntryError(f"it does not fit its program: {error}") from None
        except EntryError as error:
            self.refuse(key, str(error))
            return None
        self._count(hits=1)
        return artifact

    def refuse(self, key: Key, reason: str) -> None:
        """Removes an entry that turned out to be no good.

        Args:
            key: its key.
            reason: what is wrong with it, as the end of a sentence.
        """
        self._count(refused=1)
        name = entry_name(key.digest)
        if self.read_only:
            done = "it stays, for the cache is only read"
        elif name in remove(self.root, [name]):
            done = "it is removed"
        else:
            done = "it cannot be removed"
        reason = " ".join(reason.split())  # a shader compiler's message has many lines
        if len(reason) > MAX_REASON:
            reason = reason[:MAX_REASON] + " ..."
        self._warn("damaged", f"the cache entry {self.root / FOLDER / name} is no good: {reason}; "
                   f"{done}, and the program is compiled again")  # fmt: skip

    def store(self, key: Key, program: Program, artifact: ShaderArtifact) -> bool:
        """Stores an artifact under a key; gives whether it did.

        Args:
            key: its key.
            program: the program that it was lowered from.
            artifact: what is stored.
        """
        if self.read_only:
            return False
        data = encode_entry(key.encoded, program.erased_bytes, artifact)
        if len(data) > min(self.max_bytes, MAX_ENTRY_BYTES):
            self._warn(
                "too large",
                f"a compiled program of {len(data):,} bytes is more than the cache may hold "
                f"({self.max_bytes:,} bytes); it is kept in memory only",
            )
            return False
        try:
            write_file(self.root, entry_name(key.digest), data)
        except OSError as error:
            self._count(failures=1)
            path = self.root / FOLDER / entry_name(key.digest)
            if path.is_dir():  # of this one entry only: the folder itself is in order
                self._warn_not_plain(NotPlainError(f"{path} is no plain file"))
                return False
            cause = errno.errorcode.get(error.errno or 0, type(error).__name__)
            self._warn(
                f"write {cause}",
                f"the cache folder {self.root} cannot be written, compiled programs are kept in "
                f"memory only: {error}",
            )
            return False
        self._count(writes=1)
        with self._lock:
            self._room -= len(data)
            is_full = self._room < 0
        if is_full:
            self.trim()
        return True

    def trim(self, max_bytes: int | None = None) -> list[StoredFile]:
        """Removes old temporary files, and the least recently used entries beyond the limit.

        Args:
            max_bytes: bytes to go down to instead of the cache's own limit, if there are more.

        Returns:
            The files that were removed.
        """
        if self.read_only or not self._trimming.acquire(blocking=False):
            return []
        try:
            most, low = self.max_bytes, int(self.max_bytes * LOW_WATER)
            if max_bytes is not None:
                most = low = max_bytes
            listing = list_files(self.root)
            gone = evict(self.root, listing, most, low, self._clock())
            left = listing.size - sum(file.size for file in gone)
            with self._lock:
                self._room = max(0, self.max_bytes - left) // WRITERS
            self._count(evictions=len(gone))
            return gone
        except OSError as error:
            self._warn_unreadable(error)
            return []
        finally:
            self._trimming.release()

    def entries(self) -> Iterator[tuple[StoredFile, Entry | EntryError]]:
        """Every entry with its content, or with what is wrong with it; the last used come first.

        Raises:
            OSError: the folder cannot be read.
        """
        now = self._clock()
        for file in sorted(list_files(self.root).entries, key=lambda f: age_of(f.used, now)):
            try:
                yield file, decode_entry(read_file(self.root / FOLDER / file.name, MAX_ENTRY_BYTES))
            except FileNotFoundError:
                continue  # evicted meanwhile
            except EntryError as error:
                yield file, error
            except OSError as error:
                yield file, EntryError(f"it cannot be read: {error.strerror or error}")

    def readable_entries(self) -> Iterator[Entry]:
        """The entries that are whole; none, and a warning, where the folder cannot be read."""
        try:
            for _, entry in self.entries():
                if isinstance(entry, Entry):
                    yield entry
        except OSError as error:
            self._warn_unreadable(error)

    def statistics(self) -> DiskStatistics:
        """What it did so far."""
        with self._lock:
            return DiskStatistics(**self._counts)

    def _is_to_be_touched(self, used: float) -> bool:
        return not self.read_only and age_of(used, self._clock()) > TOUCH_SECONDS

    def _count(self, **amounts: int) -> None:
        with self._lock:
            for name, amount in amounts.items():
                self._counts[name] += amount

    def _warn_unreadable(self, error: OSError) -> None:
        self._warn(f"list {error.errno}", f"the cache folder cannot be read: {error}")

    def _warn_not_plain(self, error: NotPlainError) -> None:
        self._warn("not plain", f"{error}: it is not used as a cache entry, and not followed")

    def _warn(self, cause: str, message: str) -> None:
        with self._lock:
            if cause in self._warned:
                return
            self._warned.add(cause)
        _log.warning("%s (further ones are not reported)", message)


def open_disk_cache(root: Path | None, mode: str, max_bytes: int) -> DiskCache | None:
    """The disk cache of a mode: None for ``off``; ``ro`` reads, ``rw`` reads and writes.

    Without a folder there is none either, which the logger is told.
    """
    if mode == "off":
        return None
    if root is None:
        why = settings.no_cache_folder()
        _log.warning("compiled programs are kept in memory only: %s", why)
        return None
    return DiskCache(root, max_bytes=max_bytes, read_only=mode == "ro")
