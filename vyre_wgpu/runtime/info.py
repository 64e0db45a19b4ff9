"""What is known of an adapter and its device: plain data, no GPU library needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal as Choice

__all__ = ["AdapterInfo", "AdapterKind", "Limits"]

AdapterKind = Choice["discrete", "integrated", "other", "software"]
"""``other`` are virtual GPUs and those whose driver does not say."""


@dataclass(frozen=True, slots=True)
class AdapterInfo:
    """One way to reach one GPU.

    Attributes:
        index: its number in the list of adapters.
        name: the device's name as its driver gives it.
        kind: what it is.
        api: the graphics API behind it, such as ``Vulkan``.
        driver: the driver's name and version; may be empty.
        vendor: the vendor's name; may be empty.
        vendor_id: PCI vendor number, or a number of the API's own.
        device_id: PCI device number, or 0.
    """

    index: int
    name: str
    kind: AdapterKind
    api: str
    driver: str = ""
    vendor: str = ""
    vendor_id: int = 0
    device_id: int = 0

    @property
    def is_software(self) -> bool:
        """Whether it runs on the CPU."""
        return self.kind == "software"

    @property
    def is_opengl(self) -> bool:
        """Whether it goes through OpenGL, which is never chosen by default."""
        return self.api.startswith("OpenGL")

    @property
    def summary(self) -> str:
        """Name, kind, API and driver in one line."""
        driver = f", {self.driver}" if self.driver else ""
        return f"{self.name} ({self.kind}, {self.api}{driver})"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a device that matter to compute; sizes in bytes.

    Attributes:
        max_buffer_size: size of one buffer.
        max_binding_size: size of one storage binding.
        max_storage_buffers: storage bindings of one shader.
        max_immediate_size: immediates of one pipeline; 0 where there are none.
        max_uniform_size: size of one uniform binding.
        max_workgroup_storage: workgroup memory of one shader.
        max_workgroup_invocations: lanes of a workgroup.
        max_workgroup_size: lanes of a workgroup on x, y, z.
        max_workgroups: workgroups of a dispatch on each axis.
        storage_offset_alignment: alignment of the start of a storage binding.
        uniform_offset_alignment: alignment of the start of a uniform binding.
    """

    max_buffer_size: int
    max_binding_size: int
    max_storage_buffers: int
    max_immediate_size: int
    max_uniform_size: int
    max_workgroup_storage: int
    max_workgroup_invocations: int
    max_workgroup_size: tuple[int, int, int]
    max_workgroups: int
    storage_offset_alignment: int
    uniform_offset_alignment: int

    @classmethod
    def from_wgpu(cls, limits: Mapping[str, int]) -> Limits:
        """Picks the fields out of wgpu's own mapping."""
        return cls(
            max_buffer_size=limits["max-buffer-size"],
            max_binding_size=limits["max-storage-buffer-binding-size"],
            max_storage_buffers=min(
                limits["max-storage-buffers-per-shader-stage"],
                limits["max-bindings-per-bind-group"],
            ),
            max_immediate_size=limits["max-immediate-size"],
            max_uniform_size=limits["max-uniform-buffer-binding-size"],
            max_workgroup_storage=limits["max-compute-workgroup-storage-size"],
            max_workgroup_invocations=limits["max-compute-invocations-per-workgroup"],
            max_workgroup_size=(
                limits["max-compute-workgroup-size-x"],
                limits["max-compute-workgroup-size-y"],
                limits["max-compute-workgroup-size-z"],
            ),
            max_workgroups=limits["max-compute-workgroups-per-dimension"],
            storage_offset_alignment=limits["min-storage-buffer-offset-alignment"],
            uniform_offset_alignment=limits["min-uniform-buffer-offset-alignment"],
        )
