"""What every backend's pipelines have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends import Backend
from vyre_wgpu.backends.reference import ReferenceBackend


@pytest.fixture
def backend(any_backend: Backend) -> Backend:
    return any_backend


@pytest.mark.parametrize("name", ["self", "arrays", "params", "inputs"])
def test_a_param_may_have_any_name(name: str, backend: Backend) -> None:
    """Also one that Python's own arguments have."""
    b = vw.ProgramBuilder("named")
    value = b.param(name, vw.u32)
    y = b.output("y", vw.u32, count=1)
    b.extent(1)
    y[0] = value
    pipe = backend.compile(b.build())
    assert pipe.fn(**{name: 5}).tolist() == [5]
    assert pipe(**{name: 6})[0].tolist() == [6]


def where(observes: bool) -> vw.Program:
    b = vw.ProgramBuilder("where", workgroup_size=4)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id(0)
    y[i] = x[i] + (b.local_id(0) if observes else i)
    return b.build()


def test_a_workgroup_size_that_can_be_seen_is_not_replaced(backend: Backend) -> None:
    """One that cannot be seen is."""
    options = vw.CompileOptions(workgroup_size=8)
    with pytest.raises(vw.UnsupportedFeatureError, match=r"'where' depends on .*\(4, 1, 1\)"):
        backend.compile(where(observes=True), options)
    x = np.zeros(9, np.uint32)
    assert backend.compile(where(observes=False), options).fn(x).tolist() == list(range(9))
    assert backend.compile(where(observes=True)).fn(x).tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 0]


def test_options_take_numpy_integers() -> None:
    """And are the same options."""
    given = vw.CompileOptions(
        workgroup_size=(np.int64(8), 2),  # type: ignore[arg-type]
        max_iterations=np.uint32(9),  # type: ignore[arg-type]
    )
    assert given == vw.CompileOptions(workgroup_size=(8, 2), max_iterations=9)
    assert {type(n) for n in (*given.workgroup_size, given.max_iterations)} == {int}  # type: ignore[misc]


@pytest.mark.parametrize("bad", [True, 0, 1.0, "8", np.float32(8), np.zeros(2, int), (8, True)])
def test_options_refuse_what_are_no_counts(bad: Any) -> None:
    with pytest.raises(vw.InputError, match="workgroup_size is"):
        vw.CompileOptions(workgroup_size=bad)
    with pytest.raises(vw.InputError, match="max_iterations is"):
        vw.CompileOptions(max_iterations=bad)


def test_arguments_of_the_reference_backend_are_integers() -> None:
    ReferenceBackend(
        subgroup_size=np.int64(4),  # type: ignore[arg-type]
        seed=np.uint8(3),  # type: ignore[arg-type]
        lanes_at_once=np.int32(64),  # type: ignore[arg-type]
    )
    names = ("subgroup_size", "seed", "max_iterations", "lanes_at_once")
    for name in names:
        for bad in ("x", 1.5, -1, True):
            with pytest.raises(vw.InputError, match=f"{name} is"):
                ReferenceBackend(**{name: bad})  # type: ignore[arg-type]
