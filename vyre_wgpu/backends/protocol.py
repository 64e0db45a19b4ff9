"""What a backend is: two small protocols and the counters that every backend reports."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

from ..ir.program import Program
from ..pipeline.arguments import Inputs, Params
from ..pipeline.config import DispatchConfig
from ..pipeline.results import Out
from ..runtime.info import AdapterInfo
from ..wgsl.options import CompileOptions

__all__ = ["Backend", "BackendStats", "CompiledPipeline"]


@dataclass(frozen=True, slots=True)
class BackendStats:
    """A snapshot of what a backend did; all but ``bytes_pooled`` only grow.

    Attributes:
        lowerings: programs lowered.
        modules_created: shader modules made.
        memory_hits: compilations served from memory.
        disk_hits: compilations served from the disk cache.
        disk_writes: entries written to the disk cache.
        evictions: compiled programs dropped from memory for others.
        bind_groups_created: bind groups made.
        bind_group_hits: dispatches that used a bind group made before.
        buffers_created: device buffers made, storage and staging.
        buffer_reuses: requests served by a buffer made before.
        bytes_pooled: bytes of the device buffers that exist now.
        dispatches: kernel launches.
        submissions: command buffers submitted.
        traps: dispatches that ended in a trap.
    """

    lowerings: int = 0
    modules_created: int = 0
    memory_hits: int = 0
    disk_hits: int = 0
    disk_writes: int = 0
    evictions: int = 0
    bind_groups_created: int = 0
    bind_group_hits: int = 0
    buffers_created: int = 0
    buffer_reuses: int = 0
    bytes_pooled: int = 0
    dispatches: int = 0
    submissions: int = 0
    traps: int = 0

    def as_dict(self) -> dict[str, int]:
        """The counters by name."""
        return asdict(self)


@runtime_checkable
class CompiledPipeline(Protocol):
    """A compiled program; `WgpuPipeline` documents the meaning."""

    @property
    def program(self) -> Program:
        """The program."""
        ...

    def dispatch(
        self,
        inputs: Inputs,
        params: Params | None = None,
        *,
        out: Out | None = None,
        config: DispatchConfig | None = None,
    ) -> list[Any]:
        """Runs the program once and waits for its results.

        ``out`` takes arrays and ``vw.SKIP`` everywhere, and what lives on a device where there is
        one.
        """
        ...

    def __call__(self, /, *arrays: object, **params: object) -> list[Any]:
        """`dispatch` with the inputs as arguments and the params as keywords."""
        ...

    def fn(self, /, *arrays: object, **params: object) -> Any:
        """`dispatch` that gives the array for one result, else a tuple."""
        ...

    def push_chunk(self, data: object, params: Params | None = None) -> list[Any]:
        """`dispatch` of a program with a single host input."""
        ...


@runtime_checkable
class Backend(Protocol):
    """Compiles and runs programs. A class that is registered takes no arguments."""

    @property
    def adapter_info(self) -> AdapterInfo:
        """What it runs on."""
        ...

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        ...

    def compile(self, program: Program, options: CompileOptions | None = None) -> CompiledPipeline:
        """Compiles a program, or finds it compiled."""
        ...

    def stats(self) -> BackendStats:
        """What it did so far."""
        ...

    def close(self) -> None:
        """Frees everything; idempotent."""
        ...
