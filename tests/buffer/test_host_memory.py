"""Memory of results is used again, but never while an array shows it."""

from __future__ import annotations

import gc
import pickle
import threading

import numpy as np
import pytest

from vyre_wgpu.buffer.host_memory import RECYCLED_FROM, HostMemory

MIB = 1 << 20


def address(array: np.ndarray) -> int:
    found: int = array.__array_interface__["data"][0]
    return found


def test_a_result_is_an_ordinary_array() -> None:
    memory = HostMemory()
    for shape, dtype in [((3, MIB), np.float32), ((2 * MIB,), np.uint8), ((MIB, 1, 2), np.bool_)]:
        array = memory.empty(shape, np.dtype(dtype))
        assert (array.shape, array.dtype) == (shape, np.dtype(dtype))
        assert type(array) is np.ndarray
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert address(array) % 16 == 0
        array[...] = 1
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(array)), array)
        assert memory.empty_like(array).shape == shape


def test_memory_is_used_again_when_no_array_shows_it() -> None:
    memory = HostMemory()
    first = memory.empty((MIB,), np.dtype(np.float32))
    where, part = address(first), first[5:10].reshape(5, 1)
    part[...] = 7
    del first
    other = memory.empty((MIB,), np.dtype(np.float32))
    assert address(other) != where, "a slice still shows it"
    other[...] = 1
    assert part.tolist() == [[7]] * 5
    del part
    assert memory.waiting_bytes == 4 * MIB
    again = memory.empty((2, MIB), np.dtype(np.uint16))  # as many bytes of another type
    assert address(again) == where
    assert memory.waiting_bytes == 0


def test_small_results_and_those_above_the_budget_go_at_once() -> None:
    memory = HostMemory(4 * MIB)
    for nbytes in (0, 1, RECYCLED_FROM - 1, 5 * MIB):
        memory.empty((nbytes,), np.dtype(np.uint8))
        assert memory.waiting_bytes == 0, nbytes
    assert memory.empty((0, 1 << 40), np.dtype(np.uint8)).size == 0


def test_the_budget_holds() -> None:
    memory = HostMemory(8 * MIB)
    kept = [memory.empty((3 * MIB,), np.dtype(np.uint8)) for _ in range(4)]
    places = [address(array) for array in kept]
    for _ in range(4):
        kept.pop(0)
    assert memory.waiting_bytes == 6 * MIB
    assert address(memory.empty((3 * MIB,), np.dtype(np.uint8))) == places[1], "the warmest"


def test_a_closed_one_keeps_nothing() -> None:
    memory = HostMemory(16 * MIB)
    kept = [memory.empty((4 * MIB,), np.dtype(np.uint8)) for _ in range(3)]
    kept.pop()
    assert memory.waiting_bytes == 4 * MIB
    memory.close()
    assert memory.waiting_bytes == 0
    kept.pop()[:] = 1
    kept.clear()
    later = memory.empty((4 * MIB,), np.dtype(np.uint8))
    later[:] = 2
    del later
    assert memory.waiting_bytes == 0
    memory.close()


def test_many_that_go_at_once_stay_within_the_budget() -> None:
    memory = HostMemory(16 * MIB)
    kept = [memory.empty((4 * MIB,), np.dtype(np.uint8)) for _ in range(20)]
    kept.clear()
    assert sum(block.size for block in memory._shelf.blocks) == 16 * MIB


def test_little_is_wasted() -> None:
    memory = HostMemory()
    for nbytes in range(RECYCLED_FROM, 4 * RECYCLED_FROM, 99_991):
        memory.empty((nbytes,), np.dtype(np.uint8))
        assert nbytes <= memory.waiting_bytes <= nbytes * 1.126
        memory._waiting.clear()


def test_arrays_may_go_anywhere_at_any_time() -> None:
    """In cycles that the collector finds while memory is taken, and in other threads."""
    memory = HostMemory(64 * MIB)
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for number in range(200):
                array = memory.empty((RECYCLED_FROM + seed,), np.dtype(np.uint8))
                array[:16] = seed
                cycle: list[object] = [array]
                cycle.append(cycle)
                assert (array[:16] == seed).all()
                del array, cycle
                if number % 20 == 0:
                    gc.collect()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert memory.waiting_bytes <= 64 * MIB


def test_results_of_dispatches_are_made_of_it(wgpu_backend: pytest.FixtureRequest) -> None:
    import vyre_wgpu as vw

    b = vw.ProgramBuilder("twice")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    y[b.global_id()] = x[b.global_id()] * 2
    pipe = wgpu_backend.compile(b.build())  # type: ignore[attr-defined]
    given = np.arange(MIB, dtype=np.uint32)
    first = pipe.fn(given)
    where = address(first)
    second = pipe.fn(given + 1)
    assert address(second) != where
    np.testing.assert_array_equal(first, given * 2)
    del first
    np.testing.assert_array_equal(pipe.fn(given + 2), (given + 2) * 2)
    places = {address(pipe.fn(given)) for _ in range(4)}
    assert len(places) == 1, "the same memory serves each result that is dropped"
    np.testing.assert_array_equal(second, (given + 1) * 2)
