"""What the tests share: one open backend."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vyre_wgpu.backends import get_backend
from vyre_wgpu.backends.wgpu import WgpuBackend


@pytest.fixture(scope="session")
def backend() -> Iterator[WgpuBackend]:
    """The shared wgpu backend. Tests that use it carry the marker ``gpu``."""
    shared = get_backend("wgpu")
    assert isinstance(shared, WgpuBackend)
    yield shared
    shared.close()
