"""Every element of an extent runs exactly once, however the launch is made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw

pytestmark = pytest.mark.gpu

AROUND_POWERS = sorted(
    {1, 63, 64, 65} | {(1 << k) + d for k in range(1, 25) for d in (-1, 0, 1)} - {(1 << 24) + 1}
)
SMALL = [n for n in AROUND_POWERS if n <= 1 << 20]
LARGE = [n for n in AROUND_POWERS if n >= (1 << 24) - 1] + [(1 << 22) - 1, (1 << 23) + 1]


def counter(workgroup_size: int) -> vw.Program:
    """Adds one to the count of its element and one to a total."""
    b = vw.ProgramBuilder("counter", workgroup_size=workgroup_size)
    n = b.param("n", vw.u32)
    count = b.output("count", vw.u32, n)
    b.extent(n)
    b.atomic_add(count, b.global_id(), 1)
    return b.build()


@pytest.mark.parametrize("workgroup_size", [64, 256])
def test_extents_up_to_a_million(workgroup_size: int, backend: Any) -> None:
    """1, 63, 64, 65 and the neighbours of every power of two."""
    pipe = backend.compile(counter(workgroup_size))
    for n in SMALL:
        (got,) = pipe(n=n)
        assert got.size == n
        assert (got == 1).all(), n


@pytest.mark.parametrize("n", LARGE)
def test_extents_up_to_16_million(n: int, backend: Any) -> None:
    """2^24 elements in workgroups of 64 need more than one dimension holds: a folded launch."""
    (got,) = backend.compile(counter(64))(n=n)
    assert got.size == n
    assert got.min() == got.max() == 1


@pytest.mark.parametrize("groups", [65_536, 70_001])
@pytest.mark.parametrize("position", range(3))
def test_many_workgroups_on_each_axis(groups: int, position: int, backend: Any) -> None:
    """With workgroups of several lanes on every axis and an extent that does not fill the last."""
    size = [2, 2, 2]
    extent = [3, 3, 3]
    extent[position] = groups * 2 - 1
    b = vw.ProgramBuilder("axes", workgroup_size=tuple(size))
    count = b.output("count", vw.u32, int(np.prod(extent)))
    b.extent(*extent)
    x, y, z = (b.global_id(axis) for axis in range(3))
    b.atomic_add(count, x + extent[0] * (y + extent[1] * z), 1)
    (got,) = backend.compile(b.build())()
    assert got.min() == got.max() == 1
