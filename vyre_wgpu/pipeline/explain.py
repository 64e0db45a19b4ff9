"""Why a program is, or is not, found compiled: which parts of its key differ from the nearest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .keys import Key, Parts

__all__ = ["Difference", "Explanation", "explain_miss"]

_ADVICE = {
    "program": "this program was not compiled here before",
    "options": "it was compiled with other options",
    "variant": "its other launch variant was compiled",
    "lowering": "it was compiled by another version of vyre_wgpu",
    "wgpu-py": "wgpu was exchanged",
    "wgpu-native": "wgpu was exchanged",
    "driver": "the driver was exchanged",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One part of a key that is not as in the nearest entry.

    Attributes:
        part: its name.
        wanted: its value for the program that was asked for; None if it has no such part.
        found: its value in the nearest entry; None if that has no such part.
    """

    part: str
    wanted: str | None
    found: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """What `compile` would find now.

    Attributes:
        found: where the compiled program is.
        key: digest of its key; entries of the disk cache are named after it.
        parts: name and value of each part of the key.
        nearest: digest of the entry with the fewest differences if it was not found; None if there
            is no entry at all.
        differences: the parts that differ from the nearest entry's.
    """

    found: Literal["memory", "disk", "nowhere"]
    key: str
    parts: Parts
    nearest: str | None = None
    differences: tuple[Difference, ...] = ()

    def __str__(self) -> str:
        if self.found != "nowhere":
            return f"found {'in memory' if self.found == 'memory' else 'on disk'}, key {self.key}"
        if self.nearest is None:
            return f"not found, key {self.key}: nothing is stored"
        advice = next((_ADVICE[d.part] for d in self.differences if d.part in _ADVICE), "")
        lines = [f"not found, key {self.key}{': ' if advice else ''}{advice}"]
        lines += [
            f"  {d.part}: {_shown(d.wanted)}, in the nearest entry {_shown(d.found)}"
            for d in self.differences
        ]
        return "\n".join(lines)


def explain_miss(key: Key, stored: Iterable[Key]) -> Explanation:
    """What parts a key differs in from the nearest of those that are stored.

    Args:
        key: the key that is not among them.
        stored: the others, the most recently used first: of equally near ones the first is taken.
    """
    nearest, fewest = None, None
    for other in stored:
        differences = _differences(key.parts, other.parts)
        # Another program's entry explains nothing as long as there is one of this program.
        rank = (any(d.part == "program" for d in differences), len(differences))
        if fewest is None or rank < fewest[0]:
            nearest, fewest = other.digest, (rank, differences)
    return Explanation(
        "nowhere", key.digest, key.parts, nearest, () if fewest is None else fewest[1]
    )


def _differences(wanted: Parts, found: Parts) -> tuple[Difference, ...]:
    ours, theirs = dict(wanted), dict(found)
    return tuple(
        Difference(name, ours.get(name), theirs.get(name))
        for name in dict.fromkeys((*ours, *theirs))
        if ours.get(name) != theirs.get(name)
    )


def _shown(value: str | None) -> str:
    return "without it" if value is None else repr(value)
