"""Bodies that lowering splits into functions are right on every backend."""

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


def long_program(statements: int) -> vw.ProgramBuilder:
    """A body far above the length at which functions are split, with every kind of escape."""
    b = vw.ProgramBuilder("long")
    x = b.read("x", vw.u32)
    out = b.output("out", vw.u32, like=x)
    i = b.global_id(0)
    v = b.let("v", x[i])
    total = b.var("total", vw.u32, v)
    with b.for_range(0, 4) as k:
        t = total + k
        for step in range(statements):
            t = t * 3 + (v ^ step)
            if step % 400 == 100:
                with b.if_((v % 16 == 3) & (k == 1)):
                    b.continue_()
                with b.if_((v % 16 == 5) & (k == 2)):
                    b.break_()
                with b.if_((v % 16 == 7) & (k == 3)):
                    out[i] = 1
                    b.return_()
                with b.if_(v == 1000 + step):
                    b.trap("thousand", step)
        total.set(t)
    out[i] = total
    return b


def test_long_bodies_are_split_and_right(backend: Any) -> None:
    """Values, variables, break, continue, return and traps work across split functions."""
    statements = 1500
    program = long_program(statements).build()
    pipe = backend.compile(program)
    if hasattr(pipe, "wgsl"):
        assert pipe.wgsl.count("\nfn part") > 3
    x = np.arange(64, dtype=np.uint32)

    def model(v: int) -> int:
        total = v
        for k in range(4):
            t = total + k
            leave = False
            for step in range(statements):
                t = (t * 3 + (v ^ step)) % 2**32
                if step % 400 == 100:
                    if v % 16 == 3 and k == 1:
                        leave = True
                        break
                    if v % 16 == 5 and k == 2:
                        return total
                    if v % 16 == 7 and k == 3:
                        return 1
            if not leave:
                total = t
        return total

    np.testing.assert_array_equal(pipe.fn(x), [model(int(v)) for v in x])
    with pytest.raises(vw.TrapError) as caught:
        pipe.fn(np.array([5, 1500, 6], np.uint32))
    assert (caught.value.tag, caught.value.address, caught.value.lane) == ("thousand", 500, (1,))


def test_long_body_with_barriers(backend: Any) -> None:
    """The predicated form survives splitting."""
    b = vw.ProgramBuilder("long_barrier", workgroup_size=64)
    x = b.read("x", vw.u32)
    out = b.output("out", vw.u32, like=x)
    shared = b.workgroup("shared", vw.u32, 64)
    i, k = b.global_id(0), b.local_id(0)
    t = x[i]
    for step in range(2500):
        t = t * 5 + step
        if step == 1200:
            with b.if_(k % 8 == 0):
                b.return_()
    shared[k] = t
    b.barrier()
    out[i] = shared[k ^ 1] + t
    values = np.arange(64, dtype=np.uint64)
    t_model = values.copy()
    for step in range(2500):
        t_model = (t_model * 5 + step) % 2**32
    lane = np.arange(64)
    ended = lane % 8 == 0
    memory = np.where(ended, 0, t_model)
    expected = np.where(ended, 0, (memory[lane ^ 1] + t_model) % 2**32)
    (got,) = run(backend, b, values.astype(np.uint32))
    np.testing.assert_array_equal(got, expected)
