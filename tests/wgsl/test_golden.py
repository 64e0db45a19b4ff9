"""The WGSL of many small programs is kept in git, so that a change of the emitter shows as a diff.

Run with ``VYRE_UPDATE_GOLDEN=1`` to write the files anew, then read the diff.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import vyre_wgpu as vw
from tests.ir.examples import EXAMPLES
from tests.wgsl.golden_programs import GOLDEN_PROGRAMS, HOW, Lowering
from vyre_wgpu.wgsl.descriptor import ShaderArtifact
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.target import Target

GOLDEN = Path(__file__).parent / "golden"
TARGET = Target(max_storage_buffers=32, max_workgroup_invocations=1024)


def long_subgroups() -> vw.Program:
    b = vw.ProgramBuilder("long_subgroups")
    x = b.read_write("x", vw.i64)
    i = b.global_id()
    x[i] = b.subgroup_add(x[i])
    return b.build()


# Programs that this release refuses to lower; anything else must lower.
REFUSED = {
    "long_subgroups": vw.UnsupportedFeatureError,
}

ALL: dict[str, Callable[[], vw.Program]] = {
    **EXAMPLES,
    **GOLDEN_PROGRAMS,
    "long_subgroups": long_subgroups,
}
LOWERED = sorted(set(ALL) - set(REFUSED))


def lowered(name: str) -> ShaderArtifact:
    how = HOW.get(name, Lowering())
    target = replace(
        TARGET,
        immediate_bytes=how.immediate_bytes,
        loop_iterations=how.loop_iterations,
        reorders_floats=how.reorders_floats,
    )
    return lower(ALL[name](), how.options, target, indirect=how.indirect, split=how.split)


@pytest.mark.parametrize("name", LOWERED)
def test_wgsl_is_the_golden_one(name: str) -> None:
    """The text of each program is exactly the one in git."""
    artifact = lowered(name)
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
    """Each golden program compiles to a pipeline, in this device's own lowering of it."""
    assert backend.compile(ALL[name](), HOW.get(name, Lowering()).options).wgsl
