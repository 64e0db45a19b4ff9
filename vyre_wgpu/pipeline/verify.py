"""Verifying a disk cache: every entry is read in full, and compiled anew to compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import DeviceLostError, ForkedProcessError, VyreError
from .compile import Compiler
from .disk_cache import DiskCache
from .entry import Entry, EntryError
from .entry_check import check_entry

__all__ = ["Verdict", "verify_entries"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of one entry.

    Attributes:
        name: its file.
        problem: what is wrong with it, or empty.
        compared: it was compiled anew. What was compiled by another version or for another device
            is only read.
    """

    name: str
    problem: str
    compared: bool


def verify_entries(disk: DiskCache, compiler: Compiler) -> Iterator[Verdict]:
    """A verdict for each entry; nothing in the cache is changed.

    Raises:
        OSError: the folder cannot be read.
        DeviceLostError: the device is closed or lost.
    """
    for file, entry in disk.entries():
        try:
            yield Verdict(file.name, "", _is_compared(file.name, entry, compiler))
        except EntryError as error:
            yield Verdict(file.name, str(error), False)


def _is_compared(name: str, entry: Entry | EntryError, compiler: Compiler) -> bool:
    """Checks an entry, and whether it could be compiled anew to do so.

    Raises:
        EntryError: what is wrong with it.
    """
    content = check_entry(name, entry)
    device_parts = compiler.keys.device_parts
    if content is None or content.parts[-len(device_parts) :] != device_parts:
        return False
    try:
        fresh = compiler.compile_anew(
            content.program,
            content.options,
            indirect=content.indirect,
            split=content.split,
        ).artifact
    except (DeviceLostError, ForkedProcessError):
        raise
    except VyreError as error:
        raise EntryError(f"its program does not compile: {error.message}") from None
    if fresh.descriptor != content.artifact.descriptor:
        raise EntryError("its launch contract is not what the program compiles to")
    if fresh.wgsl != content.artifact.wgsl:
        raise EntryError("its shader is not what the program compiles to")
    return True
