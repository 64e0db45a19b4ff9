"""Round trips of 4 KB and 64 MB: this library beside the same work by hand and by others.

Every way multiplies and adds floats and brings them back, all in turn in one run on one machine, so
that only the ratios mean anything. The hand-written direct calls of wgpu-native are the
floor, and come first in each table. `--json` prints the figures for a program.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import _large_ways as large
import _ways as ways
import numpy as np

from vyre_wgpu.backends.wgpu import WgpuBackend

ROUNDS = 20
BASE = "vyre_wgpu"


def measure(chosen: dict[str, ways.Way], seconds: float) -> dict[str, dict[str, float]]:
    """Median, p10 and p90 of a call of each, in microseconds.

    The ways take turns, so that what else the machine does falls on all alike.
    """
    expected = np.arange(ways.N, dtype=np.float32) * 2 + 1
    times: dict[str, list[float]] = {name: [] for name in chosen}
    for run in chosen.values():
        np.testing.assert_array_equal(run(), expected)
        for _ in range(50):
            run()
    for _ in range(ROUNDS):
        for name, run in chosen.items():
            end = time.perf_counter() + seconds / ROUNDS
            while (start := time.perf_counter()) < end:
                run()
                times[name].append((time.perf_counter() - start) * 1e6)
    return {name: summary(taken) for name, taken in times.items()}


def measure_large(chosen: dict[str, ways.Way], seconds: float) -> dict[str, dict[str, float]]:
    """As `measure`, of 64 MB; in each round every way runs once."""
    times: dict[str, list[float]] = {name: [] for name in chosen}
    sample = slice(None, None, 4099)
    expected = np.arange(large.N, dtype=np.float32)[sample] * 2 + 1
    for run in chosen.values():
        np.testing.assert_array_equal(run()[sample], expected)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 5:
        for name, run in chosen.items():
            start = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - start) * 1e6)
    return {name: summary(taken) for name, taken in times.items()}


def measure_adding(
    backend: WgpuBackend, x: ways.Array, times: int = 300
) -> dict[str, dict[str, float]]:
    """Adding a dispatch to a recording, beside enqueueing one by hand."""
    floor, add = ways.with_library_calls(backend, x), ways.recording_a_dispatch(backend, x)
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for kind, call in enumerate((floor.enqueue, add)):
            start = time.perf_counter()
            call()
            taken[kind].append((time.perf_counter() - start) * 1e6)
        floor.finish()
    return {"library calls, enqueue": summary(taken[0]), "record.add": summary(taken[1])}


def summary(taken: list[float]) -> dict[str, float]:
    """Median, p10 and p90."""
    deciles = statistics.quantiles(taken, n=10)
    return {"median_us": statistics.median(taken), "p10_us": deciles[0], "p90_us": deciles[8]}


def allocated(run: ways.Way, times: int = 200) -> float:
    """Blocks of memory that Python holds more of after a call than before, on average."""
    run()
    before = sys.getallocatedblocks()
    for _ in range(times):
        run()
    return (sys.getallocatedblocks() - before) / times


def measure_halves(chosen: dict[str, ways.Halves], seconds: float) -> dict[str, dict[str, float]]:
    """As `measure`, of the first half only: enqueued, and not waited for."""
    times: dict[str, list[float]] = {name: [] for name in chosen}
    for _ in range(ROUNDS):
        for name, way in chosen.items():
            end = time.perf_counter() + seconds / ROUNDS
            while (start := time.perf_counter()) < end:
                way.enqueue()
                times[name].append((time.perf_counter() - start) * 1e6)
                way.finish()
    return {name: summary(taken) for name, taken in times.items()}


@contextmanager
def busy_thread() -> Iterator[None]:
    """Another thread that runs Python code without a pause."""
    stop: list[bool] = []

    def work() -> None:
        n = 0
        while not stop:
            n += 1

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.append(True)
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each way")
    parser.add_argument("--small", action="store_true", help="no 64 MB")
    arguments = parser.parse_args()
    x = np.arange(ways.N, dtype=np.float32)
    with WgpuBackend() as backend:
        chosen: dict[str, ways.Way] = {
            "library calls, spinning": ways.with_library_calls(backend, x),
            BASE: ways.with_vyre(backend, x),
            "library calls, blocking": ways.with_library_calls(backend, x, spin=False),
            "wgpu-py, objects reused": ways.with_public_interface(backend, x),
            "compute_with_buffers": ways.with_compute_with_buffers(x),
        }
        cupy = ways.with_cupy(x)
        if cupy is not None:
            chosen["CuPy ElementwiseKernel"] = cupy
        tables = {"round trip of 4 KB": measure(chosen, arguments.seconds)}
        recorded = {
            "library calls, spinning": chosen["library calls, spinning"],
            "replay": ways.with_a_recording(backend, x),
        }
        tables["a recorded dispatch"] = measure(recorded, arguments.seconds)
        halves = {
            "library calls, spinning": ways.with_library_calls(backend, x),
            "submit": ways.with_futures(backend, x),
        }
        tables["enqueue only"] = measure_halves(halves, arguments.seconds)
        tables["adding to a recording"] = measure_adding(backend, x)
        with busy_thread():
            busy = {name: chosen[name] for name in (BASE, "library calls, blocking")}
            tables["round trip beside a busy thread"] = measure(busy, arguments.seconds / 2)
        kept = allocated(chosen[BASE])
        if not arguments.small:
            many = np.arange(large.N, dtype=np.float32)
            of_64_mb = large.large_ways(backend, many)
            tables["64 MB in and out"] = measure_large(of_64_mb, 4 * arguments.seconds)
        adapter, calls = backend.adapter_info.summary, backend.device.calls.name
    if arguments.json:
        print(json.dumps({"adapter": adapter, "calls": calls, "kept_blocks": kept, **tables}))
        return
    print(f"{adapter}, {calls} calls; {kept:.2f} blocks of memory kept by a dispatch")
    for title, figures in tables.items():
        print(title)
        base = next(iter(figures.values()))["median_us"]
        for name, f in figures.items():
            print(
                f"  {name:36}{f['median_us']:9.1f} us  (p10 {f['p10_us']:.1f}, "
                f"p90 {f['p90_us']:.1f})  {f['median_us'] / base:5.2f} x"
            )


if __name__ == "__main__":
    main()
