"""Starting: from a program to its first result, cold, from disk and from memory, beside by hand.

Each row is measured in fresh processes, one after the other in rounds, so that a change of the
machine's load meets all of them. Times start when the device is open and end with the results of
all programs on the host. "By hand" reads the same WGSL from files and makes module, pipeline and
first dispatch with wgpu-py's own interface. Only ratios mean anything. `--json` prints the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAMS = 20
N = 1024


# What a measured process does


def make_programs() -> list[Any]:
    """Twenty programs that differ in size: chains of 10 to 200 operations on one element."""
    import vyre_wgpu as vw

    programs = []
    for number in range(PROGRAMS):
        b = vw.ProgramBuilder(f"chain {number}")
        x = b.read("x", vw.u32)
        y = b.output("y", vw.u32, like=x)
        i = b.global_id(0)
        value = b.let("v", x[i])
        for step in range(5 * (number + 1)):
            value = (value ^ (value >> 3)) * (2 * step + number + 3)
        y[i] = value
        programs.append(b.build())
    return programs


def expected(number: int) -> Any:
    """What program ``number`` gives for 0, 1, 2, ...: NumPy's result."""
    import numpy as np

    value = np.arange(N, dtype=np.uint32)
    for step in range(5 * (number + 1)):
        value = (value ^ (value >> np.uint32(3))) * np.uint32(2 * step + number + 3)
    return value


def with_vyre(folder: Path) -> dict[str, Any]:
    """Compiles and runs all; the cache decides whether that is cold or warm."""
    import numpy as np

    import vyre_wgpu as vw

    x = np.arange(N, dtype=np.uint32)
    programs = make_programs()
    backend = vw.get_backend()
    # The first dispatch of a process sets up what all share: not what is compared.
    vw.compile(first_program()).fn(x)
    before = backend.stats()
    start = time.perf_counter()
    results = [vw.compile(program).fn(x) for program in programs]
    seconds = time.perf_counter() - start
    after = backend.stats()
    for number, result in enumerate(results):
        np.testing.assert_array_equal(result, expected(number))
    if not any(folder.glob("*.wgsl")):
        for number, program in enumerate(programs):
            (folder / f"{number:02}.wgsl").write_text(vw.compile(program).wgsl)
    start = time.perf_counter()
    for program in programs:
        vw.compile(program).fn(x)
    hot = time.perf_counter() - start
    return {
        "seconds": seconds,
        "hot_seconds": hot,
        "lowerings": after.lowerings - before.lowerings,
        "disk_hits": after.disk_hits - before.disk_hits,
    }


def first_program() -> Any:
    import vyre_wgpu as vw

    b = vw.ProgramBuilder("first")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    y[b.global_id(0)] = x[b.global_id(0)]
    return b.build()


FIRST_WGSL = """
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = x[id.x]; }
"""


