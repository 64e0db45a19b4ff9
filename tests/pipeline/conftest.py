"""Fixtures of the tests of pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.disk_machine import Machine
from vyre_wgpu.backends.wgpu import WgpuBackend


@pytest.fixture
def machine(backend: WgpuBackend, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Machine:
    """A machine with an empty disk."""
    return Machine(backend, tmp_path / "deep" / "cache", caplog)
