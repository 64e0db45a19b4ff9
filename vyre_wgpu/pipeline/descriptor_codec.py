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
    descriptor: KernelDescriptor, program: Program, options: CompileOptions, *, indirect: bool
) -> None:
    """Raises for a descriptor that a program cannot have: a launch relies on all of this.

    Raises:
        ValueError: it has other buffers, params, axes or options.
    """
    storage = [index for index, buffer in enumerate(program.buffers) if buffer.kind.is_storage]
    numbers = [binding.buffer for binding in descriptor.bindings]
    bound = len(numbers)
    traps = descriptor.trap_binding is not None
    spans = [(word, 1) for _, word in descriptor.length_words]
    for index, word in descriptor.param_words:
        wide = index < len(program.params) and program.params[index].dtype.bits == 64
        spans.append((word, 2 if wide else 1))
    size, wanted = descriptor.workgroup_size, options.workgroup_size
    facts: list[tuple[str, bool]] = [
        ("bindings", numbers == storage),
        (
            "writable bindings",
            all(
                binding.writable or not program.buffers[binding.buffer].kind.is_writable
                for binding in descriptor.bindings
                if binding.buffer < len(program.buffers)
            ),
        ),
        ("trap binding", descriptor.trap_binding in (None, bound)),
        ("block binding", descriptor.block_binding in (None, bound + traps)),
        ("buffer lengths", {index for index, _ in descriptor.length_words} <= set(storage)),
        ("params", [i for i, _ in descriptor.param_words] == list(range(len(program.params)))),
        ("dispatch block", _are_apart(spans, descriptor.block_words)),
        ("axes", descriptor.axes == len(program.extent)),
        ("workgroup size", min(size) >= 1 and wanted in (None, size)),
        ("elements per lane", descriptor.elements_per_lane >= 1),
        ("variant", descriptor.indirect == indirect),
    ]
    wrong = [name for name, holds in facts if not holds]
    if wrong:
        raise ValueError(f"the descriptor's {wrong[0]} are not the program's")


def _are_apart(spans: list[tuple[int, int]], end: int) -> bool:
    """Whether runs of words lie behind the header, before the end, and share no word."""
    free = HEADER_WORDS
    for start, count in sorted(spans):
        if start < free:
            return False
        free = start + count
    return free <= end


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
