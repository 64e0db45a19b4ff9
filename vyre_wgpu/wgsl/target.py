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
        max_uniform_bytes: size of a uniform binding; what the dispatch block may take where it does
            not fit into immediates.
        max_private_bytes: private arrays of one lane; WGSL's own guaranteed limit. Drivers take a
            time that grows with the square of it.
        loop_iterations: iterations after which the driver silently ends the loops of a lane, or
            None if it does not.
        reorders_floats: whether the driver takes float arithmetic for that of the real numbers, as
            in ``(a + b) - a`` for ``b``.
        features: wgpu feature names that the device has enabled.
    """

    immediate_bytes: int = 128
    max_storage_buffers: int = 8
    max_workgroup_storage: int = 16384
    max_workgroup_size: tuple[int, int, int] = (256, 256, 64)
    max_workgroup_invocations: int = 256
    max_uniform_bytes: int = 16384
    max_private_bytes: int = 8192
    loop_iterations: int | None = None
    reorders_floats: bool = False
    features: frozenset[str] = frozenset()
