"""Sizes and ages as people read them."""

from __future__ import annotations

__all__ = ["age_text", "bytes_text"]

_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_AGES = ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute"))


def bytes_text(count: int) -> str:
    """A number of bytes in the largest unit that leaves at least 1, such as ``1.5 MiB``."""
    for unit, name in _SIZES:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} byte{'' if count == 1 else 's'}"


def age_text(seconds: float) -> str:
    """How long ago something was, in its largest unit, such as ``3 hours ago``.

    A time in the future, which a clock that went back leaves, is named as such.
    """
    if seconds <= -60:
        return "in the future"
    for unit, name in _AGES:
        if seconds >= unit:
            count = int(seconds // unit)
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now"
