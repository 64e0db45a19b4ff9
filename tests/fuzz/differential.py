"""Runs a case on the device, in another process, and on the oracle, and compares what they give."""

from __future__ import annotations

import contextlib
import pickle
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests import scalar_model
from tests.fuzz.case import MAX_ITERATIONS, Case
from tests.fuzz.worker import Reply, read_frame, write_frame
from vyre_wgpu.backends.reference import ReferenceBackend
from vyre_wgpu.ir.types import ALL_DTYPES, DType
from vyre_wgpu.wgsl.options import CompileOptions

ROOT = Path(__file__).parents[2]


class Device:
    """The worker process, started again after each death.

    Args:
        folder: where the case that runs is saved, so that it survives the worker.
        patience: seconds after which a worker is taken for hung.
    """

    def __init__(self, folder: Path, patience: float = 60.0) -> None:
        self._folder = folder
        self._patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._deaths = 0

    def run(self, case: Case) -> Reply:
        """What came of a case; ``("died", text)`` if the worker did."""
        data = case.program.to_bytes()
        request = pickle.dumps((data, case.inputs, case.params, case.checks, case.passes))
        saved = self._folder / "case.pickle"
        saved.write_bytes(request)
        worker = self.start()
        assert worker.stdin is not None
        assert worker.stdout is not None
        answer = None
        with contextlib.suppress(BrokenPipeError):
            write_frame(worker.stdin, request)
            if select.select([worker.stdout], [], [], self._patience)[0]:
                answer = read_frame(worker.stdout)
        if answer is not None:
            reply: Reply = pickle.loads(answer)
            return reply
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.wait(1.0)  # a dying one closes its pipe first
        hung = worker.poll() is None
        self.close()
        self._deaths += 1
        kept = saved.rename(saved.with_name(f"died-{self._deaths}.pickle"))
        what = "hung" if hung else f"died with status {worker.returncode}"
        return "died", f"the worker {what}; its program and inputs are in {kept}"

    def start(self) -> subprocess.Popen[bytes]:
        """The worker, started if there is none."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.worker"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._process.communicate()  # closes the pipes, too
            self._process = None


def check(case: Case, device: Device) -> None:
    """Runs a case on both; an `AssertionError` says how they differ."""
    reply = device.run(case)
    assert reply[0] in ("done", "trap"), f"{reply[1]}"
    options = CompileOptions(checks=case.checks, max_iterations=MAX_ITERATIONS)  # type: ignore[arg-type]
    oracle = ReferenceBackend(seed=case.seed).compile(case.program, options)
    expected = oracle.examine(case.inputs, case.params)
    assert not expected.races, f"the generator made a race: {expected.races[0]}"
    if reply[0] == "trap":
        found = reply[1:4]
        assert found in {tuple(t) for t in expected.traps}, (
            f"the device raised the trap {found}, the oracle's are {sorted(expected.traps)[:9]}"
        )
        return
    assert not expected.traps, f"no trap, the oracle's are {sorted(expected.traps)[:9]}"
    assert expected.outputs is not None
    for buffer, got, wanted in zip(case.program.outputs, reply[1], expected.outputs, strict=True):
        compare(buffer.name, buffer.dtype, got, wanted, case.rough.get(buffer.name))


def compare(name: str, dtype: DType, got: Any, wanted: Any, ulp: float | None = None) -> None:
    """Elements are equal: NaN as such, floats with the sign of zero, or within ``ulp`` if given."""
    assert got.dtype == wanted.dtype, name
    assert got.shape == wanted.shape, name
    assert dtype in ALL_DTYPES
    bits = f"u{dtype.itemsize}"
    differ = got.view(bits) != wanted.view(bits)
    if dtype.is_float:
        differ &= ~(np.isnan(got) & np.isnan(wanted))
    for k in np.flatnonzero(differ).tolist():
        near = ulp is not None and is_near(dtype, got[k], wanted[k], ulp)
        assert near, f"{name}[{k}] is {got[k]!r} on the device, {wanted[k]!r} on the oracle"


def is_near(dtype: DType, got: Any, wanted: Any, ulp: float) -> bool:
    """Whether two floats differ by so many ULP at most, or both may have been flushed."""
    least = 2 * np.finfo(dtype.numpy).smallest_normal
    if abs(got) <= least and abs(wanted) <= least:
        return True  # drivers may flush
    if scalar_model.ulp_distance(got, wanted, dtype) <= ulp:
        return True
    # Below a power of two, values are half as far apart as above.
    apart = abs(np.longdouble(got) - np.longdouble(wanted))
    return bool(np.isfinite(apart)) and bool(apart <= ulp * np.spacing(abs(wanted)))
