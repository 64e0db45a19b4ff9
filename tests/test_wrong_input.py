"""A table: each wrong input of a dispatch, what is raised, and that the next dispatch works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.reference import ReferenceBackend

X = np.arange(12, dtype=np.float32).reshape(3, 4)
Z = np.arange(12, dtype=np.int32)


class Wrong(NamedTuple):
    """A wrong call: arguments of dispatch beside the good ones, and what comes of it."""

    name: str
    change: dict[str, Any]
    error: type[vw.VyreError]
    says: str


def program() -> vw.Program:
    b = vw.ProgramBuilder("table")
    a, n = b.param("a", vw.f32), b.param("n", vw.u8)
    x, z = b.read("x", vw.f32), b.read("z", vw.i32, 12)
    y = b.output("y", vw.f32, like=x)
    part = b.output("part", vw.u32, count=x.length - n)
    b.extent(x.length)
    i = b.global_id()
    y[i] = a * x[i] + z[i].cast(vw.f32)
    part[i] = i
    return b.build()


def inputs(**change: Any) -> dict[str, Any]:
    return {"inputs": {"x": X, "z": Z, **change}}


def params(**change: Any) -> dict[str, Any]:
    return {"params": {"a": 2.0, "n": 1, **change}}


def config(**fields: Any) -> dict[str, Any]:
    return {"config": vw.DispatchConfig(**fields)}


TABLE = [
    Wrong("f64 for f32", inputs(x=X.astype(np.float64)), vw.InputError, "'x'.*float64"),
    Wrong("u32 for i32", inputs(z=Z.astype(np.uint32)), vw.InputError, "'z'.*uint32"),
    Wrong("complex", inputs(x=X.astype(np.complex64)), vw.InputError, "'x'.*complex64"),
    Wrong("object", inputs(x=X.astype(object)), vw.InputError, "'x'.*object"),
    Wrong("a string", inputs(x="abc"), vw.InputError, "'x'"),
    Wrong("a list", inputs(x=[1.0, 2.0]), vw.InputError, "'x'.*list.*np.asarray"),
    Wrong("None", inputs(x=None), vw.InputError, "'x'.*None"),
    Wrong("too few elements", inputs(z=Z[:11]), vw.InputError, "'z' has 11 elements.*12"),
    Wrong("too many elements", inputs(z=np.arange(13, dtype=np.int32)), vw.InputError, "'z'.*13"),
    Wrong("a missing input", {"inputs": {"x": X}}, vw.InputError, "'z' is missing"),
    Wrong("an extra input", inputs(w=X), vw.InputError, "no input 'w'"),
    Wrong("too few in a list", {"inputs": [X]}, vw.InputError, "'z' is missing"),
    Wrong("too many in a list", {"inputs": [X, Z, X]}, vw.InputError, "2 input.*3 given"),
    Wrong("an array for the inputs", {"inputs": X}, vw.InputError, r"pass \[x\]"),
    Wrong("a missing param", {"params": {"a": 1.0}}, vw.InputError, "'n' .u8. is missing"),
    Wrong("an unknown param", params(k=1), vw.InputError, "'k' is unknown"),
    Wrong("a param above its type", params(n=256), vw.InputError, "'n' is 256"),
    Wrong("a param below its type", params(n=-1), vw.InputError, "'n' is -1"),
    Wrong("a float for an integer param", params(n=1.5), vw.InputError, "'n' is 1.5"),
    Wrong("text for a param", params(a="2"), vw.InputError, "'a'"),
    Wrong("a huge float param", params(a=1e39), vw.InputError, "'a'"),
    Wrong("a negative size", params(n=13), vw.InputError, "'part'.*x.length - n.*-1"),
    Wrong("two axes for one", config(extent=(3, 4)), vw.InputError, "extent.*2 axes"),
    Wrong("a negative extent", config(extent=-1), vw.InputError, "extent"),
    Wrong("an extent of text", config(extent="3"), vw.InputError, "extent"),
    Wrong("too many lanes", config(extent=1 << 33), vw.InputError, "extent"),
    Wrong("a grid of no workgroups", config(grid=0), vw.InputError, "grid"),
    Wrong("a grid beyond 2^32 lanes", config(grid=1 << 30), vw.LimitError, "lanes"),
    Wrong("grid and extent", config(grid=1, extent=3), vw.InputError, "both"),
    Wrong("too small a budget", config(max_output_bytes=10), vw.OutputBudgetError, "48"),
    Wrong("no config", {"config": 3}, vw.InputError, "DispatchConfig.*max_output_bytes.*deadline"),
    Wrong("an unknown destination", {"out": {"q": X.copy()}}, vw.InputError, "'q'"),
    Wrong("a small destination", {"out": {"y": np.zeros(3, np.float32)}}, vw.InputError, "'y'"),
    Wrong("another type to write to", {"out": {"y": np.zeros(12)}}, vw.InputError, "'y'.*float64"),
]


@pytest.fixture(params=["wgpu", "reference"])
def compiled(request: pytest.FixtureRequest) -> Any:
    if request.param == "reference":
        return ReferenceBackend().compile(program())
    return request.getfixturevalue("backend").compile(program())


@pytest.mark.gpu
@pytest.mark.parametrize("wrong", TABLE, ids=lambda wrong: wrong.name)
def test_a_wrong_input_is_named_and_the_next_dispatch_works(wrong: Wrong, compiled: Any) -> None:
    """Typed, with a Fix, and without a trace left behind."""
    good: dict[str, Any] = {"inputs": [X, Z], **params()}
    with pytest.raises(wrong.error, match=wrong.says) as caught:
        compiled.dispatch(**{**good, **wrong.change})
    assert "Fix: " in str(caught.value)
    y, part = compiled.dispatch(**good)
    np.testing.assert_array_equal(y, X * 2 + Z.reshape(3, 4))
    np.testing.assert_array_equal(part, np.arange(11))


GOOD: list[tuple[str, Callable[[], Any]]] = [
    ("big-endian", lambda: X.astype(">f4")),
    ("Fortran order", lambda: np.asfortranarray(X)),
    ("reversed twice", lambda: X[::-1, ::-1][::-1, ::-1]),
    ("strided", lambda: np.repeat(X, 2, axis=1)[:, ::2]),
    ("a buffer", lambda: memoryview(X)),
]


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "make"), GOOD, ids=[name for name, _ in GOOD])
def test_arrays_of_any_layout_are_converted(
    name: str, make: Callable[[], Any], compiled: Any
) -> None:
    """Never reinterpreted."""
    y, _ = compiled.dispatch([make(), Z], {"a": 2.0, "n": 1})
    np.testing.assert_array_equal(y, X * 2 + Z.reshape(3, 4))


@pytest.mark.gpu
def test_read_only_and_empty_arrays(compiled: Any) -> None:
    """Inputs are never written; an empty one gives empty results."""
    frozen = X.copy()
    frozen.flags.writeable = False
    y, _ = compiled.dispatch([frozen, Z], {"a": 2.0, "n": 1})
    np.testing.assert_array_equal(y, X * 2 + Z.reshape(3, 4))
    y, part = compiled.dispatch([np.empty((0, 4), np.float32), Z], {"a": 2.0, "n": 0})
    assert (y.shape, part.shape) == ((0, 4), (0,))


@pytest.mark.gpu
def test_what_the_device_cannot_hold(backend: Any) -> None:
    """Too many buffers, too much workgroup memory, an array over the binding limit."""
    limits = backend.device.limits
    b = vw.ProgramBuilder("buffers")
    for k in range(limits.max_storage_buffers + 1):
        b.output(f"o{k}", vw.u32, 4)
    b.extent(4)
    if limits.max_storage_buffers < 1000:  # as many as a program may have
        with pytest.raises(vw.LimitError, match=str(limits.max_storage_buffers)):
            backend.compile(b.build())
    b = vw.ProgramBuilder("memory", workgroup_size=64)
    shared = b.workgroup("shared", vw.u32, limits.max_workgroup_storage // 4 + 1)
    shared[b.local_id()] = 1
    b.extent(64)
    with pytest.raises(vw.LimitError, match="'shared'"):
        backend.compile(b.build())
    b = vw.ProgramBuilder("small", workgroup_size=64)
    small = b.workgroup("small", vw.u8, limits.max_workgroup_storage // 4 + 1)
    small[b.local_id()] = 1
    b.extent(64)
    with pytest.raises(vw.LimitError, match=r"'small'.*4 bytes an element at least"):
        backend.compile(b.build())
    b = vw.ProgramBuilder("binding")
    n = b.param("n", vw.u32)
    big = b.output("big", vw.u8, n)
    big[b.global_id() * 2] = 1
    b.extent(4)
    pipe = backend.compile(b.build())
    if limits.max_binding_size < (1 << 32) - 1:
        with pytest.raises(vw.LimitError, match=f"'big'.*{limits.max_binding_size + 16}"):
            pipe(n=limits.max_binding_size + 16)
    assert pipe(n=8)[0].tolist() == [1, 0] * 4
    b = vw.ProgramBuilder("private")
    p = b.private("p", vw.u32, 1 << 20)
    p[0] = 1
    b.extent(4)
    with pytest.raises(vw.LimitError, match="'p'"):
        backend.compile(b.build())
