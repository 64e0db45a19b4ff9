"""Binding host arguments to a program: names, types, sizes, the extent. NumPy only, any backend.

`Binder(program)` works out once what a program takes; `Binder.bind` checks one dispatch's arguments
against that and gives a `BoundCall`, in which nothing is left to check but a device's limits.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..buffer.arrays import Array, describe
from ..buffer.device_buffer import DeviceBuffer
from ..errors import InputError, LimitError, OutputBudgetError
from ..ir.program import Buffer, BufferKind, Program
from ..ir.sizes import MAX_ELEMENTS, SizeOp
from .config import DispatchConfig, Indirect
from .host import as_chunk, as_input, contiguous

__all__ = ["Binder", "BoundCall", "Inputs", "Params"]

Inputs = Sequence[object] | Mapping[str, object]
"""Host arrays in declaration order of the program's inputs, or by name."""

Params = Mapping[str, object]
"""Param values by name: Python or NumPy scalars."""

_NO_CONFIG = DispatchConfig()


@dataclass(frozen=True, slots=True)
class BoundCall:
    """One dispatch's arguments, checked against the program.

    Attributes:
        inputs: buffer index to array: any shape, C order, native byte order, the declared dtype.
            May be the caller's own memory; it must not be written to.
        residents: buffer index to device buffer, for the inputs that already live on a device.
        lengths: elements of every buffer, by buffer index.
        params: bit pattern of every param, by param index (`DType.encode`).
        extent: logical elements on each of the program's axes; all 1 for an indirect launch.
        shapes: shape of each returned array, in the order of ``Program.outputs``.
        label: the config's label.
        indirect: where the device has the number of workgroups, or None.
    """

    inputs: dict[int, Array]
    residents: dict[int, DeviceBuffer]
    lengths: tuple[int, ...]
    params: tuple[int, ...]
    extent: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]
    label: str = ""
    indirect: Indirect | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the extent has no element, so that nothing is to run."""
        return 0 in self.extent


class Binder:
    """What a program takes and returns, worked out once.

    Args:
        program: the program.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._where = f"program {program.name!r}" if program.name else "the program"
        buffers = program.buffers
        self._inputs = [(i, b) for i, b in enumerate(buffers) if b.kind.is_host_input]
        self._outputs = [(i, b) for i, b in enumerate(buffers) if b.kind.is_returned]
        self._input_names = [b.name for _, b in self._inputs]
        self._param_names = [p.name for p in program.params]
        self._sized = _evaluation_order(buffers)
        self._carries = [b.name for b in buffers if b.kind is BufferKind.CARRY]

    def bind(
        self,
        inputs: Inputs,
        params: Params | None = None,
        config: DispatchConfig | None = None,
        check: Callable[[Sequence[int]], None] | None = None,
    ) -> BoundCall:
        """Checks arguments and brings them into the form that every backend takes.

        Args:
            inputs: an array for each host input: a sequence in declaration order or a mapping.
            params: a value for each param.
            config: extent, grid and budget.
            check: called with the length of every buffer before any array is copied, to raise for
                what a backend cannot hold.

        Raises:
            InputError: a missing, extra or unknown name, a wrong type, size, value or extent.
            LimitError: more lanes than 2^32 - 1.
            OutputBudgetError: more bytes returned than the config allows.
        """
        config = _NO_CONFIG if config is None else config
        if not isinstance(config, DispatchConfig):
            raise InputError(
                f"config is {describe(config)}, not a DispatchConfig",
                fix="pass DispatchConfig(extent=..., grid=..., max_output_bytes=..., label=...)",
            )
        if not isinstance(config.label, str):
            raise InputError(f"label is {describe(config.label)}, not text", fix="pass a str")
        if self._carries:
            raise InputError(
                f"{self._where} has the carry buffer {self._carries[0]!r}, whose content lives "
                "from chunk to chunk of a stream; a single dispatch has nowhere to keep it",
                fix="declare it read_write and pass it along",
            )
        self._check_param_names({} if params is None else params)
        given = {
            index: as_input(value, buffer.dtype, buffer.name)
            for (index, buffer), value in zip(self._inputs, self._values(inputs), strict=True)
        }
        bits, integers = self._param_values({} if params is None else params)
        lengths = self._lengths(given, integers)
        indirect = _checked_grid(config.grid) if isinstance(config.grid, Indirect) else None
        extent = self._extent(config, lengths, integers)
        shapes = self._shapes(given, lengths)
        self._check_budget(config, lengths)
        if check is not None:
            check(lengths)
        buffers = self._program.buffers
        arrays = {
            index: contiguous(value, buffers[index].dtype)
            for index, value in given.items()
            if not isinstance(value, DeviceBuffer)
        }
        residents = {i: value for i, value in given.items() if isinstance(value, DeviceBuffer)}
        return BoundCall(
            arrays, residents, tuple(lengths), bits, extent, shapes, config.label, indirect
        )

    def chunk(self, data: object) -> list[object]:
        """The inputs of ``push_chunk``: the one array of a program with a single host input.

        Args:
            data: an array of the declared type, or bytes, taken as native elements of it.

        Raises:
            InputError: the program has not exactly one host input, or the bytes are not a whole
                number of elements.
        """
        if len(self._inputs) != 1:
            raise InputError(
                f"push_chunk feeds the single input of a program, and {self._where} has "
                f"{len(self._inputs)}{_list(self._input_names)}",
                fix="use dispatch",
            )
        _, buffer = self._inputs[0]
        return [as_chunk(data, buffer.dtype, buffer.name)]

    # Names

    def _values(self, inputs: Inputs) -> list[object]:
        names = self._input_names
        if isinstance(inputs, Mapping):
            unknown = [name for name in inputs if name not in names]
            if unknown:
                if unknown[0] in self._param_names:
                    raise InputError(
                        f"{unknown[0]!r} is a param of {self._where}, not an input",
                        fix=f"pass params={{{unknown[0]!r}: ...}}",
                    )
                raise InputError(
                    f"{self._where} has no input {unknown[0]!r}", fix=self._expected_inputs()
                )
            missing = [name for name in names if name not in inputs]
            if missing:
                raise InputError(f"input {missing[0]!r} is missing", fix=self._expected_inputs())
            return [inputs[name] for name in names]
        if not isinstance(inputs, (list, tuple)) and not _is_plain_sequence(inputs):
            raise InputError(
                f"the inputs are {describe(inputs)}, not a sequence of arrays or a mapping by name",
                fix="pass [x], also for a single input",
            )
        if len(inputs) < len(names):
            raise InputError(
                f"input {names[len(inputs)]!r} is missing: {self._where} takes {len(names)} "
                f"input(s), {len(inputs)} given",
                fix=self._expected_inputs(),
            )
        if len(inputs) > len(names):
            raise InputError(
                f"{self._where} takes {len(names)} input(s){_list(names)}, {len(inputs)} given",
                fix=self._expected_inputs(),
            )
        return list(inputs)

    def _expected_inputs(self) -> str:
        if not self._inputs:
            return "pass no inputs: []"
        return "pass " + ", ".join(f"{b.name} ({b.dtype})" for _, b in self._inputs)

    def _check_param_names(self, params: Params) -> None:
        if not isinstance(params, Mapping):
            raise InputError(
                f"params is {describe(params)}, not a mapping by name",
                fix='pass params={"name": value}',
            )
        if len(params) > len(self._param_names) or any(p not in self._param_names for p in params):
            name = next(p for p in params if p not in self._param_names)
            if name in self._input_names:
                raise InputError(
                    f"{name!r} is an input of {self._where}, not a param",
                    fix="pass inputs as arrays in their order, or by name with "
                    f"dispatch({{{name!r}: array}})",
                )
            fix = "pass inputs as arrays and params by their names"
            if name in ("config", "out", "extent", "grid", "label", "max_output_bytes"):
                fix = f"{name} goes to dispatch: dispatch([...], params, config=..., out=...)"
            raise InputError(
                f"param {name!r} is unknown: {self._where} has "
                f"{_list(self._param_names).lstrip(': ') or 'no params'}",
                fix=fix,
            )

    def _param_values(self, params: Params) -> tuple[tuple[int, ...], dict[int, int]]:
        bits: list[int] = []
        integers: dict[int, int] = {}
        for index, param in enumerate(self._program.params):
            if param.name not in params:
                raise InputError(
                    f"param {param.name!r} ({param.dtype}) is missing",
                    fix=f"pass params={{{param.name!r}: ...}} to dispatch, or "
                    f"{param.name}=... in a call",
                )
            value = params[param.name]
            try:
                pattern = param.dtype.encode(value)
            except (TypeError, ValueError):
                raise InputError(
                    f"param {param.name!r} is {_shown(value)}, not a value of {param.dtype}",
                    fix=_param_fix(param.dtype.kind, param.dtype.min, param.dtype.max),
                ) from None
            bits.append(pattern)
            if param.dtype.is_integer:
                integers[index] = int(param.dtype.decode(pattern))
        return tuple(bits), integers

    # Sizes

    def _lengths(
        self, arrays: Mapping[int, Array | DeviceBuffer], params: Mapping[int, int]
    ) -> list[int]:
        buffers = self._program.buffers
        lengths = [0] * len(buffers)
        for index, array in arrays.items():
            if array.size > MAX_ELEMENTS:
                raise InputError(
                    f"input {buffers[index].name!r} has {array.size} elements, more than "
                    f"{MAX_ELEMENTS}",
                    fix="split the array over several dispatches",
                )
            lengths[index] = array.size
        for index in self._sized:
            buffer = buffers[index]
            assert buffer.count is not None
            found = lengths[index]
            count = buffer.count.evaluate(
                lengths,
                params,
                lambda b=buffer: self._size_name(b),  # type: ignore[misc]
            )
            lengths[index] = count
            if index in arrays and found != count:
                text = self._program.format_size(buffer.count)
                shown = str(count) if text == str(count) else f"{text} = {count}"
                raise InputError(
                    f"input {buffer.name!r} has {found} elements, but the program declares {shown}",
                    fix=f"pass {count} elements",
                )
        return lengths

    def _size_name(self, buffer: Buffer) -> str:
        assert buffer.count is not None
        return f"the count of {buffer.name!r}, {self._program.format_size(buffer.count)},"

    def _extent(
        self, config: DispatchConfig, lengths: Sequence[int], params: Mapping[int, int]
    ) -> tuple[int, ...]:
        program = self._program
        if config.extent is not None and config.grid is not None:
            raise InputError(
                "extent and grid are both given, and the grid fixes the extent", fix="give one"
            )
        if config.extent is not None:
            extent = self._axes("extent", config.extent, 0)
        elif isinstance(config.grid, Indirect):
            extent = (1,) * len(program.extent)
        elif config.grid is not None:
            grid = self._axes("grid", config.grid, 1)
            extent = tuple(n * w for n, w in zip(grid, program.workgroup_size, strict=False))
        else:
            extent = tuple(
                size.evaluate(
                    lengths,
                    params,
                    lambda s=size: f"the extent {program.format_size(s)}",  # type: ignore[misc]
                )
                for size in program.extent
            )
        if math.prod(extent) > MAX_ELEMENTS:
            raise LimitError(
                f"the extent {extent} has {math.prod(extent)} lanes, more than {MAX_ELEMENTS}",
                fix="split the work over several dispatches",
            )
        return extent

    def _axes(self, what: str, value: object, least: int) -> tuple[int, ...]:
        axes = len(self._program.extent)
        items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
        numbers = tuple(_integer(item) for item in items)
        if len(items) != axes:
            raise InputError(
                f"{what} {value!r} has {len(items)} axes, but {self._where} has {axes}",
                fix=f"give {axes} int(s)",
            )
        for number in numbers:
            if number is None or not least <= number <= MAX_ELEMENTS:
                raise InputError(
                    f"{what} is {value!r}, not {axes} int(s) from {least} to {MAX_ELEMENTS}",
                    fix=f"give the {what} as ints in that range",
                )
        return tuple(number for number in numbers if number is not None)

    def _shapes(
        self, arrays: Mapping[int, Array | DeviceBuffer], lengths: Sequence[int]
    ) -> tuple[tuple[int, ...], ...]:
        buffers = self._program.buffers
        shapes = []
        for index, _ in self._outputs:
            source = index
            while source not in arrays:
                like = buffers[source].like
                if like is None:
                    break
                source = like
            shapes.append(arrays[source].shape if source in arrays else (lengths[index],))
        return tuple(shapes)

    def _check_budget(self, config: DispatchConfig, lengths: Sequence[int]) -> None:
        budget = config.max_output_bytes
        if budget is None:
            return
        limit = _integer(budget)
        if limit is None or limit < 0:
            raise InputError(
                f"max_output_bytes is {budget!r}, not a number of bytes",
                fix="give an int of 0 or more, or None",
            )
        total = sum(lengths[index] * buffer.dtype.itemsize for index, buffer in self._outputs)
        if total > limit:
            sizes = ", ".join(f"{b.name} {lengths[i] * b.dtype.itemsize}" for i, b in self._outputs)
            raise OutputBudgetError(
                f"the outputs have {total} bytes ({sizes}), more than max_output_bytes={limit}",
                fix="raise the budget, or ask for smaller outputs",
            )


