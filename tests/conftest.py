"""What the tests share: one open wgpu backend, and a way to run a test on every backend."""

from __future__ import annotations

import dataclasses
import faulthandler
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from vyre_wgpu import settings
from vyre_wgpu.backends.protocol import Backend
from vyre_wgpu.backends.registry import get_backend
from vyre_wgpu.backends.wgpu import WgpuBackend

_cache_folders = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Gives the tests, and the processes that they start, a new cache folder: never the user's."""
    folder = tempfile.mkdtemp(prefix="vyre-wgpu-tests-")
    config.stash[_cache_folders] = folder
    os.environ["VYRE_WGPU_CACHE_DIR"] = folder
    os.environ.pop("VYRE_WGPU_CACHE", None)
    settings.replace_current(None)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Removes the cache folder of the tests."""
    shutil.rmtree(config.stash[_cache_folders], ignore_errors=True)


@pytest.fixture(autouse=True)
def _patience(request: pytest.FixtureRequest) -> None:
    """Tests marked slow may take longer than what is taken for a hang."""
    if request.node.get_closest_marker("slow"):
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def cache_folder(tmp_path: Path) -> Iterator[Path]:
    """A cache folder of the test's own, which does not exist yet; backends opened now use it."""
    folder = tmp_path / "cache"
    before = settings.current()
    settings.replace_current(dataclasses.replace(before, cache="rw", cache_dir=folder))
    yield folder
    settings.replace_current(before)


@pytest.fixture
def no_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process runs as a user whom the system does not know, with an empty environment."""
    pwd = pytest.importorskip("pwd")

    def unknown(number: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    before = settings.current()
    settings.replace_current(dataclasses.replace(before, cache="rw", cache_dir=None))
    yield
    settings.replace_current(before)


@pytest.fixture
def no_disk_cache() -> Iterator[None]:
    """Backends opened now lower what they compile, whatever was compiled before."""
    before = settings.current()
    settings.replace_current(dataclasses.replace(before, cache="off"))
    yield
    settings.replace_current(before)


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
