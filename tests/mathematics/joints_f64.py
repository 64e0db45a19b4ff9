"""Where the f64 functions change their method, and the ranges in which they do not saturate.

The critical arguments of `functions` are those of every type. Of the binades of f64, most are huge
or tiny; the ordinary ones are tried more densely.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tests.mathematics.points import FORMATS, near

__all__ = ["joint_points"]

_JOINTS: dict[str, tuple[float, ...]] = {
    "exp": (0.34657359027997264, -750.0, 720.0),
    "expm1": (5.551115123125783e-17, -45.0, 36.7, 37.4),
    "log1p": (5.551115123125783e-17, -5.551115123125783e-17, 4503599627370496.0),
    "sin": (1e-9, 1e6, -1e6, 2.0**53),
    "cos": (1e-9, 1e6, -1e6, 2.0**53),
    "tan": (1e-9, 1e6, -1e6, 2.0**53),
    "atan": (0.4375, 0.6875, 1.1875, 2.4375, -2.4375),
    "tanh": (1e-9, -18.715, 20.0),
    "asinh": (1e-9, 268435456.0, 1.1, -1e-9),
    "acosh": (268435456.0,),
    "atanh": (1e-9, 0.17, -0.17),
    "erf": (7.0, -1.0),
    "erfc": (0.5, -0.5, 8.0, 26.55, 28.0, -5.9),
    "lgamma": (0.75, 1.75, 2.75, 8.0, -8.0, 1e17, 2.5e305, 8e-19, -8e-19),
    "gamma": (0.75, 1.75, 8.0, -8.0, 8e-19, -8e-19, 171.62437, -170.57, -184.5, 200.5),
    "sigmoid": (36.7, -36.7, -709.8, -745.2),
}


_LIMITS = (1.0, 4.0, 30.0, 200.0, 760.0)


def joint_points(name: str, each: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Points around the joints of a function of one operand, and `each` uniform ones of each of
    the ordinary ranges."""
    uniform = [rng.uniform(-limit, limit, each) for limit in _LIMITS]
    return np.concatenate([near(FORMATS["f64"], _JOINTS.get(name, ()), rng), *uniform])
