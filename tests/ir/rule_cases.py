"""A program for every rule of the IR that breaks it, and near misses that do not.

What a builder cannot get wrong is made by editing the columns of a valid program, in
`malformed_cases`.
"""

from __future__ import annotations

from tests.ir.rules import buffers, flow, scopes, structure, typing
from tests.ir.rules.kernel import ALLOWED, CASES

__all__ = ["ALLOWED", "CASES", "PARTS"]

PARTS = (structure, typing, scopes, buffers, flow)
"""The modules whose functions are the cases."""
