"""From a program to a `Kernel`: each program once, whether in memory, on disk or lowered now."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import (
    CompileError,
    DeviceLostError,
    ForkedProcessError,
    LimitError,
    UnsupportedFeatureError,
    VyreError,
)
from ..ir.program import Program
from ..ir.types import DType, dtype_from_code
from ..runtime.device import Device, is_loss, safe_label
from ..runtime.forked import current_process
from ..runtime.interrupts import held_back
from ..wgsl.descriptor import KernelDescriptor, ShaderArtifact
from ..wgsl.options import CompileOptions
from ..wgsl.target import Target
from .counters import Counters
from .descriptor_codec import encode_descriptor
from .disk_cache import DiskCache
from .entry import EntryError
from .explain import Explanation, explain_miss
from .keys import Key, Keys
from .layouts import BindLayout, Layouts, binding_types
from .lowering_version import is_current
from .memory_cache import MAX_BYTES, MemoryCache, MemoryStatistics

__all__ = ["DEFAULT_OPTIONS", "Compiler", "Kernel", "target_of"]

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
        reorders_floats=device.quirks.floats_are_reordered,
        features=device.features,
    )


_MemoryKey = str | tuple[str, CompileOptions, bool, bool]
"""Fingerprint, options, whether it is the indirect variant, or that for parts: all that differs on
one device. The fingerprint alone, whose hash Python remembers, stands for the usual case: default
options, neither variant.
"""

DEFAULT_OPTIONS = CompileOptions()


def _memory_key(
    program: Program, options: CompileOptions, indirect: bool, split: bool
) -> _MemoryKey:
    is_usual = not indirect and not split
    if is_usual and (options is DEFAULT_OPTIONS or options == DEFAULT_OPTIONS):
        return program.fingerprint
    return program.fingerprint, options, indirect, split


class Compiler:
    """Compiles programs for one device. Safe to use from several threads.

    Args:
        device: the device.
        counters: told what is done.
        max_entries: compiled programs kept in memory.
        max_bytes: bytes of compiled programs kept in memory.
        dump: folder that the shaders of compiled programs are written to, or None.
        disk: where compiled programs outlive the process, or None.
        on_evict: called with each kernel that memory drops for others.
        heir_of: the compiler of a device that was lost. Where lowering knows the same of both
            devices, what that one has in memory is not lowered again.

    Attributes:
        device: the device.
        target: what lowering knows of it.
        disk: where compiled programs outlive the process, or None.
        keys: makes the keys of the disk cache.
    """

    def __init__(
        self,
        device: Device,
        counters: Counters,
        *,
        max_entries: int,
        max_bytes: int = MAX_BYTES,
        dump: Path | None = None,
        disk: DiskCache | None = None,
        on_evict: Callable[[Kernel], None] = lambda _: None,
        heir_of: Compiler | None = None,
    ) -> None:
        self.device = device
        self.disk = disk
        self.target = target_of(device)
        self.keys = Keys(device, self.target)
        self._counters = counters
        self._dump = dump
        self._layouts = Layouts(device)
        self._memory: MemoryCache[_MemoryKey, Kernel] = MemoryCache(
            max_entries, max_bytes=max_bytes, size_of=_kernel_bytes, on_evict=on_evict
        )
        self._is_heir = heir_of is not None and heir_of.target == self.target
        self._inherited: dict[_MemoryKey, ShaderArtifact] = {}
        if heir_of is not None and self._is_heir:
            # What that one inherited itself and did not need yet is handed on.
            kernels = heir_of._memory.items()
            built = {key: kernel.artifact for key, kernel in kernels}
            self._inherited = {**heir_of._inherited, **built}

    def compile(
        self,
        program: Program,
        options: CompileOptions,
        *,
        indirect: bool = False,
        split: bool = False,
        known: ShaderArtifact | None = None,
    ) -> Kernel:
        """The kernel of a program: from memory, from disk, or lowered; built now unless in memory.

        Args:
            program: the program.
            options: what the caller asked for.
            indirect: the variant for indirect grids.
            split: the variant for dispatches in parts.
            known: what it was lowered to for the device that this one's follows.

        Raises:
            UnsupportedFeatureError: the program needs a feature that the device lacks.
            LimitError: it exceeds a limit of the device.
            CompileError: lowering or the driver refused it.
            DeviceLostError: the device is closed or lost.
        """
        device = self.device
        if device.is_over or device.process != current_process():  # a property would cost a call
            device.check()
        if options is DEFAULT_OPTIONS and not indirect and not split:
            key: _MemoryKey = program.fingerprint
        else:
            key = _memory_key(program, options, indirect, split)
        kernel = self._memory.find(key)
        if kernel is None:
            kernel = self._get(key, program, options, indirect, split, known)
        return kernel

    def _get(
        self,
        key: _MemoryKey,
        program: Program,
        options: CompileOptions,
        indirect: bool,
        split: bool,
        known: ShaderArtifact | None,
    ) -> Kernel:
        # A function of its own: what a closure takes along costs `compile` time, also unused.
        return self._memory.get(
            key, lambda: self._make(key, program, options, indirect, split, known)
        )

    def key_of(
        self,
        program: Program,
        options: CompileOptions,
        *,
        indirect: bool = False,
        split: bool = False,
    ) -> Key:
        """The key that a program is kept under, with its parts."""
        return self.keys.of(program, options, indirect=indirect, split=split)

    def explain(
        self, program: Program, options: CompileOptions, *, indirect: bool = False
    ) -> Explanation:
        """Where `compile` would find a program now; if nowhere, what differs from the nearest."""
        key = self.key_of(program, options, indirect=indirect)
        in_memory = self._memory.keys()
        if _memory_key(program, options, indirect, False) in in_memory:
            return Explanation("memory", key.digest, key.parts)
        named = [(k, DEFAULT_OPTIONS, False, False) if isinstance(k, str) else k for k in in_memory]
        stored = [Key.of(self.keys.parts(*other)) for other in reversed(named)]
        for entry in self.disk.readable_entries() if self.disk is not None else ():
            if entry.parts_bytes == key.encoded and entry.program == program.erased_bytes:
                return Explanation("disk", key.digest, key.parts)
            try:
                stored.append(Key.of(entry.parts()))
            except EntryError:
                continue
        return explain_miss(key, stored)

    def memory_statistics(self) -> MemoryStatistics:
        """What is kept in memory."""
        return self._memory.statistics()

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
        _check_features(descriptor, self.device, label)
        _check_limits(descriptor, self.device, label)
        with held_back(), self.device.reporting(f"compiling {label!r}"):
            try:
                module = self.device.wgpu.create_shader_module(label=label, code=artifact.wgsl)
                self._counters.add(modules_created=1)
                layout = self._layouts.bind_layout(descriptor)
                pipeline = self.device.wgpu.create_compute_pipeline(
                    label=label,
                    layout=self._layouts.pipeline_layout(layout, _immediate_bytes(descriptor)),
                    compute={"module": module, "entry_point": "main"},
                )
            except wgpu.GPUOutOfMemoryError:
                raise
            except wgpu.GPUError as error:
                if is_loss(error) or self.device.is_over:
                    raise
                raise CompileError(
                    f"the shader compiler refused program {label!r} on {self.device.info.name}: "
                    f"{error}",
                    fix="report this with the program; VYRE_WGPU_DUMP_WGSL=folder keeps its shader",
                ) from error
        return Kernel(artifact, layout, pipeline)

    def close(self) -> None:
        """Forgets all kernels and layouts."""
        self._memory.clear()

    def _make(
        self,
        key: _MemoryKey,
        program: Program,
        options: CompileOptions,
        indirect: bool,
        split: bool,
        known: ShaderArtifact | None,
    ) -> Kernel:
        if self._is_heir:
            inherited = self._inherited.get(key, known)
            if inherited is not None:
                kernel = self.build(inherited, program.name)
                self._write_shader(program, inherited)
                self._inherited.pop(key, None)
                return kernel
        return self._compile(program, options, indirect, split)

    def _compile(
        self, program: Program, options: CompileOptions, indirect: bool, split: bool
    ) -> Kernel:
        if self.disk is None:
            return self.compile_anew(program, options, indirect=indirect, split=split)
        key = self.key_of(program, options, indirect=indirect, split=split)
        artifact = self.disk.load(key, program, options, indirect=indirect, split=split)
        if artifact is not None:
            try:
                kernel = self.build(artifact, program.name)
            except (DeviceLostError, ForkedProcessError):
                raise
            except VyreError as error:  # if it is not the entry's fault, lowering anew says so
                self.disk.refuse(key, f"the device refused it: {error.message}")
            else:
                self._counters.add(disk_hits=1)
                self._write_shader(program, artifact)
                return kernel
        kernel = self.compile_anew(program, options, indirect=indirect, split=split)
        if is_current() and self.disk.store(key, program, kernel.artifact):
            self._counters.add(disk_writes=1)
        return kernel

    def compile_anew(
        self,
        program: Program,
        options: CompileOptions,
        *,
        indirect: bool = False,
        split: bool = False,
    ) -> Kernel:
        """`compile` without looking anywhere and without keeping the result."""
        from ..wgsl.lower import lower  # a fifth of all imports, which a warm start does without

        self.device.check()
        _check_types(program, self.device)
        artifact = lower(program, options, self.target, indirect=indirect, split=split)
        self._counters.add(lowerings=1)
        self._write_shader(program, artifact)
        return self.build(artifact, program.name)

    def _write_shader(self, program: Program, artifact: ShaderArtifact) -> None:
        if self._dump is not None:
            _write_shader(self._dump, program, artifact.wgsl)


_KERNEL_OVERHEAD = 4096
"""Bytes of wgpu's own objects of a pipeline, roughly; what drivers keep is not known."""


def _kernel_bytes(kernel: Kernel) -> int:
    """Bytes that a kernel counts in memory: text, launch contract, a share for wgpu's objects."""
    artifact = kernel.artifact
    text, contract = sys.getsizeof(artifact.wgsl), encode_descriptor(artifact.descriptor)
    return text + len(contract) + _KERNEL_OVERHEAD


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
