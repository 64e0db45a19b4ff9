"""Entries: what is written comes back; anything else is refused, whatever it is."""

from __future__ import annotations

import dataclasses
import json
import random
import struct
from typing import Any

import pytest
import xxhash

import vyre_wgpu as vw
from tests.pipeline.cached import OPTIONS, adder, key_of, lowered
from vyre_wgpu.cli.catalog import shipped
from vyre_wgpu.ir.program import Program
from vyre_wgpu.pipeline.descriptor_codec import (
    MAX_DESCRIPTOR_BYTES,
    check_fit,
    decode_descriptor,
    encode_descriptor,
)
from vyre_wgpu.pipeline.entry import (
    HEADER_BYTES,
    MAX_NESTING,
    Entry,
    EntryError,
    decode_entry,
    encode_entry,
)
from vyre_wgpu.wgsl.descriptor import Binding, KernelDescriptor, ShaderArtifact
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.options import CompileOptions
from vyre_wgpu.wgsl.target import Target

PROGRAM = adder(1)
KEY = key_of(PROGRAM)
DATA = encode_entry(KEY.encoded, PROGRAM.erased_bytes, lowered(PROGRAM))


def with_checksum(body: bytes) -> bytes:
    return body + xxhash.xxh3_128_digest(body)


@pytest.mark.parametrize("name", sorted(shipped()))
def test_what_is_written_comes_back(name: str) -> None:
    program = shipped()[name]()
    for options in (OPTIONS, CompileOptions("trap", max_iterations=9)):
        for indirect in (False, True):
            artifact = lower(program, options, Target(max_storage_buffers=32), indirect=indirect)
            key = key_of(program, options, indirect=indirect)
            entry = decode_entry(encode_entry(key.encoded, program.erased_bytes, artifact))
            assert entry.artifact() == artifact
            assert entry.parts() == key.parts
            assert entry.program == program.erased_bytes
            check_fit(entry.artifact().descriptor, program, options, indirect=indirect)


@pytest.mark.parametrize("length", [0, 1, 7, 8, HEADER_BYTES - 1, HEADER_BYTES, len(DATA) - 1])
def test_an_entry_that_is_cut_short_is_refused(length: int) -> None:
    with pytest.raises(EntryError, match=r"cut short|has only"):
        decode_entry(DATA[:length])


def test_an_entry_that_goes_on_is_refused() -> None:
    with pytest.raises(EntryError, match="longer"):
        decode_entry(DATA + b"\0")


def test_every_flipped_bit_of_the_header_and_many_others_are_noticed() -> None:
    chosen = random.Random(6)
    places = [*range(HEADER_BYTES * 8), *(chosen.randrange(len(DATA) * 8) for _ in range(2000))]
    for bit in [*places, *range((len(DATA) - 16) * 8, len(DATA) * 8)]:
        damaged = bytearray(DATA)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(EntryError):
            decode_entry(bytes(damaged))


@pytest.mark.parametrize("version", [0, 2, 65535])
def test_another_version_is_named(version: int) -> None:
    body = bytearray(DATA[:-16])
    struct.pack_into("<H", body, 8, version)
    with pytest.raises(EntryError, match=f"version {version}, not 1"):
        decode_entry(with_checksum(bytes(body)))


@pytest.mark.parametrize(
    "data",
    [b"#!/bin/sh\necho this is no entry of ours at all, no\n", b"\0" * 4096, DATA[1:] + b"x"],
)
def test_a_foreign_file_is_refused(data: bytes) -> None:
    with pytest.raises(EntryError, match="not a file of ours"):
        decode_entry(data)


def test_lengths_that_lie_are_refused_even_with_a_matching_checksum() -> None:
    chosen = random.Random(7)
    for _ in range(500):
        body = bytearray(DATA[:-16])
        place = 12 + 4 * chosen.randrange(4)
        struct.pack_into("<I", body, place, chosen.choice([0, 1, 2**31, 2**32 - 1, len(DATA)]))
        if body == DATA[:-16]:
            continue
        with pytest.raises(EntryError, match="cut short"):
            decode_entry(with_checksum(bytes(body)))


def test_hostile_content_with_a_matching_checksum_is_refused_or_decodes() -> None:
    """No exception but `EntryError` comes out, whatever the sections hold."""
    chosen, outcomes = random.Random(8), set()
    for _ in range(3000):
        body = bytearray(DATA[:-16])
        for _ in range(chosen.choice([1, 1, 1, 5, 50])):
            body[chosen.randrange(HEADER_BYTES, len(body))] = chosen.randrange(256)
        entry = decode_entry(with_checksum(bytes(body)))
        for read in (entry.parts, entry.artifact):
            try:
                read()
                outcomes.add("read")
            except EntryError:
                outcomes.add("refused")
    assert outcomes == {"read", "refused"}


@pytest.mark.parametrize("brackets", ["()", "[]", "{}"])
def test_a_shader_that_would_crash_its_compiler_is_refused(brackets: str) -> None:
    """Compilers of WGSL recurse into brackets; nothing that is lowered comes near the limit."""
    opened, closed = brackets

    def entry_of(wgsl: str) -> Entry:
        artifact = ShaderArtifact(wgsl, lowered(PROGRAM).descriptor)
        return decode_entry(encode_entry(KEY.encoded, PROGRAM.erased_bytes, artifact))

    deepest = opened * MAX_NESTING + closed * MAX_NESTING
    assert entry_of(deepest * 3).artifact().wgsl == deepest * 3
    with pytest.raises(EntryError, match="brackets"):
        entry_of("()" * 5 + opened + deepest + closed).artifact()
    with pytest.raises(EntryError, match="brackets"):
        entry_of(opened * 50_000).artifact()


