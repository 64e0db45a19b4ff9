"""The demo's picture: the Mandelbrot set, checked against NumPy and written as a PNG file."""

from __future__ import annotations

import io
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

import vyre_wgpu as vw

from .. import programs
from ..backends import Backend
from .atomic import write_files
from .differences import Differences

__all__ = ["PictureReport", "draw"]

WIDTH, HEIGHT = 960, 640
MOST = 200
_X0, _Y0, _ACROSS = -2.25, -1.0, 3.0
_MOST_UNSETTLED = 0.05

Iterations = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class PictureReport:
    """The picture.

    Attributes:
        width: points on the real axis.
        height: points on the imaginary axis.
        max_iterations: where counting ends.
        device_s: seconds of compiling and the one dispatch.
        numpy_s: seconds that NumPy took for the same.
        other_points: points whose count differs from NumPy's, which rounding explains.
        png: the file that was written, or None.
        png_problem: why none was written, or empty.
        differences: one sentence for each check that failed.
    """

    width: int
    height: int
    max_iterations: int
    device_s: float
    numpy_s: float
    other_points: int
    png: str | None
    png_problem: str
    differences: tuple[str, ...]


def draw(backend: Backend, png: str | None) -> PictureReport:
    """Draws the set.

    Args:
        backend: where to run.
        png: the file to write, or None.
    """
    started = perf_counter()
    step = _ACROSS / WIDTH
    pipe = vw.compile(programs.mandelbrot(), backend=backend)
    params = {
        "width": WIDTH, "height": HEIGHT, "x0": _X0, "y0": _Y0, "dx": step, "dy": step,
        "max_iterations": MOST,
    }  # fmt: skip
    (flat,) = pipe.dispatch([], params)
    iterations: Iterations = flat.reshape(HEIGHT, WIDTH)
    drawn = perf_counter()
    expected = reference_iterations(np.float32)
    numpy_s = perf_counter() - drawn

    differences = Differences()
    other = iterations != expected
    wrong = int(np.count_nonzero(other & _settled(expected))) if other.any() else 0
    if wrong:
        differences.add(f"Mandelbrot set: {wrong} points differ from NumPy, far from the boundary")
    points = int(np.count_nonzero(other))
    if points > _MOST_UNSETTLED * other.size:
        differences.add(f"Mandelbrot set: {points} of {other.size} points differ from NumPy")
    problem = "" if png is None else _write_png(iterations, png)
    return PictureReport(
        width=WIDTH,
        height=HEIGHT,
        max_iterations=MOST,
        device_s=drawn - started,
        numpy_s=numpy_s,
        other_points=points,
        png=None if problem else png,
        png_problem=problem,
        differences=differences.found,
    )


def reference_iterations(dtype: type[np.floating[Any]]) -> Iterations:
    """The same operations in the same order, each rounded."""
    x0, y0, step = (dtype(np.float32(value)) for value in (_X0, _Y0, _ACROSS / WIDTH))
    across, down = (np.arange(n).astype(dtype) for n in (WIDTH, HEIGHT))
    c_re = np.broadcast_to(x0 + across * step, (HEIGHT, WIDTH)).reshape(-1)
    c_im = np.repeat(y0 + down * step, WIDTH)
    counts = np.full(HEIGHT * WIDTH, MOST, np.uint32)
    left = np.arange(HEIGHT * WIDTH)  # points that are still near
    re, im = np.zeros((2, HEIGHT * WIDTH), dtype)
    for n in range(MOST):
        re2, im2 = re * re, im * im
        near = re2 + im2 <= 4
        counts[left[~near]] = n
        if not near.all():
            left, re, im, re2, im2 = (a[near] for a in (left, re, im, re2, im2))
        im = 2 * re * im + c_im[left]
        re = re2 - im2 + c_re[left]
    return counts.reshape(HEIGHT, WIDTH)


def _settled(single: Iterations) -> npt.NDArray[np.bool_]:
    """Points where rounding cannot matter: double precision and all neighbours agree."""
    settled: npt.NDArray[np.bool_] = single == reference_iterations(np.float64)
    padded = np.pad(single, 1, mode="edge")
    for i in range(3):
        for j in range(3):
            settled &= single == padded[i : i + HEIGHT, j : j + WIDTH]
    return settled


def _write_png(iterations: Iterations, path: str) -> str:
    """Writes the picture; gives what went wrong, or an empty text."""
    try:
        from PIL import Image
    except ImportError:
        return 'the package pillow is not installed: pip install "vyre-wgpu[cli]"'
    data = io.BytesIO()
    Image.fromarray(_palette()[iterations]).save(data, format="PNG")
    try:
        write_files([("the picture", path, lambda file: file.write(data.getvalue()))])
    except OSError as error:
        return str(error)
    return ""


def _palette() -> npt.NDArray[np.uint8]:
    """A colour for each count: waves of three phases, black for what never escapes."""
    position = np.log1p(np.arange(MOST + 1)) / np.log1p(MOST)
    phases = np.array([0.62, 0.48, 0.30])
    waves = 0.5 + 0.5 * np.cos(2 * np.pi * (1.6 * position[:, None] + phases))
    colours: npt.NDArray[np.uint8] = (255 * waves).astype(np.uint8)
    colours[MOST] = 0
    return colours
