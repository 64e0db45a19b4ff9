"""Bind-group and pipeline layouts: one for each shape of bindings, shared by all pipelines."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from ..runtime.device import Device
from ..wgsl.descriptor import KernelDescriptor

__all__ = ["BindLayout", "Layouts"]


@dataclass(frozen=True, slots=True)
class BindLayout:
    """The layout of group 0.

    Attributes:
        id: its number on the device.
        writable: for each binding whether it is bound read-write.
        wgpu: wgpu's bind-group layout.
    """

    id: int
    writable: tuple[bool, ...]
    wgpu: Any


def writable_bindings(descriptor: KernelDescriptor) -> tuple[bool, ...]:
    """Whether each binding of group 0 is bound read-write, the trap words at their place."""
    writable = [binding.writable for binding in descriptor.bindings]
    if descriptor.trap_binding is not None:
        writable.insert(descriptor.trap_binding, True)
    return tuple(writable)


class Layouts:
    """The layouts of a device.

    Args:
        device: the device.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._lock = threading.Lock()
        self._bind: dict[tuple[bool, ...], BindLayout] = {}
        self._pipeline: dict[tuple[int, int], Any] = {}

    def bind_layout(self, descriptor: KernelDescriptor) -> BindLayout:
        """The bind-group layout of a lowered program."""
        import wgpu

        writable = writable_bindings(descriptor)
        with self._lock:
            layout = self._bind.get(writable)
            if layout is None:
                entries = [
                    {
                        "binding": number,
                        "visibility": wgpu.ShaderStage.COMPUTE,
                        "buffer": {"type": "storage" if write else "read-only-storage"},
                    }
                    for number, write in enumerate(writable)
                ]
                raw = self._device.wgpu.create_bind_group_layout(entries=entries)
                layout = self._bind[writable] = BindLayout(len(self._bind), writable, raw)
            return layout

    def pipeline_layout(self, layout: BindLayout, immediate_bytes: int) -> Any:
        """The pipeline layout of a bind-group layout and a size of the dispatch block."""
        key = (layout.id, immediate_bytes)
        with self._lock:
            raw = self._pipeline.get(key)
            if raw is None:
                raw = self._pipeline[key] = self._device.wgpu.create_pipeline_layout(
                    bind_group_layouts=[layout.wgpu], immediate_size=immediate_bytes
                )
            return raw
