"""The measurement of all inputs, over some of them: it sees each chunk, and keeps its deadline."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from scripts.mathematics.exhaustive import ORDER, every_input
from scripts.mathematics.oracle import NumpyOracle
from tests.mathematics.functions import FUNCTIONS
from vyre_wgpu.backends.wgpu import WgpuBackend

STRIDE = 65_521


class WrongFrom(NumpyOracle):
    """Sees results that are wrong from a place near the end on, to show that it is looked at."""

    def compare(self, name: str, base: int, stride: int, got: Any) -> tuple[float, int]:
        wrong = np.where(base + stride * np.arange(got.size) >= 0xC2000000, np.float32(7), got)
        return super().compare(name, base, stride, wrong)


def test_all_functions_of_one_operand_are_in_the_order() -> None:
    assert sorted(ORDER) == sorted(n for n, f in FUNCTIONS.items() if f.arity == 1)


@pytest.mark.gpu
def test_every_chunk_is_compared(wgpu_backend: WgpuBackend) -> None:
    """Also the last, shorter one; the worst of all is the result."""
    for oracle, within in ((NumpyOracle, True), (WrongFrom, False)):
        (row,) = every_input(
            wgpu_backend, oracle, ["exp"], stride=STRIDE, chunk=1 << 12, deadline=float("inf")
        )
        assert row["points"] == -(-(1 << 32) // STRIDE)
        assert not row["all"]
        assert (row["ulp"] <= FUNCTIONS["exp"].bound("f32")) == within, row


@pytest.mark.gpu
def test_nothing_starts_behind_the_deadline(wgpu_backend: WgpuBackend) -> None:
    rows = every_input(
        wgpu_backend,
        NumpyOracle,
        ["exp", "log"],
        stride=STRIDE,
        chunk=1 << 12,
        deadline=time.monotonic() - 1,
    )
    assert [(row["function"], "skipped" in row) for row in rows] == [("exp", True), ("log", True)]
