"""keyword_counts: exactly what a search for each keyword finds, overlaps included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.programs.lengths import LENGTHS, random_bytes
from vyre_wgpu import programs

A, C = ord("a"), ord("c")


def counts_of(
    keywords: list[bytes], data: bytes, first: int = 0, bytes_per_lane: int = 64
) -> list[int]:
    tables = programs.keyword_tables(keywords)
    pipe = vw.compile(programs.keyword_counts(bytes_per_lane=bytes_per_lane))
    (counts,) = pipe.dispatch(tables.inputs(data), tables.params(first))
    assert counts.dtype == np.uint32
    return [int(count) for count in counts]


def by_re(keywords: list[bytes], data: bytes) -> list[int]:
    """A lookahead takes nothing, so matches may overlap."""
    return [len(re.findall(b"(?=" + re.escape(k) + b")", data, re.DOTALL)) for k in keywords]


def by_find(keywords: list[bytes], data: bytes) -> list[int]:
    counts = []
    for keyword in keywords:
        count, at = 0, data.find(keyword)
        while at >= 0:
            count, at = count + 1, data.find(keyword, at + 1)
        counts.append(count)
    return counts


def random_keywords(rng: np.random.Generator, most: int, longest: int, high: int) -> list[bytes]:
    words = [
        rng.integers(A, high, rng.integers(1, longest + 1), dtype=np.uint8).tobytes()
        for _ in range(rng.integers(1, most + 1))
    ]
    return list(dict.fromkeys(words))


def test_calls_build_equal_programs_and_bytes_per_lane_makes_another() -> None:
    assert programs.keyword_counts() == programs.keyword_counts(bytes_per_lane=64)
    assert programs.keyword_counts() != programs.keyword_counts(bytes_per_lane=128)


@pytest.mark.parametrize("bytes_per_lane", [0, -1, 16_385, 1.5, None, "8"])
def test_bytes_per_lane_out_of_range_is_refused(bytes_per_lane: Any) -> None:
    with pytest.raises(vw.InputError, match=str(bytes_per_lane)):
        programs.keyword_counts(bytes_per_lane=bytes_per_lane)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ([b"a", b""], "keyword 1 is empty"),
        (["a", "b", b"a"], "keywords 0 and 2"),
        ([b"a", 7], "keyword 1 is 7"),
        ([b"a", "\ud800"], "keyword 1 is no UTF-8 text"),
        ("words", "one text"),
        (b"words", "one text"),
        ([b"x" * 16_385], "16385 bytes"),
    ],
)
def test_keywords_that_cannot_be_counted_are_refused(
    keywords: list[bytes | str], message: str
) -> None:
    with pytest.raises(vw.InputError, match=message):
        programs.keyword_tables(keywords)


def test_too_many_states_are_refused() -> None:
    long = [bytes([k]) * 16_384 for k in range(1, 4)]
    programs.keyword_tables([*long, b"\x04" * 16_383])
    with pytest.raises(vw.InputError, match="65536 states"):
        programs.keyword_tables([*long, b"\x04" * 16_384])


def test_tables_of_the_example_in_the_paper() -> None:
    """Aho and Corasick's figure 1: he, she, his, hers."""
    tables = programs.keyword_tables(["he", "she", "his", "hers"])
    transitions = tables.transitions.reshape(-1, 256)
    assert len(transitions) == 10
    assert len(tables.matches) == 4
    state = 0
    for byte in b"ushers":
        state = int(transitions[state, byte])
    assert tables.matches[state - 6] == 3
    assert tables.overlap == 3
    # After "she" both she and he have ended; after each of the others one.
    assert sorted(tables.matches.tolist()) == [0, 1, 2, 3]
    (she,) = np.flatnonzero(tables.matches == 1)
    assert tables.matches[tables.shorter[she] - 1] == 0
    assert np.count_nonzero(tables.shorter) == 1


@pytest.mark.gpu
@pytest.mark.parametrize("length", LENGTHS)
def test_small_alphabet_against_re(length: int) -> None:
    rng = np.random.default_rng(length)
    data = random_bytes(length, A, C + 1).tobytes()
    keywords = random_keywords(rng, 30, 9, C + 1)
    assert counts_of(keywords, data) == by_re(keywords, data)


