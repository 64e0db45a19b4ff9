"""Staging buffers: memory of the device that results are copied into, and that the host maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..runtime.device import Device
from .pool import BufferPool

__all__ = ["READBACK_BUDGET", "aligned", "staging_pool"]

READBACK_BUDGET = 1 << 29
"""Bytes of staging memory that a device keeps beyond what is in use."""


def aligned(nbytes: int, step: int) -> int:
    """The next multiple of a step."""
    return -(-nbytes // step) * step


def staging_pool(
    device: Device,
    on_destroy: Callable[[int], None],
    ids: Iterator[int],
    budget: int = READBACK_BUDGET,
) -> BufferPool:
    """A pool of buffers to copy into on the device and to map for reading on the host.

    Kernels write into them where the device lets them (`Device.writes_in_place`).

    Args:
        device: whose memory it is.
        on_destroy: told the id of each buffer that is destroyed.
        ids: where numbers come from; pools whose buffers share bind groups share it.
        budget: bytes to hold at most.
    """
    import wgpu

    usage = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.MAP_READ
    if device.writes_in_place:
        usage |= wgpu.BufferUsage.STORAGE

    def create(size: int) -> Any:
        with device.reporting(f"making a staging buffer of {size} bytes"):
            return device.wgpu.create_buffer(label="vyre_wgpu staging", size=size, usage=usage)

    limit = device.limits.max_buffer_size
    return BufferPool(create, limit=limit, budget=budget, on_destroy=on_destroy, ids=ids)
