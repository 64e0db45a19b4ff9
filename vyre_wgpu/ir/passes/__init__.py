"""Optimisation: small passes from program to program, each with its own text tests."""

from __future__ import annotations

from .rewrite import Draft, Optimised
from .run import optimise

__all__ = ["Draft", "Optimised", "optimise"]
