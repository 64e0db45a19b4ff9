"""What the tests of a troubled disk share: a machine whose processes use one cache folder."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.pipeline.cached import MIB, OPTIONS, adder
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.pipeline import cache_files
from vyre_wgpu.pipeline.cache_files import FOLDER, entry_name
from vyre_wgpu.pipeline.compile import Compiler
from vyre_wgpu.pipeline.counters import Counters, Counts
from vyre_wgpu.pipeline.disk_cache import DiskCache
from vyre_wgpu.pipeline.generation import Generation
from vyre_wgpu.pipeline.pipeline import WgpuPipeline
from vyre_wgpu.wgsl.options import CompileOptions

X = np.arange(100, dtype=np.uint32)


@dataclass(frozen=True)
class Process:
    """A compiler with an empty memory, as a new process has it, and its cache."""

    backend: WgpuBackend
    compiler: Compiler
    disk: DiskCache
    counters: Counters

    @property
    def counts(self) -> Counts:
        return self.counters.snapshot()

    def run(self, amount: int = 1, options: CompileOptions = OPTIONS) -> None:
        """Compiles a program and checks its result."""
        program = adder(amount)
        kernel = self.compiler.compile(program, options)
        generation = Generation(self.compiler, self.backend._generations.current.submitter)
        pipe = WgpuPipeline(program, options, kernel, generation, _never, _never)
        np.testing.assert_array_equal(pipe.fn(X), X + np.uint32(amount))

    def run_all(self, *amounts: int) -> None:
        """Compiles several programs and checks their results."""
        for amount in amounts:
            self.run(amount)

    def entry_path(self, amount: int, options: CompileOptions = OPTIONS) -> Path:
        """Where the entry of a program is kept."""
        digest = self.compiler.key_of(adder(amount), options).digest
        return self.disk.root / FOLDER / entry_name(digest)


@dataclass(frozen=True)
class Machine:
    """Starts processes on one cache folder, which does not exist yet, and reads their log."""

    backend: WgpuBackend
    root: Path
    caplog: pytest.LogCaptureFixture

    def start(self) -> Process:
        """A process, as far as compiling goes."""
        counters, disk = Counters(), DiskCache(self.root, max_bytes=MIB)
        compiler = Compiler(self.backend.device, counters, max_entries=99, disk=disk)
        return Process(self.backend, compiler, disk, counters)

    def warnings(self) -> list[str]:
        """What was logged as a warning or worse."""
        records = self.caplog.records
        return [record.getMessage() for record in records if record.levelno >= logging.WARNING]


def _never(*_: object) -> Any:
    raise AssertionError


def refuse(patch: pytest.MonkeyPatch, code: int, *, reading: bool = False) -> None:
    """Makes the system refuse to open files of the cache for writing, or for reading."""
    really_open = os.open

    def refused(path: Any, flags: int, *rest: Any, **options: Any) -> int:
        if str(path).endswith((".entry", ".tmp")) and bool(flags & os.O_WRONLY) != reading:
            raise OSError(code, os.strerror(code), str(path))
        return really_open(path, flags, *rest, **options)

    patch.setattr(cache_files.os, "open", refused)
