"""Measures the elementary functions on the device at hand; the documentation shows the figures.

    python scripts/measure_mathematics.py                     the points of the tests
    python scripts/measure_mathematics.py --exhaustive        all 2^32 inputs of each f32 function
    python scripts/measure_mathematics.py --speed             beside builtins and CuPy
    python scripts/measure_mathematics.py --merge FILE...     takes in files of other machines

Each function gives a line of JSON as soon as it is done. `--write` puts the figures into
docs/reference/ at the end, `--out FILE` after each function into a file that `--merge` takes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.mathematics.exhaustive import ORDER, every_input  # noqa: E402
from scripts.mathematics.oracle import CupyOracle, NumpyOracle  # noqa: E402
from scripts.mathematics.speed import CASES, speed  # noqa: E402
from tests.mathematics.functions import FUNCTIONS  # noqa: E402
from tests.mathematics.measure import measure  # noqa: E402
from vyre_wgpu.backends.wgpu import WgpuBackend  # noqa: E402

REFERENCE = ROOT / "docs" / "reference"
Figures = dict[str, dict[str, dict[str, Any]]]
"""Name of a table (``f32``, ``speed``, ...) to device to function to its row."""


def sampled(
    backend: WgpuBackend, dtype: str, names: list[str], each: int
) -> Iterator[dict[str, Any]]:
    """The points of the tests."""
    for name in names:
        function = FUNCTIONS[name]
        began = time.monotonic()
        try:
            points = function.points(dtype, each)
            found = measure(function, dtype, backend, points)
        except Exception as error:
            yield {"function": name, "failed": f"{type(error).__name__}: {error}"[:300]}
            continue
        yield {
            "function": name,
            "ulp": found.ulp,
            "arguments": [
                float(x).hex() if x.dtype.kind == "f" else str(x) for x in found.arguments
            ],
            "points": len(points[0]),
            "all": dtype == "f16" and function.arity == 1,
            "seconds": round(time.monotonic() - began, 2),
        }


def merge(into: Figures, table: str, device: str, name: str, row: dict[str, Any]) -> None:
    """Takes a row in; figures from all inputs are not replaced by those from some."""
    rows = into.setdefault(table, {}).setdefault(device, {})
    if not (rows.get(name, {}).get("all") and not row.get("all")):
        rows[name] = row


def write_reference(figures: Figures) -> None:
    """docs/reference/mathematics_TABLE.json, with the devices that are there already."""
    for table, devices in figures.items():
        path = REFERENCE / f"mathematics_{table}.json"
        whole: Figures = {table: json.loads(path.read_text())} if path.exists() else {}
        for device, rows in devices.items():
            for name, row in rows.items():
                merge(whole, table, device, name, row)
        path.write_text(json.dumps(whole[table], indent=1, sort_keys=True) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exhaustive", action="store_true", help="all inputs")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--merge", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--functions", help="names with commas (default: all)")
    parser.add_argument("--dtype", default="f32", choices=["f16", "f32", "f64"])
    parser.add_argument("--each", type=int, default=20_000, help="points of a class of binades")
    parser.add_argument("--stride", type=int, default=1, help="exhaustive: each so many-th input")
    parser.add_argument("--chunk-bits", type=int, default=26, help="exhaustive: inputs at a time")
    parser.add_argument("--oracle", default="cupy", choices=["cupy", "numpy"])
    parser.add_argument(
        "--elements", type=int, default=1 << 26, help="speed: of an array, a power of two"
    )
    parser.add_argument("--seconds", type=float, default=110.0, help="start nothing later")
    parser.add_argument("--write", action="store_true", help="into docs/reference/")
    parser.add_argument("--out", type=Path, help="file for --merge")
    arguments = parser.parse_args()

    if arguments.merge:
        for path in arguments.merge:
            write_reference(json.loads(path.read_text()))
        return
    if arguments.exhaustive and arguments.oracle == "cupy" and find_spec("cupy") is None:
        parser.error("CuPy is missing here: take --oracle numpy")
    deadline = time.monotonic() + arguments.seconds
    wanted = arguments.functions.split(",") if arguments.functions else None
    figures: Figures = {}
    with WgpuBackend() as backend:
        device = backend.adapter_info.name
        if arguments.speed:
            table = "speed"
            rows = speed(backend, wanted or list(CASES), arguments.elements, deadline)
        elif arguments.exhaustive:
            table = "f32"
            rows = every_input(
                backend,
                CupyOracle if arguments.oracle == "cupy" else NumpyOracle,
                wanted or list(ORDER),
                stride=arguments.stride,
                chunk=1 << arguments.chunk_bits,
                deadline=deadline,
            )
        else:
            table = arguments.dtype
            rows = sampled(backend, table, wanted or list(FUNCTIONS), arguments.each)
        for row in rows:
            print(json.dumps({"device": device, **row}), flush=True)
            name = row.pop("function")
            row.pop("seconds", None)
            if "ulp" in row or "ours_us" in row:
                merge(figures, table, device, name, row)
            if arguments.out:
                arguments.out.write_text(json.dumps(figures, indent=1) + "\n")
    if arguments.write:
        write_reference(figures)


if __name__ == "__main__":
    main()
