"""matmul: a @ b for every size, within what the order of the sums allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.programs.numbers import Numbers, error_bound, random_numbers
from vyre_wgpu import programs
from vyre_wgpu.backends.protocol import Backend
from vyre_wgpu.backends.reference import ReferenceBackend
from vyre_wgpu.backends.wgpu import WgpuBackend

SIZES = [
    (1, 1, 1), (1, 16, 1), (15, 16, 17), (16, 16, 16), (17, 15, 16), (33, 1, 2), (2, 100, 63),
    (64, 65, 1), (1, 257, 64), (50, 70, 90),
]  # fmt: skip


def matrices(rows: int, inner: int, columns: int) -> tuple[Numbers, Numbers]:
    a, b = random_numbers(rows * inner, np.float32), random_numbers(inner * columns, np.float32)
    return a.reshape(rows, inner), b[::-1].reshape(inner, columns)


def check(a: Numbers, b: Numbers, backend: Backend) -> None:
    product = programs.matmul(a, b, backend=backend)
    assert (product.dtype, product.shape) == (np.float32, (a.shape[0], b.shape[1]))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    magnitudes = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    assert (np.abs(product - exact) <= error_bound(a.shape[1] + 1, magnitudes, np.float32)).all()


def test_calls_build_equal_programs() -> None:
    assert programs.matmul_tiled() == programs.matmul_tiled()


@pytest.mark.parametrize("sizes", SIZES)
def test_random_matrices(any_backend: Backend, sizes: tuple[int, int, int]) -> None:
    check(*matrices(*sizes), any_backend)


@pytest.mark.gpu
@pytest.mark.parametrize("sizes", [(256, 256, 256), (3, 5000, 2), (1, 1, 4097), (4097, 1, 1)])
def test_large_matrices(wgpu_backend: WgpuBackend, sizes: tuple[int, int, int]) -> None:
    check(*matrices(*sizes), wgpu_backend)


@pytest.mark.parametrize("sizes", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0)])
def test_empty_matrices(any_backend: Backend, sizes: tuple[int, int, int]) -> None:
    a, b = matrices(*sizes)
    product = programs.matmul(a, b, backend=any_backend)
    assert product.dtype == np.float32
    np.testing.assert_array_equal(product, a @ b)


def test_small_integers_are_exact_and_a_permutation_moves_rows(any_backend: Backend) -> None:
    a = np.arange(37 * 41, dtype=np.float32).reshape(37, 41) % 19
    order = np.random.default_rng(0).permutation(37)
    permutation = np.eye(37, dtype=np.float32)[order]
    np.testing.assert_array_equal(programs.matmul(permutation, a, backend=any_backend), a[order])
    np.testing.assert_array_equal(programs.matmul(a, a.T, backend=any_backend), a @ a.T)


def test_infinities_and_nan_stay_in_their_row_and_column(any_backend: Backend) -> None:
    a, b = np.ones((20, 18), np.float32), np.ones((18, 21), np.float32)
    a[3, 17], b[17, 20] = np.inf, np.nan
    with np.errstate(invalid="ignore"):  # some builds of NumPy warn
        expected = a @ b
    np.testing.assert_array_equal(programs.matmul(a, b, backend=any_backend), expected)


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        (np.ones((2, 3), np.float32), np.ones((2, 3), np.float32), r"\(2, 3\) and b \(2, 3\)"),
        (np.ones(3, np.float32), np.ones((3, 1), np.float32), r"a has shape \(3,\)"),
        (np.ones((1, 3), np.float32), np.ones((3, 1)), "b is of dtype float64"),
        ([[1.0]], np.ones((1, 1), np.float32), "a is list"),
    ],
)
def test_what_does_not_fit_is_refused(a: Any, b: Any, says: str) -> None:
    with pytest.raises(vw.InputError, match=says):
        programs.matmul(a, b, backend="reference")


@pytest.mark.gpu
def test_device_buffers_of_two_dimensions(wgpu_backend: WgpuBackend) -> None:
    a, b = matrices(5, 6, 7)
    expected = programs.matmul(a, b, backend=wgpu_backend)
    with wgpu_backend.upload(a) as a_there, wgpu_backend.upload(b) as b_there:
        product = programs.matmul(a_there, b_there, backend=wgpu_backend)
    np.testing.assert_array_equal(product, expected)


def test_no_races_in_any_order() -> None:
    for seed in (None, 1):
        check(*matrices(18, 35, 17), ReferenceBackend(seed=seed, detect_races=True))


@pytest.mark.gpu
def test_no_access_out_of_bounds(wgpu_backend: WgpuBackend) -> None:
    pipe = wgpu_backend.compile(programs.matmul_tiled(), vw.CompileOptions(checks="trap"))
    for rows, inner, columns in ((1, 1, 1), (17, 33, 18)):
        a, b = matrices(rows, inner, columns)
        product = pipe.fn(a, b, rows=rows, inner=inner, columns=columns)
        assert product.size == rows * columns
