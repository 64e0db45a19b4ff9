"""From a program to a `Kernel`: lowering, shader module, pipeline; each program once."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CompileError, LimitError, UnsupportedFeatureError
from ..ir.program import Program
from ..ir.types import DType, dtype_from_code
from ..runtime.device import Device, safe_label
from ..wgsl.descriptor import KernelDescriptor, ShaderArtifact
from ..wgsl.lower import lower
from ..wgsl.options import CompileOptions
from ..wgsl.target import Target
from .counters import Counters
from .layouts import BindLayout, Layouts, binding_types
from .memory_cache import MemoryCache

__all__ = ["Compiler", "Kernel", "target_of"]

_log = logging.getLogger("vyre_wgpu")


@dataclass(frozen=True, slots=True)
class Kernel:
    """A compiled program on a device; knows nothing of names and source lines.

    Attributes:
        artifact: what it was compiled from.
        layout: layout of its bindings.
        wgpu: wgpu's compute pipeline.
    """

    artifact: ShaderArtifact
    layout: BindLayout
    wgpu: Any

    @property
    def descriptor(self) -> KernelDescriptor:
        """How to launch it."""
        return self.artifact.descriptor


def target_of(device: Device) -> Target:
    """What lowering may know of a device."""
    limits = device.limits
    return Target(
        immediate_bytes=limits.max_immediate_size if device.has_immediates else 0,
        max_storage_buffers=limits.max_storage_buffers,
        max_workgroup_storage=limits.max_workgroup_storage,
        max_workgroup_size=limits.max_workgroup_size,
        max_workgroup_invocations=limits.max_workgroup_invocations,
        max_uniform_bytes=limits.max_uniform_size,
        loop_iterations=device.quirks.loop_iterations,
        features=device.features,
    )


class Compiler:
    """Compiles programs for one device. Safe to use from several threads.

    Args:
        device: the device.
        counters: told what is done.
        max_entries: compiled programs kept in memory.
        dump: folder that lowered shaders are written to, or None.
    """

    def __init__(
        self, device: Device, counters: Counters, *, max_entries: int, dump: Path | None = None
    ) -> None:
        self._device = device
        self._target = target_of(device)
        self._counters = counters
        self._dump = dump
        self._layouts = Layouts(device)
        self._cache: MemoryCache[tuple[str, CompileOptions, bool], Kernel] = MemoryCache(
            max_entries, counters
        )

    def compile(
        self, program: Program, options: CompileOptions, *, indirect: bool = False
    ) -> Kernel:
        """The kernel of a program: from memory, or lowered and built now.

        Args:
            program: the program.
            options: what the caller asked for.
            indirect: the variant for indirect grids.

        Raises:
            UnsupportedFeatureError: the program needs a feature that the device lacks.
            LimitError: it exceeds a limit of the device.
            CompileError: lowering or the driver refused it.
            DeviceLostError: the device is closed or lost.
        """
        self._device.check()
        key = (program.fingerprint, options, indirect)
        return self._cache.get(key, lambda: self._compile(program, options, indirect))

    def build(self, artifact: ShaderArtifact, label: str = "") -> Kernel:
        """The kernel of a lowered program.

        Args:
            artifact: shader and launch contract.
            label: the program's name, for messages and GPU debugging tools.

        Raises:
            UnsupportedFeatureError, LimitError, CompileError, DeviceLostError: as `compile`.
        """
        import wgpu

        descriptor, label = artifact.descriptor, safe_label(label)
        _check_features(descriptor, self._device, label)
        _check_limits(descriptor, self._device, label)
        with self._device.reporting(f"compiling {label!r}"):
            try:
                module = self._device.wgpu.create_shader_module(label=label, code=artifact.wgsl)
                self._counters.add(modules_created=1)
                layout = self._layouts.bind_layout(descriptor)
                pipeline = self._device.wgpu.create_compute_pipeline(
                    label=label,
                    layout=self._layouts.pipeline_layout(layout, _immediate_bytes(descriptor)),
                    compute={"module": module, "entry_point": "main"},
                )
            except wgpu.GPUOutOfMemoryError:
                raise
            except wgpu.GPUError as error:
                if "lost" in str(error).lower():
                    raise
                raise CompileError(
                    f"the shader compiler refused program {label!r} on {self._device.info.name}: "
                    f"{error}",
                    fix="report this with the program; VYRE_WGPU_DUMP_WGSL=folder keeps its shader",
                ) from error
        return Kernel(artifact, layout, pipeline)

    def close(self) -> None:
        """Forgets all kernels and layouts."""
        self._cache.clear()

    def _compile(self, program: Program, options: CompileOptions, indirect: bool) -> Kernel:
        _check_types(program, self._device)
        artifact = lower(program, options, self._target, indirect=indirect)
        self._counters.add(lowerings=1)
        if self._dump is not None:
            _write_shader(self._dump, program, artifact.wgsl)
        return self.build(artifact, program.name)


def _immediate_bytes(descriptor: KernelDescriptor) -> int:
    return descriptor.block_words * 4 if descriptor.block_binding is None else 0


def _check_types(program: Program, device: Device) -> None:
    used: set[DType] = {buffer.dtype for buffer in program.buffers}
    used |= {param.dtype for param in program.params}
    used |= {dtype_from_code(code) for code in set(program.table.dtype) if code}
    for dtype in sorted(used, key=lambda dtype: dtype.code):
        if dtype.feature is not None and dtype.feature not in device.features:
            raise UnsupportedFeatureError(
                f"program {program.name!r} uses type {dtype}, which needs the feature "
                f"{dtype.feature!r} that the adapter {device.info.name} lacks",
                fix="use a narrower type, or choose another adapter",
            )


def _check_features(descriptor: KernelDescriptor, device: Device, label: str) -> None:
    missing = [name for name in descriptor.features if name not in device.features]
    if missing:
        raise UnsupportedFeatureError(
            f"program {label!r} needs the feature {missing[0]!r}, which the adapter "
            f"{device.info.name} lacks",
            fix="choose another adapter, or write the program without it",
        )


def _check_limits(descriptor: KernelDescriptor, device: Device, label: str) -> None:
    limits = device.limits
    x, y, z = descriptor.workgroup_size
    facts = [
        ("storage buffers, the trap words included",
         len(binding_types(descriptor)) - (descriptor.block_binding is not None),
         limits.max_storage_buffers),
        ("bytes of sizes and params in immediates", _immediate_bytes(descriptor),
         limits.max_immediate_size),
        ("lanes in a workgroup", x * y * z, limits.max_workgroup_invocations),
        ("lanes in a workgroup on x", x, limits.max_workgroup_size[0]),
        ("lanes in a workgroup on y", y, limits.max_workgroup_size[1]),
        ("lanes in a workgroup on z", z, limits.max_workgroup_size[2]),
    ]  # fmt: skip
    for what, found, limit in facts:
        if found > limit:
            raise LimitError(
                f"program {label!r} has {found} {what}; the adapter {device.info.name} allows "
                f"{limit}",
                fix="use fewer, or choose another adapter",
            )


def _write_shader(folder: Path, program: Program, wgsl: str) -> None:
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", program.name)[:80] or "program"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}-{program.fingerprint[:12]}.wgsl").write_text(wgsl, encoding="utf-8")
    except OSError as error:
        _log.warning("VYRE_WGPU_DUMP_WGSL: cannot write to %s: %s", folder, error)
