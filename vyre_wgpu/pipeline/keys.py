"""Keys of compiled programs: named parts, so that a miss can be explained.

Everything that decides what a program becomes is a part with a readable value. Each part is hashed
on its own and the key is the hash of those hashes. The list is open: a new part, such as a tuner's
choice, is a new row of `_DEVICE_PARTS` or `Keys.parts`, and entries without it are no longer found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

import xxhash

from ..ir.program import Program
from ..runtime.device import Device
from ..wgsl.options import CompileOptions
from ..wgsl.target import Target
from .lowering_version import lowering_version

__all__ = ["KEY_VERSION", "Key", "Keys", "Parts", "decode_parts", "device_parts", "options_of"]

KEY_VERSION = 1
"""Raised when parts are built or hashed in another way; a new part alone needs no new version."""

MAX_PARTS_BYTES = 1 << 16
"""Most bytes of the parts of one key as text."""

Parts = tuple[tuple[str, str], ...]
"""Name and value of each part, in a fixed order."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a compiled program is found under.

    Attributes:
        parts: what it was made of.
        digest: XXH3-128 of the parts, as 32 hex digits.
        encoded: the parts as canonical JSON: what an entry of the disk cache holds.
    """

    parts: Parts
    digest: str
    encoded: bytes

    @classmethod
    def of(cls, parts: Parts) -> Key:
        """The key of parts."""
        whole = xxhash.xxh3_128(b"vyre_wgpu key %d" % KEY_VERSION)
        for name, value in parts:
            whole.update(xxhash.xxh3_128_digest(_utf8(f"{name}\0{value}")))
        return cls(parts, whole.hexdigest(), _json([list(part) for part in parts]).encode("ascii"))


class Keys:
    """Keys of programs for one device.

    Args:
        device: the device.
        target: what lowering knows of it.
    """

    def __init__(self, device: Device, target: Target) -> None:
        self.device_parts = device_parts(device, target)

    def of(
        self, program: Program, options: CompileOptions, *, indirect: bool, split: bool = False
    ) -> Key:
        """The key of a program as it is compiled with options.

        Args:
            program: the program; its erased bytes alone take part.
            options: what the caller asked for.
            indirect: the variant for indirect grids.
            split: the variant for dispatches in parts.
        """
        return Key.of(self.parts(program.fingerprint, options, indirect, split))

    def parts(
        self, fingerprint: str, options: CompileOptions, indirect: bool, split: bool = False
    ) -> Parts:
        """The parts of the key of a fingerprint."""
        return (
            ("program", fingerprint),
            ("options", _json(asdict(options))),
            ("variant", "split" if split else "indirect" if indirect else "direct"),
            *self.device_parts,
        )


def _python_side(_: Device, __: Target) -> str:
    import wgpu  # not for those who only read keys

    return str(wgpu.__version__)


def _library(_: Device, __: Target) -> str:
    native: Any = __import__("wgpu.backends.wgpu_native", fromlist=["lib_version_info"])
    return ".".join(map(str, native.lib_version_info))


_QUIRKS = ("loop_iterations", "reorders_floats")
"""What lowering knows of the driver's faults. Of the device's profile no more is in a key: what it
does not read must not lower a program a second time.
"""


def _limits(_: Device, target: Target) -> str:
    """The limits that lowering reads: all of `Target` but what has parts of its own."""
    own = ("features", *_QUIRKS)
    return _json({f.name: getattr(target, f.name) for f in fields(target) if f.name not in own})


_DEVICE_PARTS: tuple[tuple[str, Callable[[Device, Target], str]], ...] = (
    ("lowering", lambda _, __: lowering_version()),
    ("wgpu-py", _python_side),
    ("wgpu-native", _library),
    ("vendor", lambda device, _: f"{device.info.vendor_id} {device.info.vendor}"),
    ("device", lambda device, _: f"{device.info.device_id} {device.info.name}"),
    ("driver", lambda device, _: device.info.driver),
    ("api", lambda device, _: device.info.api),
    ("features", lambda device, _: " ".join(sorted(device.features))),
    ("limits", _limits),
    ("quirks", lambda _, target: _json({name: getattr(target, name) for name in _QUIRKS})),
)
"""What of a device, and of what is installed, takes part in a key."""


def device_parts(device: Device, target: Target) -> Parts:
    """The parts of every key on a device."""
    return tuple((name, value_of(device, target)) for name, value_of in _DEVICE_PARTS)


def decode_parts(data: bytes) -> Parts:
    """The parts of a stored key; the bytes may be hostile.

    Raises:
        ValueError: they are no parts.
    """
    if len(data) > MAX_PARTS_BYTES:
        raise ValueError(f"{len(data)} bytes of key parts")
    try:
        items = json.loads(data)
    except RecursionError:
        raise ValueError("key parts are nested") from None
    if not isinstance(items, list) or not all(_is_part(item) for item in items):
        raise ValueError("the key parts are not pairs of texts")
    return tuple((name, value) for name, value in items)


def options_of(parts: Parts) -> CompileOptions:
    """The options that a key was made with.

    Raises:
        ValueError: the part is missing, or of another version of `CompileOptions`.
    """
    try:
        values = json.loads(dict(parts)["options"])
        return CompileOptions(**values)
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"the options of the key are not of this version: {error}") from None


def _is_part(item: object) -> bool:
    return isinstance(item, list) and len(item) == 2 and all(isinstance(t, str) for t in item)


def _json(value: dict[str, object] | Iterable[object]) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
