"""The operations of the IR on NumPy arrays: one function for each operation and kind of type.

Operands have the types that validation asks for; each function gives an array of the result's type,
wraps where integers wrap, and is silent about overflow, division by zero and NaN if its caller runs
it under ``np.errstate(all="ignore")``.
"""

from __future__ import annotations

from .table import Compute, operation

__all__ = ["Compute", "operation"]
