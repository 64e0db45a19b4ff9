"""`Target`: what lowering may know about a device: limits and features, nothing else."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Target"]


@dataclass(frozen=True, slots=True)
class Target:
    """The limits and features of the device that a program is lowered for.

    The defaults are WebGPU's guaranteed limits, with 128 bytes of immediates.

    Attributes:
        immediate_bytes: largest dispatch block passed as immediates; 0 without the feature.
        max_storage_buffers: storage bindings of one shader, the trap words included.
        max_workgroup_storage: bytes of workgroup memory.
        max_workgroup_size: lanes of a workgroup on each axis.
        max_workgroup_invocations: lanes of a workgroup in all.
        features: wgpu feature names that the device has enabled.
    """

    immediate_bytes: int = 128
    max_storage_buffers: int = 8
    max_workgroup_storage: int = 16384
    max_workgroup_size: tuple[int, int, int] = (256, 256, 64)
    max_workgroup_invocations: int = 256
    features: frozenset[str] = frozenset()
