"""Copies by several threads: every byte once, whatever the sizes."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from vyre_wgpu.runtime import copying
from vyre_wgpu.runtime.copying import SHARE, copy_bytes, thread_count


@pytest.fixture
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "_cores", lambda: 8)


@pytest.mark.parametrize("size", [0, 1, SHARE - 1, 2 * SHARE, 4 * SHARE + 12_345, 9 * SHARE + 1])
def test_every_byte_is_copied(size: int, four_cores: None) -> None:
    source = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    target = np.zeros(size + 2, np.uint8)
    copy_bytes(target[1:-1], source)
    np.testing.assert_array_equal(target[1:-1], source)
    assert target[0] == target[-1] == 0


def test_how_many_threads(four_cores: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [thread_count(n * SHARE) for n in (0, 1, 2, 3, 100)] == [1, 1, 2, 3, 4]
    monkeypatch.setattr(copying, "_cores", lambda: 2)
    assert thread_count(1 << 40) == 1
    monkeypatch.setattr(copying, "_cores", lambda: 1000)
    assert thread_count(1 << 40) == copying.MOST_THREADS


def test_many_threads_copy_at_once(four_cores: None) -> None:
    results = {}

    def work(seed: int) -> None:
        source = np.full(3 * SHARE, seed, np.uint8)
        target = np.empty_like(source)
        for _ in range(3):
            copy_bytes(target, source)
        results[seed] = bool((target == seed).all())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == dict.fromkeys(range(6), True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(four_cores: None) -> None:
    source = np.arange(4 * SHARE, dtype=np.uint8)
    copy_bytes(np.empty_like(source), source)  # starts them here
    child = os.fork()
    if child == 0:
        target = np.zeros_like(source)
        copy_bytes(target, source)
        os._exit(0 if (target == source).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
