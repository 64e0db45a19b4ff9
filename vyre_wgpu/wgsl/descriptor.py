"""What a dispatch must know about a lowered program: between lowering and submission.

The *dispatch block* is a run of u32 words handed to each dispatch: a fixed header (`Word`), then
one length for each storage buffer whose length is not a literal, then the params. The shader takes
lengths from there, never from ``arrayLength``, so a binding may be larger than its content.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

__all__ = [
    "LOWERING_VERSION",
    "TRAP_BYTES",
    "UNKNOWN_SITE",
    "Binding",
    "KernelDescriptor",
    "ShaderArtifact",
    "Word",
]

LOWERING_VERSION = 1
"""Part of every cache key where the sources of lowering cannot be read; elsewhere their digest is.

Raised with a release whose lowering gives other text for some program.
"""

TRAP_BYTES = 16
"""Size of the trap words: flag, address, site, lane (linear logical index), u32 each.

The site is the row of the statement that trapped: a ``trap``, or a loop that ran too long. It is
`UNKNOWN_SITE` where a helper's own loop did.
"""

UNKNOWN_SITE = 0xFFFFFFFF
"""The site of a trap that belongs to no row."""


class Word(IntEnum):
    """Position of the header words in the dispatch block.

    ``ROW`` is the number of workgroups in one row of a folded launch: the launch is then
    ``(ROW, rows, 1)`` and workgroup (x, y) stands for the logical workgroup ``x + y * ROW`` in
    row-major order (x fastest). It is 0 where the launch is the logical grid itself. ``ZERO`` is
    always 0; the shader uses it where a compiler must not know that.

    A split dispatch (`KernelDescriptor.split`) is several launches, each of some whole workgroups.
    ``BASE`` is the first lane of a launch, and ``EXTENT_X`` there the lane at which it ends. Only
    the split variant reads ``BASE``; it is 0 elsewhere.
    """

    EXTENT_X = 0
    EXTENT_Y = 1
    EXTENT_Z = 2
    ROW = 3
    BASE = 4
    ZERO = 5


HEADER_WORDS = len(Word)


@dataclass(frozen=True, slots=True)
class Binding:
    """One storage binding in group 0; its number is its position in the descriptor.

    Attributes:
        buffer: index into ``Program.buffers``.
        writable: bound read-write; read-only otherwise.
    """

    buffer: int
    writable: bool


@dataclass(frozen=True, slots=True)
class KernelDescriptor:
    """How to launch a lowered program.

    Attributes:
        bindings: storage bindings of group 0, binding 0 upward.
        trap_binding: binding number of the trap words (16 bytes, read-write), or None if the shader
            cannot trap.
        block_binding: binding number of the dispatch block as a uniform buffer, or None if the
            block is passed as immediates. It comes behind all storage bindings.
        block_words: u32 words in the dispatch block.
        length_words: ``(buffer index, word)`` of each length in the block.
        param_words: ``(param index, first word)`` of each param in the block. bool and integers
            below 32 bits take a whole u32 word (sign-extended), f16 its bits, 64-bit types two
            words, low first.
        workgroup_size: lanes of a workgroup as launched.
        whole_workgroups: every lane of a started workgroup runs, so lanes are numbered over whole
            workgroups on every axis; otherwise lanes beyond the extent do not run and lanes are
            numbered over the extent. Either way x runs fastest.
        axes: number of axes of the extent.
        elements_per_lane: logical elements that one launched lane computes.
        features: wgpu features that the shader needs.
        indirect: the number of workgroups comes from a buffer at launch: extent and row in the
            block are not used, and lanes are numbered over whole workgroups.
        split: a launch runs the lanes from ``Word.BASE`` on, and has of the buffers that
            `ir.elementwise.split_buffers` names the elements from there on.
    """

    bindings: tuple[Binding, ...]
    trap_binding: int | None
    block_words: int
    length_words: tuple[tuple[int, int], ...]
    param_words: tuple[tuple[int, int], ...]
    workgroup_size: tuple[int, int, int]
    whole_workgroups: bool
    axes: int
    elements_per_lane: int = 1
    features: tuple[str, ...] = ()
    block_binding: int | None = None
    indirect: bool = False
    split: bool = False


@dataclass(frozen=True, slots=True)
class ShaderArtifact:
    """A lowered program: the shader's text and how to launch it.

    Attributes:
        wgsl: the module; its entry point is ``main``.
        descriptor: the launch contract.
    """

    wgsl: str
    descriptor: KernelDescriptor
