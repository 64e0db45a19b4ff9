"""``input_view``: memory to fill in place, which outlives whatever gave it."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.protocol import Backend
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.runtime.uploads import LentMemory, lent_memory

N = 300_000  # elements of 4 bytes: more than a MiB


@pytest.fixture
def own() -> Iterator[WgpuBackend]:
    with WgpuBackend() as backend:
        yield backend


def weigh() -> vw.Program:
    b = vw.ProgramBuilder("weigh")
    x = b.read("x", vw.f32)
    w = b.read_write("w", vw.f32)
    i = b.global_id()
    b.extent(x.length)
    w[i] = w[i] + 2.0 * x[i]
    return b.build()


def is_lent(array: np.ndarray) -> bool:
    return lent_memory(array.reshape(-1).view(np.uint8)) is not None


def test_what_is_filled_in_is_what_the_kernel_sees(any_backend: Backend) -> None:
    pipe: Any = any_backend.compile(weigh())
    x, w = pipe.input_view("x", (3, N // 3)), pipe.input_view("w", N)
    assert (x.shape, x.dtype, w.shape) == ((3, N // 3), np.float32, (N,))
    assert x.flags.c_contiguous
    for k in range(4):
        x[...] = np.arange(N, dtype=np.float32).reshape(3, -1) + k
        w[:] = k
        (got,) = pipe.dispatch([x, w])
        np.testing.assert_array_equal(got, 2 * (np.arange(N, dtype=np.float32) + k) + k)
        np.testing.assert_array_equal(w, k)
        assert x.flags.writeable


@pytest.mark.gpu
def test_the_device_reads_it_without_a_copy(own: WgpuBackend) -> None:
    if own.device.calls.name != "native" or own.adapter_info.api != "Vulkan":
        pytest.skip("memory is lent by direct calls on Vulkan only")
    calls: Any = own.device.calls
    pipe = own.compile(weigh())
    x, w = pipe.input_view("x", N), np.zeros(N, np.float32)
    assert is_lent(x)
    assert is_lent(x.reshape(2, -1)), "all of it, in another shape"
    assert not is_lent(x[1:])
    for k in range(3):
        x[:] = k
        (got,) = pipe.dispatch([x, w])
        assert (got == 2 * k).all()
    assert len(calls._uploads._slots) == 1, "w's; nothing was made for x"
    # A part is an ordinary array.
    (got,) = pipe.dispatch([x[1:], w[1:]])
    assert (got == 4).all()
    del x, got
    gc.collect()
    kept = [pipe.input_view("x", N) for _ in range(2)]
    assert all(map(is_lent, kept))
    assert len(calls._uploads._lent) == 2
    assert len(calls._uploads._slots) == 1, "of three in all, one more than were ever at work"


@pytest.mark.gpu
def test_it_may_be_passed_again_before_the_device_is_done(own: WgpuBackend) -> None:
    pipe = own.compile(weigh())
    x = pipe.input_view("x", N)
    x[:] = 3
    w = np.ones(N, np.float32)
    futures = [pipe.submit([x, w]) for _ in range(5)]
    for future in futures:
        assert (future.result(60)[0] == 7).all()


@pytest.mark.gpu
def test_it_may_be_used_elsewhere(own: WgpuBackend) -> None:
    """With another backend, after a loss, as a destination, as the content of a device buffer."""
    pipe = own.compile(weigh())
    x, w = pipe.input_view("x", N), np.ones(N, np.float32)
    x[:] = 1
    with WgpuBackend() as other:
        assert (other.compile(weigh()).dispatch([x, w])[0] == 3).all()
    with own.upload(x) as buffer:
        x[:] = 9
        assert (buffer.download() == 1).all()
    own.lose_device("unplugged")
    x[:] = 2
    with pytest.raises(vw.DeviceLostError):
        pipe.input_view("x", 1 << 20)
    own.recover()
    assert (pipe.dispatch([x, w])[0] == 5).all()
    pipe.dispatch([x, w], out={"w": x})
    assert (x == 5).all()
    own.close()
    x[:] = 4
    assert (x == 4).all()
    with pytest.raises(vw.DeviceLostError):
        pipe.input_view("x", N)


@pytest.mark.gpu
def test_what_does_not_fit_is_an_ordinary_array(own: WgpuBackend) -> None:
    pipe = own.compile(weigh())
    kept = []
    for _ in range(4):
        kept.append(pipe.input_view("x", 25 << 20))
        kept[-1][:: 1 << 20] = 1
    assert not all(is_lent(array) for array in kept)
    assert pipe.input_view("x", 0).size == 0
    small = pipe.input_view("x", 5)
    small[:] = 1
    assert pipe.dispatch([small, np.ones(5, np.float32)])[0].tolist() == [3] * 5


def test_wrong_names_and_shapes(any_backend: Backend) -> None:
    pipe: Any = any_backend.compile(weigh())
    for name, shape, says in [
        ("y", 3, "no input 'y'.*name one of: 'x', 'w'"),
        (0, 3, "no input 0"),
        ("x", -1, "none of a buffer"),
        ("x", (3, -1), "none of a buffer"),
        ("x", 1 << 40, "none of a buffer"),
        ("x", 1.5, "is a float, not an int"),
        ("x", True, "is a bool, not an int"),
        ("x", (3, None), "not an int"),
        ("x", [3], "not an int"),
    ]:
        with pytest.raises(vw.InputError, match=says):
            pipe.input_view(name, shape)


CHILD = """
import sys, gc
import numpy as np
import vyre_wgpu as vw
from tests.pipeline.test_input_view import N, weigh
pipe = vw.compile(weigh())
x = pipe.input_view("x", N)
x[:] = 1
w = np.ones(N, np.float32)
assert (pipe.dispatch([x, w])[0] == 3).all()
if sys.argv[1] == "pending":
    futures = [pipe.submit([x, w]) for _ in range(3)]
    x[:] = 5
elif sys.argv[1] == "closed":
    vw.get_backend("wgpu").close()
    del pipe
    gc.collect()
    x[:] = 7
elif sys.argv[1] == "destroyed":
    vw.get_backend("wgpu").device.wgpu.destroy()
    x[:] = 7
elif sys.argv[1] == "dropped":
    view = x[5:10]
    del x
    gc.collect()
    for _ in range(3):
        pipe.dispatch([pipe.input_view("x", N), w])
    view[:] = 3
print("done")
"""


@pytest.mark.gpu
@pytest.mark.parametrize("how", ["kept", "pending", "closed", "destroyed", "dropped"])
def test_the_interpreter_ends_with_live_memory(how: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, how], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"


def test_a_base_that_is_not_lent_memory_is_nobodys() -> None:
    assert lent_memory(np.zeros(3, np.uint8)) is None
    assert lent_memory(np.frombuffer(b"abc", np.uint8)) is None
    assert not isinstance(np.zeros(3).base, LentMemory)
