from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, strategies as st

from vyre_wgpu.buffer.pool import BufferPool, size_class
from vyre_wgpu.errors import LimitError, VyreError

LIMIT = 128 << 20


@dataclass
class Memory:
    """A device's memory that counts."""

    room: int = 1 << 40
    destroyed: list[int] = field(default_factory=list)

    def create(self, size: int) -> Raw:
        if size > self.room:
            raise LimitError("out of memory")
        self.room -= size
        return Raw(self, size)

    def pool(self, budget: int = 1 << 30) -> BufferPool:
        return BufferPool(self.create, limit=LIMIT, budget=budget, on_destroy=self.destroyed.append)


@dataclass
class Raw:
    memory: Memory
    size: int

    def destroy(self) -> None:
        self.memory.room += self.size


@given(st.integers(0, LIMIT))
def test_class_holds_the_request_and_wastes_less_than_a_quarter(nbytes: int) -> None:
    size = size_class(nbytes, LIMIT)
    assert nbytes <= size <= LIMIT
    assert size % 16 == 0
    assert size_class(size, LIMIT) == size
    if nbytes > 64 * 1024:
        assert size - nbytes < nbytes / 4


@given(st.integers(0, 1 << 40), st.integers(256, 1 << 40))
def test_no_class_crosses_the_limit(nbytes: int, limit: int) -> None:
    if nbytes > limit - limit % 16:
        with pytest.raises(LimitError, match=str(nbytes)):
            size_class(nbytes, limit)
    else:
        assert nbytes <= size_class(nbytes, limit) <= limit


def test_classes_are_few() -> None:
    assert len({size_class(n, LIMIT) for n in range(0, LIMIT, 4096)}) < 60


def test_released_buffer_serves_the_next_request_of_its_class() -> None:
    pool = Memory().pool()
    first = pool.acquire(1000)
    pool.release(first)
    assert pool.acquire(600) is first
    found = pool.statistics()
    assert (found.created, found.reuses, found.idle_bytes) == (1, 1, 0)


def test_equal_sequences_of_requests_get_equal_buffers() -> None:
    pool = Memory().pool()

    def dispatch() -> list[int]:
        held = [pool.acquire(n) for n in (100, 100, 5000, 100)]
        for buffer in reversed(held):
            pool.release(buffer)
        return [buffer.id for buffer in held]

    assert dispatch() == dispatch() == dispatch()
    assert pool.statistics().created == 4


def test_releasing_twice_or_elsewhere_is_an_error() -> None:
    memory = Memory()
    pool, other = memory.pool(), memory.pool()
    buffer = pool.acquire(10)
    with pytest.raises(VyreError, match="does not belong"):
        other.release(buffer)
    pool.release(buffer)
    with pytest.raises(VyreError, match="released twice"):
        pool.release(buffer)
    with pytest.raises(VyreError, match="released twice"):
        pool.discard(buffer)


def test_budget_evicts_the_one_idle_for_longest() -> None:
    memory = Memory()
    pool = memory.pool(budget=3 << 20)
    a, b, c = (pool.acquire(1 << 20) for _ in range(3))
    for buffer in (b, a, c):
        pool.release(buffer)
    big = pool.acquire(2 << 20)
    assert memory.destroyed == [b.id, a.id]
    assert pool.statistics().evictions == 2
    assert pool.statistics().bytes == 3 << 20
    pool.release(big)
    assert pool.acquire(1 << 20) is c


def test_what_is_in_use_may_exceed_the_budget_until_it_comes_back() -> None:
    pool = Memory().pool(budget=1 << 20)
    held = [pool.acquire(1 << 20) for _ in range(4)]
    assert pool.statistics().bytes == 4 << 20
    for buffer in held:
        pool.release(buffer)
    assert pool.statistics().bytes == 1 << 20


def test_ids_are_never_reused() -> None:
    pool = Memory().pool(budget=0)
    ids = []
    for _ in range(5):
        buffer = pool.acquire(10)
        ids.append(buffer.id)
        pool.release(buffer)
    assert len(set(ids)) == 5
    assert pool.statistics().buffers == 0


def test_discarded_buffer_is_destroyed_and_not_lent_again() -> None:
    memory = Memory()
    pool = memory.pool()
    buffer = pool.acquire(10)
    pool.discard(buffer)
    assert memory.destroyed == [buffer.id]
    assert pool.acquire(10).id != buffer.id


def test_out_of_memory_frees_idle_buffers_and_tries_again() -> None:
    memory = Memory(room=3 << 20)
    pool = memory.pool()
    pool.release(pool.acquire(2 << 20))
    pool.acquire(3 << 20)
    with pytest.raises(LimitError):
        pool.acquire(1 << 20)


def test_trim_and_close_destroy_idle_buffers_and_lent_ones_later() -> None:
    memory = Memory()
    pool = memory.pool()
    lent, idle = pool.acquire(10), pool.acquire(10)
    pool.release(idle)
    pool.trim()
    assert memory.destroyed == [idle.id]
    pool.close()
    pool.close()
    with pytest.raises(VyreError, match="closed"):
        pool.acquire(10)
    pool.release(lent)
    assert memory.room == 1 << 40
    assert pool.statistics().bytes == 0


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 300_000)), max_size=60))
def test_books_balance_after_any_sequence(steps: list[tuple[bool, int]]) -> None:
    memory = Memory()
    pool = memory.pool(budget=1 << 19)
    held = []
    for take, nbytes in steps:
        if take or not held:
            held.append(pool.acquire(nbytes))
        else:
            pool.release(held.pop(nbytes % len(held)))
        found = pool.statistics()
        assert found.bytes == (1 << 40) - memory.room
        assert found.bytes - found.idle_bytes == sum(buffer.size for buffer in held)
        assert len({buffer.id for buffer in held}) == len(held)
        assert found.bytes <= max(1 << 19, found.bytes - found.idle_bytes)
