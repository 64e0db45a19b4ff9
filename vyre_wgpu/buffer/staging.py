"""Staging buffers: memory of the device that results are copied into, and that the host maps."""

from __future__ import annotations

from typing import Any

from ..runtime.device import Device
from .pool import BufferPool

__all__ = ["READBACK_BUDGET", "aligned", "staging_pool"]

READBACK_BUDGET = 1 << 29
"""Bytes of staging memory that a device keeps beyond what is in use."""


def aligned(nbytes: int, step: int) -> int:
    """The next multiple of a step."""
    return -(-nbytes // step) * step


def staging_pool(device: Device, budget: int = READBACK_BUDGET) -> BufferPool:
    """A pool of buffers to copy into on the device and to map for reading on the host.

    Args:
        device: whose memory it is.
        budget: bytes to hold at most.
    """
    import wgpu

    usage = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.MAP_READ

    def create(size: int) -> Any:
        with device.reporting(f"making a staging buffer of {size} bytes"):
            return device.wgpu.create_buffer(label="vyre_wgpu staging", size=size, usage=usage)

    return BufferPool(create, limit=device.limits.max_buffer_size, budget=budget)
