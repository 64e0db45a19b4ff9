"""`ReferenceBackend`: programs on the CPU by a plain interpreter, for checking other backends.

It is slow, needs no GPU, has every type and operation, and is never chosen unless named.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import Any, NoReturn

import numpy as np

from ..buffer.arrays import Array
from ..buffer.device_buffer import DeviceBuffer
from ..errors import DeviceLostError, InputError, RaceError, UnsupportedFeatureError
from ..ir.observes import observes_workgroup
from ..ir.program import Program
from ..pipeline.arguments import Binder, BoundCall, Inputs, Params
from ..pipeline.config import Destination, DispatchConfig
from ..pipeline.counters import Counters
from ..pipeline.host import input_shape
from ..pipeline.results import Out, check_destinations
from ..reference import Arguments, Outcome, Race, Rules, Trap, UnwrittenRead, execute, plan_program
from ..runtime.info import AdapterInfo
from ..wgsl.options import CompileOptions
from .protocol import BackendStats
from .wrong_program import no_options, no_program

__all__ = ["Examination", "ReferenceBackend", "ReferencePipeline", "UnwrittenReadWarning"]

_DEFAULT_OPTIONS = CompileOptions()


class UnwrittenReadWarning(UserWarning):
    """A program read workgroup or uninitialized memory before anything had written it."""


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything that is known of one run.

    Attributes:
        outputs: the arrays that a dispatch would return; None if a lane trapped.
        traps: every trap that occurred: tag, address and lane.
        races: data races, one for each pair of statements.
        unwritten_reads: statements that read workgroup or uninitialized scratch memory before
            anything had written it.
    """

    outputs: list[Array] | None
    traps: frozenset[Trap]
    races: tuple[Race, ...]
    unwritten_reads: tuple[UnwrittenRead, ...]


