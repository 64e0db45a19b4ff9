"""Every f32 input of each one-argument function, made on the device, compared with float64.

The work is cut into chunks, which a few threads take in turn: while one waits for the device,
another compares. The clock is looked at for each chunk, so that the deadline holds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import vyre_wgpu as vw
from scripts.mathematics.oracle import Oracle
from tests.mathematics.functions import FUNCTIONS
from vyre_wgpu.backends.wgpu import WgpuBackend

__all__ = ["ORDER", "every_input"]

ORDER = (
    *("exp", "log", "sin", "cos", "tanh", "exp2", "log2", "tan", "sigmoid", "expm1", "log1p"),
    *("atan", "sqrt", "rsqrt", "asin", "acos", "erf", "sinh", "cosh", "log10", "asinh", "acosh"),
    *("atanh", "cbrt", "erfc", "gamma", "lgamma"),
)
"""Most important first: the deadline cuts off the end."""

WORKERS = 3


def _program(name: str, count: int, stride: int) -> vw.Program:
    b = vw.ProgramBuilder(f"{name}_of_all", workgroup_size=256)
    base = b.param("base", vw.u32)
    out = b.output("out", vw.f32, count=count)
    b.extent(count)
    i = b.global_id()
    out[i] = FUNCTIONS[name].apply((base + i * stride).bitcast(vw.f32))
    return b.build()


def every_input(
    backend: WgpuBackend,
    make_oracle: Callable[[], Oracle],
    names: list[str],
    *,
    stride: int,
    chunk: int,
    deadline: float,
) -> Iterator[dict[str, Any]]:
    """Yields a row for each function: its worst error, where, and how many inputs were seen.

    Args:
        backend: where the functions run.
        make_oracle: called once in each worker thread.
        names: functions, in order.
        stride: only each so many-th input; 1 for all.
        chunk: inputs of one dispatch.
        deadline: `time.monotonic` at which no further chunk starts.
    """
    chunk = min(chunk, backend.device.limits.max_binding_size // 4 // 256 * 256)
    total = -(-(1 << 32) // stride)
    chunk = min(chunk, total)
    local = threading.local()

    def start() -> None:
        local.oracle = make_oracle()
        local.out = local.oracle.host_array(chunk)

    with ThreadPoolExecutor(WORKERS, initializer=start) as pool:
        for name in names:
            if time.monotonic() > deadline:
                yield {"function": name, "skipped": "no time left"}
                continue
            began = time.monotonic()
            try:
                pipe = backend.compile(_program(name, chunk, stride))

                def one(first: int, name: str = name, pipe: Any = pipe) -> tuple[float, int, int]:
                    if time.monotonic() > deadline:
                        return -1.0, 0, 0
                    base = first * stride
                    pipe.dispatch([], {"base": base & 0xFFFFFFFF}, out={"out": local.out})
                    count = min(chunk, total - first)
                    error, bits = local.oracle.compare(name, base, stride, local.out[:count])
                    return error, bits, count

                found = list(pool.map(one, range(0, total, chunk)))
            except Exception as error:
                yield {"function": name, "failed": f"{type(error).__name__}: {error}"[:300]}
                continue
            ulp, bits, _ = max(found)
            x = np.uint32(bits).view(np.float32)
            points = sum(count for _, _, count in found)
            if not points:
                yield {"function": name, "skipped": "no time left"}
                continue
            yield {
                "function": name,
                "ulp": ulp,
                "arguments": [float(x).hex()],
                "points": points,
                "all": points == 1 << 32,
                "seconds": round(time.monotonic() - began, 2),
            }
