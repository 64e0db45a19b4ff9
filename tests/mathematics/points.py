"""Where elementary functions are tried: points of a float type, by its bits.

A type's magnitudes from 0 to infinity are cut into `CLASSES` ranges of equal numbers of binades,
for each sign; within a class the bits are uniform, so that points are log-uniform and subnormals
are among them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

__all__ = ["CLASSES", "FORMATS", "Format", "class_points", "near", "pairs", "special", "table"]

CLASSES = 16
"""Classes of binades for each sign."""


@dataclass(frozen=True)
class Format:
    """What the tests need to know of a float type.

    Attributes:
        dtype: NumPy's type.
        bits: NumPy's unsigned integer of the same width.
        precision: bits of a significand, the hidden one included.
        least: exponent of the smallest normal number, 2^least.
        most: exponent of the smallest power of two beyond the range.
    """

    dtype: np.dtype[Any]
    bits: np.dtype[Any]
    precision: int
    least: int
    most: int

    @property
    def infinity(self) -> int:
        """The bits of infinity: the magnitudes below it are the finite ones."""
        return int(np.array(np.inf, self.dtype).view(self.bits))

    def from_bits(self, bits: Array) -> Array:
        return bits.astype(self.bits).view(self.dtype)


FORMATS = {
    "f16": Format(np.dtype(np.float16), np.dtype(np.uint16), 11, -14, 16),
    "f32": Format(np.dtype(np.float32), np.dtype(np.uint32), 24, -126, 128),
    "f64": Format(np.dtype(np.float64), np.dtype(np.uint64), 53, -1022, 1024),
}


def class_points(fmt: Format, each: int, rng: np.random.Generator) -> Array:
    """`each` points of each class and sign; shape (2, CLASSES, each)."""
    edges = np.linspace(0, fmt.infinity, CLASSES + 1).astype(np.uint64)
    bits = np.stack(
        [rng.integers(low, high, (2, each), np.uint64) for low, high in pairwise(edges)],
        axis=1,
    )
    sign = np.array([0, 1 << (8 * fmt.dtype.itemsize - 1)], np.uint64)
    return fmt.from_bits(bits | sign[:, None, None])


def special(fmt: Format) -> Array:
    """Zeros, infinities, NaN, the ends of the ranges of normal and subnormal numbers, small
    integers and halves, large integers, powers of two: with both signs, and their neighbours."""
    inf, p = fmt.infinity, fmt.precision
    values = [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 16.0, 31.0, 100.0]
    values += [2.0 ** (p - 2), 2.0 ** (p - 1) - 1, 2.0 ** (p - 1), 2.0**p - 1]
    values += [2.0**fmt.least, 2.0 ** (fmt.most // 2), 2.0 ** (-(fmt.most // 2))]
    values += [2.0 ** (fmt.most - 1)] if fmt.most > 16 else []
    values += [2.0**p] if p < fmt.most else []
    bits = np.array(values, np.float64).astype(fmt.dtype).view(fmt.bits).astype(np.int64)
    around = np.concatenate([bits - 1, bits, bits + 1, [1, 2, inf - 1, inf, inf + (1 << (p - 2))]])
    around = np.unique(around[around >= 0]).astype(np.uint64)
    sign = np.uint64(1 << (8 * fmt.dtype.itemsize - 1))
    return fmt.from_bits(np.concatenate([around, around | sign]))


def table(fmt: Format) -> tuple[Array, Array]:
    """Every pair of special values."""
    values = special(fmt)
    x, y = np.meshgrid(values, values, indexing="ij")
    return x.ravel(), y.ravel()


def near(fmt: Format, centres: Iterable[Any], rng: np.random.Generator, each: int = 32) -> Array:
    """The eight neighbours on each side of each centre, and points around it: `each` of them
    within 2^-4 relative, log-uniform in their distance. Centres beyond the range are left out."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(list(centres), np.float64).astype(fmt.dtype)
    rounded = rounded[np.isfinite(rounded)]
    bits = np.abs(rounded).view(fmt.bits).astype(np.int64)[:, None]
    far = np.exp2(rng.uniform(3, fmt.precision - 5, (len(rounded), each))).astype(np.int64)
    far *= rng.choice([-1, 1], far.shape)
    steps = np.concatenate([np.broadcast_to(np.arange(-8, 9), (len(rounded), 17)), far], axis=1)
    around = np.clip(bits + steps, 0, fmt.infinity).astype(np.uint64)
    sign = np.signbit(rounded)[:, None].astype(np.uint64) << np.uint64(8 * fmt.dtype.itemsize - 1)
    return fmt.from_bits((around | sign).ravel())


def pairs(fmt: Format, each: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """`each` pairs of every two classes with signs, and as many again of one class."""
    x, y = (class_points(fmt, 2 * CLASSES * each, rng).reshape(2 * CLASSES, -1) for _ in range(2))
    y = y.reshape(2 * CLASSES, 2 * CLASSES, each).swapaxes(0, 1)
    other = rng.permutation(x.ravel())
    with np.errstate(all="ignore"):
        close = (other * rng.uniform(-4, 4, other.shape).astype(fmt.dtype)).astype(fmt.dtype)
    return np.concatenate([x.ravel(), other]), np.concatenate([y.ravel(), close])
