"""A 4 KB round trip: this library beside the same work through wgpu-py's own interface.

Every way multiplies and adds 1,024 floats and brings them back, in one run on one machine. Only the
ratios mean anything. `--json` prints the figures for a program.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import numpy as np
import wgpu
from wgpu.utils.compute import compute_with_buffers

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend

N = 1024
WGSL = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&x)) { y[id.x] = x[id.x] * 2.0 + 1.0; }
}
"""


def with_vyre(backend: WgpuBackend, x: np.ndarray) -> Callable[[], np.ndarray]:
    b = vw.ProgramBuilder("axpb")
    source = b.read("x", vw.f32)
    target = b.output("y", vw.f32, like=source)
    i = b.global_id()
    target[i] = source[i] * 2.0 + 1.0
    pipe = backend.compile(b.build())
    return lambda: pipe.fn(x)


def with_reused_objects(device: wgpu.GPUDevice, x: np.ndarray) -> Callable[[], np.ndarray]:
    """wgpu-py's public interface with everything made once."""
    usage = wgpu.BufferUsage
    source = device.create_buffer(size=x.nbytes, usage=usage.STORAGE | usage.COPY_DST)
    target = device.create_buffer(size=x.nbytes, usage=usage.STORAGE | usage.COPY_SRC)
    staging = device.create_buffer(size=x.nbytes, usage=usage.MAP_READ | usage.COPY_DST)
    pipeline = device.create_compute_pipeline(
        layout="auto",
        compute={"module": device.create_shader_module(code=WGSL), "entry_point": "main"},
    )
    group = device.create_bind_group(
        layout=pipeline.get_bind_group_layout(0),
        entries=[
            {"binding": k, "resource": {"buffer": buffer, "offset": 0, "size": x.nbytes}}
            for k, buffer in enumerate((source, target))
        ],
    )

    def run() -> np.ndarray:
        device.queue.write_buffer(source, 0, x)
        encoder = device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(N // 256)
        compute.end()
        encoder.copy_buffer_to_buffer(target, 0, staging, 0, x.nbytes)
        device.queue.submit([encoder.finish()])
        staging.map_sync("READ")
        result = np.frombuffer(staging.read_mapped(copy=True), np.float32)
        staging.unmap()
        return result

    return run


def with_buffers(x: np.ndarray) -> Callable[[], np.ndarray]:
    """wgpu-py's helper, which makes everything anew each time."""

    def run() -> np.ndarray:
        out = compute_with_buffers({0: x}, {1: (N, "f")}, WGSL, n=(N // 256, 1, 1))
        return np.frombuffer(out[1], np.float32)

    return run


def measure(
    run: Callable[[], np.ndarray], expected: np.ndarray, seconds: float
) -> dict[str, float]:
    """Median, p10 and p90 of one call, in microseconds."""
    np.testing.assert_array_equal(run(), expected)
    for _ in range(20):
        run()
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e6)
    deciles = statistics.quantiles(times, n=10)
    return {"median_us": statistics.median(times), "p10_us": deciles[0], "p90_us": deciles[8]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each way")
    arguments = parser.parse_args()
    x = np.arange(N, dtype=np.float32)
    with WgpuBackend() as backend:
        ways = {
            "vyre_wgpu": with_vyre(backend, x),
            "wgpu-py, objects reused": with_reused_objects(backend.device.wgpu, x),
            "compute_with_buffers": with_buffers(x),
        }
        figures = {name: measure(run, x * 2 + 1, arguments.seconds) for name, run in ways.items()}
        adapter = backend.adapter_info.summary
    if arguments.json:
        print(json.dumps({"adapter": adapter, "round_trip_4KB": figures}))
        return
    print(f"4 KB round trip on {adapter}")
    base = figures["vyre_wgpu"]["median_us"]
    for name, f in figures.items():
        print(
            f"  {name:26}{f['median_us']:9.0f} us  (p10 {f['p10_us']:.0f}, p90 {f['p90_us']:.0f})"
            f"  {f['median_us'] / base:5.2f} x"
        )


if __name__ == "__main__":
    main()