# Descriptors

DESCRIPTOR = KernelDescriptor(
    bindings=(Binding(0, False), Binding(1, True)),
    trap_binding=2,
    block_words=9,
    length_words=((0, 6), (1, 7)),
    param_words=((0, 8),),
    workgroup_size=(64, 2, 1),
    whole_workgroups=True,
    axes=2,
    elements_per_lane=4,
    features=("shader-f16", "subgroup"),
    block_binding=3,
    indirect=True,
    split=True,
)


def test_every_field_of_a_descriptor_comes_back() -> None:
    defaults = KernelDescriptor((), None, 6, (), (), (1, 1, 1), False, 1)
    for field in dataclasses.fields(KernelDescriptor):
        assert getattr(DESCRIPTOR, field.name) != getattr(defaults, field.name), field.name
    for descriptor in (DESCRIPTOR, defaults):
        assert decode_descriptor(encode_descriptor(descriptor)) == descriptor


WRONG_VALUES: list[Any] = [None, -1, 1 << 32, 1.5, "x", True, [], [1], [[1]], [[0, 1, 2]], {}]


def test_a_field_of_another_type_is_refused() -> None:
    """Each field takes only what it is annotated with: what is accepted is written the same."""
    values = json.loads(encode_descriptor(DESCRIPTOR))
    refused = 0
    for place in range(len(values)):
        for wrong in WRONG_VALUES:
            data = json.dumps([*values[:place], wrong, *values[place + 1 :]]).encode()
            try:
                found = decode_descriptor(data)
            except ValueError:
                refused += 1
            else:
                assert json.loads(encode_descriptor(found))[place] == wrong
                assert type(json.loads(encode_descriptor(found))[place]) is type(wrong)
    assert refused > len(values) * len(WRONG_VALUES) // 2


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b"null", b"[" * 100_000, b"\xff", b"9" * 10_000,
     b" " * (MAX_DESCRIPTOR_BYTES + 1), encode_descriptor(DESCRIPTOR)[:-1]],
    ids=range(9),
)  # fmt: skip
def test_bytes_that_are_no_descriptor_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        decode_descriptor(data)


def two_buffers() -> Program:
    b = vw.ProgramBuilder("two")
    b.param("a", vw.u64)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    b.workgroup("w", vw.u32, 4)
    y[b.global_id(0)] = x[0]
    return b.build()


FITTING = lowered(two_buffers()).descriptor


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"bindings": (Binding(0, False),)}, "bindings"),
        ({"bindings": (Binding(0, False), Binding(7, True))}, "bindings"),
        ({"bindings": (Binding(0, False), Binding(2, True))}, "bindings"),
        ({"bindings": (Binding(1, False), Binding(0, True))}, "bindings"),
        ({"bindings": (Binding(0, False), Binding(1, False))}, "writable bindings"),
        ({"trap_binding": 0}, "trap binding"),
        ({"trap_binding": 3}, "trap binding"),
        ({"block_binding": 1}, "block binding"),
        ({"length_words": ((2, 6),)}, "buffer lengths"),
        ({"length_words": ((9, 6),)}, "buffer lengths"),
        ({"length_words": ((0, 6), (1, 6))}, "buffer lengths"),
        ({"length_words": ((0, 0), (1, 6))}, "buffer lengths"),
        ({"param_words": ()}, "params"),
        ({"param_words": ((1, 8),)}, "params"),
        ({"param_words": ((0, FITTING.block_words - 1),)}, "params"),
        ({"length_words": ()}, "buffer lengths"),
        ({"length_words": ((0, 6),)}, "buffer lengths"),
        ({"length_words": ((0, 7), (1, 6))}, "buffer lengths"),
        ({"block_words": FITTING.block_words + 1}, "dispatch block"),
        ({"bindings": (Binding(0, True), Binding(1, True))}, "writable bindings"),
        ({"workgroup_size": (32, 1, 1)}, "workgroup size"),
        ({"whole_workgroups": True}, "whole workgroups"),
        ({"elements_per_lane": 2}, "elements per lane"),
        ({"block_words": 8}, "dispatch block"),
        ({"axes": 2}, "axes"),
        ({"workgroup_size": (0, 1, 1)}, "workgroup size"),
        ({"elements_per_lane": 0}, "elements per lane"),
        ({"indirect": True}, "variant"),
    ],
)
def test_a_descriptor_of_another_program_does_not_fit(change: dict[str, Any], what: str) -> None:
    check_fit(FITTING, two_buffers(), OPTIONS, indirect=False)
    with pytest.raises(ValueError, match=f"the program's {what}$"):
        check_fit(dataclasses.replace(FITTING, **change), two_buffers(), OPTIONS, indirect=False)


def test_a_descriptor_of_other_options_does_not_fit() -> None:
    with pytest.raises(ValueError, match="workgroup size"):
        check_fit(FITTING, two_buffers(), CompileOptions(workgroup_size=32), indirect=False)
