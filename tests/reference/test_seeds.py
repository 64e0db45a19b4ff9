"""A seed changes what the meaning of a program leaves open, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu import programs
from vyre_wgpu.backends.reference import ReferenceBackend

SEEDS = range(40)


def run(b: vw.ProgramBuilder, *arrays: Any, seed: int | None) -> Any:
    return ReferenceBackend(seed=seed).compile(b.build()).dispatch(list(arrays))


def test_racing_stores_leave_one_of_the_values() -> None:
    """Which one differs from seed to seed; the neighbours are not touched."""
    b = vw.ProgramBuilder("race", workgroup_size=4)
    out = b.output("out", vw.u8, 3)
    b.extent(10)
    out[1] = (b.global_id() + 1).cast(vw.u8)
    winners = set()
    for seed in SEEDS:
        (got,) = run(b, seed=seed)
        assert got[[0, 2]].tolist() == [0, 0]
        winners.add(int(got[1]))
    assert winners <= set(range(1, 11))
    assert len(winners) > 3
    assert run(b, seed=None)[0][1] == 10


def test_one_seed_gives_one_result() -> None:
    b = vw.ProgramBuilder("tickets", workgroup_size=8)
    count, ticket = b.read_write("count", vw.u32, 1), b.output("ticket", vw.u32, 200)
    b.extent(200)
    ticket[b.global_id()] = b.atomic_add(count, 0, 1)
    results = {}
    for seed in SEEDS:
        pipe = ReferenceBackend(seed=seed).compile(b.build())
        (_, first), (_, second) = pipe(np.zeros(1, np.uint32)), pipe(np.zeros(1, np.uint32))
        np.testing.assert_array_equal(first, second)
        assert sorted(first.tolist()) == list(range(200))
        results[seed] = first.tobytes()
    assert len(set(results.values())) == len(SEEDS)


def test_workgroups_interleave_between_barriers() -> None:
    """Each workgroup takes a ticket before and one after a barrier, in every order there is."""
    b = vw.ProgramBuilder("phases", workgroup_size=4)
    count, ticket = b.read_write("count", vw.u32, 1), b.output("ticket", vw.u32, 4)
    b.extent(8)
    k, group = b.local_id(), b.workgroup_id()
    for phase in range(2):
        with b.if_(k == 0):
            ticket[group * 2 + phase] = b.atomic_add(count, 0, 1)
        b.barrier()
    orders = set()
    for seed in range(150):
        _, got = run(b, np.zeros(1, np.uint32), seed=seed)
        first, second, other_first, other_second = got.tolist()
        assert sorted(got.tolist()) == [0, 1, 2, 3]
        assert first < second
        assert other_first < other_second
        orders.add(tuple(got.tolist()))
    # 4 tickets in which two pairs keep their order: all six of them.
    assert len(orders) == 6


def test_lanes_without_barriers_interleave() -> None:
    """A lane's two atomics may have another's between them, or not."""
    b = vw.ProgramBuilder("pair", workgroup_size=2)
    count, seen = b.read_write("count", vw.u32, 1), b.output("seen", vw.u32, 4)
    b.extent(2)
    i = b.global_id()
    seen[i * 2] = b.atomic_add(count, 0, 1)
    seen[i * 2 + 1] = b.atomic_add(count, 0, 1)
    found = {tuple(run(b, np.zeros(1, np.uint32), seed=s)[1].tolist()) for s in range(150)}
    assert found == {(0, 1, 2, 3), (2, 3, 0, 1), (0, 2, 1, 3), (1, 3, 0, 2), (0, 3, 1, 2),
                     (1, 2, 0, 3)}  # fmt: skip


def test_lanes_of_a_workgroup_interleave_between_barriers() -> None:
    """Two lanes take two tickets each, and two behind a barrier, in every order there is."""
    b = vw.ProgramBuilder("tickets", workgroup_size=2)
    count, seen = b.workgroup("count", vw.u32, 1), b.output("seen", vw.u32, 8)
    b.extent(2)
    k = b.local_id()
    for phase in range(2):
        for ticket in range(2):
            seen[phase * 4 + k * 2 + ticket] = b.atomic_add(count, 0, 1)
        b.barrier()
    first, second = set(), set()
    for seed in range(200):
        got = run(b, seed=seed)[0].tolist()
        assert sorted(got[:4]) == [0, 1, 2, 3]
        assert sorted(got[4:]) == [4, 5, 6, 7]
        first.add(tuple(got[:4]))
        second.add(tuple(n - 4 for n in got[4:]))
    orders = {(0, 1, 2, 3), (2, 3, 0, 1), (0, 2, 1, 3), (1, 3, 0, 2), (0, 3, 1, 2), (1, 2, 0, 3)}
    assert first == second == orders


@pytest.mark.parametrize("seed", range(12))
def test_lanes_of_a_subgroup_stay_together(seed: int) -> None:
    """Its operations have all of its lanes in any order; lanes that ended hold up none."""
    b = vw.ProgramBuilder("sums", workgroup_size=16)
    out, tile = b.output("out", vw.u32, 32), b.workgroup("tile", vw.u32, 16)
    b.extent(32)
    i, k = b.global_id(), b.local_id()
    tile[k] = b.subgroup_add(i)
    b.barrier()
    with b.if_(k >= 12):
        b.return_()
    b.barrier()
    out[i] = tile[(k + 4) % 16]
    pipe = ReferenceBackend(subgroup_size=4, seed=seed, detect_races=True).compile(b.build())
    sums = np.arange(32).reshape(2, 4, 4).sum(axis=2)
    expected = np.repeat(np.roll(sums, -1, axis=1), 4, axis=1)
    expected[:, 12:] = 0
    np.testing.assert_array_equal(pipe.fn().reshape(2, 16), expected)


@pytest.mark.parametrize("seed", [None, *range(5)])
@pytest.mark.parametrize("subgroup_size", [1, 32])
def test_programs_without_races_have_one_result(seed: int | None, subgroup_size: int) -> None:
    """Shipped programs and a sum by atomics give NumPy's result whatever the order."""
    backend = ReferenceBackend(seed=seed, subgroup_size=subgroup_size, lanes_at_once=1024)
    data = np.random.default_rng(3).integers(0, 256, 100_003, np.uint8)
    counts = backend.compile(programs.byte_histogram()).fn(data)
    np.testing.assert_array_equal(counts, np.bincount(data, minlength=256))
    found = backend.compile(programs.first_of(lambda v: v == 77)).fn(data)
    assert programs.first_index(found) == int(np.argmax(data == 77))


def test_divergent_branches_run_in_either_order() -> None:
    b = vw.ProgramBuilder("branches", workgroup_size=2)
    out = b.output("out", vw.u32, 1)
    shared = b.workgroup("shared", vw.u32, 1)  # so that both lanes run in step
    b.extent(2)
    with b.if_(b.local_id() == 0):
        shared[0] = 1
    with b.else_():
        shared[0] = 2
    b.barrier()
    out[0] = shared[0]
    assert {int(run(b, seed=seed)[0][0]) for seed in SEEDS} == {1, 2}
