"""`CompileOptions.checks`: accesses out of bounds and divisions by zero trap, or go untested."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.wgsl.lower import lower

TRAP, TRUSTED = vw.CompileOptions(checks="trap"), vw.CompileOptions(checks="trusted")
Body = Callable[[vw.ProgramBuilder, Any, Any, Any], None]


@pytest.fixture
def backend(any_backend: Any) -> Any:
    """What traps is the same on every backend."""
    return any_backend


def program_of(body: Body, dtype: vw.DType = vw.i32) -> vw.Program:
    """A program with x and y of one length, whose body gets b, x, y and x[i]."""
    b = vw.ProgramBuilder(body.__name__, workgroup_size=64)
    x, y = b.read("x", dtype), b.read_write("y", dtype)
    b.extent(x.length)
    body(b, x, y, x[vw.minimum(b.global_id(), x.length - 1)])
    return b.build()


def line_of(body: Body) -> int:
    """The line marked ``# <-`` in a body."""
    lines, first = inspect.getsourcelines(body)
    return first + next(k for k, line in enumerate(lines) if "# <-" in line)


def load(b: Any, x: Any, y: Any, v: Any) -> None:
    y[b.global_id()] = x[v]  # <-


def unused_load(b: Any, x: Any, y: Any, v: Any) -> None:
    x[v]  # <-
    y[b.global_id()] = v


def store(b: Any, x: Any, y: Any, v: Any) -> None:
    y[v] = 1  # <-


def atomic(b: Any, x: Any, y: Any, v: Any) -> None:
    b.atomic_add(y, v, 1)  # <-


def private(b: Any, x: Any, y: Any, v: Any) -> None:
    p = b.private("p", vw.i32, 5)
    p[v] = 3  # <-
    y[b.global_id()] = p[0]


def in_a_loop(b: Any, x: Any, y: Any, v: Any) -> None:
    with b.for_range(0, v + 1) as k:
        y[k] = x[k] + 1  # <-


def with_barriers(b: Any, x: Any, y: Any, v: Any) -> None:
    shared = b.workgroup("shared", vw.i32, 64)
    with b.if_(b.global_id() < x.length):  # all lanes of the workgroup run
        shared[b.local_id()] = x[v]  # <-
    b.barrier()
    with b.if_(b.global_id() < x.length):
        y[b.global_id()] = shared[63 - b.local_id()] * 0 + v


BUFFERS = {load: "x", unused_load: "x", with_barriers: "x", private: "p", in_a_loop: "x"}


@pytest.mark.parametrize(
    "body", [load, unused_load, store, atomic, private, in_a_loop, with_barriers]
)
@pytest.mark.parametrize("bad", [5, 70, -1, -(2**31), 2**31 - 1])
def test_an_access_out_of_bounds_traps(body: Body, bad: int, backend: Any) -> None:
    """With buffer, index, length, lane and line; then the pipeline works on."""
    if body is in_a_loop and (bad < 0 or bad > 1000):
        bad = 9
    pipe = backend.compile(program_of(body), TRAP)
    x = np.array([0, 1, 2, 3, 4], np.int32)
    clean = pipe.fn(x, x)
    x[3] = bad
    with pytest.raises(vw.BoundsTrapError, match="out of bounds") as caught:
        pipe.fn(x, x)
    error = caught.value
    assert isinstance(error, IndexError)
    assert error.buffer == BUFFERS.get(body, "y")
    assert error.length == 5
    assert error.index == error.address == (5 if body is in_a_loop else bad)
    assert error.lane == (3,)
    assert error.source == (__file__, line_of(body))
    ordered = np.arange(5, dtype=np.int32)
    np.testing.assert_array_equal(pipe.fn(ordered, ordered), clean)


