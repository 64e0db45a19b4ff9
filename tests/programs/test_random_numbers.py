"""random_uniform and random_normal: the numbers of a key, whatever the device and the chunks.

The keys are fixed, so a statistic is the same each time and backend; its bound is one that truly
random numbers pass nearly always, by the distribution that theory gives it.
"""

from __future__ import annotations

import math
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vyre_wgpu as vw
from tests.philox import normal_formula, words
from vyre_wgpu import programs
from vyre_wgpu.backends.protocol import Backend
from vyre_wgpu.backends.reference import ReferenceBackend
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.cli import main
from vyre_wgpu.cli.catalog import shipped

Array = npt.NDArray[Any]

KEYS = [0, 1, 0xDEADBEEF, 2**32, 2**64 - 1]
OFFSETS = [0, 1, 2, 3, 4, 7, 1001, 2**32 - 6, 2**34 - 3, 2**34, 2**34 + 5, 2**63 - 1, 2**64 - 1]
"""Words of block 2^32 begin at element 2^34; the last ones reach the end of 64 bits."""
COUNTS = [0, 1, 2, 3, 4, 5, 17, 1000, 1025]
MANY = 1 << 20


# Which numbers


def uniform(backend: Backend, count: int, key: int, dtype: vw.DType, offset: int = 0) -> Array:
    numbers: Array = programs.random_uniform(
        count, key, dtype=dtype, offset=offset, backend=backend
    )
    assert (numbers.dtype, numbers.shape) == (dtype.numpy, (count,))
    return numbers


def expected_uniform(count: int, key: int, dtype: vw.DType, offset: int = 0) -> Array:
    if dtype is vw.f64:
        pairs = words(2 * count, key, 2 * offset).reshape(-1, 2)
        bits = (pairs[:, 0] >> np.uint64(5) << np.uint64(26)) | (pairs[:, 1] >> np.uint64(6))
        return np.asarray(bits.astype(np.float64) * 2.0**-53)
    of = words(count, key, offset)
    if dtype is vw.u32:
        return of.astype(np.uint32)
    return np.asarray((of >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24))


def of_each_type(backend: Backend, dtype: vw.DType) -> None:
    """Skips where the device has no such type."""
    try:
        programs.random_uniform(1, dtype=dtype, backend=backend)
    except vw.UnsupportedFeatureError as error:
        pytest.skip(str(error))


each_type = pytest.mark.parametrize("dtype", [vw.u32, vw.f32, vw.f64], ids=str)


@each_type
def test_uniform_numbers_are_those_of_philox(any_backend: Backend, dtype: vw.DType) -> None:
    of_each_type(any_backend, dtype)
    for key in KEYS:
        got = uniform(any_backend, 1000, key, dtype)
        np.testing.assert_array_equal(got, expected_uniform(1000, key, dtype), hex(key))


@each_type
def test_every_offset_in_64_bits(any_backend: Backend, dtype: vw.DType) -> None:
    of_each_type(any_backend, dtype)
    for offset in OFFSETS:
        got = uniform(any_backend, 23, 7, dtype, offset)
        np.testing.assert_array_equal(got, expected_uniform(23, 7, dtype, offset), str(offset))


@each_type
def test_every_count(any_backend: Backend, dtype: vw.DType) -> None:
    of_each_type(any_backend, dtype)
    for count in COUNTS:
        for offset in (0, 3):
            got = uniform(any_backend, count, 9, dtype, offset)
            np.testing.assert_array_equal(got, expected_uniform(count, 9, dtype, offset))


@pytest.mark.parametrize("start", [0, 2**34 - 1500], ids=["0", "2^34"])
@pytest.mark.parametrize("draw", [programs.random_uniform, programs.random_normal])
def test_chunks_of_any_size_are_parts_of_the_whole(
    any_backend: Backend, draw: Any, start: int
) -> None:
    whole = draw(3000, 5, offset=start, backend=any_backend)
    place, chunks = 0, []
    for size in (1, 2, 3, 4, 5, 1000, 777, 0, 1208):
        chunks.append(draw(size, 5, offset=start + place, backend=any_backend))
        place += size
    np.testing.assert_array_equal(np.concatenate(chunks), whole)


def test_normal_numbers_are_pairs_of_the_words(any_backend: Backend) -> None:
    for offset in (0, 1, 2, 2**34 - 3):
        got = programs.random_normal(1001, 3, offset=offset, backend=any_backend)
        assert (got.dtype, got.shape) == (np.float32, (1001,))
        first = offset % 2
        pairs = words(1004 - 2 * first, 3, offset - first).reshape(-1, 2)
        both = np.stack(normal_formula(pairs[:, 0], pairs[:, 1]), -1).ravel()
        expected = both[first : first + 1001]
        error = np.abs(got - expected)
        assert (error <= 2.0**-23 * np.maximum(np.abs(expected), 1)).all()


