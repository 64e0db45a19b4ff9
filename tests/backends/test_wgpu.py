from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends import Backend, CompiledPipeline, get_backend
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.errors import DeviceLostError, InputError, NoAdapterError
from vyre_wgpu.ir.program import Program

pytestmark = pytest.mark.gpu

COUNTERS = [
    "lowerings",
    "modules_created",
    "memory_hits",
    "disk_hits",
    "disk_writes",
    "evictions",
    "bind_groups_created",
    "bind_group_hits",
    "buffers_created",
    "buffer_reuses",
    "bytes_pooled",
    "dispatches",
    "submissions",
    "traps",
]


def double() -> Program:
    b = vw.ProgramBuilder("double")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    y[b.global_id(0)] = x[b.global_id(0)] * 2
    return b.build()


X = np.arange(10, dtype=np.uint32)


def test_backend_and_pipeline_satisfy_the_protocols(backend: WgpuBackend) -> None:
    assert isinstance(backend, Backend)
    assert isinstance(backend.compile(double()), CompiledPipeline)


def test_stats_are_a_frozen_snapshot_of_the_named_counters(backend: WgpuBackend) -> None:
    stats = backend.stats()
    assert list(stats.as_dict()) == COUNTERS
    before = stats.dispatches
    backend.compile(double()).fn(X)
    assert stats.dispatches == before
    assert backend.stats().dispatches == before + 1
    with pytest.raises(FrozenInstanceError):
        stats.dispatches = 0  # type: ignore[misc]


@pytest.mark.usefixtures("no_disk_cache")
def test_stats_count_what_happens() -> None:
    with WgpuBackend() as own:
        assert set(own.stats().as_dict().values()) == {0}
        pipe = own.compile(double())
        own.compile(double())
        pipe.fn(X)
        pipe.fn(X)
        stats = own.stats()
        # A small result lies in the staging buffer, with the beginning of that.
        made = 2 if own.device.writes_in_place else 3
        assert stats.as_dict() == {
            **dict.fromkeys(COUNTERS, 0),
            "lowerings": 1,
            "modules_created": 1,
            "memory_hits": 1,
            "bind_groups_created": 1,
            "bind_group_hits": 1,
            "buffers_created": made,
            "buffer_reuses": made,
            "bytes_pooled": 3 * 256,
            "dispatches": 2,
            "submissions": 2,
        }


def test_root_compile_uses_the_shared_backend(backend: WgpuBackend) -> None:
    assert get_backend() is backend
    before = backend.stats().dispatches
    assert vw.compile(double()).fn(X).tolist() == (X * 2).tolist()
    assert vw.compile(double(), backend="wgpu").fn(X).tolist() == (X * 2).tolist()
    assert vw.compile(double(), backend=backend).fn(X).tolist() == (X * 2).tolist()
    assert backend.stats().dispatches == before + 3


def test_adapter_can_be_asked_for(backend: WgpuBackend) -> None:
    info = backend.adapter_info
    with WgpuBackend(info.index) as by_index, WgpuBackend(info.name.upper()) as by_name:
        assert by_index.adapter_info == info
        assert by_name.adapter_info.name == info.name
    with pytest.raises(NoAdapterError, match=f"'no such gpu'.*{info.index}: "):
        WgpuBackend("no such gpu")


def test_closed_backend_refuses_and_says_so() -> None:
    own = WgpuBackend()
    pipe = own.compile(double())
    pipe.fn(X)
    own.close()
    own.close()
    assert own.closed
    assert "closed" in repr(own)
    for use in (lambda: own.compile(double()), lambda: pipe.fn(X), lambda: pipe.push_chunk(X)):
        with pytest.raises(DeviceLostError, match="is closed"):
            use()
    assert own.stats().dispatches == 1
    assert own.stats().bytes_pooled == 0


def test_closing_one_backend_leaves_others_alone(backend: WgpuBackend) -> None:
    pipe = backend.compile(double())
    with WgpuBackend() as own:
        own.compile(double()).fn(X)
    assert (pipe.fn(X) == X * 2).all()


@pytest.mark.parametrize(
    ("program", "options", "message"),
    [
        ("text", None, "'text' is not a Program"),
        (None, None, "None is not a Program"),
        (double, None, "is not a Program"),
    ],
)
def test_compile_refuses_what_is_no_program(
    backend: WgpuBackend, program: Any, options: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        backend.compile(program, options)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize("what", ["backend", "device", "reference"])
def test_what_holds_a_device_is_not_copied(
    what: str, duplicate: Callable[[object], object], backend: WgpuBackend
) -> None:
    owner = {"backend": backend, "device": backend.device, "reference": get_backend("reference")}
    with pytest.raises(TypeError, match="neither copied nor pickled"):
        duplicate(owner[what])


def test_a_numpy_integer_is_an_adapters_index(backend: WgpuBackend) -> None:
    index = np.int64(backend.adapter_info.index)
    with WgpuBackend(index) as own:  # type: ignore[arg-type]
        assert own.adapter_info == backend.adapter_info


def test_compile_refuses_what_are_no_options(backend: WgpuBackend) -> None:
    with pytest.raises(InputError, match="options is"):
        backend.compile(double(), {})  # type: ignore[arg-type]


def test_device_objects_do_not_pile_up(backend: WgpuBackend) -> None:
    from wgpu.backends.wgpu_native._helpers import generate_report

    def live() -> dict[str, int]:
        return {name: kind["kept"] for name, kind in generate_report()["hub"].items()}

    pipe = backend.compile(double())
    for _ in range(5):
        pipe.fn(X)
    before = live()
    for _ in range(200):
        pipe.fn(X)
    after = live()
    # One dispatch may be encoded ahead, if the device left the time.
    assert abs(after.pop("commandBuffers") - before.pop("commandBuffers")) <= 1
    assert after == before
