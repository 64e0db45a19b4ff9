"""Random programs give on the device what the reference interpreter says they mean.

``VYRE_TEST_FUZZ_PROGRAMS`` asks for the slow test and says how many programs it runs; each run
takes new ones unless ``VYRE_TEST_FUZZ_SEED`` gives a seed. A fifth of the programs is compiled with
``checks="trap"``; with ``VYRE_TEST_FUZZ_CHECKS=trap`` all are. A quarter is compiled
without passes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

import vyre_wgpu as vw
from tests.fuzz.case import Case
from tests.fuzz.differential import Device, check, compare
from tests.fuzz.strategies import cases

pytestmark = pytest.mark.gpu

FEW = 300
MANY = int(os.environ.get("VYRE_TEST_FUZZ_PROGRAMS") or 0)
SEED = os.environ.get("VYRE_TEST_FUZZ_SEED")
CHECKS = os.environ.get("VYRE_TEST_FUZZ_CHECKS") or ""
COMMON = {
    "deadline": None,
    "database": None,
    "phases": (Phase.generate, Phase.shrink),
    "suppress_health_check": list(HealthCheck),
    "report_multiple_bugs": False,
}


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    opened = Device(tmp_path_factory.mktemp("fuzz"))
    yield opened
    opened.close()


def agree(device: Device, count: int, budget: int, **more: Any) -> None:
    """Checks so many distinct programs; Hypothesis repeats some, so it is asked for more."""
    seen: set[str] = set()

    @settings(max_examples=2 * count, **COMMON, **more)
    @given(case=cases(budget, CHECKS))
    def agrees(case: Case) -> None:
        fingerprint = case.program.fingerprint
        if len(seen) < count and fingerprint not in seen:
            check(case, device)
            seen.add(fingerprint)  # only those that agree, or shrinking would lose the others

    (seed(int(SEED))(agrees) if SEED else agrees)()
    assert len(seen) == count


def test_300_programs_agree(device: Device) -> None:
    agree(device, FEW, 50, derandomize=SEED is None)


def test_a_dead_worker_is_a_failure_that_names_its_program(tmp_path: Path) -> None:
    b = vw.ProgramBuilder()
    b.output("y", vw.u32, count=4)
    b.extent(4)
    case = Case(b.build(), {}, {}, "total", {}, None)
    device = Device(tmp_path)
    try:
        device.start().kill()
        reply = device.run(case)
        assert reply[0] == "died"
        (kept,) = tmp_path.iterdir()
        assert str(kept) in reply[1]
        assert case.program.to_bytes() in kept.read_bytes()
        check(case, device)  # on a new worker
    finally:
        device.close()


@pytest.mark.parametrize("dtype", [vw.f16, vw.f32, vw.f64], ids=str)
def test_rough_outputs_are_held_to_their_bound(dtype: vw.DType) -> None:
    one = np.ones(1, dtype.numpy)
    above = one + 3 * np.finfo(dtype.numpy).eps
    below = one - 3 * np.finfo(dtype.numpy).eps  # twice as many values away
    for got in (above, below):
        compare("y", dtype, got, one, 3.0)
        for ulp in (2.5, 0.0, None):
            with pytest.raises(AssertionError, match="on the oracle"):
                compare("y", dtype, got, one, ulp)
    for got in (-one, one * np.inf, one * np.nan):
        with pytest.raises(AssertionError, match="on the oracle"):
            compare("y", dtype, got, one, 8.5)


@pytest.mark.slow
@pytest.mark.skipif(not MANY, reason="VYRE_TEST_FUZZ_PROGRAMS=20000 runs it, for an hour")
def test_many_programs_agree(device: Device) -> None:
    agree(device, MANY, 80)
