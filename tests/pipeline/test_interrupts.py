"""Ctrl-C at any moment, and an end of the interpreter while threads dispatch, in processes of
their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals of POSIX"),
]

PATHS = pytest.mark.parametrize("native", ["1", "0"], ids=["native", "public"])
STORM = Path(__file__).with_name("storm.py")
ROOT = STORM.parents[2]


def run(arguments: list[str], native: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"VYRE_WGPU_NATIVE": native, "PYTHONPATH": paths}
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment, capture_output=True, text=True, timeout=170, check=False,
    )  # fmt: skip


@PATHS
@pytest.mark.parametrize("number", ["SIGINT", "SIGALRM"])
def test_a_storm_of_interruptions_leaves_all_usable(native: str, number: str) -> None:
    """Results stay right, buffers come back, nothing hangs."""
    done = run([str(STORM), "3", "11", number], native)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "interruptions in" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif("VYRE_TEST_STORM_SECONDS" not in os.environ, reason="runs for minutes")
@PATHS
@pytest.mark.parametrize("number", ["SIGINT", "SIGALRM"])
def test_a_long_storm(native: str, number: str) -> None:
    for seed in range(int(os.environ["VYRE_TEST_STORM_SECONDS"]) // 60):
        done = run([str(STORM), "60", str(seed), number], native)
        assert done.returncode == 0, done.stderr[-3000:]


PARSING = """
import signal
import cffi
import wgpu.backends.wgpu_native
import numpy as np
import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.runtime.interrupts import _is_holding
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background
parse, bare = cffi.FFI._typeof_locked, []
def watch(self, text):
    if not _is_holding(signal.getsignal(signal.SIGINT)):
        bare.append(text)
    return parse(self, text)
cffi.FFI._typeof_locked = watch
X = np.arange(300_000, dtype=np.uint32)
with WgpuBackend() as backend:
    b = vw.ProgramBuilder("shift")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    with b.if_(x[b.global_id()] == 5_000_000):
        b.trap("five", 1)
    y[b.global_id()] = x[b.global_id()] + 1
    pipe = backend.compile(b.build())
    for given in (X[:100], X):
        for _ in range(3):
            pipe.dispatch([given])
            pipe.submit([given]).result()
            pipe.dispatch([given], config=vw.DispatchConfig(zero_copy=True))
            pipe.dispatch([given], config=vw.DispatchConfig(deadline=100))
        with backend.upload(given) as buffer:
            pipe.dispatch([buffer], out={"y": vw.DEVICE})[0].download()
        recording = backend.record()
        recording.add(pipe, [given])
        recording.replay()
        recording.close()
    view = pipe.input_view("x", 300_000)
    view[:] = X
    pipe.fn(view)
    backend.lose_device()
    backend.recover()
    pipe.fn(X)
print(sorted(set(bare)))
"""


@PATHS
def test_no_type_is_parsed_where_a_signal_may_come(native: str) -> None:
    """cffi's lock would be kept for good if a handler raised meanwhile."""
    done = run(["-c", PARSING], native)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr[-3000:]


DAEMONS = """
import sys, threading, time
import numpy as np
import vyre_wgpu as vw
b = vw.ProgramBuilder("slow")
x = b.read("x", vw.u32)
y = b.output("y", vw.u32, like=x)
i = b.global_id()
v = b.var("v", vw.u32, x[i])
with b.for_range(0, 500):
    v.set(v * 1664525 + 1013904223)
y[i] = v
pipe = vw.compile(b.build())
given = np.zeros(200_000, np.uint32)
started = threading.Barrier(4)

def work():
    pipe.fn(given)
    started.wait()
    while True:
        if sys.argv[1] == "submit":
            pipe.submit([given]).add_done_callback(lambda _: None)
        pipe.fn(given)

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
started.wait(100)
print("end", flush=True)
"""


@PATHS
@pytest.mark.parametrize("how", ["dispatch", "submit"])
def test_the_interpreter_ends_while_daemon_threads_dispatch(native: str, how: str) -> None:
    for _ in range(2):
        done = run(["-c", DAEMONS, how], native)
        assert done.returncode == 0, done.stderr[-3000:]
        assert done.stdout == "end\n"
        assert "panicked" not in done.stderr
