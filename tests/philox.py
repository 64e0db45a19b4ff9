"""Philox 4x32-10 in NumPy's 64-bit integers: what tests compare random numbers with.

Written from the paper (Salmon, Moraes, Dror and Shaw, SC'11); nothing is shared with the package.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["KNOWN_ANSWERS", "normal_formula", "philox", "words"]

Words = npt.NDArray[np.uint64]

KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF),
        (0xFFFFFFFF, 0xFFFFFFFF),
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
"""Counter, key and result: Random123's ``kat_vectors`` for philox4x32 with 10 rounds."""


def philox(counter: Any, key: Any) -> Words:
    """The four words of each counter, one row for each; counters and keys are rows of words."""
    mask = np.uint64(0xFFFFFFFF)
    c = [np.asarray(word, np.uint64) for word in np.moveaxis(np.asarray(counter), -1, 0)]
    k = [int(word) for word in key]
    for _ in range(10):
        first = c[0] * np.uint64(0xD2511F53)
        second = c[2] * np.uint64(0xCD9E8D57)
        c = [
            (second >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]),
            second & mask,
            (first >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]),
            first & mask,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, axis=-1)


def words(count: int, key: int, offset: int = 0) -> Words:
    """Words ``offset`` to ``offset + count`` of the sequence of a key."""
    first = offset // 4
    blocks = [first + j for j in range((offset + count + 3) // 4 - first)]
    counter = np.zeros((len(blocks), 4), np.uint64)
    counter[:, 0] = [block & 0xFFFFFFFF for block in blocks]
    counter[:, 1] = [(block >> 32) & 0xFFFFFFFF for block in blocks]
    skipped = offset % 4
    return philox(counter, (key & 0xFFFFFFFF, key >> 32)).ravel()[skipped : skipped + count]


def normal_formula(first: Any, second: Any) -> tuple[Any, Any]:
    """The Box-Muller transform of pairs of words, each with half a step added, in float64."""
    u = (np.asarray(first, np.float64) + 0.5) / 2.0**32
    angle = 2 * np.pi * ((np.asarray(second, np.float64) + 0.5) / 2.0**32)
    radius = np.sqrt(-2 * np.log(u))
    return radius * np.cos(angle), radius * np.sin(angle)