class ReferencePipeline:
    """A program ready to be interpreted. Safe to use from several threads.

    It pickles as program, options and the backend's arguments.

    Args:
        program: the program.
        options: what it was compiled with.
        rules: how it is run.
        counters: counts dispatches and traps.
        check: raises if the backend is closed.
    """

    def __init__(
        self,
        program: Program,
        options: CompileOptions,
        rules: Rules,
        counters: Counters,
        check: Callable[[], None],
    ) -> None:
        self._program = program
        self._options = options
        self._rules = rules
        self._counters = counters
        self._check = check
        self._plan = plan_program(
            program,
            options.max_iterations,
            # What an author vouches for is looked at here: a device would read or write anything.
            check_bounds=options.checks != "total",
            check_divisions=options.checks == "trap",
        )
        self._binder = Binder(program)

    @property
    def program(self) -> Program:
        """The program."""
        return self._program

    @property
    def options(self) -> CompileOptions:
        """What it was compiled with."""
        return self._options

    def dispatch(
        self,
        inputs: Inputs,
        params: Params | None = None,
        *,
        out: Out | None = None,
        config: DispatchConfig | None = None,
    ) -> list[Any]:
        """Runs the program once; arguments and results as for every backend.

        Each dispatch starts again from the backend's seed. ``out`` takes arrays and ``vw.SKIP``.

        Raises:
            InputError: an input, param, size, destination or option does not fit.
            UnsupportedFeatureError: device buffers or an indirect grid: there is no device.
            OutputBudgetError: the outputs exceed ``config.max_output_bytes``; nothing ran.
            RaceError: with ``detect_races``: lanes raced.
            TrapError: the kernel trapped: the trap of the smallest lane, or with a seed any.
            LoopLimitError: it made more than ``max_iterations`` loop iterations.
            DeviceLostError: the backend is closed.
        """
        call = self._bind(inputs, params, config)
        places = self._places(call, out)
        outcome = self._execute(call, self._rules)
        if outcome is not None:
            if outcome.races:
                raise RaceError(outcome.races, program=self._program.name)
            for read in outcome.unwritten_reads:
                warnings.warn(str(read), UnwrittenReadWarning, stacklevel=2)
            if outcome.traps:
                raise outcome.traps.error(outcome.chosen)
        is_shown = config is not None and config.zero_copy
        delivered = []
        for result, place in zip(self._results(call, outcome), places, strict=True):
            delivered.append(_delivered(result, place))
            if is_shown and place is None:
                result.flags.writeable = False  # as on a device, where it is its own memory
        return delivered

    def __call__(self, /, *arrays: object, **params: object) -> list[Any]:
        """`dispatch` with the inputs as arguments and the params as keywords."""
        return self.dispatch(arrays, params)

    def fn(self, /, *arrays: object, **params: object) -> Any:
        """`dispatch` as a plain function: the array itself for one result, else a tuple."""
        results = self.dispatch(arrays, params)
        return results[0] if len(results) == 1 else tuple(results)

    def push_chunk(self, data: object, params: Params | None = None) -> list[Any]:
        """`dispatch` of a program with a single host input, which may be bytes."""
        return self.dispatch(self._binder.chunk(data), params)

    def input_view(self, name: str, shape: int | tuple[int, ...]) -> Array:
        """An ordinary array for an input, since there is no device to read it.

        Raises:
            InputError: the program has no such input, or the shape is none.
        """
        axes, dtype = input_shape(self._program, name, shape)
        return np.empty(axes, dtype)

    def examine(
        self,
        inputs: Inputs,
        params: Params | None = None,
        *,
        config: DispatchConfig | None = None,
    ) -> Examination:
        """Runs the program once, always with race detection, and reports instead of raising.

        Raises:
            InputError, OutputBudgetError, LoopLimitError, DeviceLostError: as `dispatch`.
        """
        call = self._bind(inputs, params, config)
        outcome = self._execute(call, replace(self._rules, detect_races=True))
        if outcome is None:
            return Examination(self._results(call, None), frozenset(), (), ())
        outputs = None if outcome.traps else self._results(call, outcome)
        return Examination(outputs, outcome.traps.all(), outcome.races, outcome.unwritten_reads)

    def traps(
        self,
        inputs: Inputs,
        params: Params | None = None,
        *,
        config: DispatchConfig | None = None,
    ) -> frozenset[Trap]:
        """Runs the program once and gives every trap: ``(tag, address, lane)`` of each lane.

        Raises:
            InputError, OutputBudgetError, LoopLimitError, DeviceLostError: as `dispatch`.
        """
        call = self._bind(inputs, params, config)
        outcome = self._execute(call, replace(self._rules, detect_races=False))
        return frozenset() if outcome is None else outcome.traps.all()

    def __reduce__(self) -> tuple[object, ...]:
        return _recompile, (self._program, self._options, self._rules)

    def __repr__(self) -> str:
        return f"<ReferencePipeline {self._program.name!r}>"

    def _bind(
        self, inputs: Inputs, params: Params | None, config: DispatchConfig | None
    ) -> BoundCall:
        self._check()
        call = self._binder.bind(inputs, params, config)
        if call.residents or call.indirect is not None:
            raise _no_device("an input or the grid")
        return call

    def _places(self, call: BoundCall, out: Out | None) -> list[Array | Destination | None]:
        """Where results go: an array, ``SKIP``, or a new array."""
        places: list[Array | Destination | None] = []
        for place in check_destinations(self._program, out, call):
            if isinstance(place, DeviceBuffer) or place is Destination.DEVICE:
                raise _no_device("a destination")
            places.append(place)
        return places

    def _execute(self, call: BoundCall, rules: Rules) -> Outcome | None:
        """What running gives; None where the extent is empty."""
        if call.is_empty:
            return None
        arguments = Arguments(call.inputs, call.lengths, call.params, call.extent)
        outcome = execute(self._plan, arguments, rules)
        self._counters.add(dispatches=1, traps=int(bool(outcome.traps)))
        return outcome

    def _results(self, call: BoundCall, outcome: Outcome | None) -> list[Array]:
        buffers = self._program.buffers
        returned = [index for index, buffer in enumerate(buffers) if buffer.kind.is_returned]
        results = []
        for index, shape in zip(returned, call.shapes, strict=True):
            if outcome is not None:
                results.append(outcome.contents[index].reshape(shape))
            elif index in call.inputs:
                results.append(call.inputs[index].reshape(shape).copy())
            else:
                results.append(np.zeros(shape, buffers[index].dtype.numpy))
        return results