def by_hand(folder: Path) -> dict[str, Any]:
    """File, module, pipeline and first dispatch with wgpu-py: buffers and layouts made once."""
    import numpy as np
    import wgpu

    from vyre_wgpu.runtime.device import open_device

    device = open_device().wgpu
    x = np.arange(N, dtype=np.uint32)
    usage = wgpu.BufferUsage
    source = device.create_buffer(size=x.nbytes, usage=usage.STORAGE | usage.COPY_DST)
    target = device.create_buffer(
        size=x.nbytes, usage=usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
    )
    staging = device.create_buffer(size=x.nbytes, usage=usage.MAP_READ | usage.COPY_DST)
    kinds = ("read-only-storage", "storage")
    layout = device.create_bind_group_layout(
        entries=[
            {"binding": k, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}}
            for k, kind in enumerate(kinds)
        ]
    )
    group = device.create_bind_group(
        layout=layout,
        entries=[
            {"binding": k, "resource": {"buffer": buffer, "offset": 0, "size": x.nbytes}}
            for k, buffer in enumerate((source, target))
        ],
    )
    block = np.array([N, 1, 1, 0, 0, 0, N, N], np.uint32)

    def run(code: str, immediates: int) -> np.ndarray:
        pipeline = device.create_compute_pipeline(
            layout=device.create_pipeline_layout(
                bind_group_layouts=[layout], immediate_size=immediates
            ),
            compute={"module": device.create_shader_module(code=code), "entry_point": "main"},
        )
        device.queue.write_buffer(source, 0, x)
        encoder = device.create_command_encoder()
        encoder.clear_buffer(target)
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, group)
        if immediates:
            compute.set_immediates(0, block.tobytes(), 0, immediates)
        compute.dispatch_workgroups(N // 256)
        compute.end()
        encoder.copy_buffer_to_buffer(target, 0, staging, 0, x.nbytes)
        device.queue.submit([encoder.finish()])
        staging.map_sync("READ")
        result = np.frombuffer(staging.read_mapped(copy=True), np.uint32)
        staging.unmap()
        return result

    run(FIRST_WGSL, 0)
    start = time.perf_counter()
    results = [
        run((folder / f"{number:02}.wgsl").read_text(), block.nbytes) for number in range(PROGRAMS)
    ]
    seconds = time.perf_counter() - start
    for number, result in enumerate(results):
        np.testing.assert_array_equal(result, expected(number))
    return {"seconds": seconds}


# Imports

IMPORTS = {
    "numpy and wgpu's native backend": "import numpy, wgpu.backends.wgpu_native",
    "the same and vyre_wgpu": "import numpy, wgpu.backends.wgpu_native, vyre_wgpu",
    "the same and what compile needs": "import numpy, wgpu.backends.wgpu_native, vyre_wgpu\n"
    "import vyre_wgpu.backends.wgpu",
    "vyre_wgpu.ir": "import vyre_wgpu.ir",
}


def import_seconds(statement: str) -> float:
    """Seconds that an import takes in a new process, without the interpreter's own start."""
    code = f"import time; t = time.perf_counter()\n{statement}\nprint(time.perf_counter() - t)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(out.stdout)


# In one process: a seen object, and an equal one


def hot_compile() -> dict[str, float]:
    """Microseconds: compile of a seen object, fingerprint and compile of new equal objects."""
    import numpy as np

    import vyre_wgpu as vw

    x = np.arange(N, dtype=np.uint32)
    seen = first_program()
    pipe = vw.compile(seen)
    fingerprint, compiled = equal_objects(vw)
    return {
        "round trip of 4 KB": _median(lambda _: pipe.fn(x), range(300)),
        "compile of a seen object": _median(lambda _: vw.compile(seen), range(3000)),
        "fingerprint of an equal new object": fingerprint,
        "compile of an equal new object": compiled,
    }


def equal_objects(vw: Any, rounds: int = 60) -> tuple[float, float]:
    """Microseconds for the fingerprint of a new object, and for compiling one, equal to a seen one.

    Both are means over the twenty programs of medians over rounds. In each round new objects of all
    have the one, then as many the other.
    """
    for program in make_programs():
        vw.compile(program)
    calls = (lambda program: program.fingerprint, vw.compile)
    times: tuple[list[list[int]], list[list[int]]] = ([], [])
    for number in range(rounds):
        for kind in (0, 1) if number % 2 else (1, 0):
            row = []
            for program in make_programs():
                start = time.perf_counter_ns()
                calls[kind](program)
                row.append(time.perf_counter_ns() - start)
            times[kind].append(row)
    means = [
        statistics.mean(map(statistics.median, zip(*of_kind, strict=True))) / 1e3
        for of_kind in times
    ]
    return means[0], means[1]


def _median(call: Any, given: Any) -> float:
    times = []
    for item in given:
        start = time.perf_counter_ns()
        call(item)
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1e3


# The parent


def measured(way: str, folder: Path, cache: Path, driver_cache: Path | None) -> dict[str, Any]:
    environment = os.environ | {"VYRE_WGPU_CACHE_DIR": str(cache), "VYRE_WGPU_CACHE": "rw"}
    environment["MESA_SHADER_CACHE_DISABLE"] = "false" if driver_cache else "true"
    if driver_cache:
        environment["MESA_SHADER_CACHE_DIR"] = str(driver_cache)
    command = [sys.executable, __file__, "--measure", way, "--folder", str(folder)]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found: dict[str, Any] = json.loads(out.stdout.splitlines()[-1])
    return found


def starts(rounds: int, folder: Path, driver_cache: Path | None) -> dict[str, Any]:
    """Medians over rounds of fresh processes; each round has every way once."""
    warm_cache = folder / ("warm-on" if driver_cache else "warm-off")
    measured("vyre", folder, warm_cache, driver_cache)
    measured("hand", folder, warm_cache, driver_cache)
    rows: dict[str, list[float]] = {name: [] for name in ("cold", "warm", "hot", "by hand")}
    for number in range(rounds):
        cold = measured(
            "vyre", folder, folder / f"cold-{number}-{bool(driver_cache)}", driver_cache
        )
        assert (cold["lowerings"], cold["disk_hits"]) == (PROGRAMS, 0), cold
        warm = measured("vyre", folder, warm_cache, driver_cache)
        assert (warm["lowerings"], warm["disk_hits"]) == (0, PROGRAMS), warm
        hand = measured("hand", folder, warm_cache, driver_cache)
        rows["cold"].append(cold["seconds"])
        rows["warm"].append(warm["seconds"])
        rows["hot"].append(warm["hot_seconds"])
        rows["by hand"].append(hand["seconds"])
    found: dict[str, Any] = {name: statistics.median(times) for name, times in rows.items()}
    found["warm / by hand"] = statistics.median(
        w / h for w, h in zip(rows["warm"], rows["by hand"], strict=True)
    )
    found["fastest warm / fastest by hand"] = min(rows["warm"]) / min(rows["by hand"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", choices=("vyre", "hand", "hot"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        ways = {"vyre": with_vyre, "hand": by_hand, "hot": lambda _: hot_compile()}
        print(json.dumps(ways[arguments.measure](arguments.folder)))
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        figures = {
            "driver cache on": starts(arguments.rounds, folder, folder / "driver"),
            "driver cache off": starts(arguments.rounds, folder, None),
            "compile_us": measured("hot", folder, folder / "hot", folder / "driver"),
            "import_s": {
                name: statistics.median(import_seconds(text) for _ in range(arguments.rounds))
                for name, text in IMPORTS.items()
            },
        }
    if arguments.json:
        print(json.dumps(figures))
    else:
        _show(figures)


def _show(figures: dict[str, Any]) -> None:
    print(f"{PROGRAMS} programs, from the open device to all first results, fresh processes")
    for state in ("driver cache on", "driver cache off"):
        print(f"  {state}")
        hand = figures[state]["by hand"]
        for name in ("cold", "warm", "hot", "by hand"):
            seconds = figures[state][name]
            print(f"    {name:10}{seconds * 1e3:9.1f} ms  {seconds / hand:6.2f} x by hand")
        for name in ("warm / by hand", "fastest warm / fastest by hand"):
            print(f"    {name}: {figures[state][name]:.2f}")
    for name, us in figures["compile_us"].items():
        print(f"  {name:38}{us:9.2f} us")
    base = next(iter(figures["import_s"].values()))
    for name, seconds in figures["import_s"].items():
        print(f"  import {name:34}{seconds * 1e3:7.1f} ms  {seconds / base:5.2f} x")


if __name__ == "__main__":
    main()
