"""Many processes share one cache folder while some of them are killed; and two that compile.

``VYRE_TEST_CACHE_SECONDS`` says how long the long version of the first test runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.cached import adder, load, lowered, stored
from vyre_wgpu.pipeline.cache_files import list_files
from vyre_wgpu.pipeline.disk_cache import DiskCache
from vyre_wgpu.pipeline.entry import Entry

ROOT = Path(__file__).parents[2]
PROGRAMS = 40
SECONDS = float(os.environ.get("VYRE_TEST_CACHE_SECONDS") or 0)


def struggle(folder: Path, limit: int, workers: int, seconds: float) -> dict[str, Any]:
    """Runs `cache_struggle`."""
    numbers = map(str, (limit, PROGRAMS, workers, seconds))
    done = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.cache_struggle", str(folder), *numbers],
        stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True, timeout=seconds + 120,
    )  # fmt: skip
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def check_afterwards(folder: Path, limit: int) -> None:
    """The limit holds again after one write; one sweep leaves no temporary file; all is whole."""
    disk = DiskCache(folder, max_bytes=limit, clock=lambda: time.time() + 3600)
    stored(disk, adder(PROGRAMS))
    listing = list_files(folder)
    assert listing.temporaries == []
    assert 0 < listing.size <= limit
    assert all(isinstance(entry, Entry) for _, entry in disk.entries())
    for amount in range(PROGRAMS + 1):
        assert load(disk, adder(amount)) in (None, lowered(adder(amount)))
    assert disk.statistics().refused == 0


def check(folder: Path, workers: int, seconds: float) -> None:
    """Lets processes share a folder that an eighth of their programs fit into."""
    size = stored(DiskCache(folder / "one", max_bytes=1 << 20), adder(1)).stat().st_size
    report = struggle(folder / "shared", 5 * size, workers, seconds)
    assert report["problem"] is None
    assert report["batches"] > 20
    assert report["killed"] > 0
    # Each may write one entry before it looks at the folder; those killed meanwhile leave theirs.
    assert report["most_bytes"] <= 5 * size + (workers + report["killed"]) * (size + 64)
    check_afterwards(folder / "shared", 5 * size)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the workers are forked")
@pytest.mark.parametrize(("workers", "seconds"), [(2, 6), (8, 14)])
def test_killed_processes_do_no_harm(workers: int, seconds: float, tmp_path: Path) -> None:
    check(tmp_path, workers, seconds)


@pytest.mark.slow
@pytest.mark.skipif(not SECONDS, reason="VYRE_TEST_CACHE_SECONDS is not set")
@pytest.mark.parametrize("workers", [2, 4, 8])
def test_killed_processes_do_no_harm_for_long(workers: int, tmp_path: Path) -> None:
    check(tmp_path, workers, SECONDS / 3)


_COMPILE = """
import json, sys
import numpy as np
import vyre_wgpu as vw
from tests.pipeline.cached import adder

x = np.arange(10, dtype=np.uint32)
for amount in range(int(sys.argv[1])):
    assert (vw.compile(adder(amount)).fn(x) == x + amount).all()
print(json.dumps(vw.get_backend().stats().as_dict()))
"""


def compiling(folder: Path, programs: int, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _COMPILE, str(programs)],
        stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env=os.environ | {"VYRE_WGPU_CACHE_DIR": str(folder)} | environment,
    )  # fmt: skip


def stats_of(process: subprocess.Popen[str]) -> dict[str, int]:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    stats: dict[str, int] = json.loads(out.splitlines()[-1])
    return stats


@pytest.mark.slow
@pytest.mark.gpu
def test_what_one_process_compiled_no_other_lowers(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    for process in [compiling(folder, 3), compiling(folder, 3)]:
        stats = stats_of(process)
        assert stats["lowerings"] + stats["disk_hits"] == 3
    later = stats_of(compiling(folder, 3))
    assert (later["lowerings"], later["disk_hits"], later["disk_writes"]) == (0, 3, 0)
    before = sorted((f.name, f.size) for f in list_files(folder).entries)
    reader = stats_of(compiling(folder, 5, VYRE_WGPU_CACHE="ro"))
    assert (reader["lowerings"], reader["disk_hits"], reader["disk_writes"]) == (2, 3, 0)
    assert sorted((f.name, f.size) for f in list_files(folder).entries) == before