def test_normal_f64_numbers_are_the_same_sequence_at_every_offset(any_backend: Backend) -> None:
    try:
        whole = programs.random_normal(100, 3, dtype=vw.f64, backend=any_backend)
    except vw.UnsupportedFeatureError as error:
        pytest.skip(str(error))
    four = words(200, 3).reshape(-1, 4).astype(np.float64)
    # Words and half a step, so that the float64 formula of one word takes 32 and more bits.
    first = four[:, 0] + (four[:, 1] + 0.5) / 2.0**32 - 0.5
    second = four[:, 2] + four[:, 3] / 2.0**32 - 0.5
    both = np.stack(normal_formula(first, second), -1).ravel()
    np.testing.assert_allclose(whole, both, rtol=0, atol=1e-12)
    part = programs.random_normal(31, 3, dtype=vw.f64, offset=33, backend=any_backend)
    np.testing.assert_array_equal(part, whole[33:64])


@pytest.mark.gpu
@pytest.mark.parametrize("key", [0, 123456789])
def test_a_million_numbers_have_the_same_bits_on_every_backend(
    wgpu_backend: WgpuBackend, key: int
) -> None:
    for draw in (programs.random_uniform, programs.random_normal):
        device = draw(MANY // 4, key, backend=wgpu_backend)
        reference = draw(MANY // 4, key, backend="reference")
        np.testing.assert_array_equal(device.view(np.uint32), reference.view(np.uint32))


# Statistics


@pytest.fixture(scope="module")
def many_uniform() -> Array:
    return np.asarray(programs.random_uniform(MANY, 42, backend="reference"))


@pytest.fixture(scope="module")
def many_normal() -> Array:
    return np.asarray(programs.random_normal(MANY, 43, backend="reference"))


def expect_chi_square(counts: Array) -> None:
    """Equally likely bins: the statistic has about normal distribution, mean k, variance 2 k."""
    freedom = counts.size - 1
    expected = counts.sum() / counts.size
    statistic = float(((counts - expected) ** 2 / expected).sum())
    assert abs(statistic - freedom) < 4 * math.sqrt(2 * freedom), statistic


def expect_kolmogorov(levels: Array) -> None:
    """sqrt(n) times the largest distance is above 2 once in 1500 times (Kolmogorov, 1933)."""
    ordered, n = np.sort(levels), levels.size
    steps = np.arange(n + 1) / n
    distance = max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max())
    assert 0.2 < math.sqrt(n) * distance < 2


def test_uniform_numbers_fill_the_interval_evenly(many_uniform: Array) -> None:
    assert many_uniform.min() >= 0
    assert many_uniform.max() < 1
    expect_kolmogorov(many_uniform.astype(np.float64))
    for bins in (256, 65_536):
        expect_chi_square(np.bincount((many_uniform * bins).astype(int), minlength=bins))


def test_neighbours_and_pairs_are_independent(many_uniform: Array) -> None:
    """In a grid of 64 x 64 cells, for elements 1, 2, 4 and 1024 places apart."""
    cell = (many_uniform * 64).astype(int)
    for apart in (1, 2, 4, 1024):
        pairs = cell[: MANY - apart].reshape(-1)[::2] * 64 + cell[apart:][::2]
        expect_chi_square(np.bincount(pairs, minlength=4096))


def test_each_bit_is_one_half_of_the_time() -> None:
    of = programs.random_uniform(MANY, 44, dtype=vw.u32, backend="reference")
    ones = np.array([((of >> np.uint32(k)) & np.uint32(1)).sum() for k in range(32)])
    assert (np.abs(ones - MANY / 2) < 4.5 * math.sqrt(MANY) / 2).all()


def test_sequences_of_neighbouring_keys_are_independent() -> None:
    one, other = (programs.random_uniform(MANY, k, backend="reference") for k in (100, 101))
    pairs = (one * 64).astype(int) * 64 + (other * 64).astype(int)
    expect_chi_square(np.bincount(pairs, minlength=4096))


def test_moments_of_normal_numbers(many_normal: Array) -> None:
    """Their standard errors over n numbers are 1, sqrt 2, sqrt 15 and sqrt 96 over sqrt n."""
    x = many_normal.astype(np.float64)
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((x**power).mean() - moment) < 4 * math.sqrt(variance / MANY), power


def test_normal_numbers_have_the_normal_distribution(many_normal: Array) -> None:
    x, normal = many_normal.astype(np.float64), NormalDist()
    edges = [normal.inv_cdf(k / 1024) for k in range(1, 1024)]
    expect_chi_square(np.bincount(np.searchsorted(edges, x), minlength=1024))
    expect_kolmogorov(np.array([normal.cdf(value) for value in x[: 1 << 17].tolist()]))


def test_tails_of_normal_numbers(many_normal: Array) -> None:
    """How many are beyond each bound: a Poisson count about n times the tail's probability."""
    for bound in (2.0, 3.0, 4.0, 4.5):
        expected = MANY * math.erfc(bound / math.sqrt(2))
        found = int((np.abs(many_normal) > bound).sum())
        assert abs(found - expected) < 4 * math.sqrt(expected), bound


def test_both_of_a_pair_of_normal_numbers_are_independent(many_normal: Array) -> None:
    normal = NormalDist()
    edges = [normal.inv_cdf(k / 32) for k in range(1, 32)]
    cell = np.searchsorted(edges, many_normal.astype(np.float64)).reshape(-1, 2)
    expect_chi_square(np.bincount(cell[:, 0] * 32 + cell[:, 1], minlength=1024))


# Arguments, buffers, programs


def test_calls_build_equal_programs_and_arguments_make_others() -> None:
    makers = (programs.random_uniform_blocks, programs.random_normal_blocks)
    for maker in makers:
        assert maker() == maker(vw.f32)
        assert maker(vw.f32) != maker(vw.f64)
    assert {maker.__name__ for maker in makers} <= set(shipped())


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"count": -1}, "count"),
        ({"count": 2**32}, "count"),
        ({"count": 2.0}, "count"),
        ({"count": 1, "key": -1}, "key"),
        ({"count": 1, "key": 2**64}, "key"),
        ({"count": 1, "key": "seed"}, "key"),
        ({"count": 1, "offset": -4}, "offset"),
        ({"count": 1, "offset": 2**64}, "offset"),
        ({"count": 1, "dtype": vw.f16}, "dtype"),
        ({"count": 1, "dtype": np.float32}, "dtype"),
        ({"count": 1, "dtype": None}, "dtype"),
    ],
)
@pytest.mark.parametrize("draw", [programs.random_uniform, programs.random_normal])
def test_other_arguments_are_refused(draw: Any, arguments: Any, name: str) -> None:
    with pytest.raises(vw.InputError, match=rf"{name} is .*Fix: give"):
        draw(**arguments, backend="reference")


