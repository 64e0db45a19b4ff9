"""`WgpuPipeline`: a compiled program that is dispatched many times."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from ..buffer.arrays import Array
from ..errors import LimitError
from ..ir.program import Program
from ..wgsl.options import CompileOptions
from .arguments import Inputs, Params
from .compile import Kernel
from .config import DispatchConfig
from .future import DispatchFuture
from .generation import Generation
from .host import input_shape
from .prepared import PreparedCall, Preparer
from .results import Out
from .split import SplitCall
from .submit import Submitter
from .variants import Variants

__all__ = ["Restore", "WgpuPipeline"]

Restore = Callable[[Program, CompileOptions], "WgpuPipeline"]
"""Compiles a program again where its pipeline is unpickled: a module-level function."""


class WgpuPipeline:
    """A compiled program. Safe to use from several threads; pickles as program and options.

    It outlives its device: after ``backend.recover()`` it is built again from its shader.

    Args:
        program: the program; trap messages take names and lines from it.
        options: what it was compiled with.
        kernel: the compiled program.
        generation: where it runs at first.
        current: gives where it runs once that is over.
        restore: compiles it again where it is unpickled.
    """

    def __init__(
        self,
        program: Program,
        options: CompileOptions,
        kernel: Kernel,
        generation: Generation,
        current: Callable[[], Generation],
        restore: Restore,
    ) -> None:
        self._program = program
        self._options = options
        self._restore = restore
        self._current = current
        # What it is on one device: the device, the compiled program, and what lays dispatches out.
        # That is made at the first one, and a plain tuple serves, since compiling a program that is
        # in memory costs little more than its fingerprint.
        self._bound: tuple[Generation, Kernel, Preparer | None] = generation, kernel, None

    def _ready(self) -> Preparer:
        """What lays dispatches out, on the device that the backend has now.

        Raises:
            DeviceLostError: that one is lost, or the backend is closed.
            ForkedProcessError: this is a forked child.
        """
        preparer = self._bound[2]
        if preparer is None or preparer.device.is_over:
            preparer = self._bind()
        return preparer

    def _bind(self) -> Preparer:
        generation, kernel, _ = self._bound
        program, options = self._program, self._options
        if generation.device.is_over:
            generation = self._current()
            generation.device.check()
            kernel = generation.compiler.compile(program, options, known=kernel.artifact)
        variants = Variants(program, options, kernel, generation.compiler)
        preparer = Preparer(program, variants, generation.submitter)
        self._bound = generation, kernel, preparer  # in one step, for other threads
        return preparer

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
        return self._bound[1].artifact.wgsl

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
            DispatchTimeoutError: ``config.deadline`` passed before the device finished.
            DeviceLostError: the backend is closed, or its device was lost.
            ForkedProcessError: this process is a forked child of the one that opened the device.
        """
        deadline = None if config is None else deadline_of(config)
        preparer = self._ready()
        call = preparer.prepare(inputs, params, out, config)
        submission = call.submission
        if submission is None:
            return call.run(deadline) if isinstance(call, SplitCall) else call.finish(None)
        submitter = preparer.submitter
        completion = submitter.completion
        if completion.has_pending:
            completion.settle()
        try:
            return call.finish(submitter.run(submission, call.allocate, deadline))
        except BaseException:
            call.abort()
            raise

    def submit(
        self,
        inputs: Inputs,
        params: Params | None = None,
        *,
        out: Out | None = None,
        config: DispatchConfig | None = None,
    ) -> DispatchFuture:
        """Starts a `dispatch` and returns at once.

        Inputs are taken before it returns; arrays in ``out`` are filled by the time the future is
        done. Where much is in flight it waits for the oldest; where arrays are larger than what the
        device binds at once, for all parts but the last.

        Returns:
            A future: ``result(timeout)``, ``done()``, ``add_done_callback(f)``, ``await``.

        Raises:
            InputError, LimitError, OutputBudgetError, DeviceLostError, ForkedProcessError: as
                `dispatch`; what happens later is raised by the future.
        """
        deadline = None if config is None else deadline_of(config)
        preparer = self._ready()
        submitter = preparer.submitter
        call = preparer.prepare(inputs, params, out, config)
        ticket = None
        if isinstance(call, SplitCall):
            ticket = call.begin(deadline)
        elif call.submission is not None:
            completion = submitter.completion
            if completion.has_pending:
                completion.settle()
            try:
                ticket = submitter.start(call.submission, is_watched=deadline is not None)
            except BaseException:
                if ticket is not None:
                    submitter.abandon(ticket)
                call.abort()
                raise
        try:
            return DispatchFuture(submitter, call, ticket, deadline)
        except BaseException:  # Ctrl-C
            if ticket is not None:
                submitter.abandon(ticket)
            raise

    def input_view(self, name: str, shape: int | tuple[int, ...]) -> Array:
        """An array to fill in place and to pass as an input, without a copy on the way.

        Where the device can read the array's memory, the dispatch that takes the whole of it copies
        nothing on the host. It may be filled and passed again when that dispatch is done; until
        then what is written to it may or may not be what the device reads. Elsewhere it is an
        ordinary array. Either way it outlives pipeline, backend and device.

        Args:
            name: the input.
            shape: elements on each axis of the array, or in all.

        Returns:
            A writable array of the input's type in C order; its content is whatever was there.

        Raises:
            InputError: the program has no such input, or the shape is none.
            DeviceLostError: the device is lost or closed.
            ForkedProcessError: this is a forked child.
        """
        axes, dtype = input_shape(self._program, name, shape)
        return self._ready().submitter.input_memory(axes, dtype)

    def runs_on(self, submitter: Submitter) -> bool:
        """Whether that is where it runs."""
        return self._ready().submitter is submitter

    def prepare(
        self,
        inputs: Inputs,
        params: Params | None = None,
        out: Out | None = None,
        config: DispatchConfig | None = None,
    ) -> PreparedCall:
        """A dispatch that is checked and laid out, for `Recording`.

        Raises:
            LimitError: also if it would run in parts.
        """
        call = self._ready().prepare(inputs, params, out, config)
        if isinstance(call, SplitCall):
            call.abort()
            raise LimitError(
                f"a dispatch of program {self._program.name!r} on arrays larger than what the "
                "device binds at once runs in parts, and a recording is submitted as one",
                fix="dispatch it, or record the work on smaller arrays",
            )
        return call

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
        return self.dispatch(self._ready().chunk(data), params)

    def __reduce__(self) -> tuple[object, ...]:
        return self._restore, (self._program, self._options)

    def __repr__(self) -> str:
        return f"<WgpuPipeline {self._program.name!r} on {self._bound[0].device.info.name}>"


def deadline_of(config: DispatchConfig | None) -> float | None:
    """When a dispatch that starts now must have ended, on `time.monotonic`'s clock."""
    seconds = getattr(config, "deadline", None)
    try:
        return None if seconds is None else time.monotonic() + float(seconds)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None  # what is no time at all is refused with the other arguments
