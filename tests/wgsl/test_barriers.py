"""Workgroup memory, barriers and lanes that ended before one, on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.wgsl.running import run


@pytest.fixture
def backend(any_backend: Any) -> Any:
    """These tests say what programs mean, so they run on every backend."""
    return any_backend


def test_workgroup_memory_and_barriers(backend: Any) -> None:
    """Each workgroup reverses its block; memory starts as zeros."""
    x = np.arange(256 * 3, dtype=np.float32)
    b = vw.ProgramBuilder("reverse", workgroup_size=256)
    a = b.read("a", vw.f32)
    out = b.output("out", vw.f32, like=a)
    shared = b.workgroup("shared", vw.f32, 256)
    untouched = b.workgroup("untouched", vw.bool_, 3)
    i, k = b.global_id(0), b.local_id(0)
    shared[k] = a[i]
    b.barrier()
    out[i] = vw.select(untouched[1], vw.f32(-1), shared[255 - k])
    (got,) = run(backend, b, x)
    np.testing.assert_array_equal(got, x.reshape(3, 256)[:, ::-1].ravel())


def test_tree_reduction_with_barriers_in_a_loop(backend: Any) -> None:
    """Barriers in a uniform while loop."""
    x = np.random.default_rng(3).integers(0, 100, 1000, np.int32)
    b = vw.ProgramBuilder("tree", workgroup_size=128)
    a = b.read("a", vw.i32)
    out = b.output("out", vw.i32, vw.ceil_div(a.length, 128))
    shared = b.workgroup("shared", vw.i32, 128)
    b.extent(a.length)
    i, k = b.global_id(0), b.local_id(0)
    shared[k] = a[i]
    stride = b.var("stride", vw.u32, 64)
    b.barrier()
    with b.while_(lambda: stride > 0):
        with b.if_(k < stride):
            shared[k] = shared[k] + shared[k + stride]
        b.barrier()
        stride.set(stride // 2)
    with b.if_(k == 0):
        out[b.workgroup_id(0)] = shared[0]
    (got,) = run(backend, b, x)
    np.testing.assert_array_equal(got, np.add.reduceat(x, np.arange(0, 1000, 128)))


@pytest.mark.parametrize("how", ["return", "loop_return", "nested"])
def test_lanes_that_ended_keep_meeting_barriers(how: str, backend: Any) -> None:
    """Lanes that returned do nothing more, the others go on exchanging through barriers."""
    lanes, rounds = 64, 5
    b = vw.ProgramBuilder("ended", workgroup_size=lanes)
    out = b.output("out", vw.u32, lanes)
    shared = b.workgroup("shared", vw.u32, lanes)
    b.extent(lanes)
    k = b.local_id(0)
    if how == "return":
        with b.if_(k % 4 == 3):
            b.return_()
    elif how == "loop_return":
        with b.for_range(0, k + 1) as j, b.if_(j % 4 == 3):
            b.return_()
    with b.for_range(0, rounds) as r:
        if how == "nested":
            with b.if_((k % 4 == 3) & (r == 2)):
                out[k] = 500
                b.return_()
        shared[k] = r * 100 + k
        b.barrier()
        b.atomic_add(out, k, shared[(k + 1) % lanes])
        b.barrier()
    (got,) = run(backend, b)
    expected = np.zeros(lanes, np.int64)
    memory = np.zeros(lanes, np.int64)
    ended = np.zeros(lanes, bool)
    lane = np.arange(lanes)
    if how == "return":
        ended = lane % 4 == 3
    elif how == "loop_return":
        ended = lane >= 3
    for r in range(rounds):
        if how == "nested" and r == 2:
            ended = lane % 4 == 3
            expected[ended] = 500
        memory[~ended] = r * 100 + lane[~ended]
        expected[~ended] += memory[(lane[~ended] + 1) % lanes]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("lost", ["return", "loop_return", "none"])
def test_loop_with_barriers_over_a_variable_that_is_uniform_again(lost: str, backend: Any) -> None:
    """Lanes that ended before the variable was set for all go round as often as the others."""
    lanes, rounds = 64, 5
    b = vw.ProgramBuilder("again", workgroup_size=lanes)
    n = b.read("n", vw.u32).length
    out = b.output("out", vw.u32, lanes)
    shared = b.workgroup("shared", vw.u32, lanes)
    b.extent(lanes)
    k = b.local_id(0)
    left = b.var("left", vw.u32, 0)
    left.set(k % 4)
    if lost == "return":
        with b.if_(left == 3):
            b.return_()
    elif lost == "loop_return":
        with b.while_(lambda: left > 0):
            left -= 1
            with b.if_(left == 2):
                b.return_()
    left.set(n)
    with b.while_(lambda: left > 0):
        shared[k] = left * 100 + k
        b.barrier()
        b.atomic_add(out, k, shared[(k + 1) % lanes])
        b.barrier()
        left -= 1
    (got,) = run(backend, b, np.zeros(rounds, np.uint32))
    lane = np.arange(lanes)
    alive = (lane % 4 != 3) | (lost == "none")
    following = (lane + 1) % lanes
    hundreds = 100 * rounds * (rounds + 1) // 2
    want = alive * alive[following] * (hundreds + rounds * following)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("how", ["return", "trap"])
def test_an_endless_loop_with_barriers_ends_with_its_last_lane(how: str, backend: Any) -> None:
    """Lanes leave one after the other; when all have ended, so does the loop."""
    lanes = 64
    b = vw.ProgramBuilder("rounds", workgroup_size=lanes)
    out = b.output("out", vw.u32, lanes * 2)
    shared = b.workgroup("shared", vw.u32, 1)
    b.extent(lanes * 2)
    k = b.local_id(0)
    with b.while_(lambda: vw.bool_(True)):
        round_ = b.let("round", shared[0])
        b.barrier()
        with b.if_(round_ == k):
            b.atomic_add(out, b.global_id(0), 100 + round_)
            if how == "trap":
                b.trap("out", k)
            b.return_()
        b.atomic_max(shared, 0, round_ + 1)
        b.barrier()
    pipe = backend.compile(b.build())
    if how == "trap":
        with pytest.raises(vw.TrapError, match="out"):
            pipe()
    else:
        assert pipe()[0].tolist() == [100 + k for k in range(lanes)] * 2


@pytest.mark.parametrize("checks", ["total", "trap"])
def test_a_loop_with_barriers_is_left_out_when_all_lanes_have_trapped(
    checks: str, backend: Any
) -> None:
    """What made them trap makes the range long: 4,294,967,295 rounds of nobody."""
    b = vw.ProgramBuilder("rounds", workgroup_size=64)
    p = b.param("p", vw.u32)
    out = b.output("out", vw.u32, 64)
    shared = b.workgroup("shared", vw.u32, 64)
    b.extent(64)
    k = b.local_id(0)
    if checks == "total":
        with b.if_(p == 0):
            b.trap("zero", k)
    with b.for_range(0, 10 // p):
        shared[k] = shared[k] + 1
        b.barrier()
    out[k] = shared[63 - k]
    pipe = backend.compile(b.build(), vw.CompileOptions(checks=checks))
    with pytest.raises(vw.TrapError) as caught:
        pipe(p=0)
    assert isinstance(caught.value, ZeroDivisionError) == (checks == "trap")
    assert pipe(p=2)[0].tolist() == [5] * 64


def test_trap_with_barriers(backend: Any) -> None:
    """A trap before a barrier raises, and the program does not hang."""
    b = vw.ProgramBuilder("trap_barrier", workgroup_size=64)
    x = b.read("x", vw.u32)
    out = b.output("out", vw.u32, like=x)
    shared = b.workgroup("shared", vw.u32, 64)
    i, k = b.global_id(0), b.local_id(0)
    with b.if_(x[i] == 13):
        b.trap("unlucky", i)
    shared[k] = x[i]
    b.barrier()
    out[i] = shared[63 - k]
    pipe = backend.compile(b.build())
    clean = np.arange(100, 356, dtype=np.uint32)
    np.testing.assert_array_equal(pipe.fn(clean), clean.reshape(4, 64)[:, ::-1].ravel())
    bad = clean.copy()
    bad[130] = 13
    with pytest.raises(vw.TrapError) as caught:
        pipe.fn(bad)
    assert (caught.value.tag, caught.value.address, caught.value.lane) == ("unlucky", 130, (130,))
    np.testing.assert_array_equal(pipe.fn(clean), clean.reshape(4, 64)[:, ::-1].ravel())
