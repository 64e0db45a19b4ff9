"""first_of names the smallest index, and trap_if_found raises exactly that one."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vyre_wgpu as vw
from vyre_wgpu import programs

LENGTHS = [0, 1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 1000, 4095, 4096, 4097, 1 << 20]


def non_ascii() -> vw.Program:
    return programs.first_of(lambda byte: byte >= 0x80)


def find(data: npt.NDArray[np.uint8]) -> int | None:
    return programs.first_index(vw.compile(non_ascii()).fn(data))


def test_calls_build_equal_programs() -> None:
    assert non_ascii() == non_ascii()
    assert non_ascii() != programs.first_of(lambda byte: byte >= 0x81)


def test_name_is_in_the_program() -> None:
    assert programs.first_of(lambda v: v != 0, name="first_set").name == "first_set"


@pytest.mark.parametrize("index", [0, 1, 0xFFFF_FFFE])
def test_first_index_reads_the_output_back(index: int) -> None:
    assert programs.first_index(np.array([0xFFFF_FFFF - index], np.uint32)) == index


def test_first_index_of_zero_is_none() -> None:
    assert programs.first_index(np.zeros(1, np.uint32)) is None


@pytest.mark.parametrize("result", [None, True, 1])
def test_predicate_that_returns_no_kernel_value_is_refused(result: object) -> None:
    with pytest.raises(TypeError, match="predicate returns a bool kernel value"):
        programs.first_of(lambda _: result)  # type: ignore[arg-type, return-value]


def test_predicate_that_returns_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="u8"):
        programs.first_of(lambda byte: byte & 0x80)


def test_predicate_that_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="predicate is a function"):
        programs.first_of(0x80)  # type: ignore[arg-type]


def test_predicate_that_does_not_fit_the_type_is_reported() -> None:
    with pytest.raises(vw.ValidationError, match="300"):
        programs.first_of(lambda byte: byte == 300)


@pytest.mark.parametrize(
    "found",
    [None, 5, [0], np.zeros(3), np.zeros(1), np.zeros(2, np.uint32), np.zeros(0, np.uint32)],
    ids=repr,
)
def test_first_index_takes_what_the_program_gives(found: Any) -> None:
    with pytest.raises(vw.InputError, match="not one element of u32"):
        programs.first_index(found)


@pytest.mark.gpu
@pytest.mark.parametrize("length", LENGTHS)
def test_none_first_last_and_several(length: int) -> None:
    data = np.random.default_rng(length).integers(0, 128, length, dtype=np.uint8)
    assert find(data) is None
    places = sorted({0, length // 2, length // 3, length - 1} & set(range(length)), reverse=True)
    for place in places:  # from the last to the first, so that later ones are there already
        data[place] |= 0x80
        assert find(data) == place


@pytest.mark.gpu
def test_only_the_last_of_a_chunk() -> None:
    data = np.zeros(1 << 20, np.uint8)
    data[-1] = 0xFF
    assert find(data) == len(data) - 1


@pytest.mark.gpu
def test_where_everything_matches_it_is_the_first() -> None:
    assert find(np.full(100_001, 0xFF, np.uint8)) == 0


@pytest.mark.gpu
def test_random_places_against_numpy() -> None:
    rng = np.random.default_rng(7)
    for length in rng.integers(1, 20_000, 40):
        data = (rng.random(length) < 3 / length).astype(np.uint8) * np.uint8(200)
        hits = np.flatnonzero(data)
        assert find(data) == (int(hits[0]) if len(hits) else None)


@pytest.mark.gpu
def test_other_element_types() -> None:
    data = np.linspace(-1, 1, 10_001, dtype=np.float32)
    positive = vw.compile(programs.first_of(lambda v: v > 0.0, vw.f32))
    assert programs.first_index(positive.fn(data)) == int(np.flatnonzero(data > 0)[0])
    words = np.arange(0, 3_000_000, 300, dtype=np.int32)
    between = vw.compile(programs.first_of(lambda v: (v > 1_000_000) & (v < 1_000_900), vw.i32))
    assert programs.first_index(between.fn(words)) == 3334


@pytest.mark.gpu
@pytest.mark.parametrize("index", [0, 1, 4095, 69_999])
def test_trap_names_the_smallest_index_tag_and_line(index: int) -> None:
    data = np.zeros(70_000, np.uint8)
    data[index:] = 0xFF
    found = vw.compile(non_ascii()).fn(data)
    with pytest.raises(vw.TrapError) as caught:
        vw.compile(programs.trap_if_found("not ASCII")).dispatch([found])
    error = caught.value
    assert (error.tag, error.address, error.lane) == ("not ASCII", index, (0,))
    assert error.program == "trap_if_found"
    assert error.source is not None
    assert "b.trap(" in linecache.getline(*error.source)


@pytest.mark.gpu
def test_nothing_found_is_no_trap() -> None:
    pipe = vw.compile(programs.trap_if_found("not ASCII"))
    assert pipe.dispatch(vw.compile(non_ascii()).push_chunk(b"all ASCII")) == []


@pytest.mark.gpu
def test_pipelines_stay_usable_after_the_trap() -> None:
    pipe = vw.compile(programs.trap_if_found("here"))
    for address in (5, 6):
        with pytest.raises(vw.TrapError, match=f"address {address}"):
            pipe.dispatch([np.array([0xFFFF_FFFF - address], np.uint32)])
        assert pipe.dispatch([np.zeros(1, np.uint32)]) == []
    assert find(np.array([1, 2, 200], np.uint8)) == 2


def test_a_masked_chunk_is_refused() -> None:
    chunk = np.ma.array([1, 200], mask=[0, 1], dtype=np.uint8)
    for read in (programs.base64_decode, lambda x: programs.crc32_of_chunks([x])):
        with pytest.raises(vw.InputError, match="masked array"):
            read(chunk)
