"""Bind-group and pipeline layouts: one for each shape of bindings, shared by all pipelines."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from ..runtime.device import Device
from ..wgsl.descriptor import KernelDescriptor

__all__ = ["READ_ONLY", "STORAGE", "UNIFORM", "BindLayout", "Layouts", "binding_types"]

STORAGE, READ_ONLY, UNIFORM = "storage", "read-only-storage", "uniform"


@dataclass(frozen=True, slots=True)
class BindLayout:
    """The layout of group 0.

    Attributes:
        id: its number on the device.
        types: wgpu's buffer type of each binding.
        wgpu: wgpu's bind-group layout.
    """

    id: int
    types: tuple[str, ...]
    wgpu: Any


def binding_types(descriptor: KernelDescriptor) -> tuple[str, ...]:
    """Wgpu's buffer type of each binding of group 0: buffers, trap words, dispatch block."""
    types = [STORAGE if binding.writable else READ_ONLY for binding in descriptor.bindings]
    if descriptor.trap_binding is not None:
        types.insert(descriptor.trap_binding, STORAGE)
    if descriptor.block_binding is not None:
        types.insert(descriptor.block_binding, UNIFORM)
    return tuple(types)


class Layouts:
    """The layouts of a device.

    Args:
        device: the device.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._lock = threading.Lock()
        self._bind: dict[tuple[str, ...], BindLayout] = {}
        self._pipeline: dict[tuple[int, int], Any] = {}

    def bind_layout(self, descriptor: KernelDescriptor) -> BindLayout:
        """The bind-group layout of a lowered program."""
        import wgpu

        types = binding_types(descriptor)
        with self._lock:
            layout = self._bind.get(types)
            if layout is None:
                entries = [
                    {
                        "binding": number,
                        "visibility": wgpu.ShaderStage.COMPUTE,
                        "buffer": {"type": kind},
                    }
                    for number, kind in enumerate(types)
                ]
                raw = self._device.wgpu.create_bind_group_layout(entries=entries)
                layout = self._bind[types] = BindLayout(len(self._bind), types, raw)
            return layout

    def pipeline_layout(self, layout: BindLayout, immediate_bytes: int) -> Any:
        """The pipeline layout of a bind-group layout and a size of immediates, which may be 0."""
        key = (layout.id, immediate_bytes)
        with self._lock:
            raw = self._pipeline.get(key)
            if raw is None:
                raw = self._pipeline[key] = self._device.wgpu.create_pipeline_layout(
                    bind_group_layouts=[layout.wgpu], immediate_size=immediate_bytes
                )
            return raw
