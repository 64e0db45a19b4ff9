"""What is promised of each elementary function of f64: rows of `bounds.Bound`."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["F64"]

# ULP, method, absolute error for negative arguments.
F64: Mapping[str, tuple[float, str, float]] = {
    "exp": (4, "Cody-Waite reduction by ln 2, polynomial of expm1", 0),
    "exp2": (4, "reduction to [-1/2, 1/2], polynomial of expm1", 0),
    "expm1": (4, "as exp, 2^k - 1 added exactly", 0),
    "log": (4, "reduction to [sqrt 1/2, sqrt 2), atanh series of f / (2 + f) (Tang 1990)", 0),
    "log2": (4, "as log, in pairs of doubles", 0),
    "log10": (4, "as log, in pairs of doubles", 0),
    "log1p": (4, "as log, corrected for what 1 + x loses", 0),
    "sin": (4, "Cody-Waite reduction by pi/2; Payne-Hanek (1983) from 10^6 on", 0),
    "cos": (4, "as sin", 0),
    "tan": (4, "quotient of sin and cos in pairs of doubles", 0),
    "asin": (4, "polynomial; sqrt((1 - x) / 2) beyond 1/2", 0),
    "acos": (4, "as asin", 0),
    "atan": (4, "differences from atan 1/2, 1, 3/2 and pi/2, polynomial", 0),
    "atan2": (4, "atan of the corrected quotient", 0),
    "sinh": (4, "polynomial below 1; exp above", 0),
    "cosh": (4, "exp and its reciprocal", 0),
    "tanh": (4, "quotient of expm1 in pairs of doubles", 0),
    "asinh": (4, "log1p of a pair of doubles", 0),
    "acosh": (4, "log1p of a pair of doubles", 0),
    "atanh": (4, "log1p of a pair of doubles", 0),
    "pow": (8, "log, product and exp in pairs of doubles", 0),
    "powi": (8, "pow", 0),
    "sqrt": (2.5, "the builtin", 0),
    "rsqrt": (4, "1 / sqrt and a Newton step with an exact remainder", 0),
    "cbrt": (4, "exponent by integer division, two Halley steps, an exact remainder (Kahan)", 0),
    "hypot": (4, "sqrt of the sum of scaled squares in pairs of doubles", 0),
    "fmod": (0, "long division of the significands, exact", 0),
    "mod": (0.5, "fmod, and one addition", 0),
    "add": (0.5, "the operation, hidden from a driver that reorders", 0),
    "sub": (0.5, "as add", 0),
    "mul": (0.5, "as add", 0),
    "div": (2.5, "the operation", 0),
    "erf": (4, "polynomial below 1; 1 - erfc above", 0),
    "erfc": (4, "exp(-x^2) in pairs of doubles, polynomial (Shepherd and Laframboise 1981)", 0),
    "lgamma": (8, "1 / gamma by a polynomial, Stirling, reflection, in pairs of doubles", 2.0**-52),
    "gamma": (8, "as lgamma", 0),
    "sigmoid": (4, "quotient of exp in pairs of doubles", 0),
}
"""Name of a function to its bound in ULP, its method, and the absolute error that is right too for
negative arguments (`Bound.absolute_left_of_zero`)."""