@pytest.mark.gpu
def test_random_cases_against_find() -> None:
    rng = np.random.default_rng(11)
    for _ in range(40):
        high = int(rng.integers(A + 1, A + 4))
        data = rng.integers(A, high, rng.integers(0, 2000), dtype=np.uint8).tobytes()
        keywords = random_keywords(rng, 12, 12, high)
        lane = int(rng.integers(1, 40))
        assert counts_of(keywords, data, bytes_per_lane=lane) == by_find(keywords, data)


@pytest.mark.gpu
def test_any_bytes_and_keywords_of_all_values() -> None:
    data = random_bytes(100_000).tobytes()
    keywords = [bytes([value]) for value in range(256)] + [b"\x00\xff", b"\n\n"]
    assert counts_of(keywords, data) == by_re(keywords, data)


@pytest.mark.gpu
def test_keywords_that_all_end_with_each_other() -> None:
    keywords = [b"a" * n for n in range(1, 41)]
    assert counts_of(keywords, b"a" * 3000) == [3000 - n + 1 for n in range(1, 41)]


@pytest.mark.gpu
@pytest.mark.parametrize("shift", [-9, -8, -5, -1, 0, 1])
def test_one_match_around_the_border_of_two_lanes(shift: int) -> None:
    data = bytearray(b"-" * 1000)
    data[512 + shift : 512 + shift + 9] = b"long word"
    assert counts_of([b"long word", b"word", b"absent"], bytes(data)) == [1, 1, 0]


@pytest.mark.gpu
def test_keyword_longer_than_what_a_lane_scans_and_than_the_data() -> None:
    data = random_bytes(5000).tobytes()
    keywords = [data[100:1700], data[3000:], data + b"!"]
    assert counts_of(keywords, data, bytes_per_lane=16) == [1, 1, 0]
    assert counts_of(keywords, data[:1000]) == [0, 0, 0]


@pytest.mark.gpu
def test_more_keywords_than_are_counted_in_workgroup_memory() -> None:
    keywords = [f"{n:04x}".encode() for n in range(1500)]
    data = b"".join(keywords[::-1]) * 2
    assert counts_of(keywords, data) == by_re(keywords, data)


@pytest.mark.gpu
def test_no_keywords_and_no_data() -> None:
    assert counts_of([], b"some data") == []
    assert counts_of([b"a", b"b"], b"") == [0, 0]


@pytest.mark.gpu
def test_matches_that_end_before_first_are_not_counted() -> None:
    data = b"abcabcabc"
    assert counts_of([b"abc", b"ca"], data, first=5) == [2, 1]
    assert counts_of([b"abc", b"ca"], data, first=6) == [1, 1]
    assert counts_of([b"abc", b"ca"], data, first=9) == [0, 0]
    assert counts_of([b"abc", b"ca"], data, first=10_000) == [0, 0]


@pytest.mark.gpu
def test_tables_that_do_not_fit_each_other_are_refused() -> None:
    tables = programs.keyword_tables([b"ab", b"b"])
    inputs = tables.inputs(b"data") | {"shorter": np.zeros(5, np.uint32)}
    with pytest.raises(vw.InputError, match="'shorter'"):
        vw.compile(programs.keyword_counts()).dispatch(inputs, tables.params())


@pytest.mark.gpu
def test_streams_in_chunks_of_any_sizes_against_the_whole() -> None:
    rng = np.random.default_rng(5)
    for size in (1, 2, 7, 100, 1000):
        data = rng.integers(A, C + 1, 40 * size, dtype=np.uint8).tobytes()
        keywords = random_keywords(rng, 20, 12, C + 1)
        cuts = np.sort(rng.integers(0, len(data) + 1, 39))
        chunks = [part.tobytes() for part in np.split(np.frombuffer(data, np.uint8), cuts)]
        counts = programs.count_keywords(keywords, chunks)
        assert counts.dtype == np.int64
        assert counts.tolist() == by_re(keywords, data)
    assert programs.count_keywords([b"a"], []).tolist() == [0]


@pytest.mark.gpu
def test_a_chunk_may_be_overwritten_once_it_is_counted() -> None:
    memory = np.empty(4, np.uint8)

    def chunks() -> Iterator[object]:
        for text in (b"..lo", b"ng k", b"ey.."):
            memory[:] = np.frombuffer(text, np.uint8)
            yield memory

    assert programs.count_keywords(["long key", "o"], chunks()).tolist() == [1, 1]


@pytest.mark.gpu
def test_text_is_searched_as_utf8() -> None:
    text = "naïve über naïveté, ß"
    words = ["naïve", "ü", "ß", "e"]
    assert programs.count_keywords(words, [text.encode()]).tolist() == [2, 1, 1, 3]
