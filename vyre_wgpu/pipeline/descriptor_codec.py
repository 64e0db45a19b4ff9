"""`KernelDescriptor` to bytes and back, and whether one fits the program that it is said to be of.

The form is canonical JSON of the fields in their order. What is read is checked against the types
that the fields are annotated with, so a new field needs nothing here as long as it is made of int,
bool, str, None, tuples and `Binding`. What is read may be hostile.
"""

from __future__ import annotations

import functools
import json
import types
import typing
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from ..ir.ops import Op
from ..ir.program import Program
from ..wgsl.descriptor import HEADER_WORDS, Binding, KernelDescriptor
from ..wgsl.options import CompileOptions

__all__ = ["MAX_DESCRIPTOR_BYTES", "check_fit", "decode_descriptor", "encode_descriptor"]

MAX_DESCRIPTOR_BYTES = 1 << 24
"""A program has at most 65,535 buffers and as many params."""

_MAX_INT = (1 << 32) - 1


def encode_descriptor(descriptor: KernelDescriptor) -> bytes:
    """The canonical bytes of a descriptor."""
    values = [_plain(getattr(descriptor, field.name)) for field in fields(descriptor)]
    return json.dumps(values, separators=(",", ":")).encode("ascii")


def decode_descriptor(data: bytes) -> KernelDescriptor:
    """Reads what `encode_descriptor` wrote.

    Raises:
        ValueError: the bytes are anything else.
    """
    if len(data) > MAX_DESCRIPTOR_BYTES:
        raise ValueError(f"a descriptor of {len(data)} bytes")
    try:
        values = json.loads(data)
    except RecursionError:
        raise ValueError("the descriptor is nested too deeply") from None
    return typing.cast(KernelDescriptor, _read_record(values, KernelDescriptor))


def check_fit(
    descriptor: KernelDescriptor,
    program: Program,
    options: CompileOptions,
    *,
    indirect: bool,
    split: bool = False,
) -> None:
    """Raises for a descriptor that lowering cannot have made of a program.

    All that follows from program and options is compared. What depends on the device, or on what
    the passes left of the program (whether it traps), must agree with the shader's own bindings, or
    the device refuses it.

    Raises:
        ValueError: it has other buffers, params, axes or options.
    """
    storage = [(index, b) for index, b in enumerate(program.buffers) if b.kind.is_storage]
    word = HEADER_WORDS
    lengths, params = [], []
    for index, buffer in storage:
        if buffer.count is None or buffer.count.constant is None:
            lengths.append((index, word))
            word += 1
    for index, param in enumerate(program.params):
        params.append((index, word))
        word += 2 if param.dtype.bits == 64 else 1
    bound = len(storage)
    traps = descriptor.trap_binding is not None
    facts: tuple[tuple[str, bool], ...] = (
        (
            "bindings",
            [binding.buffer for binding in descriptor.bindings] == [i for i, _ in storage],
        ),
        (
            "writable bindings",
            [binding.writable for binding in descriptor.bindings]
            == [buffer.kind.is_writable for _, buffer in storage],
        ),
        ("trap binding", descriptor.trap_binding in (None, bound)),
        ("block binding", descriptor.block_binding in (None, bound + traps)),
        ("buffer lengths", descriptor.length_words == tuple(lengths)),
        ("params", descriptor.param_words == tuple(params)),
        ("dispatch block", descriptor.block_words == word),
        ("axes", descriptor.axes == len(program.extent)),
        (
            "workgroup size",
            descriptor.workgroup_size == (options.workgroup_size or program.workgroup_size),
        ),
        (
            "whole workgroups",
            descriptor.whole_workgroups == (indirect or Op.BARRIER in program.table.op),
        ),
        ("elements per lane", descriptor.elements_per_lane == 1),
        ("variant", (descriptor.indirect, descriptor.split) == (indirect, split)),
    )
    for name, holds in facts:
        if not holds:
            raise ValueError(f"the descriptor does not have the program's {name}")


def _plain(value: object) -> object:
    """A value as JSON has it."""
    if isinstance(value, Binding):
        return [_plain(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    assert value is None or isinstance(value, (bool, int, str)), f"no JSON form of {value!r}"
    return value


@functools.cache
def _readers(record: type) -> list[tuple[str, Callable[[Any], Any]]]:
    hints = typing.get_type_hints(record)
    return [
        (field.name, functools.partial(_read, hint=hints[field.name])) for field in fields(record)
    ]


def _read_record(value: object, record: type) -> Any:
    readers = _readers(record)
    if not isinstance(value, list) or len(value) != len(readers):
        raise ValueError(f"no {record.__name__}")
    return record(*(read(item) for (_, read), item in zip(readers, value, strict=True)))


def _read(value: Any, hint: Any) -> Any:
    """A value of an annotated type.

    Raises:
        ValueError: it is of another type, or an int outside u32.
    """
    if hint in (bool, str, types.NoneType):
        if type(value) is not (hint):
            raise ValueError(f"{value!r} is no {hint.__name__}")
        return value
    if hint is int:
        if type(value) is not int or not 0 <= value <= _MAX_INT:
            raise ValueError(f"{value!r} is no u32")
        return value
    if hint is Binding:
        return _read_record(value, Binding)
    arguments = typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        (other,) = (t for t in arguments if t is not types.NoneType)
        return None if value is None else _read(value, other)
    assert typing.get_origin(hint) is tuple, f"no reader of {hint}"
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is no list")
    if arguments[-1] is Ellipsis:
        return tuple(_read(item, arguments[0]) for item in value)
    if len(value) != len(arguments):
        raise ValueError(f"{len(value)} items, not {len(arguments)}")
    return tuple(_read(item, t) for item, t in zip(value, arguments, strict=True))
