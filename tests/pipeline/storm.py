"""A process that gets a signal again and again while it dispatches, wherever that hits.

``python storm.py SECONDS SEED SIGNAL``, with SIGINT or another one whose handler raises, exits with
0 if results are right all the time, and all is usable, and nothing is lent, at the end.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time

import numpy as np

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend


def scale() -> vw.Program:
    b = vw.ProgramBuilder("scale", workgroup_size=64)
    a = b.param("a", vw.u32)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    y[b.global_id(0)] = a * x[b.global_id(0)]
    return b.build()


class Struck(Exception):
    """What the handler of a signal raises, if that is not Ctrl-C."""


def strike_back(number: int, frame: object) -> None:
    raise KeyboardInterrupt if number == signal.SIGINT else Struck


def lent(backend: WgpuBackend) -> int:
    """How much is not given back, but for uploads, which may be lost before they get their name."""
    submitter = backend._generations.current.submitter
    _, staging, _ = submitter.statistics()
    return len(submitter._leases._lent) + staging.bytes - staging.idle_bytes


def main(seconds: float, seed: int, number: int) -> None:
    signal.signal(number, strike_back)
    rng = random.Random(seed)
    backend = WgpuBackend()
    pipe = backend.compile(scale())
    recording = backend.record()
    steady = np.arange(50, dtype=np.uint32)
    handle = recording.add(pipe, [steady], {"a": 3})
    sizes = [1, 10, 1000, 3000]
    pid, stop, caught = os.getpid(), threading.Event(), 0

    def strike() -> None:
        while not stop.is_set():
            time.sleep(rng.uniform(1e-4, 4e-3))
            if not stop.is_set():
                os.kill(pid, number)

    def check(results: list[object], a: int, size: int) -> None:
        (result,) = results
        assert isinstance(result, np.ndarray)
        assert result.shape == (size,)
        assert (result == np.arange(size, dtype=np.uint32) * a).all()

    futures: list[tuple[vw.DispatchFuture, int, int]] = []
    runs = called = 0

    def work() -> None:
        nonlocal recording, handle, runs, called
        runs += 1
        a, size = rng.randrange(100), rng.choice(sizes)
        x = np.arange(size, dtype=np.uint32)
        way = runs % 5
        if way == 0:
            check(pipe.dispatch([x], {"a": a}), a, size)
        elif way == 1:
            futures.append((pipe.submit([x], {"a": a}), a, size))
            if len(futures) > 3:
                check(futures[0][0].result(), *futures[0][1:])
                futures.pop(0)
        elif way == 2:
            with backend.upload(x) as given:
                assert (given.download() == x).all()
        elif way == 3:

            def note(_: vw.DispatchFuture) -> None:
                nonlocal called
                called += 1

            future = pipe.submit([x], {"a": a})
            future.add_done_callback(note)
            check(future.result(), a, size)
        else:
            try:
                recording.replay()
                check(handle.result(), 3, 50)
            except vw.VyreError as error:
                if "closed" not in str(error) and "ended by" not in str(error):
                    raise
                recording.close()
                recording = backend.record()
                handle = recording.add(pipe, [steady], {"a": 3})

    for _ in range(10):
        work()
    thread = threading.Thread(target=strike, daemon=True)
    end = time.monotonic() + seconds
    try:
        thread.start()
        while time.monotonic() < end:
            try:
                for _ in range(50):
                    work()
            except (KeyboardInterrupt, Struck):
                caught += 1
    except (KeyboardInterrupt, Struck):
        pass
    signal.signal(number, signal.SIG_IGN)
    stop.set()
    thread.join()
    for future, a, size in futures:
        check(future.result(), a, size)
    for _ in range(100):
        work()
    for future, a, size in futures:
        check(future.result(), a, size)
    recording.close()
    print(f"{caught} interruptions in {runs} runs", flush=True)
    assert caught > 0
    assert called > 0
    assert lent(backend) == 0
    backend.close()


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]), signal.Signals[sys.argv[3]])
