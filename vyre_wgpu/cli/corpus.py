"""Many files as one stream of bytes in chunks of one size, and the way back from offset to file."""

from __future__ import annotations

import os
import stat
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["FileStream", "FoundFiles", "Unreadable", "find_files"]

_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file or folder that could not be read.

    Attributes:
        path: which.
        reason: what the system said.
    """

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files below a folder.

    Attributes:
        paths: regular files, sorted.
        total_bytes: their size together, as the file system tells it.
        unreadable: folders that could not be listed and files that could not be looked at.
    """

    paths: tuple[Path, ...]
    total_bytes: int
    unreadable: tuple[Unreadable, ...]


def find_files(root: Path, *, suffix: str = "", skip: Collection[str] = ()) -> FoundFiles:
    """Finds the regular files below a folder; a file is its own only one.

    Args:
        root: the folder. Links to other folders below it are not followed.
        suffix: how a file's name must end.
        skip: names of folders that are left out.
    """
    unreadable: list[Unreadable] = []

    def cannot_list(error: OSError) -> None:
        unreadable.append(Unreadable(Path(error.filename), error.strerror or str(error)))

    names = [root] if root.is_file() else []
    for folder, folders, files in os.walk(root, onerror=cannot_list):
        folders[:] = [name for name in folders if name not in skip]
        names += [Path(folder, name) for name in files if name.endswith(suffix)]
    paths = []
    total = 0
    for path in sorted(names):
        try:
            status = path.stat()
        except OSError as error:
            unreadable.append(Unreadable(path, error.strerror or str(error)))
            continue
        if stat.S_ISREG(status.st_mode):  # opening a pipe would wait for a writer
            paths.append(path)
            total += status.st_size
    return FoundFiles(tuple(paths), total, tuple(unreadable))


@dataclass(slots=True)
class FileStream:
    """Reads files one after another as one stream.

    What is known about the files grows while `chunks` is iterated.

    Attributes:
        paths: the files, in the order of the stream.
        chunk_bytes: size of every chunk but the last.
        files_read: how many have been read to their end.
        bytes_read: how many bytes have been handed out in chunks.
        unreadable: files that could not be read, or not to their end.
    """

    paths: tuple[Path, ...]
    chunk_bytes: int
    files_read: int = 0
    bytes_read: int = 0
    unreadable: list[Unreadable] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _opened: list[Path] = field(default_factory=list)

    def chunks(self) -> Iterator[tuple[int, bytearray]]:
        """Yields offset and content of each chunk. For one iteration over a stream."""
        chunk = bytearray()
        for piece in self._pieces():
            start = 0
            while start < len(piece):
                end = start + self.chunk_bytes - len(chunk)
                chunk += piece[start:end]
                start = end
                if len(chunk) == self.chunk_bytes:
                    self.bytes_read += len(chunk)
                    yield self.bytes_read - len(chunk), chunk
                    chunk = bytearray()
        if chunk:
            self.bytes_read += len(chunk)
            yield self.bytes_read - len(chunk), chunk

    def _pieces(self) -> Iterator[bytes]:
        position = 0
        for path in self.paths:
            try:
                with path.open("rb", buffering=0) as file:
                    self._starts.append(position)
                    self._opened.append(path)
                    while piece := file.read(_READ_BYTES):
                        position += len(piece)
                        yield piece
            except OSError as error:
                self.unreadable.append(Unreadable(path, error.strerror or str(error)))
            else:
                self.files_read += 1

    def locate(self, offset: int) -> tuple[Path, int]:
        """The file that a byte of the stream came from, and its offset there.

        Args:
            offset: of a byte in a chunk that has been yielded.

        Raises:
            IndexError: no such byte has been read.
        """
        if not 0 <= offset < self.bytes_read:
            raise IndexError(f"offset {offset} is not below the {self.bytes_read} bytes read")
        # Of the files that start here all but the last are empty.
        index = bisect_right(self._starts, offset) - 1
        return self._opened[index], offset - self._starts[index]
