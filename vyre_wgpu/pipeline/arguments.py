"""Binding host arguments to a program: names, types, sizes, the extent. NumPy only, any backend.

`Binder(program)` works out once what a program takes; `Binder.bind` checks one dispatch's arguments
against that and gives a `BoundCall`, in which nothing is left to check but a device's limits.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..buffer.arrays import Array, describe
from ..buffer.device_buffer import DeviceBuffer
from ..errors import InputError, LimitError, OutputBudgetError
from ..ir.program import Buffer, BufferKind, Program
from ..ir.sizes import MAX_ELEMENTS, SizeOp
from .bound_call import BoundCall, Shape
from .config import DispatchConfig, Indirect
from .config_checks import check_config, checked_grid, integer, shape_options, shown
from .host import as_chunk, as_input, contiguous

__all__ = ["Binder", "BoundCall", "Inputs", "Params"]

Inputs = Sequence[object] | Mapping[str, object]
"""Host arrays in declaration order of the program's inputs, or by name."""

Params = Mapping[str, object]
"""Param values by name: Python or NumPy scalars."""

_NO_CONFIG = DispatchConfig()

_ParamValues = tuple[tuple[object, ...], tuple[int, ...], dict[int, int]]
"""Values of all params, their bit patterns, and those of integers by param index."""

_NO_INTEGERS: Mapping[int, int] = {}

_MAX_SHAPES = 256
"""Shapes that a binder remembers; the one seen first goes first."""


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
        self._fast = [(i, b, b.dtype.numpy) for i, b in self._inputs]
        self._outputs = [(i, b) for i, b in enumerate(buffers) if b.kind.is_returned]
        self._input_names = [b.name for _, b in self._inputs]
        self._param_names = [p.name for p in program.params]
        # Before the first call, objects that no caller has.
        self._last_params: _ParamValues = (tuple(object() for _ in self._param_names), (), {})
        self._sized = _evaluation_order(buffers)
        sizes = [b.count for b in buffers if b.count is not None] + list(program.extent)
        self._size_params = sorted({p for size in sizes for p in size.leaves(SizeOp.PARAM)})
        self._shapes: dict[tuple[Any, ...], Shape] = {}
        self._lock = threading.Lock()
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
        if config is not None:
            check_config(config)
        if self._carries:
            raise InputError(
                f"{self._where} has the carry buffer {self._carries[0]!r}, whose content lives "
                "from chunk to chunk of a stream; a single dispatch has nowhere to keep it",
                fix="declare it read_write and pass it along",
            )
        bits: tuple[int, ...] = ()
        integers: Mapping[int, int] = _NO_INTEGERS
        if params is not None or self._param_names:
            bits, integers = self._param_values({} if params is None else params)
        if type(inputs) not in (list, tuple) or len(inputs) != len(self._fast):
            inputs = self._values(inputs)
        item: Array | DeviceBuffer
        given: list[Array | DeviceBuffer] = []
        shapes: list[tuple[int, ...]] = []
        arrays: dict[int, Array] = {}
        residents: dict[int, DeviceBuffer] = {}
        is_plain = True
        for value, (index, buffer, dtype) in zip(inputs, self._fast, strict=True):
            if type(value) is np.ndarray and value.dtype is dtype and value.flags.c_contiguous:
                arrays[index] = item = value
            else:
                item = as_input(value, buffer.dtype, buffer.name)
                is_plain = False
            given.append(item)
            shapes.append(item.shape)
        indirect = None
        if config is not None and isinstance(config.grid, Indirect):
            indirect = checked_grid(config.grid)
        options = () if config is None else shape_options(config)
        sizes = [integers[param] for param in self._size_params] if self._size_params else ()
        key = (*shapes, *sizes, options)
        shape = None if options is None else self._shapes.get(key)
        if shape is None:
            shape = self._new_shape(given, integers, config, check)
            if options is not None:
                self._remember(key, shape)
        if is_plain:
            return BoundCall(shape, arrays, residents, bits, indirect)
        converted: dict[int, object] = {}
        for (index, buffer, _), item, value in zip(self._fast, given, inputs, strict=True):
            if isinstance(item, DeviceBuffer):
                residents[index] = item
            else:
                arrays[index] = contiguous(item, buffer.dtype)
                if item is not value or arrays[index] is not item:
                    converted[index] = value
        return BoundCall(shape, arrays, residents, bits, indirect, converted)

    def read_again(self, call: BoundCall) -> dict[int, Array]:
        """The inputs of a call as they are now, by buffer index.

        Raises:
            InputError: what was passed has another size now.
        """
        arrays = dict(call.inputs)
        for index, value in call.given.items():
            buffer = self._program.buffers[index]
            item = as_input(value, buffer.dtype, buffer.name)
            assert not isinstance(item, DeviceBuffer)
            if item.size != call.lengths[index]:
                raise InputError(
                    f"input {buffer.name!r} has {item.size} elements now, and had "
                    f"{call.lengths[index]} when it was recorded",
                    fix="record the dispatch again",
                )
            arrays[index] = contiguous(item, buffer.dtype)
        return arrays

    def _remember(self, key: tuple[Any, ...], shape: Shape) -> None:
        with self._lock:
            if len(self._shapes) >= _MAX_SHAPES:
                del self._shapes[next(iter(self._shapes))]
            self._shapes[key] = shape

    def _new_shape(
        self,
        given: Sequence[Array | DeviceBuffer],
        integers: Mapping[int, int],
        config: DispatchConfig | None,
        check: Callable[[Sequence[int]], None] | None,
    ) -> Shape:
        config = _NO_CONFIG if config is None else config
        arrays = {index: value for (index, _), value in zip(self._inputs, given, strict=True)}
        lengths = self._lengths(arrays, integers)
        extent = self._extent(config, lengths, integers)
        shapes = self._output_shapes(arrays, lengths)
        self._check_budget(config, lengths)
        if check is not None:
            check(lengths)
        return Shape(tuple(lengths), extent, shapes, config.label)

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
        """Bit patterns of all params, and values of those that are integers, by param index."""
        last, bits, integers = self._last_params
        if type(params) is dict and len(params) == len(last):
            for name, value in zip(self._param_names, last, strict=True):
                if params.get(name) is not value:
                    break
            else:
                return bits, integers  # the very same objects, none of which can change
        self._check_param_names(params)
        bits, integers = self._encode_params(params)
        values = tuple([params[name] for name in self._param_names])
        if all(type(value) in (int, float, bool) for value in values):
            self._last_params = values, bits, integers
        return bits, integers

    def _encode_params(self, params: Params) -> tuple[tuple[int, ...], dict[int, int]]:
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
                    f"param {param.name!r} is {shown(value)}, not a value of {param.dtype}",
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
        numbers = tuple(integer(item) for item in items)
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

    def _output_shapes(
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
        limit = integer(budget)
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


def _param_fix(kind: str, low: int, high: int) -> str:
    if kind == "bool":
        return "pass True or False"
    if kind == "float":
        return "pass an int or a float, Python's or NumPy's, in that type's range"
    return f"pass an int from {low} to {high}"


def _list(names: Sequence[str]) -> str:
    return ": " + ", ".join(map(repr, names)) if names else ""