def test_numpy_integers_are_integers() -> None:
    got = programs.random_uniform(np.int64(5), np.uint64(2**64 - 1), offset=np.uint8(3))
    np.testing.assert_array_equal(got, programs.random_uniform(5, 2**64 - 1, offset=3))


@pytest.mark.parametrize("draw", [programs.random_uniform, programs.random_normal])
def test_numbers_go_into_an_array_of_the_caller(any_backend: Backend, draw: Any) -> None:
    mine = np.ones(10, np.float32)
    draw(10, 1, out=mine, backend=any_backend)
    np.testing.assert_array_equal(mine, draw(10, 1, backend=any_backend))


@pytest.mark.gpu
def test_numbers_can_stay_on_the_device(wgpu_backend: WgpuBackend) -> None:
    with programs.random_uniform(9, 1, out=vw.DEVICE, backend=wgpu_backend) as there:
        assert isinstance(there, vw.DeviceBuffer)
        np.testing.assert_array_equal(
            there.download(), programs.random_uniform(9, 1, backend=wgpu_backend)
        )


@pytest.mark.parametrize("maker", [programs.random_uniform_blocks, programs.random_normal_blocks])
def test_no_races_and_no_access_out_of_bounds(maker: Any) -> None:
    backend = ReferenceBackend(detect_races=True)
    pipe = backend.compile(maker(), vw.CompileOptions(checks="trap"))
    params = {"count": 10, "key_low": 1, "key_high": 0, "offset_low": 3, "offset_high": 0}
    (numbers,) = pipe.dispatch([], params)
    assert np.unique(numbers).size == 10


def test_the_command_line_runs_them(tmp_path: Path) -> None:
    parts = ("count=5", "key_low=2", "key_high=1", "offset_low=4", "offset_high=0")
    argv = ["run", "random_uniform_blocks", "--backend", "reference"]
    argv += [f"--param={part}" for part in parts]
    assert main([*argv, "--output", f"numbers={tmp_path / 'numbers.npy'}"]) == 0
    expected = expected_uniform(5, 2 + 2**32, vw.f32, 4)
    np.testing.assert_array_equal(np.load(tmp_path / "numbers.npy"), expected)
