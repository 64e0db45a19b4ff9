"""How printed programs spell names, tags, literals and operators: safe, on one line, bounded."""

from __future__ import annotations

import keyword
import math

from .types import DType

__all__ = [
    "ATOM",
    "COMPARISON",
    "PRECEDENCE",
    "UNARY",
    "escape",
    "literal_text",
    "name_text",
    "quote",
]

ATOM, UNARY, COMPARISON = 10, 9, 2
PRECEDENCE = {
    "*": 8, "/": 8, "//": 8, "%": 8,
    "+": 7, "-": 7,
    "<<": 6, ">>": 6,
    "&": 5, "^": 4, "|": 3,
    "==": 2, "!=": 2, "<": 2, "<=": 2, ">": 2, ">=": 2,
}  # fmt: skip
"""Python's, of the infix operators."""

_MAX_LENGTH = 80
"""Longer names and tags are cut: one may be used in every row."""

_RESERVED = frozenset(keyword.kwlist) | {"program", "param", "extent", "let", "var", "do", "trap"}


def name_text(name: str) -> str:
    """A name as it is, or quoted if it would read as something else."""
    if name.isidentifier() and name.isprintable() and name not in _RESERVED:
        return name if len(name) <= _MAX_LENGTH else f"{name[:_MAX_LENGTH]}…"
    return quote(name)


def quote(text: str) -> str:
    """A name or tag in double quotes, escaped."""
    cut = "" if len(text) <= _MAX_LENGTH else "…"
    return f'"{escape(text[:_MAX_LENGTH])}"{cut}'


def escape(text: str) -> str:
    """The text with quotes, backslashes and what cannot be printed escaped."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    return "".join(
        f"\\{c}" if c in '"\\' else c if c.isprintable() else c.encode("unicode_escape").decode()
        for c in text
    )


def literal_text(dtype: DType, bits: int) -> str:
    """The value of a literal as Python spells it, without its type."""
    value = dtype.decode(bits)
    if not isinstance(value, float):
        return str(value).lower() if dtype.kind == "bool" else str(value)
    if dtype.bits == 64 or (-1e4 < value < 1e4 and value % 0.25 == 0):  # NumPy is slow for scalars
        return _float_text(dtype, bits, value)
    # NumPy's: the shortest text that gives this value in this type.
    return str(dtype.numpy.type(value)) if value == value else _float_text(dtype, bits, value)


def _float_text(dtype: DType, bits: int, value: float) -> str:
    if value == value or bits == dtype.encode(math.nan):
        return repr(value)
    return f"{dtype}.from_bits({bits:#x})"  # a NaN unlike the usual one
