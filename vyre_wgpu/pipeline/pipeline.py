"""`WgpuPipeline`: a compiled program that is dispatched many times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import LimitError
from ..ir.program import BufferKind, Program
from ..runtime.device import safe_label
from ..wgsl.options import CompileOptions
from .arguments import Binder, BoundCall, Inputs, Params
from .blocks import BlockPacker, launch_grid
from .compile import Kernel
from .config import DispatchConfig
from .host import Array
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
    """

    def __init__(
        self,
        program: Program,
        options: CompileOptions,
        kernel: Kernel,
        submitter: Submitter,
        restore: Restore,
    ) -> None:
        self._program = program
        self._options = options
        self._kernel = kernel
        self._submitter = submitter
        self._restore = restore
        self._binder = Binder(program)
        self._packer = BlockPacker(kernel.descriptor, [param.dtype for param in program.params])
        self._returned = [i for i, b in enumerate(program.buffers) if b.kind.is_returned]
        self._bound = frozenset(binding.buffer for binding in kernel.descriptor.bindings)

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
        config: DispatchConfig | None = None,
    ) -> list[Array]:
        """Runs the program once and waits for its results.

        Args:
            inputs: an array for each host input (``read`` and ``read_write`` buffers), as a
                sequence in declaration order or a mapping by name. Anything with the buffer
                protocol, ``__array_interface__`` or ``__array__``, of any shape, taken in C order,
                of exactly the declared element type in any byte order. Never written to.
            params: a Python or NumPy scalar for each param, by name.
            config: extent, grid, budget, label.

        Returns:
            An array for each ``read_write`` and ``output`` buffer in declaration order, which owns
            its memory: ``read_write`` of the shape passed in, ``output`` with ``like=`` of that
            buffer's shape, else 1-D. If the extent is 0, nothing runs: outputs are zeros.

        Raises:
            InputError: an input, param, size or option does not fit.
            LimitError: a size exceeds what the device can hold.
            OutputBudgetError: the outputs exceed ``config.max_output_bytes``; nothing ran.
            TrapError: the kernel trapped.
            DeviceLostError: the backend is closed, or its device was lost.
            ForkedProcessError: this process is a forked child of the one that opened the device.
        """
        self._submitter.device.check()
        call = self._binder.bind(inputs, params, config, self._check_sizes)
        results = self._results(call)
        if call.is_empty:
            return results
        descriptor = self._kernel.descriptor
        launch = launch_grid(
            call.extent,
            descriptor.workgroup_size,
            self._submitter.device.limits.max_workgroups,
            descriptor.elements_per_lane,
        )
        words = self._submitter.run(
            Submission(
                self._kernel,
                self._slots(call, results),
                self._packer.pack(call.extent, launch.row, call.lengths, call.params),
                launch.grid,
                safe_label(call.label or self._program.name),
            )
        )
        if words.flag:
            raise trap_error(self._program, descriptor, words, call.extent)
        return results

    def __call__(self, *arrays: object, **params: object) -> list[Array]:
        """`dispatch` with the inputs as arguments and the params as keywords."""
        return self.dispatch(arrays, params)

    def fn(self, *arrays: object, **params: object) -> Any:
        """`dispatch` as a plain function: the array itself for one result, else a tuple."""
        results = self.dispatch(arrays, params)
        return results[0] if len(results) == 1 else tuple(results)

    def push_chunk(self, data: object, params: Params | None = None) -> list[Array]:
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

    def _results(self, call: BoundCall) -> list[Array]:
        """The arrays to return: complete where the kernel does not run or cannot touch them."""
        buffers = self._program.buffers
        results = []
        for index, shape in zip(self._returned, call.shapes, strict=True):
            dtype = buffers[index].dtype.numpy
            if index in self._bound and not call.is_empty:
                results.append(np.empty(shape, dtype))
            elif index in call.inputs:
                results.append(call.inputs[index].reshape(shape).copy())
            else:
                results.append(np.zeros(shape, dtype))
        return results

    def _slots(self, call: BoundCall, results: Sequence[Array]) -> list[Slot]:
        buffers = self._program.buffers
        result_of = dict(zip(self._returned, results, strict=True))
        slots = []
        for binding in self._kernel.descriptor.bindings:
            index = binding.buffer
            buffer = buffers[index]
            cleared = buffer.kind is BufferKind.OUTPUT or (
                buffer.kind is BufferKind.SCRATCH and not buffer.uninitialized
            )
            slots.append(
                Slot(
                    call.lengths[index] * buffer.dtype.itemsize,
                    call.inputs.get(index),
                    cleared,
                    result_of.get(index),
                )
            )
        return slots
