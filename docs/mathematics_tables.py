"""Rows of the tables of elementary functions, from what `scripts/measure_mathematics.py` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vyre_wgpu.wgsl.mathematics.bounds import BOUNDS

__all__ = ["errors", "figures", "speed"]

Table = tuple[list[str], list[list[str]]]

_REFERENCE = Path(__file__).parent / "reference"
_SPELLINGS = {
    "add": "x + y",
    "sub": "x - y",
    "mul": "x * y",
    "div": "x / y",
    "mod": "x % y",
    "powi": "x ** n",
    "pow": "x ** y",
}
_BINARY = {"atan2", "hypot", "fmod"}


def figures(table: str) -> dict[str, dict[str, Any]]:
    """Device to function to row of one file; empty where nothing was measured yet."""
    path = _REFERENCE / f"mathematics_{table}.json"
    found: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.exists() else {}
    return found


def errors(dtype: str) -> Table:
    """Function, bound, method, and the worst error with its argument for each device."""
    measured = figures(dtype)
    head = ["function", "bound", *(["method"] if dtype != "f16" else [])]
    head += [f"worst on {device}" for device in measured]
    rows = []
    for (name, of), bound in BOUNDS.items():
        if of != ("f32" if dtype == "f16" else dtype):
            continue
        cells = [f"`{_spelling(name)}`"]
        cells += ["1"] if dtype == "f16" else [_bound(bound.ulp, bound.absolute_left_of_zero)]
        cells += [bound.method] if dtype != "f16" else []
        cells += [_worst(rows_of[name]) if name in rows_of else "" for rows_of in measured.values()]
        rows.append(cells)
    return head, rows


def speed() -> Table:
    """Microseconds of each function on each device, and the ratios to the builtin and CuPy."""
    head = ["device", "function", "elements", "ours, us", "builtin", "ours / builtin"]
    head += ["CuPy", "ours / CuPy"]
    keys = ["elements", "ours_us", "builtin_us", "to_builtin", "cupy_us", "to_cupy"]
    rows = []
    for device, functions in figures("speed").items():
        for name, row in functions.items():
            rows.append([device, f"`{name}`", *(str(row.get(key, "")) for key in keys)])
    return head, rows


def _spelling(name: str) -> str:
    return _SPELLINGS.get(name, f"vw.{name}({'x, y' if name in _BINARY else 'x'})")


def _bound(ulp: float, absolute: float) -> str:
    text = "exact" if ulp == 0 else f"{ulp:g}"
    if not absolute:
        return text
    exponent = absolute.hex().partition("p")[2]
    return f"{text}, or 2^{exponent} absolute for x < 0"


def _worst(row: dict[str, Any]) -> str:
    values = (_number(text) for text in row["arguments"])
    seen = "all inputs" if row["all"] else f"{row['points']:,} points"
    return f"{row['ulp']:.2f} at {', '.join(values)} ({seen})"


def _number(text: str) -> str:
    value = float.fromhex(text) if "0x" in text else float(text)
    return f"{value:.9g}"
