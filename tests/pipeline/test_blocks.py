from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given, strategies as st

import vyre_wgpu as vw
from vyre_wgpu.errors import LimitError
from vyre_wgpu.pipeline.blocks import BlockPacker, launch_grid, workgroups_of
from vyre_wgpu.wgsl.descriptor import KernelDescriptor, Word

MAX = 65535


@pytest.mark.parametrize(
    ("extent", "size", "launch"),
    [
        ((1,), (256, 1, 1), ((1, 1, 1), 0)),
        ((256,), (256, 1, 1), ((1, 1, 1), 0)),
        ((257,), (256, 1, 1), ((2, 1, 1), 0)),
        ((17, 9), (8, 8, 1), ((3, 2, 1), 0)),
        ((5, 6, 7), (1, 2, 4), ((5, 3, 2), 0)),
        ((MAX,), (1, 1, 1), ((MAX, 1, 1), 0)),
        ((MAX + 1,), (1, 1, 1), ((32768, 2, 1), 32768)),
        ((70001, 2), (1, 1, 1), ((46668, 3, 1), 46668)),
        ((1, 1, 70001), (1, 1, 1), ((35001, 2, 1), 35001)),
    ],
)
def test_launch(
    extent: tuple[int, ...],
    size: tuple[int, int, int],
    launch: tuple[tuple[int, int, int], int],
) -> None:
    assert launch_grid(extent, size, MAX) == launch


@given(
    st.lists(st.integers(1, 5000), min_size=1, max_size=3),
    st.tuples(st.integers(1, 8), st.integers(1, 8), st.integers(1, 8)),
    st.integers(1, 4),
)
def test_launch_holds_every_workgroup_with_less_than_a_row_to_spare(
    extent: list[int], size: tuple[int, int, int], per_lane: int
) -> None:
    needed = math.prod(workgroups_of(extent, size, per_lane))
    limit = 300
    if -(-needed // limit) > limit and max(workgroups_of(extent, size, per_lane)) > limit:
        with pytest.raises(LimitError, match=f"needs {needed} workgroups"):
            launch_grid(extent, size, limit, per_lane)
        return
    grid, row = launch_grid(extent, size, limit, per_lane)
    assert max(grid) <= limit
    if row:
        assert grid == (row, grid[1], 1)
        assert 0 <= math.prod(grid) - needed < grid[1]
    else:
        assert grid == workgroups_of(extent, size, per_lane)


def test_lane_ids_that_would_wrap_are_refused() -> None:
    assert launch_grid(((1 << 32) - 1,), (256, 1, 1), MAX).row
    with pytest.raises(LimitError, match="beyond 2\\^32 lanes"):
        launch_grid(((1 << 32) - 1,), (192, 1, 1), MAX)


def test_block_holds_header_lengths_and_params_in_their_words() -> None:
    dtypes = [vw.f32, vw.i8, vw.bool_, vw.u64, vw.f16, vw.i64, vw.u16]
    values = [1.5, -2, True, 0x1122334455667788, 0.5, -2, 65535]
    words = [8, 9, 10, 12, 14, 16, 18]
    descriptor = KernelDescriptor(
        bindings=(),
        trap_binding=None,
        block_words=19,
        length_words=((1, 6), (0, 7)),
        param_words=tuple(enumerate(words)),
        workgroup_size=(64, 1, 1),
        whole_workgroups=False,
        axes=2,
    )
    packer = BlockPacker(descriptor, dtypes)
    bits = [dtype.encode(value) for dtype, value in zip(dtypes, values, strict=True)]
    block = packer.pack((5, 6), 77, [100, 200], bits)
    assert len(block) == packer.nbytes == 76
    got = struct.unpack("=19I", block)
    assert got[: len(Word)] == (5, 6, 1, 77, 0, 0)
    assert got[6:8] == (200, 100)
    assert struct.unpack_from("=fiI", block, 8 * 4) == (1.5, -2, 1)
    assert struct.unpack_from("=Q", block, 12 * 4) == (0x1122334455667788,)
    assert got[14] == 0x3800
    assert struct.unpack_from("=q", block, 16 * 4) == (-2,)
    assert got[18] == 65535
