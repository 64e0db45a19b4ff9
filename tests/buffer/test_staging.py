from __future__ import annotations

import itertools

import pytest

from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.buffer.staging import aligned, staging_pool


@pytest.mark.parametrize(("nbytes", "step", "want"), [(0, 16, 0), (1, 16, 16), (16, 16, 16)])
def test_aligned_is_the_next_multiple(nbytes: int, step: int, want: int) -> None:
    assert aligned(nbytes, step) == want


@pytest.mark.gpu
def test_staging_buffers_can_be_copied_to_and_mapped(backend: WgpuBackend) -> None:
    destroyed: list[int] = []
    pool = staging_pool(backend.device, destroyed.append, itertools.count(7))
    assert pool.limit <= backend.device.limits.max_buffer_size
    staging = pool.acquire(1000)
    # MAP_READ, COPY_DST, and STORAGE where kernels write into them
    assert staging.wgpu.usage == 1 | 8 | (128 if backend.device.writes_in_place else 0)
    pool.release(staging)
    assert pool.acquire(900) is staging
    pool.release(staging)
    pool.close()
    assert destroyed == [7]
