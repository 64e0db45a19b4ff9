from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from vyre_wgpu import settings
from vyre_wgpu.backends import Backend, BackendStats, CompiledPipeline, backend_names
from vyre_wgpu.backends.compiling import compile as compile_program
from vyre_wgpu.backends.registry import BUILT_IN, Registry
from vyre_wgpu.errors import InputError, VyreError
from vyre_wgpu.runtime.info import AdapterInfo

MADE: list[Null] = []


class Null:
    """A backend that does nothing."""

    def __init__(self) -> None:
        self.closed = False
        self.compiled: list[Any] = []
        MADE.append(self)

    @property
    def adapter_info(self) -> AdapterInfo:
        return AdapterInfo(0, "null", "software", "none")

    def compile(self, program: Any, options: Any = None) -> CompiledPipeline:
        self.compiled.append((program, options))
        return "pipeline"  # type: ignore[return-value]

    def stats(self) -> BackendStats:
        return BackendStats()

    def close(self) -> None:
        self.closed = True


HERE = f"{__name__}:Null"


@pytest.fixture(autouse=True)
def default_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "chosen", settings.Settings())
    MADE.clear()


def registry(*installed: tuple[str, str]) -> Registry:
    return Registry({"null": HERE}, lambda: list(installed))


def test_instance_is_shared_and_made_at_first_use() -> None:
    known = registry()
    assert MADE == []
    first = known.get("null")
    assert known.get("null") is first
    assert len(MADE) == 1


def test_closed_instance_is_replaced() -> None:
    known = registry()
    first = known.get("null")
    first.close()
    second = known.get("null")
    assert second is not first
    assert not second.closed


def test_no_name_takes_the_setting_then_wgpu(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Registry({"wgpu": HERE, "other": HERE}, list)
    assert known.get() is known.get("wgpu")
    monkeypatch.setattr(settings, "chosen", settings.Settings(backend="other"))
    assert known.get() is known.get("other")


def test_unknown_name_lists_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry(("extra", "x:y"))
    with pytest.raises(InputError, match=r"backend 'nul' is unknown.*Fix: use one of: extra, null"):
        known.get("nul")
    monkeypatch.setattr(settings, "chosen", settings.Settings(backend="nope"))
    with pytest.raises(InputError, match=r"VYRE_WGPU_BACKEND.* 'nope'"):
        known.get()


def test_installed_backends_are_found_and_loaded_late() -> None:
    known = registry(("extra", HERE), ("broken", "no.such.module:Thing"))
    assert known.names() == ["broken", "extra", "null"]
    assert isinstance(known.get("extra"), Null)
    with pytest.raises(VyreError, match=r"'broken' cannot be loaded from no\.such\.module"):
        known.get("broken")


def test_two_packages_with_one_name_are_an_error() -> None:
    known = registry(("extra", "a:b"), ("extra", "c:d"))
    for use in (known.names, lambda: known.get("extra")):
        with pytest.raises(VyreError, match=r"two packages.*'extra': a:b and c:d"):
            use()


def test_our_own_entry_point_is_no_duplicate() -> None:
    assert registry(("null", HERE)).names() == ["null"]
    with pytest.raises(VyreError, match="'null'"):
        registry(("null", "other:Thing")).names()


def test_registering_takes_a_free_name_and_can_be_undone() -> None:
    known = registry()
    known.register("mine", Null)
    for taken in ("mine", "null"):
        with pytest.raises(VyreError, match="registered already"):
            known.register(taken, Null)
    mine = known.get("mine")
    known.unregister("mine")
    assert mine.closed
    assert known.names() == ["null"]


def test_a_backend_that_cannot_start_is_not_kept() -> None:
    attempts = []

    def start() -> Backend:
        attempts.append(1)
        if len(attempts) == 1:
            raise VyreError("not yet")
        return Null()

    known = registry()
    known.register("late", start)
    with pytest.raises(VyreError, match="not yet"):
        known.get("late")
    assert isinstance(known.get("late"), Null)


def test_built_in_names_are_known_from_a_source_tree() -> None:
    assert "wgpu" in BUILT_IN
    assert "wgpu" in backend_names()


def test_compile_takes_a_backend_object() -> None:
    backend = Null()
    assert compile_program("program", backend=backend) == "pipeline"  # type: ignore[arg-type]
    assert backend.compiled == [("program", None)]


@pytest.mark.parametrize("backend", [3, b"wgpu", object()])
def test_compile_refuses_other_things_as_backend(backend: Any) -> None:
    with pytest.raises(InputError, match="not a backend or the name of one"):
        compile_program("program", backend=backend)  # type: ignore[arg-type]


def test_compile_with_an_unknown_name() -> None:
    with pytest.raises(InputError, match="'nope' is unknown"):
        compile_program("program", backend="nope")  # type: ignore[arg-type]


def test_the_interface_loads_no_gpu_library_and_no_metadata() -> None:
    code = (
        "import sys, vyre_wgpu.backends, vyre_wgpu.pipeline.arguments\n"
        "assert not {'wgpu', 'asyncio', 'importlib.metadata'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
