"""The WGSL of many small programs is kept in git, so that a change of the emitter shows as a diff.

Run with ``VYRE_UPDATE_GOLDEN=1`` to write the files anew, then read the diff.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import vyre_wgpu as vw
from tests.ir.examples import EXAMPLES
from vyre_wgpu import programs
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.target import Target

GOLDEN = Path(__file__).parent / "golden"
TARGET = Target(max_storage_buffers=32, max_workgroup_invocations=1024)

SHIPPED: dict[str, Callable[[], vw.Program]] = {
    "shipped_saxpy": programs.saxpy,
    "shipped_byte_histogram": programs.byte_histogram,
    "shipped_first_of": lambda: programs.first_of(lambda byte: byte >= 128),
    "shipped_trap_if_found": lambda: programs.trap_if_found("found"),
}


def predicated() -> vw.Program:
    b = vw.ProgramBuilder("predicated", workgroup_size=64)
    x = b.read("x", vw.u32)
    out = b.output("out", vw.u32, like=x)
    shared = b.workgroup("shared", vw.u32, 64)
    i, k = b.global_id(), b.local_id()
    with b.for_range(0, x[i]) as j, b.if_(j == 7):
        b.trap("seven", i)
    with b.if_(k == 0):
        b.return_()
    shared[k] = x[i]
    b.barrier()
    old = b.atomic_add(shared, 63 - k, 1)
    b.barrier()
    out[i] = shared[k] + old
    return b.build()


def packed() -> vw.Program:
    b = vw.ProgramBuilder("packed")
    i = b.global_id()
    for dtype in (vw.u8, vw.i8, vw.u16, vw.i16, vw.bool_):
        x = b.read(f"x_{dtype}", dtype)
        b.output(f"y_{dtype}", dtype, like=x)[i] = x[i]
        if dtype is vw.u8:
            b.extent(x.length)
    return b.build()


def split() -> vw.Program:
    b = vw.ProgramBuilder("split")
    x = b.read("x", vw.u32)
    out = b.output("out", vw.u32, like=x)
    i = b.global_id()
    v = x[i]
    total = b.var("total", vw.u32, v)
    with b.for_range(0, 3):
        for step in range(700):
            total.set(total * 3 + step)
            if step == 350:
                with b.if_(v == 9):
                    b.break_()
    out[i] = total
    return b.build()


def folding_hazards() -> vw.Program:
    b = vw.ProgramBuilder("hazards")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    v = x[i]
    w = b.var("w", vw.f32, v)
    y[i] = v - v + v / v + v * 0.0 + (w - v) + vw.select(v != v, vw.f32(1.5), -0.0)
    return b.build()


OWN = {f.__name__: f for f in (predicated, packed, split, folding_hazards)}

# Programs that this release refuses to lower; anything else in EXAMPLES must lower.
REFUSED = {
    "float_functions": vw.UnsupportedFeatureError,
}

ALL = {**EXAMPLES, **SHIPPED, **OWN}
LOWERED = sorted(set(ALL) - set(REFUSED))


@pytest.mark.parametrize("name", LOWERED)
def test_wgsl_is_the_golden_one(name: str) -> None:
    """The text of each program is exactly the one in git."""
    artifact = lower(ALL[name](), target=TARGET)
    path = GOLDEN / f"{name}.wgsl"
    if os.environ.get("VYRE_UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(artifact.wgsl)
    assert artifact.wgsl == path.read_text(), f"see the docstring of {Path(__file__).name}"


def test_no_golden_file_is_left_over() -> None:
    """Each file belongs to a program."""
    assert sorted(p.stem for p in GOLDEN.glob("*.wgsl")) == LOWERED


@pytest.mark.parametrize(("name", "error"), sorted(REFUSED.items()))
def test_refused_programs(name: str, error: type[vw.VyreError]) -> None:
    """What is not lowered is refused with a typed error that says what to do."""
    with pytest.raises(error, match="Fix:"):
        lower(ALL[name](), target=TARGET)


def test_lowering_ignores_debug_information() -> None:
    """Names of locals, comments and lines do not reach the shader."""

    def build(name: str, note: str) -> vw.Program:
        b = vw.ProgramBuilder(name)
        x = b.read("x", vw.f32)
        y = b.output("y", vw.f32, like=x)
        b.comment(note)
        y[b.global_id()] = b.let(note, x[b.global_id()])
        return b.build()

    assert lower(build("one", "a")) == lower(build("two", "b"))


@pytest.mark.gpu
@pytest.mark.parametrize("name", LOWERED)
def test_the_driver_accepts_the_wgsl(name: str, backend: Any) -> None:
    """Each golden program compiles to a pipeline."""
    assert backend.compile(ALL[name]()).wgsl
