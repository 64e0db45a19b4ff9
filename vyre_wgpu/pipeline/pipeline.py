"""`WgpuPipeline`: a compiled program that is dispatched many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..buffer.arrays import Array
from ..buffer.device_buffer import DeviceBuffer
from ..errors import InputError, LimitError
from ..ir.program import Buffer, BufferKind, Program
from ..runtime.device import safe_label
from ..wgsl.options import CompileOptions
from .arguments import Binder, BoundCall, Inputs, Params
from .blocks import BlockPacker, launch_grid
from .compile import Kernel
from .config import Destination, DispatchConfig
from .results import Out, Place, check_aliases, check_destinations
from .submit import Slot, Submission, Submitter, check_result_bytes
from .traps import trap_error

__all__ = ["Restore", "WgpuPipeline"]

Restore = Callable[[Program, CompileOptions], "WgpuPipeline"]
"""Compiles a program again where its pipeline is unpickled: a module-level function."""


class WgpuPipeline:
    """A compiled program. Safe to use from several threads; pickles as program and options.

    Args:
        program: the program; trap messages take names and lines from it.
        options: what it was compiled with.
        kernel: the compiled program.
        submitter: where it runs.
        restore: compiles it again where it is unpickled.
        indirect_kernel: the variant for indirect grids, compiled at its first use.
    """

    def __init__(
        self,
        program: Program,
        options: CompileOptions,
        kernel: Kernel,
        submitter: Submitter,
        restore: Restore,
        indirect_kernel: Callable[[], Kernel],
    ) -> None:
        self._program = program
        self._options = options
        self._kernel = kernel
        self._submitter = submitter
        self._restore = restore
        self._indirect_kernel = indirect_kernel
        self._binder = Binder(program)
        self._packer = BlockPacker(kernel.descriptor, [param.dtype for param in program.params])
        self._returned = [i for i, b in enumerate(program.buffers) if b.kind.is_returned]

    @property
    def program(self) -> Program:
        """The program."""
        return self._program

    @property
    def options(self) -> CompileOptions:
        """What it was compiled with."""
        return self._options

    @property
    def wgsl(self) -> str:
        """The shader's text."""
        return self._kernel.artifact.wgsl

    def dispatch(
        self,
        inputs: Inputs,
        params: Params | None = None,
        *,
        out: Out | None = None,
        config: DispatchConfig | None = None,
    ) -> list[Any]:
        """Runs the program once and waits for its results.

        Args:
            inputs: an array for each host input (``read`` and ``read_write`` buffers), as a
                sequence in declaration order or a mapping by name. Anything with the buffer
                protocol, ``__array_interface__`` or ``__array__``, of any shape, taken in C order,
                of exactly the declared element type in any byte order, and never written to. Or a
                `DeviceBuffer`: a ``read_write`` one is updated in place and is itself the result.
            params: a Python or NumPy scalar for each param, by name.
            out: destination of a result, by name: a writable array of its type and size, which is
                filled and returned; a `DeviceBuffer`; ``vw.DEVICE`` for a new one; ``vw.SKIP``.
            config: extent, grid, budget, label.

        Returns:
            A result for each ``read_write`` and ``output`` buffer in declaration order. An array
            owns its memory: ``read_write`` of the shape passed in, ``output`` with ``like=`` of
            that buffer's shape, else 1-D. If the extent is 0, nothing runs: outputs are zeros.

        Raises:
            InputError: an input, param, size, destination or option does not fit.
            LimitError: a size exceeds what the device can hold or launch.
            OutputBudgetError: the outputs exceed ``config.max_output_bytes``; nothing ran.
            TrapError: the kernel trapped. Arrays in ``out`` are unchanged, device buffers that it
                may write hold unspecified elements.
            DeviceLostError: the backend is closed, or its device was lost.
            ForkedProcessError: this process is a forked child of the one that opened the device.
        """
        self._submitter.device.check()
        call = self._binder.bind(inputs, params, config, self._check_sizes)
        places = check_destinations(self._program, out, call)
        self._check_residents(call, places)
        made: list[DeviceBuffer] = []
        try:
            results, slots = self._plan(call, places, made)
            if not call.is_empty:
                self._run(call, slots)
        except BaseException:
            for buffer in made:
                buffer.close()
            raise
        for place, result in zip(places, results, strict=True):
            if isinstance(place, np.ndarray) and place is not result:
                place[...] = result.reshape(place.shape)
        return [
            place if isinstance(place, np.ndarray) else result
            for place, result in zip(places, results, strict=True)
        ]

    def __call__(self, /, *arrays: object, **params: object) -> list[Any]:
        """`dispatch` with the inputs as arguments and the params as keywords."""
        return self.dispatch(arrays, params)

    def fn(self, /, *arrays: object, **params: object) -> Any:
        """`dispatch` as a plain function: the array itself for one result, else a tuple."""
        results = self.dispatch(arrays, params)
        return results[0] if len(results) == 1 else tuple(results)

    def push_chunk(self, data: object, params: Params | None = None) -> list[Any]:
        """`dispatch` of a program with a single host input.

        Args:
            data: an array of the declared element type; or bytes, a bytearray or a memoryview of
                bytes, taken as little-endian elements of it.
            params: as for `dispatch`.

        Raises:
            InputError: also if the program has not exactly one host input, or the bytes are not a
                whole number of elements.
        """
        return self.dispatch(self._binder.chunk(data), params)

    def __reduce__(self) -> tuple[object, ...]:
        return self._restore, (self._program, self._options)

    def __repr__(self) -> str:
        return f"<WgpuPipeline {self._program.name!r} on {self._submitter.device.info.name}>"

    def _check_sizes(self, lengths: Sequence[int]) -> None:
        """Raises for what the device cannot hold, before any array is copied."""
        buffers = self._program.buffers
        limit = self._submitter.max_buffer_bytes
        for binding in self._kernel.descriptor.bindings:
            buffer = buffers[binding.buffer]
            nbytes = lengths[binding.buffer] * buffer.dtype.itemsize
            if nbytes > limit:
                raise LimitError(
                    f"buffer {buffer.name!r} has {nbytes} bytes, more than the {limit} bytes that "
                    f"the adapter {self._submitter.device.info.name} binds at once",
                    fix="split the work over several dispatches",
                )
        check_result_bytes(
            [lengths[i] * buffers[i].dtype.itemsize for i in self._returned],
            self._submitter.max_result_bytes,
        )

    def _check_residents(self, call: BoundCall, places: Sequence[Place]) -> None:
        """Raises for device buffers of another backend, and for one that stands for two buffers."""
        buffers = self._program.buffers
        bound = [
            (buffers[i].name, resident, buffers[i].kind.is_writable)
            for i, resident in call.residents.items()
        ]
        for index, place in zip(self._returned, places, strict=True):
            if isinstance(place, DeviceBuffer) and index not in call.residents:
                bound.append((buffers[index].name, place, True))
        if call.indirect is not None:
            bound.append(("grid", call.indirect.buffer, False))
        for name, buffer, _ in bound:
            if not buffer.belongs_to(self._submitter):
                raise InputError(
                    f"{name!r} is a device buffer of another backend",
                    fix="upload the array to the backend that compiled the program",
                )
            buffer.pooled()
        check_aliases(bound)

    def _plan(
        self, call: BoundCall, places: Sequence[Place], made: list[DeviceBuffer]
    ) -> tuple[list[Any], list[Slot]]:
        """The results to return and the buffers to bind; new device buffers are put in ``made``."""
        results: dict[int, Any] = {}
        residents = dict(call.residents)
        inputs: Mapping[int, Array] = call.inputs
        if call.is_empty and any(isinstance(place, np.ndarray) for place in places):
            # A destination may be another result's input.
            inputs = {i: inputs[i].copy() for i in self._returned if i in inputs}
        for index, shape, place in zip(self._returned, call.shapes, places, strict=True):
            buffer = self._program.buffers[index]
            if place is Destination.SKIP:
                results[index] = None
            elif index in residents:
                results[index] = residents[index]
            elif place is Destination.DEVICE or isinstance(place, DeviceBuffer):
                if not isinstance(place, DeviceBuffer):
                    place = self._new_buffer(buffer, shape)
                    made.append(place)
                results[index] = residents[index] = place
                if call.is_empty:
                    self._fill(place, inputs.get(index))
            else:
                results[index] = _host_result(place, buffer, shape)
                if call.is_empty:
                    results[index][...] = inputs[index].reshape(shape) if index in inputs else 0
        slots = [
            self._slot(binding.buffer, call, residents.get(binding.buffer), results)
            for binding in self._kernel.descriptor.bindings
        ]
        return [results[index] for index in self._returned], slots

    def _new_buffer(self, buffer: Buffer, shape: tuple[int, ...]) -> DeviceBuffer:
        dtype = buffer.dtype.numpy
        nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        return DeviceBuffer(self._submitter, self._submitter.allocate(nbytes), dtype, shape)

    def _fill(self, buffer: DeviceBuffer, content: Array | None) -> None:
        """What a dispatch that runs nothing leaves in a device buffer."""
        if content is None:
            self._submitter.clear(buffer.pooled(), buffer.nbytes)
        else:
            self._submitter.write(buffer.pooled(), content)

    def _slot(
        self, index: int, call: BoundCall, resident: DeviceBuffer | None, results: Mapping[int, Any]
    ) -> Slot:
        buffer = self._program.buffers[index]
        cleared = buffer.kind is BufferKind.OUTPUT or (
            buffer.kind is BufferKind.SCRATCH and not buffer.uninitialized
        )
        result = results.get(index)
        return Slot(
            call.lengths[index] * buffer.dtype.itemsize,
            call.inputs.get(index),
            cleared,
            result if isinstance(result, np.ndarray) else None,
            None if resident is None else resident.pooled(),
        )

    def _run(self, call: BoundCall, slots: Sequence[Slot]) -> None:
        kernel, grid, row, indirect = self._kernel, (0, 0, 0), 0, None
        device = self._submitter.device
        if call.indirect is not None:
            kernel = self._indirect_kernel()
            indirect = call.indirect.buffer.pooled(), call.indirect.offset
        else:
            descriptor = kernel.descriptor
            grid, row = launch_grid(
                call.extent,
                descriptor.workgroup_size,
                device.limits.max_workgroups,
                descriptor.elements_per_lane,
            )
        outcome = self._submitter.run(
            Submission(
                kernel,
                slots,
                self._packer.pack(call.extent, row, call.lengths, call.params),
                grid,
                safe_label(call.label or self._program.name),
                indirect,
            )
        )
        extent = call.extent
        if indirect is not None:
            # The driver runs nothing, and says nothing, where a count is above its limit.
            if max(outcome.grid) > device.limits.max_workgroups:
                raise LimitError(
                    f"the indirect grid of program {self._program.name!r} is {outcome.grid}, and "
                    f"the adapter {device.info.name} launches at most "
                    f"{device.limits.max_workgroups} workgroups on an axis",
                    fix="compute a smaller grid, or loop in the kernel",
                )
            sizes = kernel.descriptor.workgroup_size
            extent = tuple(n * w for n, w in zip(outcome.grid, sizes, strict=True))
        if outcome.trap.flag:
            raise trap_error(self._program, kernel.descriptor, outcome.trap, extent, call.lengths)


def _host_result(place: Place, buffer: Buffer, shape: tuple[int, ...]) -> Array:
    """The array to copy a result into: the caller's own where its memory is in order."""
    if isinstance(place, np.ndarray) and place.flags.c_contiguous:
        return place.view(np.ndarray).reshape(shape)
    return np.empty(shape, buffer.dtype.numpy)
