"""What the tests of the disk cache share: programs, keys and artifacts that need no device."""

from __future__ import annotations

import functools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import vyre_wgpu as vw
from vyre_wgpu.ir.program import Program
from vyre_wgpu.pipeline.cache_files import FOLDER, entry_name
from vyre_wgpu.pipeline.disk_cache import DiskCache
from vyre_wgpu.pipeline.keys import Key, Keys
from vyre_wgpu.runtime.info import AdapterInfo
from vyre_wgpu.runtime.quirks import Quirks
from vyre_wgpu.wgsl.descriptor import ShaderArtifact
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.options import CompileOptions
from vyre_wgpu.wgsl.target import Target

OPTIONS = CompileOptions()
MIB = 1 << 20


@functools.cache
def adder(amount: int, name: str = "adder") -> Program:
    """A program of its own for each amount."""
    b = vw.ProgramBuilder(name)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id(0)
    y[i] = x[i] + amount
    return b.build()


def device(**changes: Any) -> Any:
    """What keys read of a device."""
    info = {
        "index": 0, "name": "card", "kind": "discrete", "api": "Vulkan", "driver": "d 1",
        "vendor": "maker", "vendor_id": 1, "device_id": 2,
    }  # fmt: skip
    info |= {name: changes.pop(name) for name in list(changes) if name in info}
    facts = {"info": AdapterInfo(**info), "features": frozenset({"a"}), "quirks": Quirks()}
    return SimpleNamespace(**(facts | changes))


def key_of(program: Program, options: CompileOptions = OPTIONS, *, indirect: bool = False) -> Key:
    """The key of a program on the device above."""
    return Keys(device(), Target()).of(program, options, indirect=indirect)


@functools.cache
def lowered(
    program: Program, options: CompileOptions = OPTIONS, *, indirect: bool = False
) -> ShaderArtifact:
    """What a program becomes."""
    return lower(program, options, Target(), indirect=indirect)


def stored(disk: DiskCache, program: Program, options: CompileOptions = OPTIONS) -> Path:
    """Stores a program, and gives the path of its entry."""
    key = key_of(program, options)
    assert disk.store(key, program, lowered(program, options))
    return disk.root / FOLDER / entry_name(key.digest)


def load(
    disk: DiskCache, program: Program, options: CompileOptions = OPTIONS
) -> ShaderArtifact | None:
    """What is stored of a program."""
    return disk.load(key_of(program, options), program, options)
