"""The two ways of calling wgpu: the same work, the same errors."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.pipeline.pipeline import WgpuPipeline
from vyre_wgpu.runtime import native, native_check
from vyre_wgpu.runtime.calls import Calls, Step, choose_calls
from vyre_wgpu.runtime.native import NativeCalls
from vyre_wgpu.runtime.native_functions import FUNCTIONS, compare_declarations
from vyre_wgpu.runtime.public import PublicCalls

pytestmark = pytest.mark.gpu

DOUBLE = """
struct Block { length: u32, factor: u32 }
var<immediate> block: Block;
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < block.length { x[id.x] = x[id.x] * block.factor; }
}
"""


class Bench:
    """One kernel and its buffers, for one way of calling."""

    def __init__(self, device: Any, calls: Calls) -> None:
        import wgpu

        usage = wgpu.BufferUsage
        self.device, self.calls = device, calls
        storage = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST | usage.INDIRECT
        self.raw = [
            device.create_buffer(size=size, usage=kind)
            for size, kind in (
                (1 << 20, storage),
                (1 << 20, usage.MAP_READ | usage.COPY_DST),
                (16, storage),
            )
        ]
        self.x, self.staging, self.words = map(calls.buffer, self.raw)
        layout = device.create_bind_group_layout(
            entries=[
                {
                    "binding": 0,
                    "visibility": wgpu.ShaderStage.COMPUTE,
                    "buffer": {"type": "storage"},
                }
            ]
        )
        self.pipeline = device.create_compute_pipeline(
            layout=device.create_pipeline_layout(bind_group_layouts=[layout], immediate_size=8),
            compute={"module": device.create_shader_module(code=DOUBLE), "entry_point": "main"},
        )
        resource = {"buffer": self.raw[0], "offset": 0, "size": 1 << 20}
        self.group = device.create_bind_group(
            layout=layout, entries=[{"binding": 0, "resource": resource}]
        )

    def step(self, size: int, grid: Any = None, **fields: Any) -> Step:
        step = Step(
            (),
            self.calls.pipeline(self.pipeline),
            self.calls.group(self.group),
            (-(-size // 64), 1, 1) if grid is None else grid,
            [(self.x, 0, self.staging, 0, size * 4)],
        )
        return step._replace(**fields)

    def run(
        self, x: np.ndarray[Any, Any], *steps: tuple[Step, bytes], result: Any = None
    ) -> np.ndarray[Any, Any]:
        calls = self.calls
        out = np.empty_like(x) if result is None else result
        mapping = calls.submit(
            [(self.x, x)], steps, calls.label("größe"), self.staging, -(-out.nbytes // 4) * 4
        )
        assert calls.wait(mapping, None)
        assert mapping.is_done
        calls.read(mapping, 0, out)
        calls.unmap(mapping)
        return out


@pytest.fixture(scope="module", params=[PublicCalls, NativeCalls])
def bench(request: pytest.FixtureRequest, backend: WgpuBackend) -> Bench:
    if not backend.device.has_immediates:
        pytest.skip("the kernel takes immediates")
    return Bench(backend.device.wgpu, request.param(backend.device.wgpu))


def block(length: int, factor: int) -> bytes:
    return np.array([length, factor], np.uint32).tobytes()


@pytest.mark.parametrize("size", [1, 64, 1000, 16_384, 16_385, 200_000])
def test_what_is_written_comes_back_worked_on(bench: Bench, size: int) -> None:
    x = np.arange(size, dtype=np.uint32)
    for factor in (2, 3):
        got = bench.run(x, (bench.step(size), block(size, factor)))
        np.testing.assert_array_equal(got, x * factor)


def test_steps_run_in_order_with_their_own_immediates(bench: Bench) -> None:
    x = np.arange(100, dtype=np.uint32)
    steps = [(bench.step(100), block(100, 3)), (bench.step(100), block(50, 5))]
    got = bench.run(x, *steps)
    np.testing.assert_array_equal(got[:50], x[:50] * 15)
    np.testing.assert_array_equal(got[50:], x[50:] * 3)


def test_clears_precede_the_kernel(bench: Bench) -> None:
    x = np.arange(100, dtype=np.uint32)
    got = bench.run(x, (bench.step(100, clears=[(bench.x, 0, 40)]), block(100, 2)))
    np.testing.assert_array_equal(got, np.where(x < 10, 0, x * 2))


def test_the_device_may_have_the_grid(bench: Bench) -> None:
    bench.calls.write(bench.words, np.array([9, 1, 1, 1], np.uint32))
    x = np.arange(100, dtype=np.uint32)
    got = bench.run(x, (bench.step(100, grid=(bench.words, 4)), block(100, 2)))
    np.testing.assert_array_equal(got, np.where(x < 64, x * 2, x))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 65_537, 65_539])
def test_odd_sizes_are_padded_with_zeros(bench: Bench, size: int) -> None:
    whole = np.full(-(-size // 4) * 4, 7, np.uint8)
    bench.calls.write(bench.x, whole)
    data = np.arange(1, size + 1).astype(np.uint8)
    nothing = (bench.step(whole.size // 4), block(0, 0))
    got = bench.run(data, nothing, result=np.empty(whole.size, np.uint8))
    assert (got[:size] == data).all()
    assert (got[size:] == 0).all()


def test_memory_is_read_at_offsets_unless_a_word_is_set(bench: Bench) -> None:
    calls = bench.calls
    calls.write(bench.x, np.array([7, 0xFFFFFFFF, 3, 4], np.uint32))
    mapping = calls.copy(bench.x, bench.staging, 16)
    assert calls.wait(mapping, time.monotonic() + 60)
    one, two = np.zeros(1, np.uint32), np.zeros(2, np.uint32)
    assert not calls.fetch(mapping, 8, [0], [one])
    assert one[0] == 0
    assert calls.fetch(mapping, None, [12, 4], [one, two])
    assert (one[0], *two) == (4, 0xFFFFFFFF, 3)
    assert calls.words(mapping, 4, 2) == (0xFFFFFFFF, 3)
    calls.unmap(mapping)


def test_a_deadline_that_has_passed_leaves_a_mapping_that_can_be_waited_for(bench: Bench) -> None:
    calls = bench.calls
    calls.write(bench.x, np.full(1 << 18, 9, np.uint32))
    mapping = calls.copy(bench.x, bench.staging, 1 << 20)
    calls.wait(mapping, time.monotonic() - 1)  # done or not: no device need be slow
    assert calls.wait(mapping, None)
    assert calls.words(mapping, (1 << 20) - 4, 1) == (9,)
    calls.unmap(mapping)


def test_an_error_is_raised_and_nothing_is_submitted(bench: Bench) -> None:
    import wgpu

    x = np.arange(100, dtype=np.uint32)
    onto_itself = bench.step(100, copies=[(bench.x, 0, bench.x, 0, 16)])
    with pytest.raises(wgpu.GPUValidationError):
        bench.run(x, (onto_itself, block(100, 2)))
    with pytest.raises(wgpu.GPUValidationError):
        bench.calls.copy(bench.x, bench.x, 16)
    np.testing.assert_array_equal(bench.run(x, (bench.step(100), block(100, 2))), x * 2)


def test_a_released_object_has_no_handle(backend: WgpuBackend) -> None:
    calls = NativeCalls(backend.device.wgpu)
    buffer = backend.device.wgpu.create_buffer(size=16, usage="COPY_SRC")
    buffer._release()
    with pytest.raises(RuntimeError, match="released"):
        calls.buffer(buffer)


# Which one is taken


def test_the_installed_version_is_known_good() -> None:
    assert native_check.is_known_good()
    assert compare_declarations() is None


def test_the_self_test_passes_here(backend: WgpuBackend) -> None:
    assert native_check.self_test(backend.device.wgpu) is None


@pytest.mark.parametrize(
    ("native", "known", "expected"),
    [(True, True, "native"), (True, False, "native"), (False, True, "public")],
)
def test_direct_calls_are_taken_where_they_work(
    backend: WgpuBackend,
    monkeypatch: pytest.MonkeyPatch,
    native: bool,
    known: bool,
    expected: str,
) -> None:
    if not known:
        monkeypatch.setattr(native_check, "KNOWN_GOOD", frozenset())
    assert choose_calls(backend.device.wgpu, native=native).name == expected


def test_a_function_that_is_declared_otherwise_fails_the_self_test(
    backend: WgpuBackend, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    result, arguments = FUNCTIONS["wgpuDevicePoll"]
    monkeypatch.setitem(FUNCTIONS, "wgpuDevicePoll", (result, arguments[:2]))
    monkeypatch.setattr(native_check, "KNOWN_GOOD", frozenset())
    assert choose_calls(backend.device.wgpu, native=True).name == "public"
    assert "wgpuDevicePoll is declared as" in caplog.text


def plus_one(backend: WgpuBackend) -> WgpuPipeline:
    b = vw.ProgramBuilder("interrupted")
    x = b.read("x", vw.f32)
    b.output("y", vw.f32, like=x)[b.global_id()] = x[b.global_id()] + 1.0
    return backend.compile(b.build())


def test_ctrl_c_within_the_callback_of_a_mapping_is_not_lost(backend: WgpuBackend) -> None:
    """cffi swallows what its callbacks raise; the wait ends, and the interrupt comes through."""
    if not isinstance(backend.device.calls, NativeCalls):
        pytest.skip("the public interface has a callback of its own")
    pipe, given = plus_one(backend), np.ones(100, np.float32)
    assert pipe.fn(given).sum() == 200

    def interrupt(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name == "note":
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.setprofile(interrupt)
        with pytest.raises(KeyboardInterrupt):
            pipe.fn(given)
    finally:
        sys.setprofile(None)
        signal.signal(signal.SIGINT, before)
    assert pipe.fn(given).sum() == 200


@pytest.mark.parametrize("times", [1, 2, 5])
def test_ctrl_c_while_an_earlier_one_is_put_aside(
    backend: WgpuBackend, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """However often it comes, the wait ends and raises it once."""
    if not isinstance(backend.device.calls, NativeCalls):
        pytest.skip("the public interface has a callback of its own")
    pipe, given = plus_one(backend), np.ones(100, np.float32)
    left = list(range(times))

    class Interrupted(native.NativeMapping):
        def __setattr__(self, name: str, value: Any) -> None:
            if name == "status" and value and left:
                left.pop()
                raise KeyboardInterrupt
            super().__setattr__(name, value)

    monkeypatch.setattr(native, "NativeMapping", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        pipe.fn(given)
    assert not left
    for _ in range(3):
        assert pipe.fn(given).sum() == 200
