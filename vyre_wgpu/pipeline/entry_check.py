"""What can be known of a stored entry without a device: that it is what its name and key say."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import VyreError
from ..ir.program import Program
from ..wgsl.descriptor import ShaderArtifact
from ..wgsl.options import CompileOptions
from .cache_files import entry_name
from .descriptor_codec import check_fit
from .entry import Entry, EntryError
from .keys import Key, Parts, options_of
from .lowering_version import lowering_version

__all__ = ["Content", "check_entry"]


@dataclass(frozen=True, slots=True)
class Content:
    """What an entry says, all of it checked against each other.

    Attributes:
        parts: the parts of its key.
        program: the program.
        options: what it was compiled with.
        indirect: whether it is the variant for indirect grids.
        split: whether it is the variant for dispatches in parts.
        artifact: what it became.
    """

    parts: Parts
    program: Program
    options: CompileOptions
    indirect: bool
    split: bool
    artifact: ShaderArtifact


def check_entry(name: str, entry: Entry | EntryError) -> Content | None:
    """What an entry holds; None for one of another version, of which only the name is checked.

    Args:
        name: its file's.
        entry: its sections, or why there are none.

    Raises:
        EntryError: what is wrong with it.
    """
    if isinstance(entry, EntryError):
        raise entry
    parts = entry.parts()
    if entry_name(Key.of(parts).digest) != name:
        raise EntryError("its name is not that of its key")
    values = dict(parts)
    if values.get("lowering") != lowering_version():
        return None
    try:
        program = Program.from_bytes(entry.program)
    except VyreError as error:
        raise EntryError(f"its program cannot be read: {error.message}") from None
    if program.erased_bytes != entry.program or program.fingerprint != values.get("program"):
        raise EntryError("its program is not the one of its key")
    artifact, variant = entry.artifact(), values.get("variant")
    indirect, split = variant == "indirect", variant == "split"
    try:
        options = options_of(parts)
        check_fit(artifact.descriptor, program, options, indirect=indirect, split=split)
    except ValueError as error:
        raise EntryError(f"it does not fit its program: {error}") from None
    return Content(parts, program, options, indirect, split, artifact)
