"""Subgroup operations agree with the reference backend at the device's subgroup size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.reference import ReferenceBackend

pytestmark = pytest.mark.gpu


def program(dtype: vw.DType, *, barriers: bool, some_return: bool) -> vw.Program:
    b = vw.ProgramBuilder("subgroups", workgroup_size=64)
    x = b.read("x", dtype)
    b.extent(x.length)
    i = b.global_id()
    value = x[i]
    if some_return:
        with b.if_(i % 5 == 2):
            b.return_()
    if barriers:
        b.barrier()
    b.output("size", vw.u32, like=x)[i] = b.subgroup_size()
    b.output("lane", vw.u32, like=x)[i] = b.subgroup_lane()
    bits = [] if dtype.is_float else ["and", "or", "xor"]
    for name in ["add", "mul", "min", "max", *bits]:
        b.output(name, dtype, like=x)[i] = getattr(b, f"subgroup_{name}")(value)
    b.output("broadcast", dtype, like=x)[i] = b.subgroup_broadcast(value, 3)
    b.output("outside", dtype, like=x)[i] = b.subgroup_broadcast(value, 200)
    neighbour = b.subgroup_lane() ^ 1
    b.output("shuffle", dtype, like=x)[i] = b.subgroup_shuffle(value, neighbour)
    b.output("ballot", vw.u32, like=x)[i] = b.subgroup_ballot(value > 3)
    b.output("ballot_9", vw.u32, like=x)[i] = b.subgroup_ballot(value > 3, 9)
    if barriers:
        b.barrier()
    return b.build()


@pytest.mark.parametrize("dtype", [vw.f16, vw.f32], ids=str)
def test_a_nan_makes_the_least_and_the_greatest_nan(dtype: vw.DType, backend: Any) -> None:
    """As in minimum and maximum; other subgroups have numbers."""
    b = vw.ProgramBuilder("nan", workgroup_size=128)
    x = b.read("x", dtype)
    i = b.global_id()
    b.output("size", vw.u32, like=x)[i] = b.subgroup_size()
    b.output("least", dtype, like=x)[i] = b.subgroup_min(x[i])
    b.output("greatest", dtype, like=x)[i] = b.subgroup_max(x[i])
    values = np.arange(128).astype(dtype.numpy)
    values[5] = np.nan
    sizes, least, greatest = backend.compile(b.build()).dispatch([values])
    groups = values.reshape(-1, int(sizes.max()))
    np.testing.assert_array_equal(least, np.repeat(groups.min(axis=1), groups.shape[1]))
    np.testing.assert_array_equal(greatest, np.repeat(groups.max(axis=1), groups.shape[1]))


@pytest.mark.parametrize("dtype", [vw.u32, vw.i32, vw.f32, vw.u8, vw.i8, vw.i16, vw.f16], ids=str)
@pytest.mark.parametrize("barriers", [False, True])
@pytest.mark.parametrize("some_return", [False, True])
def test_against_the_reference(
    dtype: vw.DType, barriers: bool, some_return: bool, backend: Any
) -> None:
    """Lanes that returned, and those beyond the extent, take no part."""
    built = program(dtype, barriers=barriers, some_return=some_return)
    x = (np.arange(150) % 7 + 1).astype(dtype.numpy)  # products of floats stay exact enough
    got = backend.compile(built).dispatch([x])
    reference = ReferenceBackend(subgroup_size=int(got[0].max()))
    expected = reference.compile(built).dispatch([x])
    for buffer, a, b in zip(built.outputs, got, expected, strict=True):
        if buffer.name == "mul" and dtype.is_float:
            np.testing.assert_allclose(a, b, rtol=1e-2 if dtype is vw.f16 else 1e-5)
        else:
            np.testing.assert_array_equal(a, b, err_msg=buffer.name)
