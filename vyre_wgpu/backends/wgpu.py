"""`WgpuBackend`: programs on a GPU, or on a software driver, through wgpu."""

from __future__ import annotations

from types import TracebackType
from typing import NoReturn, cast

import numpy as np
import numpy.typing as npt

from .. import settings
from ..buffer.arrays import as_elements, is_of
from ..buffer.device_buffer import DeviceBuffer
from ..errors import InputError
from ..ir.program import Program
from ..ir.types import ALL_DTYPES
from ..pipeline.compile import DEFAULT_OPTIONS, Compiler
from ..pipeline.counters import Counters
from ..pipeline.disk_cache import open_disk_cache
from ..pipeline.explain import Explanation
from ..pipeline.memo import Memo
from ..pipeline.pipeline import WgpuPipeline
from ..pipeline.record import Recording
from ..pipeline.submit import Submitter
from ..runtime.device import Device, open_device
from ..runtime.info import AdapterInfo
from ..wgsl.options import CompileOptions
from .protocol import BackendStats
from .registry import get_backend

__all__ = ["WgpuBackend"]


class WgpuBackend:
    """One device with its compiled programs and buffers. Safe to use from several threads.

    Args:
        adapter: index of an adapter or a part of its name; None takes ``VYRE_WGPU_ADAPTER``, else
            the best GPU, else the software driver.
        immediates: whether extent, lengths and params go to the shader as immediates where the
            adapter has them; otherwise they go through a uniform buffer.

    Raises:
        NoAdapterError: there is no adapter, or none that matches.
        ForkedProcessError: this process was forked from one that used the GPU.
    """

    def __init__(self, adapter: int | str | None = None, *, immediates: bool = True) -> None:
        chosen = settings.current()
        self._device = open_device(adapter, immediates=immediates)
        self._counters = Counters()
        self._memo: Memo[WgpuPipeline] = Memo(chosen.pipelines)
        self._compiler = Compiler(
            self._device,
            self._counters,
            max_entries=chosen.pipelines,
            dump=chosen.dump_wgsl,
            disk=open_disk_cache(chosen.cache_folder, chosen.cache, chosen.cache_max_bytes),
            on_evict=self._memo.drop,
        )
        self._submitter = Submitter(self._device, self._counters)

    @property
    def adapter_info(self) -> AdapterInfo:
        """What it runs on."""
        return self._device.info

    @property
    def device(self) -> Device:
        """The opened device, with its features and limits."""
        return self._device

    @property
    def compiler(self) -> Compiler:
        """What compiles its programs and keeps them."""
        return self._compiler

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._device.closed

    def compile(self, program: Program, options: CompileOptions | None = None) -> WgpuPipeline:
        """Compiles a program, or finds it compiled: in memory, or in the cache folder.

        A program object that was compiled with equal options before gives the same pipeline, as
        long as memory keeps it.

        Raises:
            InputError: an argument of a wrong type.
            UnsupportedFeatureError: the program needs a feature that the device lacks.
            LimitError: it exceeds a limit of the device.
            CompileError: lowering or the driver refused it.
            DeviceLostError: the backend is closed.
        """
        if options is None:
            options = DEFAULT_OPTIONS
        elif not isinstance(options, CompileOptions):
            raise InputError(
                f"options is {options!r}, not a CompileOptions", fix="pass CompileOptions(...)"
            )
        elif options == DEFAULT_OPTIONS:
            options = DEFAULT_OPTIONS
        # An int is hashed faster than options, and most programs are compiled without.
        memo_key = id(program) if options is DEFAULT_OPTIONS else (id(program), options)
        seen = self._memo.find(memo_key)
        if seen is not None:
            self._device.check()
            return seen
        if not isinstance(program, Program):
            raise InputError(
                f"{program!r} is not a Program", fix="pass what ProgramBuilder.build() gives"
            )
        kernel = self._compiler.compile(program, options)
        pipeline = WgpuPipeline(
            program,
            options,
            kernel,
            self._submitter,
            _recompile,
            self._compiler.compile_indirect,
        )
        self._memo.add(memo_key, pipeline, kernel)
        return pipeline

    def explain(self, program: Program, options: CompileOptions | None = None) -> Explanation:
        """Where `compile` would find a program now; if nowhere, what differs from the nearest.

        Args:
            program: the program.
            options: the options that it would be compiled with.

        Raises:
            InputError: an argument of a wrong type.
            OSError: the cache folder cannot be read.
        """
        if not isinstance(program, Program):
            raise InputError(
                f"{program!r} is not a Program", fix="pass what ProgramBuilder.build() gives"
            )
        return self._compiler.explain(program, options or DEFAULT_OPTIONS)

    def upload(self, array: npt.ArrayLike) -> DeviceBuffer:
        """Copies an array to the device, where dispatches take it without a copy.

        Args:
            array: anything `numpy.asarray` takes, of an element type of the IR, in any byte order.

        Raises:
            InputError: its element type is none of the IR's, it is masked, or no array at all.
            LimitError: it exceeds what the device binds, or the device is out of memory.
            DeviceLostError: the backend is closed.
        """
        given = as_elements(array, "what is uploaded")
        dtype = next((d.numpy for d in ALL_DTYPES if is_of(given, d.numpy)), None)
        if dtype is None:
            raise InputError(
                f"an array of {given.dtype} has no place on a device",
                fix="convert it to bool, an integer or a float type of 8 to 64 bits",
            )
        data = np.ascontiguousarray(given, dtype)
        memory = self._submitter.memory
        pooled = memory.allocate(data.nbytes)
        buffer = DeviceBuffer(memory, pooled, dtype, given.shape)
        try:
            memory.write(pooled, data)
        except BaseException:
            buffer.close()
            raise
        return buffer

    def record(self) -> Recording:
        """Starts a recording: dispatches that are submitted as one, once or many times.

        Raises:
            DeviceLostError: the backend is closed.
        """
        self._device.check()
        return Recording(self._submitter)

    def stats(self) -> BackendStats:
        """What it did so far."""
        counts = self._counters.snapshot()
        memory = self._compiler.memory_statistics()
        storage, staging, groups = self._submitter.statistics()
        return BackendStats(
            lowerings=counts.lowerings,
            modules_created=counts.modules_created,
            memory_hits=memory.hits + self._memo.hits,
            disk_hits=counts.disk_hits,
            disk_writes=counts.disk_writes,
            evictions=memory.evictions,
            bind_groups_created=groups.created,
            bind_group_hits=groups.hits,
            buffers_created=storage.created + staging.created,
            buffer_reuses=storage.reuses + staging.reuses,
            bytes_pooled=storage.bytes + staging.bytes,
            dispatches=counts.dispatches,
            submissions=counts.submissions,
            traps=counts.traps,
        )

    def close(self) -> None:
        """Waits for a running dispatch and frees the device; idempotent.

        Its pipelines raise `DeviceLostError` afterwards.
        """
        if not self._device.closed:
            self._submitter.close()
            self._memo.clear()
            self._compiler.close()

    def __enter__(self) -> WgpuBackend:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a backend is neither copied nor pickled, for its device belongs to this process: open "
            "another one where it is needed; pipelines and programs pickle"
        )

    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return f"<WgpuBackend on {self.adapter_info.summary}{state}>"


def _recompile(program: Program, options: CompileOptions) -> WgpuPipeline:
    """Compiles an unpickled pipeline again, on the shared wgpu backend of this process."""
    return cast(WgpuPipeline, get_backend("wgpu").compile(program, options))
