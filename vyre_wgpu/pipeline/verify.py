"""Verifying a disk cache: every entry is read in full, and compiled anew to compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import VyreError
from ..ir.program import Program
from .cache_files import entry_name
from .compile import Compiler
from .descriptor_codec import check_fit
from .disk_cache import DiskCache
from .entry import Entry, EntryError
from .keys import Key, options_of

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
            if isinstance(entry, EntryError):
                raise entry
            yield Verdict(file.name, "", _is_compared(file.name, entry, compiler))
        except (EntryError, ValueError) as error:
            yield Verdict(file.name, str(error), False)


def _is_compared(name: str, entry: Entry, compiler: Compiler) -> bool:
    """Checks an entry, and whether it could be compiled anew to do so.

    Raises:
        EntryError, ValueError: what is wrong with it.
    """
    parts = entry.parts()
    if entry_name(Key.of(parts).digest) != name:
        raise EntryError("its name is not that of its key")
    try:
        program = Program.from_bytes(entry.program)
    except VyreError as error:
        raise EntryError(f"its program cannot be read: {error.message}") from None
    values = dict(parts)
    if program.erased_bytes != entry.program or program.fingerprint != values.get("program"):
        raise EntryError("its program is not the one of its key")
    artifact = entry.artifact()
    device_parts = compiler.keys.device_parts
    if parts[len(parts) - len(device_parts) :] != device_parts:
        return False
    options, indirect = options_of(parts), values.get("variant") == "indirect"
    check_fit(artifact.descriptor, program, options, indirect=indirect)
    fresh = compiler.compile_anew(program, options, indirect=indirect).artifact
    if fresh.descriptor != artifact.descriptor:
        raise EntryError("its launch contract is not what the program compiles to")
    if fresh.wgsl != artifact.wgsl:
        raise EntryError("its shader is not what the program compiles to")
    return True
