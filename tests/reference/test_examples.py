"""Every example program runs on the interpreter, and alike on the device where it is lowered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.ir.examples import EXAMPLES
from vyre_wgpu.backends.reference import ReferenceBackend
from vyre_wgpu.backends.wgpu import WgpuBackend

LENGTH = 70
PARAMS = {"a": 2.5, "n": 2, "m": 3, "w": 10, "h": 7, "__class__": 0.5}
RACY = {"ids", "reads_before_writes", "buffer_kinds"}
"""Examples in which lanes race, so that their results are open."""


def arguments(program: vw.Program) -> tuple[list[Any], dict[str, Any]]:
    """Small inputs of the sizes that a program wants, and params."""
    rng = np.random.default_rng(5)
    arrays = []
    for buffer in program.inputs:
        count = LENGTH
        if buffer.count is not None and buffer.count.constant is not None:
            count = buffer.count.constant
        dtype = buffer.dtype.numpy
        if dtype.kind == "f":
            arrays.append((rng.standard_normal(count) * 3).astype(dtype))
        else:
            # No trap of the example `traps`, and no element that its atomics might compare equal.
            arrays.append(rng.integers(4, 100, count).astype(dtype))
    params = {}
    for param in program.params:
        value = PARAMS.get(param.name, 1)
        params[param.name] = bool(value) if param.dtype is vw.bool_ else value
    return arrays, params


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - {"buffer_kinds"}))
def test_every_example_runs(name: str) -> None:
    """With any seed, to the same result, and without races; but for those that have races."""
    program = EXAMPLES[name]()
    arrays, params = arguments(program)
    report = ReferenceBackend().compile(program).examine(arrays, params)
    assert report.outputs is not None
    assert bool(report.races) == (name in RACY), report.races
    if name not in RACY:
        for seed in range(3):
            outs = ReferenceBackend(seed=seed).compile(program).dispatch(arrays, params)
            for expected, out in zip(report.outputs, outs, strict=True):
                np.testing.assert_array_equal(out, expected)


def test_carry_needs_a_stream() -> None:
    program = EXAMPLES["buffer_kinds"]()
    with pytest.raises(vw.InputError, match="carry"):
        ReferenceBackend().compile(program).dispatch(arguments(program)[0])


def subgroup_size(backend: WgpuBackend) -> int:
    """The device's number of lanes in a subgroup; 32 where it has no subgroup operations."""
    b = vw.ProgramBuilder("subgroup_size")
    out = b.output("out", vw.u32, 1)
    b.extent(64)
    out[0] = b.subgroup_size()
    try:
        return int(backend.compile(b.build()).fn()[0])
    except vw.UnsupportedFeatureError:
        return 32


@pytest.mark.gpu
@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - RACY))
def test_the_device_agrees(name: str, wgpu_backend: WgpuBackend) -> None:
    """Exactly for integers, up to rounding for floats."""
    program = EXAMPLES[name]()
    try:
        pipe = wgpu_backend.compile(program)
    except vw.UnsupportedFeatureError as error:
        pytest.skip(str(error))
    arrays, params = arguments(program)
    reference = ReferenceBackend(subgroup_size=subgroup_size(wgpu_backend))
    expected = reference.compile(program).dispatch(arrays, params)
    for got, wanted in zip(pipe.dispatch(arrays, params), expected, strict=True):
        if got.dtype.kind == "f":
            np.testing.assert_allclose(got, wanted, rtol=1e-6)
        else:
            np.testing.assert_array_equal(got, wanted)
