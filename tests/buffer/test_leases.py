"""Leases over pools that make plain objects: no device takes part."""

from __future__ import annotations

import pytest

from vyre_wgpu.buffer.leases import LeaseCache, Need
from vyre_wgpu.buffer.pool import BufferPool
from vyre_wgpu.errors import LimitError, VyreError


class Raw:
    """Stands for wgpu's buffer: the pool only destroys it."""

    def __init__(self, size: int) -> None:
        self.size, self.destroyed = size, False

    def destroy(self) -> None:
        self.destroyed = True


class Bench:
    """Two pools and leases over them."""

    def __init__(self, budget: int = 1 << 20, memory: int = 1 << 30) -> None:
        self.memory = memory
        self.pools = [BufferPool(self.make, limit=1 << 16) for _ in range(2)]
        self.leases = LeaseCache(self.pools, budget)

    def make(self, size: int) -> Raw:
        held = sum(pool.statistics().bytes for pool in self.pools)
        if held + size > self.memory:
            raise LimitError("out of memory")
        return Raw(size)

    def key(self, *needs: Need | None, layout: int = 1) -> tuple[object, ...]:
        return self.leases.key(layout, needs)

    def idle_in_pools(self) -> int:
        return sum(pool.statistics().idle_bytes for pool in self.pools)


def test_equal_sizes_get_the_same_buffers_and_what_was_made_of_them() -> None:
    bench = Bench()
    lease = bench.leases.take(bench.key(Need(0, 1000), None, Need(1, 10)))
    assert [b and b.size for b in lease.buffers] == [1024, None, 256]
    lease.prepared, lease.group = "prepared", "group"
    bench.leases.give_back(lease)
    again = bench.leases.take(bench.key(Need(0, 1001), None, Need(1, 1)))
    assert again is lease
    assert (again.prepared, again.group) == ("prepared", "group")
    statistics = bench.leases.statistics()
    assert statistics.hits == 1
    assert statistics.reuses == (1, 1)


@pytest.mark.parametrize(
    ("needs", "layout"),
    [
        ((Need(0, 1025),), 1),
        ((Need(1, 1000),), 1),
        ((Need(0, 1000),), 2),
        ((Need(0, 1000), None), 1),
    ],
)
def test_other_sizes_pools_or_layouts_get_another_lease(
    needs: tuple[Need | None, ...], layout: int
) -> None:
    bench = Bench()
    lease = bench.leases.take(bench.key(Need(0, 1000)))
    bench.leases.give_back(lease)
    assert bench.leases.take(bench.key(*needs, layout=layout)) is not lease


def test_a_lease_in_use_is_not_lent_again() -> None:
    bench = Bench()
    key = bench.key(Need(0, 1000))
    first, second = bench.leases.take(key), bench.leases.take(key)
    assert first.buffers[0] is not second.buffers[0]
    bench.leases.give_back(first)
    bench.leases.give_back(second)
    assert bench.leases.take(key) is second  # the warmest
    assert bench.leases.take(key) is first


@pytest.mark.parametrize("end", ["give_back", "discard"])
def test_ending_a_lease_twice_is_an_error(end: str) -> None:
    bench = Bench()
    lease = bench.leases.take(bench.key(Need(0, 1000)))
    getattr(bench.leases, end)(lease)
    for method in (bench.leases.give_back, bench.leases.discard):
        with pytest.raises(VyreError, match="twice"):
            method(lease)


def test_discarding_destroys_the_buffers() -> None:
    bench = Bench()
    lease = bench.leases.take(bench.key(Need(0, 1000), Need(1, 10)))
    raws = [buffer.wgpu for buffer in lease.buffers if buffer is not None]
    bench.leases.discard(lease)
    assert [raw.destroyed for raw in raws] == [True, True]
    assert sum(pool.statistics().buffers for pool in bench.pools) == 0


def test_idle_leases_above_the_budget_go_to_the_pools_oldest_first() -> None:
    bench = Bench(budget=2048)
    leases = [bench.leases.take(bench.key(Need(0, 1000), layout=k)) for k in range(3)]
    for lease in leases:
        bench.leases.give_back(lease)
    assert bench.leases.statistics().idle_bytes == (2048, 0)
    assert bench.idle_in_pools() == 1024
    assert bench.leases.take(bench.key(Need(0, 1000), layout=1)) is leases[1]
    assert bench.leases.take(bench.key(Need(0, 1000), layout=2)) is leases[2]
    fresh = bench.leases.take(bench.key(Need(0, 1000), layout=0))
    assert fresh is not leases[0]
    assert fresh.buffers == leases[0].buffers
    assert fresh.prepared is None


def test_memory_in_idle_leases_serves_requests_that_would_fail() -> None:
    bench = Bench(memory=3000)
    lease = bench.leases.take(bench.key(Need(0, 2000)))
    bench.leases.give_back(lease)
    assert bench.leases.take(bench.key(Need(0, 1000))).nbytes == 1024


def test_a_request_that_fails_keeps_no_buffer() -> None:
    bench = Bench(memory=3000)
    with pytest.raises(LimitError, match="memory"):
        bench.leases.take(bench.key(Need(0, 2000), Need(1, 2000)))
    assert sum(pool.statistics().bytes for pool in bench.pools) == bench.idle_in_pools()


def test_a_need_above_the_limit_has_no_key() -> None:
    with pytest.raises(LimitError, match="65537 bytes"):
        Bench().key(Need(0, (1 << 16) + 1))
