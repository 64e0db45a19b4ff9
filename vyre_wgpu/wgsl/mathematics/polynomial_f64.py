"""Polynomials of the f64 functions: coefficient tables into WGSL."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

from .polynomial import horner

__all__ = ["with_polynomials"]


def with_polynomials(text: str, **polynomials: tuple[str, Sequence[float]]) -> str:
    """A helper's text with each ``$NAME`` replaced by a polynomial of a variable, in f64."""
    filled = {
        name: horner(variable, table, "lf") for name, (variable, table) in polynomials.items()
    }
    return Template(text).substitute(filled)
