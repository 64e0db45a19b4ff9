"""Arrays given with ``out=``: each is filled as if it were new, or refused with its name."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends import Backend, CompiledPipeline
from vyre_wgpu.pipeline.results import _overlaps_itself

N = 6


@pytest.fixture
def backend(any_backend: Backend) -> Backend:
    return any_backend


def swap() -> vw.Program:
    """Exchanges two arrays, and returns their sum."""
    b = vw.ProgramBuilder("swap")
    x = b.read_write("x", vw.i32)
    y = b.read_write("y", vw.i32)
    total = b.output("total", vw.i32, like=x)
    lanes = b.param("lanes", vw.u32)
    b.extent(lanes)
    i = b.global_id(0)
    one, other = x[i], y[i]
    total[i] = one + other
    x[i] = other
    y[i] = one
    return b.build()


@pytest.fixture
def pipe(backend: Backend) -> CompiledPipeline:
    return backend.compile(swap())


ONE = np.arange(N, dtype=np.int32)
TEN = ONE * 10


def strided(array: npt.NDArray[Any], shape: tuple[int, ...], *strides: int) -> npt.NDArray[Any]:
    steps = tuple(step * array.itemsize for step in strides)
    return np.lib.stride_tricks.as_strided(array, shape, steps)


def overlapping() -> list[tuple[str, dict[str, Any]]]:
    memory = np.zeros(4 * N, np.int32)
    whole = np.zeros(N, np.int32)
    return [
        ("the same array", {"x": whole, "y": whole}),
        ("one through another object", {"x": whole, "y": whole.reshape(2, 3)}),
        ("slices", {"x": memory[:N], "y": memory[N - 1 : 2 * N - 1]}),
        ("reversed", {"y": memory[N::-1][:N], "total": memory[:N]}),
        ("interleaved by one", {"x": memory[: 2 * N : 2], "total": memory[2 : 2 * N + 2 : 2]}),
        ("step 0", {"x": strided(memory, (N,), 0)}),
        ("rows over each other", {"y": strided(memory, (2, 3), 2, 1)}),
    ]


@pytest.mark.parametrize("out", [p[1] for p in overlapping()], ids=[p[0] for p in overlapping()])
def test_destinations_that_share_memory_are_refused(
    out: dict[str, Any], pipe: CompiledPipeline
) -> None:
    """One result would overwrite another; the message names all of them."""
    with pytest.raises(vw.InputError, match=r"share memory.*Fix:") as caught:
        pipe.dispatch([ONE, TEN], {"lanes": N}, out=out)
    assert all(repr(name) in str(caught.value) for name in out)
    assert all(not place.any() for place in out.values())


@pytest.mark.parametrize("lanes", [N, 0])
def test_destinations_side_by_side_are_filled(lanes: int, pipe: CompiledPipeline) -> None:
    """Interleaved columns share bounds, not elements."""
    table = np.full((N, 4), -1, np.int32)
    out = {"x": table[:, 0], "y": table[:, 2], "total": table[:, 3]}
    results = pipe.dispatch([ONE, TEN], {"lanes": lanes}, out=out)
    assert all(got is place for got, place in zip(results, out.values(), strict=True))
    expected = [TEN, [-1] * N, ONE, ONE + TEN] if lanes else [ONE, [-1] * N, TEN, [0] * N]
    np.testing.assert_array_equal(table.T, expected)


@pytest.mark.parametrize("lanes", [N, 0])
def test_destinations_may_be_inputs(lanes: int, pipe: CompiledPipeline) -> None:
    """Inputs are taken before anything is written: in place, crosswise, and shifted."""
    expected = pipe.dispatch([ONE, TEN], {"lanes": lanes})
    for places in ((0, 1), (1, 0)):
        arrays = [ONE.copy(), TEN.copy()]
        out = {"x": arrays[places[0]], "y": arrays[places[1]]}
        got = pipe.dispatch(arrays, {"lanes": lanes}, out=out)
        for found, wanted in zip(got, expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
    memory = np.zeros(3 * N, np.int32)
    memory[:N], memory[N : 2 * N] = ONE, TEN
    out = {"x": memory[1 : N + 1], "y": memory[N + 2 : 2 * N + 2]}
    got = pipe.dispatch([memory[:N], memory[N : 2 * N]], {"lanes": lanes}, out=out)
    for found, wanted in zip(got, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_masked_destination_is_refused(pipe: CompiledPipeline) -> None:
    """Its mask would hide results, or stay where they are new."""
    place = np.ma.array(np.zeros(N, np.int32), mask=[1] + [0] * (N - 1))
    with pytest.raises(vw.InputError, match=r"destination of 'total' is a masked array.*x\.data"):
        pipe.dispatch([ONE, TEN], {"lanes": N}, out={"total": place})
    assert not place.data.any()


def test_a_subclass_is_filled(pipe: CompiledPipeline) -> None:
    place = np.zeros((1, N), np.int32).view(np.matrix)
    result = pipe.dispatch([ONE, TEN], {"lanes": N}, out={"total": place})[2]
    assert result is place
    np.testing.assert_array_equal(np.asarray(place)[0], ONE + TEN)


@pytest.mark.parametrize("seed", range(40))
def test_overlap_within_an_array_against_its_addresses(seed: int) -> None:
    """Random shapes and strides of one memory, each element's bytes counted."""
    rng = np.random.default_rng(seed)
    memory = np.zeros(400, np.uint8)[100:].view(np.uint16)[:100]
    axes = int(rng.integers(1, 4))
    shape = tuple(int(n) for n in rng.integers(1, 4, axes))
    steps = tuple(int(n) for n in rng.integers(-4, 12, axes))
    array = np.lib.stride_tricks.as_strided(memory[40:], shape, steps)
    used = [
        sum(i * s for i, s in zip(index, steps, strict=True)) + byte
        for index in np.ndindex(shape)
        for byte in (0, 1)
    ]
    assert _overlaps_itself(array) is (len(set(used)) < len(used))
