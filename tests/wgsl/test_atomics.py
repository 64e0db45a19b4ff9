"""Atomics have their defined meaning on every backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.wgsl.running import run


@pytest.fixture
def backend(any_backend: Any) -> Any:
    """These tests say what programs mean, so they run on every backend."""
    return any_backend


ATOMICS: list[tuple[str, Callable[[int, int], int]]] = [
    ("add", lambda a, v: a + v),
    ("sub", lambda a, v: a - v),
    ("and", lambda a, v: a & v),
    ("or", lambda a, v: a | v),
    ("xor", lambda a, v: a ^ v),
    ("min", min),
    ("max", max),
    ("exchange", lambda a, v: v),
]


@pytest.mark.parametrize(("name", "function"), ATOMICS, ids=[n for n, _ in ATOMICS])
@pytest.mark.parametrize("dtype", [vw.i32, vw.u32, vw.i64, vw.u64], ids=str)
def test_atomics_return_the_old_value(
    name: str, function: Callable[[int, int], int], dtype: vw.DType, backend: Any
) -> None:
    """One lane at a time: old value returned, new value stored, wrapping."""
    top = dtype.bits - 1
    starts = np.array([0, 1, 5, 2**top - 1, -(2**top), -7], np.int64).astype(dtype.numpy)
    values = np.array([3, 1, 12, 1, 1, 5], np.int64).astype(dtype.numpy)
    b = vw.ProgramBuilder(name)
    data, value = b.read_write("data", dtype), b.read("value", dtype)
    old = b.output("old", dtype, like=data)
    i = b.global_id(0)
    old[i] = getattr(b, f"atomic_{name}")(data, i, value[i])
    b.extent(data.length)
    try:
        changed, before = run(backend, b, starts, values)
    except vw.UnsupportedFeatureError as error:
        assert dtype.bits == 64
        pytest.skip(str(error))
    assert before.tolist() == starts.tolist()
    for a, v, new in zip(starts.tolist(), values.tolist(), changed.tolist(), strict=True):
        assert new == (function(a, v) - dtype.min) % 2**dtype.bits + dtype.min


@pytest.mark.parametrize("dtype", [vw.i32, vw.u64], ids=str)
def test_compare_exchange_returns_the_old_value(dtype: vw.DType, backend: Any) -> None:
    """Replaced only where it equals the expected one."""
    b = vw.ProgramBuilder("cas")
    data = b.read_write("data", dtype)
    old = b.output("old", dtype, like=data)
    i = b.global_id(0)
    old[i] = b.atomic_compare_exchange(data, i, 5, 9)
    b.extent(data.length)
    try:
        changed, before = run(backend, b, np.array([4, 5, 6], dtype.numpy))
    except vw.UnsupportedFeatureError as error:
        pytest.skip(str(error))
    assert (changed.tolist(), before.tolist()) == ([4, 9, 6], [4, 5, 6])


def test_float_atomic_add(backend: Any) -> None:
    """Sums of integers in f32 are exact in any order."""
    b = vw.ProgramBuilder("float_sum", workgroup_size=64)
    x = b.read("x", vw.f32)
    total = b.output("total", vw.f32, 2)
    b.extent(x.length)
    i = b.global_id(0)
    b.atomic_add(total, 0, x[i])
    with b.if_(i == 0):
        total[1] = 0.5
    values = np.arange(1000, dtype=np.float32)
    try:
        (got,) = run(backend, b, values)
    except vw.UnsupportedFeatureError as error:
        pytest.skip(str(error))
    assert got.tolist() == [values.sum(), 0.5]


def test_float_atomic_add_in_workgroup_memory(backend: Any) -> None:
    """Each lane adds to a sum of its workgroup and takes what was there before; 8 elements."""
    b = vw.ProgramBuilder("float_sums", workgroup_size=64)
    x = b.read("x", vw.f32)
    before = b.output("before", vw.f32, like=x)
    sums = b.output("sums", vw.f32, 16)
    shared = b.workgroup("shared", vw.f32, 8)
    b.extent(x.length)
    i, lane = b.global_id(0), b.local_id(0)
    with b.if_(lane == 1):
        shared[1] = 1.0
    b.barrier()
    before[i] = b.atomic_add(shared, lane % 8, x[i])
    b.atomic_add(shared, lane + 8, x[i])  # out of bounds
    b.barrier()
    with b.if_(lane < 8):
        sums[b.workgroup_id(0) * 8 + lane] = shared[lane]
    values = np.arange(128, dtype=np.float32)
    got, totals = run(backend, b, values)
    want = values.reshape(2, 8, 8).sum(axis=1) + np.float32([0, 1, 0, 0, 0, 0, 0, 0])
    assert totals.tolist() == want.ravel().tolist()
    for group in range(2):
        for element in range(8):
            lanes = slice(group * 64 + element, group * 64 + 64, 8)
            steps = np.sort(got[lanes])
            assert steps[0] == (1.0 if element == 1 else 0.0)
            assert set(np.diff(np.append(steps, totals[group * 8 + element]))) <= set(values[lanes])


def test_atomics_add_up_over_workgroups(backend: Any) -> None:
    """A sum by atomics in workgroup memory and then in storage is exact."""
    x = np.random.default_rng(1).integers(0, 1000, 10_007, np.uint32)
    b = vw.ProgramBuilder("sum", workgroup_size=64)
    a = b.read("a", vw.u32)
    total = b.output("total", vw.u32, 1)
    part = b.workgroup("part", vw.u32, 1)
    b.extent(a.length)
    i = b.global_id(0)
    b.atomic_add(part, 0, a[i])
    b.barrier()
    with b.if_(b.local_id(0) == 0):
        b.atomic_add(total, 0, part[0])
    assert run(backend, b, x)[0].tolist() == [int(x.sum()) % 2**32]


def test_compare_exchange_is_strong(backend: Any) -> None:
    """Exactly one of many lanes wins."""
    b = vw.ProgramBuilder("election")
    flag, winners = b.read_write("flag", vw.u32), b.output("winners", vw.u32, 1)
    b.extent(5000)
    old = b.atomic_compare_exchange(flag, 0, 0, b.global_id(0) + 1)
    with b.if_(old == 0):
        b.atomic_add(winners, 0, 1)
    flagged, won = run(backend, b, np.zeros(1, np.uint32))
    assert won.tolist() == [1]
    assert 1 <= flagged[0] <= 5000
