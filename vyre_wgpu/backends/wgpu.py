"""`WgpuBackend`: programs on a GPU, or on a software driver, through wgpu."""

from __future__ import annotations

from types import TracebackType
from typing import NoReturn, cast

import numpy as np
import numpy.typing as npt

from .. import settings
from ..buffer.arrays import as_elements, describe, is_of
from ..buffer.budgets import Budgets
from ..buffer.device_buffer import DeviceBuffer
from ..errors import InputError
from ..ir.program import Program
from ..ir.types import ALL_DTYPES
from ..pipeline.compile import DEFAULT_OPTIONS, Compiler
from ..pipeline.counters import Counters
from ..pipeline.disk_cache import open_disk_cache
from ..pipeline.explain import Explanation
from ..pipeline.generation import Generation, Generations
from ..pipeline.memo import Memo
from ..pipeline.pipeline import WgpuPipeline
from ..pipeline.record import Recording
from ..pipeline.submit import Submitter
from ..runtime.device import Device, open_device
from ..runtime.info import AdapterInfo
from ..wgsl.options import CompileOptions
from .protocol import BackendStats
from .registry import get_backend
from .wrong_program import no_options, no_program

__all__ = ["WgpuBackend"]


class WgpuBackend:
    """One device with its compiled programs and buffers. Safe to use from several threads.

    Args:
        adapter: index of an adapter or a part of its name; None takes ``VYRE_WGPU_ADAPTER``, else
            the best GPU, else the software driver.
        immediates: whether extent, lengths and params go to the shader as immediates where the
            adapter has them; otherwise they go through a uniform buffer.
        max_binding_bytes: a lower limit of how much of a buffer is bound at once than the adapter
            has, from 4096 up. Elementwise programs run on larger arrays part after part, so that
            it also bounds what such a dispatch takes of the device's memory.

    Raises:
        InputError: the limit is too low.
        NoAdapterError: there is no adapter, or none that matches.
        ForkedProcessError: this process was forked from one that used the GPU.
    """

    def __init__(
        self,
        adapter: int | str | None = None,
        *,
        immediates: bool = True,
        max_binding_bytes: int | None = None,
    ) -> None:
        chosen = settings.current()
        counters = self._counters = Counters()
        memo = self._memo = Memo[WgpuPipeline](chosen.pipelines)
        budgets = Budgets(
            chosen.pool_bytes, chosen.staging_bytes, chosen.pending_bytes, chosen.result_bytes
        )
        device = open_device(adapter, immediates=immediates, max_binding_bytes=max_binding_bytes)
        disk = open_disk_cache(chosen.cache_folder, chosen.cache, chosen.cache_max_bytes)

        def start(device: Device, before: Compiler | None) -> Generation:
            compiler = Compiler(
                device,
                counters,
                max_entries=chosen.pipelines,
                dump=chosen.dump_wgsl,
                disk=disk,
                on_evict=memo.drop,
                heir_of=before,
            )
            return Generation(compiler, Submitter(device, counters, budgets))

        self._generations = generations = Generations(device, start)
        self._current = lambda: generations.current

    @property
    def adapter_info(self) -> AdapterInfo:
        """What it runs on."""
        return self.device.info

    @property
    def device(self) -> Device:
        """The opened device, with its features and limits; another one after `recover`."""
        return self._generations.current.device

    @property
    def compiler(self) -> Compiler:
        """What compiles its programs and keeps them; another one after `recover`."""
        return self._generations.current.compiler

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._generations.is_closed

    def compile(self, program: Program, options: CompileOptions | None = None) -> WgpuPipeline:
        """Compiles a program, or finds it compiled: in memory, or in the cache folder.

        A program object that was compiled with equal options before gives the same pipeline, as
        long as memory keeps it.

        Raises:
            InputError: an argument of a wrong type.
            UnsupportedFeatureError: the program needs a feature that the device lacks.
            LimitError: it exceeds a limit of the device.
            CompileError: lowering or the driver refused it.
            DeviceLostError: the backend is closed, or its device was lost.
        """
        if options is None:
            options = DEFAULT_OPTIONS
        elif not isinstance(options, CompileOptions):
            raise no_options(options)
        elif options == DEFAULT_OPTIONS:
            options = DEFAULT_OPTIONS
        # An int is hashed faster than options, and most programs are compiled without.
        memo_key = id(program) if options is DEFAULT_OPTIONS else (id(program), options)
        memo = self._memo
        seen = memo.pipelines.get(memo_key)
        if seen is not None:
            memo.hit()
            self.device.check()
            return seen
        if not isinstance(program, Program):
            raise no_program(program)
        generation = self._generations.current
        kernel = generation.compiler.compile(program, options)
        pipeline = WgpuPipeline(program, options, kernel, generation, self._current, _recompile)
        memo.add(memo_key, pipeline, program, kernel)
        return pipeline

    def explain(self, program: Program, options: CompileOptions | None = None) -> Explanation:
        """Where `compile` would find a program now; if nowhere, what differs from the nearest.

        Args:
            program: the program.
            options: the options that it would be compiled with.

        Raises:
            InputError: an argument of a wrong type.
        """
        if not isinstance(program, Program):
            raise no_program(program)
        return self.compiler.explain(program, options or DEFAULT_OPTIONS)

    def upload(self, array: npt.ArrayLike) -> DeviceBuffer:
        """Copies an array to the device, where dispatches take it without a copy.

        Args:
            array: an array, or what NumPy sees as one without converting elements, of an element
                type of the IR, in any byte order. A list has no type that anybody wrote down.

        Raises:
            InputError: its element type is none of the IR's, it is masked, or it is no array.
            LimitError: it exceeds a buffer of the device, or the device is out of memory.
            DeviceLostError: the backend is closed, or its device was lost.
        """
        if type(array) in (list, tuple, bool, int, float):  # np.float64 is a float, too
            raise InputError(
                f"what is uploaded is {describe(array)}, not an array",
                fix="pass np.asarray(x, np.float32), or another type: that of the buffer it is for",
            )
        given = as_elements(array, "what is uploaded")
        dtype = next((d.numpy for d in ALL_DTYPES if is_of(given, d.numpy)), None)
        if dtype is None:
            raise InputError(
                f"an array of {given.dtype} has no place on a device",
                fix="convert it to bool, an integer or a float type of 8 to 64 bits",
            )
        data = np.ascontiguousarray(given, dtype)
        memory = self._generations.current.submitter.memory
        pooled = memory.allocate(data.nbytes)
        try:
            buffer = DeviceBuffer(memory, pooled, dtype, given.shape)
            memory.write(buffer.span(), data)
        except BaseException:
            memory.free(pooled)
            raise
        return buffer

    def record(self) -> Recording:
        """Starts a recording: dispatches that are submitted as one, once or many times.

        Raises:
            DeviceLostError: the backend is closed, or its device was lost.
        """
        generation = self._generations.current
        generation.device.check()
        return Recording(generation.submitter)

    def stats(self) -> BackendStats:
        """What it did so far."""
        counts = self._counters.snapshot()
        totals = self._generations.totals()
        buffers, groups = totals.buffers, totals.groups
        return BackendStats(
            lowerings=counts.lowerings,
            modules_created=counts.modules_created,
            memory_hits=totals.memory_hits + self._memo.hits,
            disk_hits=counts.disk_hits,
            disk_writes=counts.disk_writes,
            evictions=totals.evictions,
            bind_groups_created=groups.created,
            bind_group_hits=groups.hits,
            buffers_created=buffers.created,
            buffer_reuses=buffers.reuses,
            bytes_pooled=buffers.bytes,
            dispatches=counts.dispatches,
            submissions=counts.submissions,
            traps=counts.traps,
        )

    def close(self) -> None:
        """Waits for a running dispatch and frees the device; idempotent.

        Its pipelines raise `DeviceLostError` afterwards.
        """
        if not self.closed:
            self._generations.close()
            self._memo.clear()

    def recover(self) -> None:
        """Opens a new device on the same adapter, if the present one is lost.

        Pipelines work again, and are not lowered again. Device buffers and recordings of the lost
        device stay lost: they, and futures that were pending, raise `DeviceLostError`. Statistics
        go on. If the device is not lost, nothing happens, so several threads may ask.

        Raises:
            NoAdapterError: the adapter is gone, or gives no device. It may be tried again.
            DeviceLostError: the backend is closed.
            ForkedProcessError: this is a forked child.
        """
        if self._generations.recover():
            self._memo.clear()  # what it remembers keeps kernels of the lost device

    def lose_device(self, reason: str = "it was destroyed on purpose") -> None:
        """Destroys the device as if it were lost, for tests of what comes after.

        Dispatches that other threads wait for raise `DeviceLostError`, once the device has done
        with them; so does all that is pending, and all that comes until `recover`.

        Args:
            reason: what the errors say.

        Raises:
            DeviceLostError: the backend is closed.
            ForkedProcessError: this is a forked child.
        """
        self._generations.lose(reason)

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
