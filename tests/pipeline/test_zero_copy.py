"""``zero_copy``: views of mapped memory, which outlive whatever made them."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.pipeline.live_objects import live
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.pipeline.pipeline import WgpuPipeline

pytestmark = pytest.mark.gpu

N = 70_001
VIEWS = vw.DispatchConfig(zero_copy=True)


@pytest.fixture
def own() -> Iterator[WgpuBackend]:
    with WgpuBackend() as backend:
        yield backend


def two() -> vw.Program:
    """y = x + a as bytes, z = 2 x as words; traps where x is 250 and a is 99."""
    b = vw.ProgramBuilder("two")
    a = b.param("a", vw.u8)
    x = b.read("x", vw.u8)
    y = b.output("y", vw.u8, like=x)
    z = b.output("z", vw.u32, count=x.length)
    i = b.global_id()
    with b.if_((x[i] == 250) & (a == 99)):
        b.trap("found", i)
    y[i] = x[i] + a
    z[i] = x[i].cast(vw.u32) * 2
    return b.build()


def given(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (7, N // 7 + 1), np.uint8)


def check(results: list[Any], x: np.ndarray, a: int) -> None:
    y, z = results
    np.testing.assert_array_equal(y, x + np.uint8(a))
    np.testing.assert_array_equal(z, x.reshape(-1).astype(np.uint32) * 2)


def shown(backend: WgpuBackend) -> int:
    """How many staging buffers are held by views."""
    submitter = backend._generations.current.submitter
    with submitter._lock:
        submitter._take_back()
        return len(submitter._views)


def ways(pipe: WgpuPipeline) -> dict[str, Any]:
    return {
        "dispatch": lambda x, a: pipe.dispatch([x], {"a": a}, config=VIEWS),
        "submit": lambda x, a: pipe.submit([x], {"a": a}, config=VIEWS).result(60),
    }


@pytest.mark.parametrize("way", ["dispatch", "submit"])
def test_views_are_right_and_keep_what_they_show(own: WgpuBackend, way: str) -> None:
    run = ways(own.compile(two()))[way]
    x = given()
    kept = [(run(x + np.uint8(k), k), x + np.uint8(k), k) for k in range(5)]
    assert shown(own) == 5
    for results, x_then, a in kept:
        check(results, x_then, a)
        assert not any(result.flags.writeable for result in results)
        with pytest.raises(ValueError, match="read-only"):
            results[0][0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            results[0].flags.writeable = True
    part = kept[2][0][1][10:20]
    want = part.copy()
    del kept, results
    gc.collect()
    assert shown(own) == 1, "a slice keeps its buffer"
    for k in range(4):
        run(x, k)
    np.testing.assert_array_equal(part, want)
    del part
    gc.collect()
    assert shown(own) == 0


def test_buffers_are_used_again_when_views_are_gone(own: WgpuBackend) -> None:
    pipe = own.compile(two())
    x = given()
    for k in range(3):
        check(pipe.dispatch([x], {"a": k}, config=VIEWS), x, k)
    created = own.stats().buffers_created
    for k in range(20):
        check(pipe.dispatch([x], {"a": k}, config=VIEWS), x, k)
        check(pipe.dispatch([x], {"a": k}), x, k)
    assert own.stats().buffers_created == created


def test_traps_places_and_empty_results(own: WgpuBackend) -> None:
    pipe = own.compile(two())
    x = given()
    x[3, 3] = 250
    for _ in range(3):
        with pytest.raises(vw.TrapError, match="found"):
            pipe.dispatch([x], {"a": 99}, config=VIEWS)
    assert shown(own) == 0
    place = np.zeros(x.size, np.uint32)
    y, z = pipe.dispatch([x], {"a": 1}, out={"z": place}, config=VIEWS)
    assert z is place
    assert place.flags.writeable
    check([y, z], x, 1)
    assert not y.flags.writeable
    y, z = pipe.dispatch([x], {"a": 1}, out={"y": np.empty(x.shape, np.uint8), "z": vw.SKIP},
                         config=VIEWS)  # fmt: skip
    assert z is None
    assert shown(own) == 0, "nothing is left to be viewed"
    y, z = pipe.dispatch([x], {"a": 1}, out={"z": vw.DEVICE}, config=VIEWS)
    np.testing.assert_array_equal(y, x + np.uint8(1))
    np.testing.assert_array_equal(z.download(), x.reshape(-1).astype(np.uint32) * 2)
    y, z = pipe.dispatch([x[:0]], {"a": 1}, config=VIEWS)
    assert (y.shape, z.shape) == ((0, x.shape[1]), (0,))
    assert not y.flags.writeable


def test_a_view_is_pickled_and_copied_as_an_array(own: WgpuBackend) -> None:
    x = given()
    results = own.compile(two()).dispatch([x], {"a": 2}, config=VIEWS)
    check(pickle.loads(pickle.dumps(results)), x, 2)
    copied = results[0].copy()
    copied[0] = 0


def test_views_outlive_pipeline_backend_and_device(own: WgpuBackend) -> None:
    x = given()
    pipe = own.compile(two())
    first = pipe.dispatch([x], {"a": 1}, config=VIEWS)
    own.lose_device("unplugged")
    with pytest.raises(vw.DeviceLostError):
        pipe.dispatch([x], {"a": 1}, config=VIEWS)
    check(first, x, 1)
    own.recover()
    second = pipe.dispatch([x], {"a": 2}, config=VIEWS)
    check(first, x, 1)
    own.close()
    del pipe
    gc.collect()
    check(first, x, 1)
    check(second, x, 2)
    del first
    gc.collect()
    check(second, x, 2)


@pytest.mark.parametrize("how", ["close", "lose"])
def test_what_views_kept_goes_with_them_after_the_device(own: WgpuBackend, how: str) -> None:
    """Though pipeline and backend are still there. One buffer of a dispatch stays with views."""
    others = live().get("buffers", 0)
    pipe = own.compile(two())
    kept = [pipe.dispatch([given(k)], {"a": k}, config=VIEWS) for k in range(4)]
    if how == "close":
        own.close()
    else:
        own.lose_device("unplugged")
    assert live().get("buffers", 0) == others + 4
    for k, results in enumerate(kept):
        check(results, given(k), k)
    del kept, results
    assert live().get("buffers", 0) == others


def test_views_outlive_the_destruction_of_the_device_by_others(own: WgpuBackend) -> None:
    """wgpu's own object leaves the memory alone while somebody looks at it."""
    x = given()
    kept = own.compile(two()).dispatch([x], {"a": 1}, config=VIEWS)
    device = own.device
    device.wgpu.destroy()
    assert device.loss == "it was destroyed"
    check(kept, x, 1)
    own.recover()
    assert device.views
    check(own.compile(two()).dispatch([x], {"a": 2}, config=VIEWS), x, 2)
    check(kept, x, 1)
    del kept
    gc.collect()
    assert not device.views


