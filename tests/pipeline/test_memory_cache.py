from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from vyre_wgpu.pipeline.counters import Counters
from vyre_wgpu.pipeline.memory_cache import MemoryCache

THREADS = 16


def wait_for_waiters(cache: MemoryCache[str, str], count: int) -> None:
    """Returns once so many threads wait for the value being made."""
    give_up = time.monotonic() + 10
    while cache._flights["key"].waiters < count and time.monotonic() < give_up:
        time.sleep(0)  # lets the others run
    assert cache._flights["key"].waiters == count


def ask_from_all_threads(
    cache: MemoryCache[str, str], make: Callable[[], str]
) -> list[str | BaseException]:
    def ask(_: int) -> str | BaseException:
        try:
            return cache.get("key", make)
        except BaseException as error:
            return error

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(ask, range(THREADS)))


def test_one_thread_makes_what_all_ask_for() -> None:
    calls: list[int] = []
    cache: MemoryCache[str, str] = MemoryCache(8)

    def make() -> str:
        calls.append(1)
        wait_for_waiters(cache, THREADS - 1)
        return "value"

    assert ask_from_all_threads(cache, make) == ["value"] * THREADS
    assert len(calls) == 1
    assert cache.statistics().hits == THREADS - 1


def test_failure_reaches_every_waiter_and_leaves_no_trace() -> None:
    cache: MemoryCache[str, str] = MemoryCache(8)
    failure = ValueError("no")

    def make() -> str:
        wait_for_waiters(cache, THREADS - 1)
        raise failure

    assert ask_from_all_threads(cache, make) == [failure] * THREADS
    assert len(cache) == 0
    assert cache.get("key", lambda: "now") == "now"


def test_an_interrupted_maker_is_replaced_by_a_waiter() -> None:
    cache: MemoryCache[str, str] = MemoryCache(8)
    interrupts: list[BaseException] = [KeyboardInterrupt()]

    def make() -> str:
        if interrupts:
            wait_for_waiters(cache, THREADS - 1)
            raise interrupts.pop()
        return "value"

    results = ask_from_all_threads(cache, make)
    assert sum(isinstance(result, KeyboardInterrupt) for result in results) == 1
    assert results.count("value") == THREADS - 1


def test_the_one_unused_for_longest_is_evicted_and_counted() -> None:
    cache: MemoryCache[str, str] = MemoryCache(2)
    for key in ("a", "b", "a", "c"):
        cache.get(key, lambda: "made")
    assert len(cache) == 2
    assert cache.statistics().evictions == 1
    assert cache.get("a", lambda: "again") == "made"
    assert cache.get("b", lambda: "again") == "again"


@pytest.mark.parametrize("name", ["lowerings", "traps"])
def test_counters_add_up_over_threads(name: str) -> None:
    counters = Counters()
    with ThreadPoolExecutor(8) as pool:
        for _ in range(2000):
            pool.submit(counters.add, **{name: 2})
    assert getattr(counters.snapshot(), name) == 4000


def test_an_unknown_counter_is_an_error() -> None:
    with pytest.raises(KeyError):
        Counters().add(nonsense=1)


def test_values_are_bounded_by_bytes_and_those_dropped_are_told_of() -> None:
    dropped: list[str] = []
    cache: MemoryCache[str, str] = MemoryCache(
        99, max_bytes=10, size_of=len, on_evict=dropped.append
    )
    for value in ("aaaa", "bbbb", "cc"):
        cache.get(value, lambda value=value: value)  # type: ignore[misc]
    assert cache.statistics().bytes == 10
    cache.get("aaaa", str)
    assert cache.get("ddddd", lambda: "ddddd") == "ddddd"
    assert dropped == ["bbbb", "cc"]
    assert cache.keys() == ["aaaa", "ddddd"]
    assert cache.get("large", lambda: "e" * 11) == "e" * 11
    assert dropped == ["bbbb", "cc", "e" * 11]
    assert cache.statistics() == (2, 9, 1, 5, 3)
    cache.clear()
    assert cache.statistics().bytes == 0
