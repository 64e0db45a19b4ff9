"""Polynomials as WGSL text: coefficients are data beside the function that uses them."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

__all__ = ["Entries", "horner", "with_polynomials"]

Entries = dict[str, tuple[str, tuple[str, ...]]]
"""Name of a helper to its text and the helpers it calls, as in `helpers`."""


def horner(variable: str, coefficients: Sequence[float], suffix: str = "f") -> str:
    """Horner's scheme: coefficients from the constant upwards, each exact in the type's format."""
    text = f"{coefficients[-1]!r}{suffix}"
    for k, coefficient in enumerate(reversed(coefficients[:-1])):
        inner = text if k == 0 else f"({text})"
        sign = "-" if coefficient < 0 else "+"
        text = f"{inner} * {variable} {sign} {abs(coefficient)!r}{suffix}"
    return f"({text})"


def with_polynomials(text: str, **polynomials: tuple[str, Sequence[float]]) -> str:
    """A helper's text with each ``$NAME`` replaced by a polynomial of a variable."""
    filled = {name: horner(*polynomial) for name, polynomial in polynomials.items()}
    return Template(text).substitute(filled)