def test_a_budget_of_nothing_evicts_no_view() -> None:
    import dataclasses

    from vyre_wgpu import settings

    before = settings.current()
    settings.replace_current(dataclasses.replace(before, pool_bytes=1, staging_bytes=1))
    try:
        backend = WgpuBackend()
    finally:
        settings.replace_current(before)
    with backend:
        pipe = backend.compile(two())
        kept = [(pipe.dispatch([given(k)], {"a": k}, config=VIEWS), given(k), k) for k in range(4)]
        for k in range(4):
            pipe.dispatch([given(k)[:, :100]], {"a": k})
        for results, x, a in kept:
            check(results, x, a)


def test_views_die_in_other_threads_while_dispatches_run(own: WgpuBackend) -> None:
    pipe = own.compile(two())
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            x, kept = given(seed), []
            for k in range(25):
                kept.append((pipe.dispatch([x], {"a": k}, config=VIEWS), k))
                if len(kept) > 3:
                    results, a = kept.pop(0)
                    check(results, x, a)
                    cycle: list[Any] = [results]
                    cycle.append(cycle)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures
    gc.collect()
    assert shown(own) == 0


def test_recordings_refuse_it_and_only_a_bool_is_taken(own: WgpuBackend) -> None:
    pipe = own.compile(two())
    with own.record() as recording, pytest.raises(vw.InputError, match="staging memory"):
        recording.add(pipe, [given()], {"a": 1}, config=VIEWS)
    with pytest.raises(vw.InputError, match="zero_copy is an int, not a bool"):
        pipe.dispatch([given()], {"a": 1}, config=vw.DispatchConfig(zero_copy=1))  # type: ignore[arg-type]


CHILD = """
import sys, gc, threading
import numpy as np
import vyre_wgpu as vw
from tests.pipeline.test_zero_copy import VIEWS, check, given, two
x = given()
pipe = vw.compile(two())
results = pipe.dispatch([x], {"a": 3}, config=VIEWS)
sys.modules["kept_to_the_end"] = results
if sys.argv[1] == "thread":
    threading.Thread(target=lambda: check(results, x, 3)).start()
elif sys.argv[1] == "closed":
    vw.get_backend("wgpu").close()
    del pipe
    gc.collect()
    check(results, x, 3)
elif sys.argv[1] == "atexit":
    import atexit
    atexit.register(check, results, x, 3)
elif sys.argv[1] == "destructor":
    class Last:
        def __init__(self):
            self.results, self.want = results, [bytes(result) for result in results]
        def __del__(self):
            for result, want in zip(self.results, self.want):
                if bytes(result) != want:
                    print("wrong")
    last = Last()
print("done")
"""


@pytest.mark.parametrize("how", ["kept", "thread", "closed", "atexit", "destructor"])
def test_the_interpreter_ends_with_live_views(how: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, how], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
    assert "Error" not in done.stderr
