from __future__ import annotations

import dataclasses
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.errors import CompileError, DeviceLostError, LimitError, UnsupportedFeatureError
from vyre_wgpu.ir.program import Program
from vyre_wgpu.pipeline.compile import Compiler, target_of
from vyre_wgpu.pipeline.counters import Counters
from vyre_wgpu.wgsl.descriptor import Binding, KernelDescriptor, ShaderArtifact
from vyre_wgpu.wgsl.options import CompileOptions

pytestmark = pytest.mark.gpu

OPTIONS = CompileOptions()
EMPTY = KernelDescriptor((), None, 6, (), (), (1, 1, 1), False, 1)


def adder(amount: int, name: str = "adder") -> Program:
    b = vw.ProgramBuilder(name)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id(0)
    y[i] = x[i] + amount
    return b.build()


@pytest.fixture
def counters() -> Counters:
    return Counters()


@pytest.fixture
def compiler(backend: WgpuBackend, counters: Counters) -> Compiler:
    return Compiler(backend.device, counters, max_entries=2)


def test_equal_programs_share_one_kernel(compiler: Compiler, counters: Counters) -> None:
    first = compiler.compile(adder(1), OPTIONS)
    assert compiler.compile(adder(1, "another name"), OPTIONS) is first
    counts = counters.snapshot()
    assert (counts.lowerings, counts.modules_created) == (1, 1)
    assert compiler.memory_statistics().hits == 1


def test_options_are_part_of_the_key(compiler: Compiler, counters: Counters) -> None:
    first = compiler.compile(adder(1), OPTIONS)
    other = compiler.compile(adder(1), CompileOptions(workgroup_size=(32, 1, 1)))
    assert other is not first
    assert other.descriptor.workgroup_size == (32, 1, 1)
    assert counters.snapshot().lowerings == 2


def test_programs_of_the_same_bindings_share_a_layout(compiler: Compiler) -> None:
    assert compiler.compile(adder(1), OPTIONS).layout is compiler.compile(adder(2), OPTIONS).layout


def test_cache_is_bounded(compiler: Compiler, counters: Counters) -> None:
    for amount in (1, 2, 3, 1):
        compiler.compile(adder(amount), OPTIONS)
    counts = counters.snapshot()
    assert counts.lowerings == 4
    assert compiler.memory_statistics() == (2, compiler.memory_statistics().bytes, 0, 4, 2)


def test_many_threads_compile_a_cold_program_once(compiler: Compiler, counters: Counters) -> None:
    with ThreadPoolExecutor(16) as pool:
        kernels = list(pool.map(lambda _: compiler.compile(adder(7), OPTIONS), range(64)))
    assert len(set(map(id, kernels))) == 1
    counts = counters.snapshot()
    assert counts.lowerings == 1
    assert compiler.memory_statistics().hits == 63


@pytest.mark.parametrize(
    "wgsl",
    [
        "not wgsl at all",
        "@compute @workgroup_size(1) fn main() { let x: u32 = 1.5; }",
        "@compute @workgroup_size(1) fn other() {}",
        "@group(0) @binding(0) var<storage> x: array<u32>;\n"
        "@compute @workgroup_size(1) fn main() { _ = x[0]; }",
    ],
)
def test_what_the_driver_refuses_is_a_compile_error_with_its_words(
    compiler: Compiler, wgsl: str
) -> None:
    with pytest.raises(CompileError, match=r"refused program 'bad' on .*\n[\s\S]*Fix:"):
        compiler.build(ShaderArtifact(wgsl, EMPTY), "bad")


def test_a_missing_feature_names_feature_and_adapter(compiler: Compiler) -> None:
    descriptor = dataclasses.replace(EMPTY, features=("antigravity",))
    with pytest.raises(UnsupportedFeatureError, match="'p' needs the feature 'antigravity'"):
        compiler.build(ShaderArtifact("", descriptor), "p")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"bindings": tuple(Binding(i, True) for i in range(10**6))}, "storage buffers"),
        ({"block_words": 100_000}, "400000 bytes of sizes and params"),
        ({"workgroup_size": (1 << 16, 1, 1)}, "65536 lanes in a workgroup"),
    ],
)
def test_limits_name_what_and_how_much(
    compiler: Compiler, change: dict[str, object], what: str
) -> None:
    descriptor = dataclasses.replace(EMPTY, **change)  # type: ignore[arg-type]
    with pytest.raises(LimitError, match=f"'p' has .*{what}.*allows"):
        compiler.build(ShaderArtifact("", descriptor), "p")


def test_a_type_the_device_lacks_names_the_type(
    backend: WgpuBackend, counters: Counters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend.device, "features", frozenset({"immediates"}))
    b = vw.ProgramBuilder("wide")
    x = b.read_write("x", vw.f64)
    x[b.global_id(0)] = 1.0
    with pytest.raises(UnsupportedFeatureError, match=r"'wide' uses type f64.*shader-f64"):
        Compiler(backend.device, counters, max_entries=1).compile(b.build(), OPTIONS)


def test_failed_compilation_leaves_no_trace(compiler: Compiler) -> None:
    too_large = CompileOptions(workgroup_size=(1 << 20, 1, 1))
    for _ in range(2):
        with pytest.raises(LimitError):
            compiler.compile(adder(1), too_large)
    assert compiler.memory_statistics()[:3] == (0, 0, 0)


def test_target_is_what_the_device_has(backend: WgpuBackend) -> None:
    target = target_of(backend.device)
    assert target.immediate_bytes == backend.device.limits.max_immediate_size
    assert target.features == backend.device.features


def test_shaders_are_written_where_the_settings_say(
    backend: WgpuBackend, counters: Counters, tmp_path: Path
) -> None:
    folder = tmp_path / "deep" / "shaders"
    compiler = Compiler(backend.device, counters, max_entries=1, dump=folder)
    program = adder(1, "a/b c")
    kernel = compiler.compile(program, OPTIONS)
    (file,) = folder.iterdir()
    assert file.name == f"a_b_c-{program.fingerprint[:12]}.wgsl"
    assert file.read_text(encoding="utf-8") == kernel.artifact.wgsl


def test_a_folder_that_cannot_be_written_is_a_warning(
    backend: WgpuBackend,
    counters: Counters,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    with caplog.at_level(logging.WARNING, "vyre_wgpu"):
        Compiler(backend.device, counters, max_entries=1, dump=blocker / "x").compile(
            adder(1), OPTIONS
        )
    assert "VYRE_WGPU_DUMP_WGSL" in caplog.text


def test_closed_device_compiles_nothing() -> None:
    own = WgpuBackend()
    own.close()
    with pytest.raises(DeviceLostError):
        own.compile(adder(1))
