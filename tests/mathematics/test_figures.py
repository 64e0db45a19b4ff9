"""The figures that the documentation shows: of every function, and within the stated bounds."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.mathematics.functions import FUNCTIONS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
DTYPES = ("f16", "f32", "f64")


def stored(dtype: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(
        (REFERENCE / f"mathematics_{dtype}.json").read_text()
    )
    return found


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_function_was_measured(dtype: str) -> None:
    """On one device at least; measured again with scripts/measure_mathematics.py --write."""
    assert any(set(rows) == set(FUNCTIONS) for rows in stored(dtype).values())


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_figures_are_within_the_bounds(dtype: str) -> None:
    for device, rows in stored(dtype).items():
        for name, row in rows.items():
            assert 0 <= row["ulp"] <= FUNCTIONS[name].bound(dtype), (device, name, row)
            assert math.isfinite(row["ulp"])
            assert len(row["arguments"]) == FUNCTIONS[name].arity
            width = {"f16": 16, "f32": 32}.get(dtype, 64)
            assert not row["all"] or row["points"] == 1 << width
