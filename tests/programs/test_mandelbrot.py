"""mandelbrot: NumPy's counts, but for points so close to the boundary that rounding decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vyre_wgpu as vw
from vyre_wgpu import programs

Counts = npt.NDArray[np.uint32]

WHOLE = {"width": 301, "height": 203, "x0": -2.2, "y0": -1.2, "dx": 0.0105, "dy": 0.012}
SEAHORSES = {"width": 160, "height": 90, "x0": -0.76, "y0": 0.09, "dx": 1e-4, "dy": 1e-4}


def on_device(max_iterations: int, **grid: Any) -> Counts:
    pipe = vw.compile(programs.mandelbrot())
    iterations = pipe.fn(**grid, max_iterations=max_iterations)
    assert iterations.dtype == np.uint32
    counts: Counts = iterations.reshape(grid["height"], grid["width"])
    return counts


def by_numpy(
    max_iterations: int,
    dtype: type[np.floating[Any]] = np.float32,
    *,
    width: int,
    height: int,
    x0: float,
    y0: float,
    dx: float,
    dy: float,
) -> Counts:
    """The same operations in the same order, each rounded; the params as f32."""
    x0, y0, dx, dy = (dtype(np.float32(value)) for value in (x0, y0, dx, dy))
    c_re = np.broadcast_to(x0 + np.arange(width).astype(dtype) * dx, (height, width))
    c_im = np.broadcast_to((y0 + np.arange(height).astype(dtype) * dy)[:, None], (height, width))
    re, im = np.zeros((2, height, width), dtype)
    counts = np.full((height, width), max_iterations, np.uint32)
    running = np.ones((height, width), bool)
    for n in range(max_iterations):
        re2, im2 = re * re, im * im
        escaped = running & (re2 + im2 > 4)
        counts[escaped] = n
        running &= ~escaped
        following = re2 - im2 + c_re
        im = np.where(running, 2 * re * im + c_im, 0).astype(dtype)
        re = np.where(running, following, 0).astype(dtype)
    return counts


def settled(max_iterations: int, **grid: Any) -> npt.NDArray[np.bool_]:
    """Points whose neighbours all have the same count, in single and in double precision."""
    single = by_numpy(max_iterations, **grid)
    double = by_numpy(max_iterations, np.float64, **grid)
    same = single == double
    padded = np.pad(single, 1, mode="edge")
    height, width = single.shape
    for down in range(3):
        for right in range(3):
            same &= padded[down : down + height, right : right + width] == single
    return same


def test_calls_build_equal_programs() -> None:
    assert programs.mandelbrot() == programs.mandelbrot()


def test_interface_is_what_the_docstring_says() -> None:
    program = programs.mandelbrot()
    assert program.inputs == ()
    assert [(b.name, b.dtype) for b in program.outputs] == [("iterations", vw.u32)]
    assert {p.name: p.dtype for p in program.params} == {
        "width": vw.u32,
        "height": vw.u32,
        "x0": vw.f32,
        "y0": vw.f32,
        "dx": vw.f32,
        "dy": vw.f32,
        "max_iterations": vw.u32,
    }


@pytest.mark.gpu
@pytest.mark.parametrize("grid", [WHOLE, SEAHORSES], ids=["whole", "seahorses"])
def test_against_numpy(grid: dict[str, Any]) -> None:
    counts = on_device(200, **grid)
    differing = counts != by_numpy(200, **grid)
    assert differing.mean() < 0.03
    sure = settled(200, **grid)
    assert sure.sum() > 1000
    assert not np.any(differing & sure)


@pytest.mark.gpu
def test_points_whose_orbits_are_exact_in_f32() -> None:
    """On the real axis with few bits: 0, -1 and -2 stay; 1 goes 0, 1, 2, 5; 2 goes 0, 2, 6."""
    line = {"width": 9, "height": 1, "x0": -4.0, "y0": 0.0, "dx": 1.0, "dy": 1.0}
    counts = on_device(100, **line)
    assert counts.tolist() == [[2 - 1, 2 - 1, 100, 100, 100, 3, 2, 1, 1]]


@pytest.mark.gpu
@pytest.mark.parametrize("max_iterations", [0, 1, 2, 50])
def test_no_count_is_above_max_iterations(max_iterations: int) -> None:
    counts = on_device(max_iterations, **WHOLE)
    np.testing.assert_array_equal(
        counts[::200, ::300], np.minimum(by_numpy(50, **WHOLE), max_iterations)[::200, ::300]
    )
    assert counts.max() == max_iterations


@pytest.mark.gpu
@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 300), (300, 1), (15, 17), (33, 16)])
def test_grids_of_any_shape_are_parts_of_the_whole(width: int, height: int) -> None:
    part = WHOLE | {"width": width, "height": height}
    whole = on_device(60, **WHOLE | {"width": 300, "height": 300})
    np.testing.assert_array_equal(on_device(60, **part), whole[:height, :width])


@pytest.mark.gpu
@pytest.mark.parametrize(("width", "height"), [(0, 5), (5, 0), (0, 0)])
def test_empty_grids(width: int, height: int) -> None:
    assert on_device(60, **WHOLE | {"width": width, "height": height}).shape == (height, width)


@pytest.mark.gpu
def test_grid_beyond_what_a_buffer_holds_is_refused() -> None:
    with pytest.raises(vw.InputError, match="iterations"):
        on_device(60, **WHOLE | {"width": 1 << 16, "height": 1 << 16})
