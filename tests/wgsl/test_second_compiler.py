"""Tint, the WGSL compiler of Dawn and Chromium, accepts what naga accepts of ours.

``scripts/second_compiler.py`` has the table of what needs an extension that standard WGSL lacks.
It runs in a process of its own, so that no two WebGPU libraries meet in one.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from scripts.second_compiler import BEYOND_WGSL, DIRECTIVES, EXTENSIONS, standard
from tests.fuzz.drafts import read, write
from tests.fuzz.strategies import cases
from tests.wgsl.test_golden import ALL, GOLDEN, HOW, LOWERED, TARGET, Lowering, lowered
from vyre_wgpu.ir import Buffer, Op, Param, Program, ValidationError
from vyre_wgpu.ir.types import dtype_from_code
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.options import CompileOptions
from vyre_wgpu.wgsl.prelude import HELPERS, with_dependencies

SCRIPT = Path(__file__).parents[2] / "scripts" / "second_compiler.py"

with_dawn = pytest.mark.skipif(
    importlib.util.find_spec("wgpudawn") is None, reason="wgpudawn is missing: pip install wgpudawn"
)


def compile_all(files: Iterable[Path]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def accepts_all(folder: Path) -> None:
    files = sorted(folder.glob("*.wgsl"))
    done = compile_all(files)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": accepted\n") + done.stdout.count(": beyond WGSL:") == len(files) > 0


@with_dawn
def test_every_golden_file_is_accepted() -> None:
    accepts_all(GOLDEN)


@with_dawn
def test_golden_programs_with_uniform_dispatch_blocks_are_accepted(tmp_path: Path) -> None:
    """Immediates are new in WGSL; without them nothing but the standard is left."""
    for name in LOWERED:
        how = HOW.get(name, Lowering())
        target = replace(TARGET, immediate_bytes=0, loop_iterations=how.loop_iterations)
        artifact = lower(ALL[name](), how.options, target, indirect=how.indirect, split=how.split)
        (tmp_path / f"{name}.wgsl").write_text(artifact.wgsl)
    accepts_all(tmp_path)


def narrowed(program: Program) -> Program:
    """The program with types of 32 bits instead of 64.

    Raises:
        ValidationError: that is no program.
    """
    draft = read(program.to_bytes())
    assert draft is not None
    narrower = {8: 6, 9: 7, 12: 11}  # i64, u64, f64

    def declared(item: Any) -> Any:
        assert isinstance(item, Buffer | Param)
        code = item.dtype.code
        return replace(item, dtype=dtype_from_code(narrower.get(code, code)))

    for line in draft.rows:
        if line.op == Op.LITERAL and line.dtype in narrower and isinstance(line.const, int):
            if line.dtype == 12:
                with np.errstate(over="ignore"):
                    value = np.float32(np.uint64(line.const).view(np.float64))
                line.const = int(value.view(np.uint32))
            line.const &= 0xFFFFFFFF
        line.dtype = narrower.get(line.dtype, line.dtype)
    draft.buffers = [declared(buffer) for buffer in draft.buffers]
    draft.params = [declared(param) for param in draft.params]
    data = write(draft)
    assert data is not None
    return Program.from_bytes(data)


@with_dawn
def test_random_programs_are_accepted(tmp_path: Path) -> None:
    """With every kind of checks, with and without what bounds loops."""
    variants = [
        (CompileOptions(), TARGET),
        (CompileOptions(checks="trap", max_iterations=1000), replace(TARGET, immediate_bytes=0)),
        (CompileOptions(checks="trusted"), replace(TARGET, loop_iterations=65_535)),
    ]

    @settings(
        max_examples=100,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases(60))
    def write_texts(case: Any) -> None:
        try:
            program = narrowed(case.program)
        except ValidationError:
            return
        for number, (options, target) in enumerate(variants):
            text = lower(program, options, target).wgsl
            (tmp_path / f"{program.fingerprint}-{number}.wgsl").write_text(text)

    write_texts()
    accepts_all(tmp_path)


FRAME = """
struct Dispatch {{ extent_x: u32, extent_y: u32, extent_z: u32, row: u32, base: u32, zero: u32 }}
@group(0) @binding(0) var<uniform> d: Dispatch;
@group(0) @binding(1) var<storage, read_write> trap_words: array<atomic<u32>, 4>;
fn lane_index() -> u32 {{ return 0u; }}
{helpers}
@compute @workgroup_size(1) fn main() {{ _ = d.zero; }}
"""
"""What a helper may refer to."""


@with_dawn
def test_every_helper_is_accepted(tmp_path: Path) -> None:
    """Those too that no golden program uses; but for those whose types need an extension."""
    for name in HELPERS:
        needed = [HELPERS[other] for other in with_dependencies({name, "h_trap"})]
        for form in ("text", "guarded"):
            text = "\n".join(getattr(helper, form) or helper.text for helper in needed)
            if not any(shows.search(text) for shows in EXTENSIONS.values()):
                (tmp_path / f"{name}-{form}.wgsl").write_text(FRAME.format(helpers=text))
    assert len(list(tmp_path.iterdir())) > 100
    accepts_all(tmp_path)


@with_dawn
@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("saxpy", "fn main( {", "REFUSED"),
        ("saxpy", "fn f() -> i64 { return 1li; }", "REFUSED"),
        ("long_integers", "@compute @workgroup_size(1) fn main() {}", "accepted, though it needs"),
        ("long_integers", "fn f() -> i64 { return 1li; }\nfn g() { 1 }", "REFUSED"),
    ],
)
def test_a_file_that_is_not_as_the_table_says_is_an_error(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    file = tmp_path / f"{name}.wgsl"
    file.write_text(text)
    done = compile_all([file])
    assert done.returncode == 1, done.stderr
    assert f"{file}: {says}" in done.stdout


def test_the_table_holds_what_needs_an_extension() -> None:
    """And no text uses one that its descriptor does not ask a device for."""
    shown = {}
    for name in LOWERED:
        artifact = lowered(name)
        shown[name] = {known for known, text in EXTENSIONS.items() if text.search(artifact.wgsl)}
        assert shown[name] <= set(artifact.descriptor.features), name
    assert {name: set(needed) for name, needed in BEYOND_WGSL.items()} == {
        name: found for name, found in shown.items() if found
    }


def test_only_subgroups_want_directives() -> None:
    users = {name for name in LOWERED if standard(lowered(name).wgsl) != lowered(name).wgsl}
    assert users == {n for n in LOWERED if "subgroup" in lowered(n).descriptor.features}
    assert standard(lowered("subgroups").wgsl).startswith(" ".join(DIRECTIVES))
