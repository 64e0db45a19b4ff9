from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import pytest

from vyre_wgpu import settings
from vyre_wgpu.errors import InputError, NoAdapterError
from vyre_wgpu.runtime import adapter as adapter_module
from vyre_wgpu.runtime.adapter import Adapter, choose, enumerate_adapters, select
from vyre_wgpu.runtime.info import AdapterInfo, AdapterKind


def make(index: int, name: str, kind: AdapterKind, api: str = "Vulkan") -> AdapterInfo:
    return AdapterInfo(index, name, kind, api, driver=f"driver {index}")


MACHINE = [
    make(0, "llvmpipe", "software"),
    make(1, "Iris Xe", "integrated"),
    make(2, "Virtio", "other"),
    make(3, "RTX 9000", "discrete", "D3D12"),
    make(4, "RTX 9000", "discrete"),
    make(5, "RTX 9000", "discrete", "OpenGL"),
]


@pytest.mark.parametrize(
    ("present", "chosen"),
    [([0, 1, 2, 3, 4, 5], 4), ([0, 1, 2], 1), ([0, 2], 2), ([0], 0), ([0, 5], 0), ([3, 0], 3)],
)
def test_default_is_the_best_gpu_and_never_opengl(present: list[int], chosen: int) -> None:
    assert select([MACHINE[i] for i in present], None) is MACHINE[chosen]


@pytest.mark.parametrize(
    ("request_", "chosen"),
    [(0, 0), ("0", 0), (5, 5), (" 2 ", 2), ("9000", 4), ("iris", 1), ("RTX", 4), ("opengl", 5),
     ("d3d12", 3), ("driver 2", 2), ("SOFTWARE", 0)],
)  # fmt: skip
def test_request_is_an_index_or_part_of_the_description(request_: int | str, chosen: int) -> None:
    assert select(MACHINE, request_).index == chosen


@pytest.mark.parametrize("request_", [6, -1, "6", "Radeon"])
def test_request_that_matches_nothing_lists_what_there_is(request_: int | str) -> None:
    with pytest.raises(NoAdapterError) as raised:
        select(MACHINE, request_, "VYRE_WGPU_ADAPTER")
    text = str(raised.value)
    assert "VYRE_WGPU_ADAPTER" in text
    assert all(info.summary in text for info in MACHINE)


@pytest.mark.parametrize("request_", [True, 1.5, b"rtx", "", "  "])
def test_request_of_a_wrong_kind_is_an_input_error(request_: Any) -> None:
    with pytest.raises(InputError, match="adapter is"):
        select(MACHINE, request_)


@pytest.mark.parametrize(
    ("platform", "word"),
    [("linux", "mesa-vulkan-drivers"), ("darwin", "Metal"), ("win32", "Direct3D"), ("x", "Vulkan")],
)
def test_no_adapter_says_what_to_install(
    platform: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    with pytest.raises(NoAdapterError, match=f"no GPU adapter.*Fix:.*{word}"):
        select([], None)


def test_only_opengl_is_no_adapter_unless_named() -> None:
    only = [make(0, "RTX 9000", "discrete", "OpenGL")]
    with pytest.raises(NoAdapterError, match=r"only OpenGL.*RTX 9000.*Fix: "):
        select(only, None)
    assert select(only, "rtx") is only[0]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> list[AdapterInfo]:
    """A machine whose adapters a test may change."""
    adapters = list(MACHINE)
    monkeypatch.setattr(
        adapter_module, "enumerate_adapters", lambda: [Adapter(i, None) for i in adapters]
    )
    monkeypatch.setattr(settings, "chosen", settings.Settings())
    return adapters


def test_argument_beats_environment_beats_default(
    machine: list[AdapterInfo], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose().info is machine[4]
    monkeypatch.setattr(settings, "chosen", settings.Settings(adapter="iris"))
    assert choose().info is machine[1]
    assert choose("llvmpipe").info is machine[0]


def test_falling_back_to_software_logs_exactly_one_warning(
    machine: list[AdapterInfo], caplog: pytest.LogCaptureFixture
) -> None:
    del machine[1:]
    with caplog.at_level(logging.DEBUG):
        choose()
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("vyre_wgpu", logging.WARNING)
    assert "llvmpipe" in record.getMessage()


def test_asking_for_software_logs_nothing(
    machine: list[AdapterInfo],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choose("llvmpipe")
    monkeypatch.setattr(settings, "chosen", settings.Settings(adapter="0"))
    choose()
    assert caplog.records == []


@pytest.mark.gpu
def test_real_adapters_are_numbered_and_named() -> None:
    adapters = enumerate_adapters()
    assert [a.info.index for a in adapters] == list(range(len(adapters)))
    assert all(a.info.name and a.info.api for a in adapters)


OPENERS = """
import threading
from vyre_wgpu.backends.wgpu import WgpuBackend

def work():
    for _ in range(4):
        with WgpuBackend():
            pass

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
"""


@pytest.mark.gpu
def test_several_threads_open_devices_at_once() -> None:
    """wgpu-native ends the process where two threads enumerate adapters of OpenGL at a time."""
    done = subprocess.run(
        [sys.executable, "-c", OPENERS], capture_output=True, text=True, timeout=170, check=False
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]
