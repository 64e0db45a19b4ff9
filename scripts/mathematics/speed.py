"""Times the functions beside the builtin of the same name and CuPy's float32 function.

Ours and the builtins run in the same kernel text: four elements a lane, buffers on the device,
several dispatches before one wait. So the figures are of the functions, and of the memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import wgpu

from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.wgsl.prelude import HELPERS, with_dependencies

__all__ = ["speed"]

# Function: (WGSL's builtin, CuPy's function, lowest and highest operand, of the second).
CASES: dict[str, tuple[str, str, tuple[float, float]]] = {
    "exp": ("exp", "exp", (-10, 10)),
    "log": ("log", "log", (0.01, 100)),
    "sin": ("sin", "sin", (-100, 100)),
    "cos": ("cos", "cos", (-100, 100)),
    "tanh": ("tanh", "tanh", (-4, 4)),
    "sqrt": ("sqrt", "sqrt", (0, 100)),
    "pow": ("pow", "power", (0.1, 4)),
    "exp2": ("exp2", "exp2", (-10, 10)),
    "log2": ("log2", "log2", (0.01, 100)),
    "tan": ("tan", "tan", (-100, 100)),
    "atan": ("atan", "arctan", (-10, 10)),
    "atan2": ("atan2", "arctan2", (-10, 10)),
    "rsqrt": ("inverseSqrt", "", (0.01, 100)),
    "asin": ("asin", "arcsin", (-1, 1)),
    "acos": ("acos", "arccos", (-1, 1)),
    "sinh": ("sinh", "sinh", (-10, 10)),
    "cosh": ("cosh", "cosh", (-10, 10)),
    "asinh": ("asinh", "arcsinh", (-10, 10)),
    "acosh": ("acosh", "arccosh", (1, 10)),
    "atanh": ("atanh", "arctanh", (-0.9, 0.9)),
    "expm1": ("", "expm1", (-10, 10)),
    "log1p": ("", "log1p", (-0.9, 100)),
    "log10": ("", "log10", (0.01, 100)),
    "cbrt": ("", "cbrt", (-100, 100)),
    "hypot": ("", "hypot", (-100, 100)),
    "erf": ("", "special.erf", (-4, 4)),
    "erfc": ("", "special.erfc", (-4, 9)),
    "gamma": ("", "special.gamma", (0.1, 30)),
    "lgamma": ("", "special.gammaln", (0.1, 100)),
    "sigmoid": ("", "special.expit", (-10, 10)),
}
BINARY = {"pow", "atan2", "hypot"}
DISPATCHES = 20

KERNEL = """
struct Block { zero: u32 }
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> y: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> d: Block;
$HELPERS
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32,
        @builtin(num_workgroups) groups: vec3<u32>) {
  let i = (group.y * groups.x + group.x) * 256u + lane + d.zero;
  let a = x[i];
  let b = y[i];
  out[i] = vec4<f32>($CALLS);
}
"""


class Bench:
    """Buffers of so many elements on the device, and a way to time a function over them."""

    def __init__(self, backend: WgpuBackend, elements: int) -> None:
        self.device: Any = backend.device.wgpu
        self.elements = elements
        usage = wgpu.BufferUsage
        storage = usage.STORAGE | usage.COPY_DST | usage.COPY_SRC
        self.x, self.y, self.out = (
            self.device.create_buffer(size=4 * elements, usage=storage) for _ in range(3)
        )
        zero = self.device.create_buffer(size=16, usage=usage.UNIFORM)
        kinds = ["read-only-storage", "read-only-storage", "storage", "uniform"]
        self.layout = self.device.create_bind_group_layout(
            entries=[
                {"binding": k, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}}
                for k, kind in enumerate(kinds)
            ]
        )
        self.group = self.device.create_bind_group(
            layout=self.layout,
            entries=[
                {"binding": k, "resource": {"buffer": buffer}}
                for k, buffer in enumerate((self.x, self.y, self.out, zero))
            ],
        )

    def fill(self, x: np.ndarray, y: np.ndarray) -> None:
        self.device.queue.write_buffer(self.x, 0, x)
        self.device.queue.write_buffer(self.y, 0, y)

    def seconds(self, call: str, helpers: list[str]) -> float:
        """Seconds of one pass over all elements, the best of three times several dispatches."""
        text = "\n".join(HELPERS[name].text for name in with_dependencies(helpers))
        calls = ", ".join(call.format(f"a.{c}", f"b.{c}") for c in "xyzw")
        code = KERNEL.replace("$HELPERS", text).replace("$CALLS", calls)
        pipeline = self.device.create_compute_pipeline(
            layout=self.device.create_pipeline_layout(bind_group_layouts=[self.layout]),
            compute={
                "module": self.device.create_shader_module(code=code),
                "entry_point": "main",
            },
        )
        groups = self.elements // 1024

        def run(dispatches: int) -> float:
            encoder = self.device.create_command_encoder()
            compute = encoder.begin_compute_pass()
            compute.set_pipeline(pipeline)
            compute.set_bind_group(0, self.group)
            for _ in range(dispatches):
                compute.dispatch_workgroups(min(groups, 256), max(groups // 256, 1))
            compute.end()
            commands = encoder.finish()
            start = time.perf_counter()
            self.device.queue.submit([commands])
            self.device.queue.read_buffer(self.out, 0, 16)
            return time.perf_counter() - start

        run(1)
        once = min(run(1) for _ in range(3))
        return max(min(run(DISPATCHES + 1) for _ in range(3)) - once, 1e-9) / DISPATCHES


def _cupy_timer(elements: int) -> Callable[[str, np.ndarray, np.ndarray, bool], float | None]:
    """Seconds of CuPy's function over resident arrays, or None where there is none."""
    try:
        import cupy
    except ImportError:
        return lambda name, x, y, binary: None

    def seconds(name: str, x: np.ndarray, y: np.ndarray, binary: bool) -> float | None:
        if not name:
            return None
        try:
            if name.startswith("special."):
                from cupyx.scipy import special

                function = getattr(special, name.removeprefix("special."))
            else:
                function = getattr(cupy, name)
            operands = [cupy.asarray(x), cupy.asarray(y)][: 2 if binary else 1]
            out = cupy.empty(elements, np.float32)
            function(*operands, out=out)
            best = float("inf")
            for _ in range(3):
                start, end = cupy.cuda.Event(), cupy.cuda.Event()
                start.record()
                for _ in range(DISPATCHES):
                    function(*operands, out=out)
                end.record()
                end.synchronize()
                best = min(best, cupy.cuda.get_elapsed_time(start, end) / 1e3)
        except Exception as error:
            print(f"CuPy's {name}: {type(error).__name__}: {error}"[:200], flush=True)
            return None
        return best / DISPATCHES

    return seconds


