"""saxpy: NumPy's result up to the rounding of a contraction."""

from __future__ import annotations

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu import programs

LENGTHS = [1, 2, 3, 4, 5, 255, 256, 257, 1000, 70_001]


def test_calls_build_equal_programs() -> None:
    assert programs.saxpy() == programs.saxpy()


def test_interface_is_what_the_docstring_says() -> None:
    program = programs.saxpy()
    assert [(b.name, b.dtype) for b in program.inputs] == [("x", vw.f32), ("y", vw.f32)]
    assert [(b.name, b.dtype) for b in program.outputs] == [("out", vw.f32)]
    assert [(p.name, p.dtype) for p in program.params] == [("a", vw.f32)]


@pytest.mark.gpu
@pytest.mark.parametrize("length", LENGTHS)
def test_differs_from_numpy_by_no_more_than_one_rounding_of_the_product(length: int) -> None:
    rng = np.random.default_rng(length)
    x, y = rng.standard_normal((2, length), dtype=np.float32)
    a = np.float32(1.7)
    (out,) = vw.compile(programs.saxpy())(x, y, a=1.7)
    exact = a.astype(np.float64) * x + y
    bound = 0.5 * np.spacing(np.abs(a * x)) + 0.5 * np.spacing(np.abs(exact).astype(np.float32))
    assert out.dtype == np.float32
    assert np.all(np.abs(out - exact) <= bound * 1.001)


@pytest.mark.gpu
def test_integers_that_need_no_rounding_are_exact() -> None:
    x = np.arange(-500, 500, dtype=np.float32)
    (out,) = vw.compile(programs.saxpy())(x, x + 7, a=-3.0)
    np.testing.assert_array_equal(out, -3 * x + (x + 7))


@pytest.mark.gpu
def test_output_has_the_shape_of_x() -> None:
    x = np.ones((3, 5), np.float32)
    out = vw.compile(programs.saxpy()).fn(x, x, a=2.0)
    np.testing.assert_array_equal(out, np.full((3, 5), 3, np.float32))


@pytest.mark.gpu
def test_empty_arrays_give_an_empty_result() -> None:
    empty = np.empty(0, np.float32)
    assert vw.compile(programs.saxpy()).fn(empty, empty, a=2.0).shape == (0,)


@pytest.mark.gpu
@pytest.mark.parametrize("length", [3, 5])
def test_another_length_of_y_is_refused_by_name(length: int) -> None:
    pipe = vw.compile(programs.saxpy())
    with pytest.raises(vw.InputError, match="'y'"):
        pipe(np.ones(4, np.float32), np.ones(length, np.float32), a=1.0)
