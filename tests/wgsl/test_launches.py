"""Which lanes run, and what they are told of themselves, on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.wgsl.running import run


@pytest.fixture
def backend(any_backend: Any) -> Any:
    """These tests say what programs mean, so they run on every backend."""
    return any_backend


@pytest.mark.parametrize("extent", [(1,), (7, 5), (3, 4, 5), (257, 2), (1, 300), (2, 1, 70)])
@pytest.mark.parametrize("workgroup", [(4, 4, 4), (8, 2, 1), (1, 1, 1)])
def test_ids_of_every_lane(
    extent: tuple[int, ...], workgroup: tuple[int, int, int], backend: Any
) -> None:
    """Each element runs exactly once with the right ids."""
    full = (*extent, 1, 1)[:3]
    b = vw.ProgramBuilder("ids", workgroup_size=workgroup)
    total = int(np.prod(extent))
    count = b.output("count", vw.u32, total)
    groups = b.output("groups", vw.u32, total)
    b.extent(*extent)
    x, y, z = (b.global_id(axis) for axis in range(3))
    at = x + full[0] * (y + full[1] * z)
    b.atomic_add(count, at, 1)
    same = b.var("same", vw.bool_, True)
    for axis, size in enumerate(workgroup):
        rebuilt = b.workgroup_id(axis) * size + b.local_id(axis)
        same.set(same & (rebuilt == b.global_id(axis)))
        same.set(same & (b.num_workgroups(axis) == -(-full[axis] // size)))
    with b.if_(same):
        groups[at] = b.workgroup_id(0) + 10 * b.workgroup_id(1) + 100 * b.workgroup_id(2) + 1
    counted, grouped = run(backend, b)
    assert (counted == 1).all()
    zz, yy, xx = np.unravel_index(np.arange(total), full[::-1])
    wx, wy, wz = workgroup
    np.testing.assert_array_equal(grouped, xx // wx + 10 * (yy // wy) + 100 * (zz // wz) + 1)


@pytest.mark.parametrize("workgroup", [(8, 4, 1), (8, 4, 2), (1, 1, 8)])
@pytest.mark.parametrize("extent", [(37,), (9, 3)])
def test_workgroups_of_more_axes_than_the_extent(
    extent: tuple[int, ...], workgroup: tuple[int, int, int], backend: Any
) -> None:
    """Lanes beyond the extent on the other axes do not run."""
    b = vw.ProgramBuilder("axes", workgroup_size=workgroup)
    count = b.output("count", vw.u32, int(np.prod(extent)))
    b.extent(*extent)
    b.atomic_add(count, b.global_id(0) + extent[0] * b.global_id(1), 1)
    assert (run(backend, b)[0] == 1).all()


@pytest.mark.parametrize("groups", [65_535, 65_536, 70_001, 131_071])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_folded_launches(groups: int, axes: int, backend: Any) -> None:
    """More workgroups than one dimension holds, on any axis: each element runs exactly once."""
    for axis in range(axes):
        extent = [1] * axes
        extent[axis] = groups
        b = vw.ProgramBuilder("folded", workgroup_size=1)
        count = b.output("count", vw.u32, groups)
        b.extent(*extent)
        b.atomic_add(count, b.global_id(axis), 1)
        (got,) = run(backend, b)
        assert (got == 1).all()
