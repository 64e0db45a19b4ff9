from __future__ import annotations

import subprocess
import sys

import pytest

from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.errors import DeviceLostError, LimitError, VyreError
from vyre_wgpu.runtime.adapter import enumerate_adapters
from vyre_wgpu.runtime.device import USEFUL_FEATURES, open_device, safe_label

pytestmark = pytest.mark.gpu


def test_device_has_the_adapters_limits_not_the_minimum(backend: WgpuBackend) -> None:
    limits = backend.device.limits
    assert limits.max_binding_size >= 128 << 20
    assert limits.max_buffer_size >= 256 << 20
    assert limits.max_immediate_size >= 128
    assert limits.max_storage_buffers >= 8
    assert all(size >= 64 for size in limits.max_workgroup_size)


def test_features_are_the_useful_ones_that_exist(backend: WgpuBackend) -> None:
    adapter = enumerate_adapters()[backend.adapter_info.index]
    assert backend.device.features >= USEFUL_FEATURES & set(adapter.handle.features)
    assert "immediates" in backend.device.features


def test_closed_device_says_so_and_closes_twice() -> None:
    device = open_device()
    device.check()
    device.close()
    device.close()
    assert device.closed
    with pytest.raises(DeviceLostError, match=r"is closed.*Fix:"):
        device.check()


def test_wgpu_errors_become_ours() -> None:
    import wgpu

    device = open_device()
    with (
        pytest.raises(LimitError, match="out of memory while testing"),
        device.reporting("testing"),
    ):
        raise wgpu.GPUOutOfMemoryError("no room")
    for text in ("bad", "In wgpuX, label = 'the device is lost'\n    bad"):
        with pytest.raises(VyreError, match="refused testing"), device.reporting("testing"):
            raise wgpu.GPUValidationError(text)
    device.check()
    for text in ("In wgpuX\n    Parent device is lost\n", "bad"):  # what comes later is a loss too
        with pytest.raises(DeviceLostError, match="testing"), device.reporting("testing"):
            raise wgpu.GPUValidationError(text)
    with pytest.raises(DeviceLostError, match="found while testing"):
        device.check()
    device.close()


def test_labels_survive_what_utf8_cannot_hold() -> None:
    assert safe_label("a\udcffb") == "a?b"
    assert safe_label("größe") == "größe"


FORK = """
import os, sys
import numpy as np
import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend

b = vw.ProgramBuilder("double")
x = b.read("x", vw.u32)
y = b.output("y", vw.u32, like=x)
i = b.global_id(0)
y[i] = x[i] * 2
pipe = vw.compile(b.build())
array = np.arange(4, dtype=np.uint32)
pipe.fn(array)

child = os.fork()
if child == 0:
    ok = 0
    harmless = pipe.program.fingerprint.upper
    for use in (lambda: pipe.fn(array), vw.get_backend, WgpuBackend, harmless):
        try:
            use()
        except vw.ForkedProcessError as error:
            ok += "spawn" in str(error)
    vw.backends.registry._registry._shared.popitem()[1].close()
    os._exit(ok)
_, status = os.waitpid(child, 0)
assert (pipe.fn(array) == array * 2).all()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this platform cannot fork")
def test_forked_child_is_told_and_its_parent_goes_on() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, timeout=60, text=True
    )
    assert done.returncode == 3, done.stderr
