from __future__ import annotations

import itertools

from vyre_wgpu.buffer.bindings import BindGroupCache


def test_same_layout_and_buffers_hit() -> None:
    cache, make = BindGroupCache(), itertools.count().__next__
    first = cache.get(0, [1, 2], lambda: f"group {make()}")
    assert cache.get(0, [1, 2], lambda: f"group {make()}") == first
    found = cache.statistics()
    assert (found.created, found.hits, found.entries) == (1, 1, 1)


def test_order_layout_and_buffers_all_count() -> None:
    cache, make = BindGroupCache(), itertools.count().__next__
    keys = [(0, [1, 2]), (0, [2, 1]), (1, [1, 2]), (0, [1]), (0, [])]
    groups = [cache.get(layout, buffers, lambda: f"{make()}") for layout, buffers in keys]
    assert len(set(groups)) == len(keys)


def test_destroyed_buffer_takes_its_entries_along() -> None:
    cache = BindGroupCache()
    for buffers in ([1, 2], [2, 3], [3, 3]):
        cache.get(0, buffers, lambda: "group")
    cache.drop(2)
    cache.drop(2)
    assert cache.statistics().entries == 1
    cache.get(0, [3, 3], lambda: "never")
    assert cache.statistics().hits == 1
    cache.drop(3)
    assert cache.statistics().entries == 0


def test_the_one_unused_for_longest_goes_first() -> None:
    cache = BindGroupCache(max_entries=2)
    cache.get(0, [1], lambda: "one")
    cache.get(0, [2], lambda: "two")
    cache.get(0, [1], lambda: "never")
    cache.get(0, [3], lambda: "three")
    assert cache.get(0, [1], lambda: "never") == "one"
    assert cache.get(0, [2], lambda: "again") == "again"
    assert cache.statistics().entries == 2


def test_clear_forgets_everything() -> None:
    cache = BindGroupCache()
    cache.get(0, [1], lambda: "one")
    cache.clear()
    cache.drop(1)
    assert cache.statistics().entries == 0
