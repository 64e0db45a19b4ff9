"""vw.random: the published answers, exact uniform numbers, normal numbers with the same bits."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest

import vyre_wgpu as vw
from tests.philox import KNOWN_ANSWERS, normal_formula, philox
from vyre_wgpu.backends.protocol import Backend
from vyre_wgpu.ir import Value
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.target import Target

Array = npt.NDArray[Any]

EDGES = sorted(
    {0, 1, 2, 3, 2**32 - 1}
    | {(1 << k) + d for k in range(32) for d in (-1, 0, 1)}
    | {2**32 - (1 << k) + d for k in range(32) for d in (-1, 0) if k or d}
    | {(q << 30) + d for q in range(4) for d in range(-4, 5) if (q << 30) + d >= 0}
)


def drawn(backend: Backend, write: Callable[..., Any], *columns: Array) -> list[Array]:
    """What a kernel makes of columns of u32 words: one array for each value that it yields."""
    b = vw.ProgramBuilder("drawn")
    i = b.global_id(0)
    inputs = [b.read(f"x{k}", vw.u32) for k in range(len(columns))]
    b.extent(inputs[0].length)
    yielded = write(*(x[i] for x in inputs))
    for k, value in enumerate(yielded if isinstance(yielded, tuple) else (yielded,)):
        out = b.output(f"out{k}", value.dtype, count=inputs[0].length)
        out[i] = value
    return backend.compile(b.build()).dispatch([c.astype(np.uint32) for c in columns])


def random_words(count: int, columns: int, seed: int = 11) -> Array:
    return np.random.default_rng(seed).integers(0, 1 << 32, (columns, count), np.uint32)


# Philox


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN_ANSWERS)
def test_known_answers(any_backend: Backend, counter: Any, key: Any, expected: Any) -> None:
    columns = [np.array([word]) for word in (*counter, *key)]
    got = drawn(any_backend, lambda *w: vw.random.philox4x32(w[:4], w[4:]), *columns)
    assert tuple(int(word[0]) for word in got) == expected
    assert tuple(philox([counter], key)[0].tolist()) == expected


def test_random_counters_and_keys(any_backend: Backend) -> None:
    counters, keys = random_words(1000, 4), random_words(3, 2, seed=12)
    for key in keys.T.tolist():
        got = drawn(any_backend, lambda *c, key=key: vw.random.philox4x32(c, key), *counters)
        np.testing.assert_array_equal(np.stack(got, -1), philox(counters.T, key))


def test_a_block_counter_carries_into_its_second_word(any_backend: Backend) -> None:
    low = np.array([0, 5, 2**32 - 1, 2**32 - 1, 2**32 - 1])
    high = np.array([0, 7, 0, 7, 2**32 - 1])
    index = np.array([0, 2**32 - 6, 1, 2**32 - 1, 1])
    got = drawn(any_backend, lambda *w: vw.random.block_counter(w[:2], w[2]), low, high, index)
    columns = zip(low.tolist(), high.tolist(), index.tolist(), strict=True)
    total = [(a + (b << 32) + i) % 2**64 for a, b, i in columns]
    assert got[0].tolist() == [n & 0xFFFFFFFF for n in total]
    assert got[1].tolist() == [n >> 32 for n in total]
    assert not got[2].any()
    assert not got[3].any()


# Uniform


def test_uniform_f32_is_the_upper_24_bits(any_backend: Backend) -> None:
    words = np.concatenate([EDGES, random_words(5000, 1)[0]])
    (got,) = drawn(any_backend, vw.random.uniform_f32, words)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got.astype(np.float64) * 2**24, words >> 8)
    assert got.max() < 1


def test_uniform_f64_is_53_bits(any_backend: Backend) -> None:
    first, second = (column.ravel() for column in np.meshgrid(EDGES, EDGES))
    try:
        (got,) = drawn(any_backend, vw.random.uniform_f64, first, second)
    except vw.UnsupportedFeatureError as error:
        pytest.skip(str(error))
    bits = (first.astype(np.uint64) >> np.uint64(5) << np.uint64(26)) | (
        second.astype(np.uint64) >> np.uint64(6)
    )
    np.testing.assert_array_equal(got * 2.0**53, bits.astype(np.float64))
    assert got.max() == 1 - 2.0**-53


# Normal


def check_normal(got: Array, expected: Array) -> None:
    """Within 2^-25 of the formula, relative above 1, and rounded to f32."""
    magnitude = np.abs(expected)
    allowed = 2.0**-25 * np.maximum(magnitude, 1) + np.spacing(magnitude.astype(np.float32)) / 2
    worst = int(np.argmax(np.abs(got - expected) - allowed))
    assert abs(got[worst] - expected[worst]) <= allowed[worst], (got[worst], expected[worst])


def test_normal_f32_at_all_edges(any_backend: Backend) -> None:
    """The smallest and the largest u, each power of two, and where quadrants meet."""
    first, second = (column.ravel() for column in np.meshgrid(EDGES, EDGES))
    got = drawn(any_backend, vw.random.normal_f32, first, second)
    expected = normal_formula(first, second)
    for of, formula in zip(got, expected, strict=True):
        assert of.dtype == np.float32
        check_normal(of, formula)
    assert max(np.abs(got[0]).max(), np.abs(got[1]).max()) == np.float32(np.sqrt(66 * np.log(2)))


def test_normal_f32_of_random_words(any_backend: Backend) -> None:
    """Uniform words, and words whose distance from either end is of every magnitude."""
    u, turn = random_words(200_000, 2)
    small = (2.0 ** np.random.default_rng(3).uniform(0, 31, 100_000)).astype(np.uint32)
    first = np.concatenate([u[:100_000], small[:50_000], ~small[50_000:]])
    got = drawn(any_backend, vw.random.normal_f32, first, turn)
    for of, formula in zip(got, normal_formula(first, turn), strict=True):
        check_normal(of, formula)


def test_normal_f32_at_the_ends_of_quadrants(any_backend: Backend) -> None:
    """Where the cosine nearly is 0 its fixed-point value must not fall below."""
    near = np.arange(-3000, 3000) % 2**30
    second = np.concatenate([near + (q << 30) for q in range(4)])
    first = np.zeros_like(second)
    got = drawn(any_backend, vw.random.normal_f32, first, second)
    for of, formula in zip(got, normal_formula(first, second), strict=True):
        check_normal(of, formula)


@pytest.mark.gpu
def test_normal_f32_has_the_same_bits_on_every_backend(wgpu_backend: Backend) -> None:
    words = random_words(1 << 18, 2)
    device = drawn(wgpu_backend, vw.random.normal_f32, *words)
    reference = drawn(vw.get_backend("reference"), vw.random.normal_f32, *words)
    for one, other in zip(device, reference, strict=True):
        np.testing.assert_array_equal(one.view(np.uint32), other.view(np.uint32))


def test_the_f32_functions_compute_in_integers() -> None:
    """No float is added, and none is the operand of a function: nothing that drivers differ in."""
    b = vw.ProgramBuilder("integers")
    x, y = b.read("x", vw.u32), b.output("y", vw.f32, count=3)
    b.extent(1)
    y[0], y[1] = vw.random.normal_f32(x[0], x[1])
    y[2] = vw.random.uniform_f32(x[2])
    program = b.build()
    table = program.table
    floats = {vw.OPS[row.op].name for row in table.rows() if row.dtype is vw.f32}
    assert floats == {"literal", "cast", "mul"}
    text = lower(program, target=Target(8, features=frozenset())).wgsl
    assert not re.search(r"\b[iuf]64\b", text)


HALVES = [0, 1, 0x1234567, 2**29 - 1, 2**29, 2**30 - 1, 2**31 - 1, 0x55555555]
HALVES += [0xFFFFFFFF - half for half in HALVES]


def adverse_words() -> Array:
    """Rows of four words: angles near the axes and the diagonals, u near either end and 1/2."""
    rng = np.random.default_rng(8)
    far = [*HALVES, *(2**32 - (q << 29) & 0xFFFFFFFF for q in range(8))]
    edges = np.array(list(product(HALVES, far)), np.uint64)
    u, turn = (edges[:, 0] << np.uint64(32) | edges[:, 1] for _ in range(2))
    rng.shuffle(turn)
    # A distance of every magnitude from an end and from an axis.
    size = 3000
    near = np.exp2(rng.uniform(0, 62, (2, size))).astype(np.uint64)
    near ^= np.where(rng.random((2, size)) < 0.5, np.uint64(0), ~np.uint64(0))
    near[1] += rng.integers(0, 4, size).astype(np.uint64) << np.uint64(62)
    both = np.concatenate([np.stack([u, turn]), near], axis=1)
    words = [both[0] >> np.uint64(32), both[0], both[1] >> np.uint64(32), both[1]]
    return np.stack(words).astype(np.uint32)


def box_muller(row: list[int]) -> tuple[Any, Any]:
    """The exact formula of four words."""
    with mpmath.workprec(150):
        u = mpmath.ldexp((row[0] << 33) + 2 * row[1] + 1, -65)
        half_turns = mpmath.ldexp((row[2] << 33) + 2 * row[3] + 1, -64)
        radius = mpmath.sqrt(-2 * mpmath.log(u))
        return radius * mpmath.cospi(half_turns), radius * mpmath.sinpi(half_turns)


def test_normal_f64_is_the_formula_to_its_last_bits(any_backend: Backend) -> None:
    """Relative to each result, so near the axes and near u = 1 too, where it is small."""
    words = np.concatenate([random_words(5000, 4), adverse_words()], axis=1)
    try:
        got = drawn(any_backend, lambda *w: vw.random.normal_f64(w), *words)
    except vw.UnsupportedFeatureError as error:
        pytest.skip(str(error))
    assert got[0].dtype == got[1].dtype == np.float64
    for row, *pair in zip(words.T.tolist(), *(of.tolist() for of in got), strict=True):
        for value, formula in zip(pair, box_muller(row), strict=True):
            assert abs(value - formula) <= 11 * 2.0**-52 * abs(formula), (row, value)
    assert max(np.abs(of).max() for of in got) > 9


# What is refused


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda x: vw.random.philox4x32([x, 0, 0], [0, 0]), "4 words and a key of 2, not 3 and 2"),
        (lambda x: vw.random.philox4x32([x, 0, 0, 0], [0]), "not 4 and 1"),
        (lambda x: vw.random.block_counter([x], x), "2 words, not 1"),
        (lambda x: vw.random.normal_f64([x, x]), "4 words, not 2"),
        (lambda x: vw.random.philox4x32([0, 1, 2, 3], [4, 5]), "takes kernel values"),
        (lambda x: vw.random.uniform_f32(7), "programs.random_uniform"),
    ],
)
def test_wrong_numbers_of_words_are_refused(write: Callable[[Value], Any], words: str) -> None:
    b = vw.ProgramBuilder("wrong")
    with pytest.raises(TypeError, match=words):
        write(b.global_id(0))


@pytest.mark.parametrize(
    ("write", "code", "words"),
    [
        (lambda x: vw.random.philox4x32([x, 0, 0, 0], [x.cast(vw.u16), 0]), "E203", "found u16"),
        (lambda x: vw.random.normal_f32(x, x.cast(vw.f32)), "E203", "found f32"),
        (lambda x: vw.random.philox4x32([x, 0, 0, 2**32], [0, 0]), "E202", "4294967296"),
    ],
)
def test_words_of_other_types_are_problems_of_build(
    write: Callable[[Value], Any], code: str, words: str
) -> None:
    b = vw.ProgramBuilder("wrong")
    b.extent(1)
    write(b.global_id(0))
    with pytest.raises(vw.ValidationError) as caught:
        b.build()
    (problem,) = caught.value.problems
    assert problem.code == code
    assert words in problem.message