def _checked_grid(grid: Indirect) -> Indirect:
    """An indirect grid whose three words lie in a device buffer of u32.

    Raises:
        InputError: they do not.
    """
    buffer, offset = grid.buffer, _integer(grid.offset)
    if not isinstance(buffer, DeviceBuffer):
        raise InputError(
            f"the indirect grid is {describe(buffer)}, not a device buffer of u32",
            fix="pass Indirect(backend.upload(words)), or a grid of ints",
        )
    if buffer.dtype != np.uint32:
        raise InputError(
            f"the indirect grid is a device buffer of {buffer.dtype}, not of u32",
            fix="compute the three words as u32",
        )
    if offset is None or offset % 4 or not 0 <= offset <= buffer.nbytes - 12:
        raise InputError(
            f"the offset of the indirect grid is {grid.offset!r}, not a multiple of 4 that leaves "
            f"room for three words in {buffer.nbytes} bytes",
            fix="pass the offset in bytes",
        )
    return Indirect(buffer, offset)


def _evaluation_order(buffers: Sequence[Buffer]) -> list[int]:
    """Indices of the buffers that have a count, each after those whose length it reads."""
    waiting = {
        index: {b for b in buffer.count.leaves(SizeOp.LENGTH) if buffers[b].count is not None}
        for index, buffer in enumerate(buffers)
        if buffer.count is not None
    }
    order: list[int] = []
    while waiting:
        ready = [index for index, needs in waiting.items() if needs.isdisjoint(waiting)]
        if not ready:
            names = ", ".join(repr(buffers[index].name) for index in waiting)
            raise InputError(
                f"the counts of {names} depend on each other", fix="size one of them otherwise"
            )
        for index in ready:
            del waiting[index]
        order += ready
    return order


def _is_plain_sequence(value: object) -> bool:
    """Whether a value is a sequence of things rather than itself an array or text."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return False
    try:
        memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        return not hasattr(value, "__array_interface__")
    return False


def _integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else describe(value)


def _param_fix(kind: str, low: int, high: int) -> str:
    if kind == "bool":
        return "pass True or False"
    if kind == "float":
        return "pass a Python or NumPy scalar in that type's range"
    return f"pass an int from {low} to {high}"


def _list(names: Sequence[str]) -> str:
    return ": " + ", ".join(map(repr, names)) if names else ""
