"""What the tests share: one open wgpu backend, and a way to run a test on every backend."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from vyre_wgpu.backends.protocol import Backend
from vyre_wgpu.backends.registry import get_backend
from vyre_wgpu.backends.wgpu import WgpuBackend


@pytest.fixture(scope="session")
def wgpu_backend() -> Iterator[WgpuBackend]:
    """The shared wgpu backend. Tests that use it carry the marker ``gpu``.

    With ``VYRE_TEST_DISPATCH_BLOCK=uniform`` one that passes dispatch blocks in uniform buffers.
    """
    if os.environ.get("VYRE_TEST_DISPATCH_BLOCK") == "uniform":
        opened: Backend = WgpuBackend(immediates=False)
    else:
        opened = get_backend("wgpu")
    assert isinstance(opened, WgpuBackend)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def backend(wgpu_backend: WgpuBackend) -> WgpuBackend:
    """The shared wgpu backend. A module whose tests hold on all overrides it by `any_backend`."""
    return wgpu_backend


@pytest.fixture(params=[pytest.param("wgpu", marks=pytest.mark.gpu), "reference"])
def any_backend(request: pytest.FixtureRequest) -> Backend:
    """Each backend that ships; for tests of the meaning of programs."""
    if request.param == "wgpu":
        shared: Backend = request.getfixturevalue("wgpu_backend")
        return shared
    return get_backend("reference")