def speed(
    backend: WgpuBackend, names: list[str], elements: int, deadline: float
) -> Iterator[dict[str, Any]]:
    """Yields a row of microseconds for each function."""
    bench = Bench(backend, elements)
    cupy_seconds = _cupy_timer(elements)
    # A million random numbers are repeated: making all of them would take longer than the rest.
    some = np.random.default_rng(1).random((2, min(elements, 1 << 20)), np.float32)
    copied = bench.seconds("{0}", [])
    yield {"function": "copy", "elements": elements, "ours_us": round(copied * 1e6, 1)}
    for name in names:
        if name not in CASES or time.monotonic() > deadline:
            continue
        builtin, cupys, (low, high) = CASES[name]
        scaled = (low + (high - low) * some).astype(np.float32)
        x, y = (np.tile(column, elements // column.size) for column in scaled)
        bench.fill(x, y)
        operands = "({0}, {1})" if name in BINARY else "({0})"
        row: dict[str, Any] = {"function": name, "elements": elements}
        try:
            helper = f"h_{name}_f32"
            ours = (helper + operands, [helper]) if helper in HELPERS else (name + operands, [])
            row["ours_us"] = round(bench.seconds(*ours) * 1e6, 1)
            if builtin:
                row["builtin_us"] = round(bench.seconds(builtin + operands, []) * 1e6, 1)
                row["to_builtin"] = round(row["ours_us"] / row["builtin_us"], 2)
        except Exception as error:
            row["failed"] = f"{type(error).__name__}: {error}"[:300]
        theirs = cupy_seconds(cupys, x, y, name in BINARY)
        if theirs is not None and "ours_us" in row:
            row["cupy_us"] = round(theirs * 1e6, 1)
            row["to_cupy"] = round(row["ours_us"] / row["cupy_us"], 2)
        yield row