@pytest.mark.parametrize("dtype", [vw.i32, vw.u32, vw.i8, vw.u64], ids=str)
@pytest.mark.parametrize("operation", ["//", "%", "trunc_div", "rem"])
def test_a_division_by_zero_traps(operation: str, dtype: vw.DType, backend: Any) -> None:
    """Of all four forms, used or not; floats do not."""

    def divide(b: Any, x: Any, y: Any, v: Any) -> None:
        forms = {
            "//": lambda: 7 // v,
            "%": lambda: 7 % v,
            "trunc_div": lambda: vw.trunc_div(v * 0 + 7, v),
            "rem": lambda: vw.rem(v * 0 + 7, v),
        }
        y[b.global_id()] = forms[operation]()

    pipe = backend.compile(program_of(divide, dtype), TRAP)
    x = np.array([1, 2, 3], dtype.numpy)
    expected = {"//": x * 0 + 7 // x, "trunc_div": x * 0 + 7 // x}.get(operation, 7 % x)
    np.testing.assert_array_equal(pipe.fn(x, x), expected)
    with pytest.raises(vw.DivisionTrapError) as caught:
        pipe.fn(np.array([1, 0, 3], dtype.numpy), x)
    assert isinstance(caught.value, ZeroDivisionError)
    assert (caught.value.tag, caught.value.lane) == ("division-by-zero", (1,))


def test_float_divisions_do_not_trap(backend: Any) -> None:
    """They have infinities and NaN."""

    def divide(b: Any, x: Any, y: Any, v: Any) -> None:
        y[b.global_id()] = 1.0 / v + 0.0 * (v % 2.0)

    pipe = backend.compile(program_of(divide, vw.f32), TRAP)
    assert pipe.fn(np.array([2.0, 4.0], np.float32), np.zeros(2, np.float32)).tolist() == [
        0.5,
        0.25,
    ]
    assert np.isinf(pipe.fn(np.zeros(1, np.float32), np.zeros(1, np.float32))).all()


def test_long_bodies_with_checks(backend: Any) -> None:
    """A check in a piece that was split off ends the lane too."""
    b = vw.ProgramBuilder("long")
    x, y = b.read("x", vw.u32), b.read_write("y", vw.u32)
    b.extent(x.length)
    i = b.global_id()
    total = x[i]
    for step in range(300):
        total = total * 3 + x[(i + step) % 4]
    y[i] = 77
    y[x[i]] = total
    program = b.build()
    assert lower(program, TRAP).wgsl.count("\nfn part") > 1
    pipe = backend.compile(program, TRAP)
    pipe.fn(np.arange(4, dtype=np.uint32), np.zeros(4, np.uint32))
    with pytest.raises(vw.BoundsTrapError) as caught:
        pipe.fn(np.array([0, 1, 9, 3], np.uint32), np.zeros(4, np.uint32))
    assert (caught.value.buffer, caught.value.index, caught.value.lane) == ("y", 9, (2,))


def test_trusted_is_right_in_bounds(backend: Any) -> None:
    """Without guards the text is shorter and the results are the same."""
    program = program_of(in_a_loop)
    trusted = backend.compile(program, TRUSTED)
    x = np.array([0, 1, 2, 3, 4], np.int32)
    np.testing.assert_array_equal(trusted.fn(x, x), backend.compile(program).fn(x, x))
    assert "if (i >= " in lower(program).wgsl
    assert "if (i >= " not in lower(program, TRUSTED).wgsl


def test_trusted_divides_by_zero(backend: Any) -> None:
    """The author vouches for indices only."""

    def divide(b: Any, x: Any, y: Any, v: Any) -> None:
        y[b.global_id()] = 7 // v

    x = np.array([2, 0], np.int32)
    assert backend.compile(program_of(divide), TRUSTED).fn(x, x).tolist() == [3, -1]


def test_what_cannot_fault_is_not_checked() -> None:
    """Literal divisors other than 0, literal indices below a constant count."""

    def safe(b: Any, x: Any, y: Any, v: Any) -> None:
        p = b.private("p", vw.i32, 4)
        p[3] = 7
        v // 3 + v % -2

    def unsafe(b: Any, x: Any, y: Any, v: Any) -> None:
        v // 0

    nothing = lower(program_of(lambda b, x, y, v: None), TRAP).wgsl.count("trap_site = ")
    assert lower(program_of(safe), TRAP).wgsl.count("trap_site = ") == nothing
    assert lower(program_of(unsafe), TRAP).wgsl.count("trap_site = ") == nothing + 1


@pytest.mark.parametrize("checks", ["none", None, True, 1])
def test_unknown_modes_are_refused(checks: Any) -> None:
    """By name."""
    with pytest.raises(vw.InputError, match="checks"):
        vw.CompileOptions(checks=checks)


def test_a_64_bit_index_is_named_by_its_low_half(backend: Any) -> None:
    """A trap word has 32 bits; the message says so."""
    b = vw.ProgramBuilder("wide")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id()
    y[i] = x[i.cast(vw.u64) + (1 << 32)]
    with pytest.raises(vw.BoundsTrapError, match="low 32 bits are 0 is out of bounds"):
        backend.compile(b.build(), TRAP).fn(np.zeros(1, np.uint32))
