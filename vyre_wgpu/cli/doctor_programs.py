"""The programs that ``vyre-wgpu doctor`` runs: one for each kind of thing a device must get right.

Each function runs one on a backend and compares it with NumPy or Python. It returns nothing if the
device is right, and raises `Wrong` with what it got instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import vyre_wgpu as vw

from ..backends import Backend

__all__ = ["PROGRAMS", "Wrong"]

_N = 10_007
"""Elements: a prime, so that no workgroup, word or row comes out even."""


class Wrong(Exception):
    """A device computed something else than NumPy."""


def _compare(what: str, got: npt.NDArray[Any], expected: npt.NDArray[Any]) -> None:
    if got.shape != expected.shape or got.dtype != expected.dtype:
        raise Wrong(f"{what}: {got.dtype} {got.shape}, expected {expected.dtype} {expected.shape}")
    bad = np.flatnonzero(got != expected)
    if len(bad):
        at = int(bad[0])
        raise Wrong(
            f"{what}: {len(bad)} of {got.size} elements differ, the first at {at}: "
            f"{got[at]} on the device, {expected[at]} expected"
        )


def integers(backend: Backend) -> None:
    """Floor division, remainders, shifts and wrapping, zero divisors included."""
    b = vw.ProgramBuilder("doctor_integers")
    x, y = b.read("x", vw.i32), b.read("y", vw.i32)
    quotient, rest = b.output("quotient", vw.i32, like=x), b.output("rest", vw.i32, like=x)
    mixed = b.output("mixed", vw.i32, like=x)
    i = b.global_id(0)
    quotient[i] = x[i] // y[i]
    rest[i] = x[i] % y[i]
    mixed[i] = (x[i] * y[i] + 12345) ^ (x[i] >> 3)
    rng = np.random.default_rng(1)
    n, d = (rng.integers(-(2**31), 2**31, _N).astype(np.int32) for _ in range(2))
    d[::7] = rng.integers(-3, 4, len(d[::7]))
    got = backend.compile(b.build()).dispatch([n, d])
    zero, safe = d == 0, np.where(d == 0, 1, d).astype(np.int64)
    wide = n.astype(np.int64)
    _compare("x // y", got[0], np.where(zero, -1, wide // safe).astype(np.int32))
    _compare("x % y", got[1], np.where(zero, 0, wide % safe).astype(np.int32))
    _compare("wrapping", got[2], (wide * d + 12345).astype(np.int32) ^ (n >> 3))


def floats(backend: Backend) -> None:
    """f32 arithmetic, conversions that saturate, NaN and infinity."""
    b = vw.ProgramBuilder("doctor_floats")
    x = b.read("x", vw.f32)
    product, whole = b.output("product", vw.f32, like=x), b.output("whole", vw.i32, like=x)
    nan = b.output("nan", vw.bool_, like=x)
    i = b.global_id(0)
    product[i] = x[i] * 0.1
    whole[i] = x[i].cast(vw.i32)
    nan[i] = x[i] != x[i]
    data = np.random.default_rng(2).normal(0, 1e9, _N).astype(np.float32)
    data[:5] = [np.nan, np.inf, -np.inf, 3e9, -0.5]
    got = backend.compile(b.build()).dispatch([data])
    usual = slice(5, None)
    _compare("x * 0.1", got[0][usual], data[usual] * np.float32(0.1))
    saturated = np.clip(np.nan_to_num(data.astype(np.float64)), -(2.0**31), 2.0**31 - 1)
    _compare("f32 to i32", got[1], saturated.astype(np.int64).astype(np.int32))
    _compare("x != x", got[2], np.isnan(data))


def packed_types(backend: Backend) -> None:
    """u8, i16 and bool elements, whose neighbours are written by other lanes."""
    b = vw.ProgramBuilder("doctor_packed")
    x = b.read("x", vw.u8)
    byte, half = b.output("byte", vw.u8, like=x), b.output("half", vw.i16, like=x)
    flag = b.output("flag", vw.bool_, like=x)
    i = b.global_id(0)
    byte[i] = x[i] * 3
    half[i] = x[i].cast(vw.i16) * -257
    flag[i] = x[i] >= 128
    data = np.random.default_rng(3).integers(0, 256, _N).astype(np.uint8)
    got = backend.compile(b.build()).dispatch([data])
    _compare("u8", got[0], data * np.uint8(3))
    _compare("i16", got[1], (data.astype(np.int32) * -257).astype(np.int16))
    _compare("bool", got[2], data >= 128)


def barriers(backend: Backend) -> None:
    """A sum in every workgroup, through its memory."""
    lanes = 64
    b = vw.ProgramBuilder("doctor_barriers", workgroup_size=lanes)
    x = b.read("x", vw.u32)
    sums = b.output("sums", vw.u32, count=vw.ceil_div(x.length, lanes))
    part = b.workgroup("part", vw.u32, lanes)
    b.extent(x.length)
    lane = b.local_id(0)
    part[lane] = x[b.global_id(0)]
    half = lanes // 2
    while half:
        b.barrier()
        with b.if_(lane < half):
            part[lane] = part[lane] + part[lane + half]
        half //= 2
    b.barrier()
    with b.if_(lane == 0):
        sums[b.workgroup_id(0)] = part[0]
    data = np.random.default_rng(4).integers(0, 2**32, _N, dtype=np.uint32)
    (got,) = backend.compile(b.build()).dispatch([data])
    whole = np.resize(np.append(data, np.zeros(-_N % lanes, np.uint32)), (-(-_N // lanes), lanes))
    _compare("sums", got, whole.sum(axis=1, dtype=np.uint32))


def atomics(backend: Backend) -> None:
    """Counts and maxima that all lanes meet in."""
    b = vw.ProgramBuilder("doctor_atomics")
    x = b.read("x", vw.u32)
    counts, most = b.output("counts", vw.u32, count=7), b.output("most", vw.u32, count=1)
    b.extent(x.length)
    value = b.let("value", x[b.global_id(0)])
    b.atomic_add(counts, value % 7, 1)
    b.atomic_max(most, 0, value)
    data = np.random.default_rng(5).integers(0, 2**32, _N, dtype=np.uint32)
    got = backend.compile(b.build()).dispatch([data])
    _compare("counts", got[0], np.bincount(data % 7, minlength=7).astype(np.uint32))
    _compare("maximum", got[1], data.max(keepdims=True))


def loops(backend: Backend) -> None:
    """Trip counts from the data, which differ from lane to lane."""
    b = vw.ProgramBuilder("doctor_loops")
    x = b.read("x", vw.u32)
    steps = b.output("steps", vw.u32, like=x)
    i = b.global_id(0)
    n, count = b.var("n", vw.u32, x[i]), b.var("count", vw.u32, 0)
    with b.while_(lambda: n > 1):
        n.set(vw.select(n % 2 == 0, n // 2, n * 3 + 1))
        count += 1
    steps[i] = count
    data = np.arange(_N, dtype=np.uint32)  # the largest number on the way is below 2^32
    (got,) = backend.compile(b.build()).dispatch([data])
    left, expected = data.astype(np.int64), np.zeros(_N, np.uint32)
    while (running := left > 1).any():
        expected += running
        left = np.where(running, np.where(left % 2 == 0, left // 2, left * 3 + 1), left)
    _compare("steps of the Collatz sequence", got, expected)


def large_grid(backend: Backend) -> None:
    """More workgroups than one axis of a dispatch holds; each element is run once."""
    n = 70_001 * 64
    b = vw.ProgramBuilder("doctor_grid", workgroup_size=64)
    runs = b.read_write("runs", vw.u8)
    i = b.global_id(0)
    runs[i] = runs[i] + 1
    (got,) = backend.compile(b.build()).dispatch([np.zeros(n, np.uint8)])
    _compare("runs of each element", got, np.ones(n, np.uint8))


def traps(backend: Backend) -> None:
    """A trap is raised with its address and lane, and the device is usable afterwards."""
    b = vw.ProgramBuilder("doctor_traps")
    x = b.read("x", vw.u32)
    out = b.output("out", vw.u32, like=x)
    i = b.global_id(0)
    with b.if_(x[i] == 7):
        b.trap("seven", address=i * 2)
    out[i] = x[i] + 1
    data = np.zeros(_N, np.uint32)
    pipe = backend.compile(b.build())
    data[4321] = 7
    try:
        pipe.dispatch([data])
    except vw.TrapError as trap:
        if (trap.tag, trap.address, trap.lane) != ("seven", 8642, (4321,)):
            raise Wrong(f"the trap is {trap.tag!r}, {trap.address}, {trap.lane}") from None
    else:
        raise Wrong("the program did not trap")
    data[4321] = 8
    (got,) = pipe.dispatch([data])
    _compare("after the trap", got, data + np.uint32(1))


PROGRAMS: dict[str, Callable[[Backend], None]] = {
    "integer arithmetic": integers,
    "float arithmetic": floats,
    "packed types": packed_types,
    "barriers": barriers,
    "atomics": atomics,
    "loops": loops,
    "large grid": large_grid,
    "traps": traps,
}
"""What is checked, in order."""