class ReferenceBackend:
    """The NumPy interpreter as a backend.

    Where the meaning of a program leaves something open, the arguments decide: the width of
    subgroups, and with a seed the order of atomics, which of several racing stores stays, the
    content of uninitialized memory, which trap is raised, and how workgroups interleave. Every
    outcome is a legal one.

    Args:
        subgroup_size: lanes of a subgroup, a power of two from 1 to 128.
        seed: makes open choices at random, the same ones in every dispatch; None lets lanes act in
            rising order.
        detect_races: look for data races in every dispatch and raise `RaceError`. It keeps a record
            of every access, about 50 bytes each.
        max_iterations: loop iterations after which a program is stopped with `LoopLimitError`, so
            that an endless one does not hang. Lanes run in step, in parts of ``lanes_at_once``; an
            iteration of a part counts once. (``CompileOptions.max_iterations`` counts those of each
            lane, and traps.)
        lanes_at_once: lanes that run in step, in whole workgroups.

    Raises:
        InputError: an argument is out of range.
    """

    def __init__(
        self,
        *,
        subgroup_size: int = 32,
        seed: int | None = None,
        detect_races: bool = False,
        max_iterations: int = 10_000_000,
        lanes_at_once: int = 1 << 16,
    ) -> None:
        lanes = _integer(subgroup_size)
        if lanes not in (1, 2, 4, 8, 16, 32, 64, 128):
            raise InputError(
                f"subgroup_size is {subgroup_size!r}", fix="give a power of two from 1 to 128"
            )
        start = None if seed is None else _integer(seed, 0)
        if seed is not None and start is None:
            raise InputError(f"seed is {seed!r}", fix="give an int of 0 or more, or None")
        most = {"max_iterations": max_iterations, "lanes_at_once": lanes_at_once}
        for name, value in most.items():
            if _integer(value, 1) is None:
                raise InputError(f"{name} is {value!r}", fix="give an int of 1 or more")
        self._rules = Rules(
            lanes, start, bool(detect_races), int(max_iterations), int(lanes_at_once)
        )
        self._counters = Counters()
        self._closed = False

    @property
    def adapter_info(self) -> AdapterInfo:
        """What it runs on: the CPU."""
        return AdapterInfo(
            index=0, name="NumPy reference", kind="software", api="NumPy", driver=np.__version__
        )

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def compile(self, program: Program, options: CompileOptions | None = None) -> ReferencePipeline:
        """Prepares a program.

        Raises:
            InputError: an argument of a wrong type.
            UnsupportedFeatureError: another workgroup size for a program that can observe its own.
            DeviceLostError: the backend is closed.
        """
        if not isinstance(program, Program):
            raise no_program(program)
        options = _DEFAULT_OPTIONS if options is None else options
        if not isinstance(options, CompileOptions):
            raise no_options(options)
        self._check()
        if options.workgroup_size is not None and observes_workgroup(program):
            raise UnsupportedFeatureError(
                f"program {program.name!r} depends on its workgroup size "
                f"{program.workgroup_size}, which CompileOptions would replace",
                fix="build the program with the workgroup size you want",
            )
        return ReferencePipeline(program, options, self._rules, self._counters, self._check)

    def stats(self) -> BackendStats:
        """What it did so far: dispatches and traps."""
        counts = self._counters.snapshot()
        return BackendStats(dispatches=counts.dispatches, traps=counts.traps)

    def close(self) -> None:
        """Its pipelines raise `DeviceLostError` afterwards; idempotent."""
        self._closed = True

    def __enter__(self) -> ReferenceBackend:
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
            "a backend is neither copied nor pickled: open another one with the same arguments; "
            "pipelines and programs pickle"
        )

    def __repr__(self) -> str:
        return f"<ReferenceBackend{', closed' if self._closed else ''}>"

    def _check(self) -> None:
        if self._closed:
            raise DeviceLostError("the backend is closed", fix="open a new ReferenceBackend")


def _integer(value: object, least: int = 0) -> int | None:
    """A Python or NumPy integer of at least so much as an int; None for anything else."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        return None
    return int(value)


def _no_device(what: str) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(
        f"{what} is on a device, and the reference backend has none", fix="use NumPy arrays"
    )


def _delivered(result: Array, place: Array | Destination | None) -> Array | None:
    """A result where the caller wants it."""
    if place is Destination.SKIP:
        return None
    if isinstance(place, np.ndarray):
        place[...] = result.reshape(place.shape)
        return place
    return result


def _recompile(program: Program, options: CompileOptions, rules: Rules) -> ReferencePipeline:
    """Prepares an unpickled pipeline again, on a backend of its own with the same arguments."""
    backend = ReferenceBackend(**asdict(rules))
    return backend.compile(program, options)
