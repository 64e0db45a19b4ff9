"""Counting many keywords at once: an Aho-Corasick automaton, run in overlapping blocks.

The automaton (A. V. Aho and M. J. Corasick, "Efficient string matching: an aid to bibliographic
search", CACM 18(6), 1975) is in the state of the longest text just read that begins a keyword. That
text is no longer than the longest keyword, so a lane that starts in the middle of the data needs to
read only that many bytes, less one, before its own to be in the right state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import vyre_wgpu as vw

from .chunks import byte_array
from .options import whole_number

__all__ = ["KeywordTables", "count_keywords", "keyword_counts", "keyword_tables"]

_LANES = 256
_MOST_STATES = 1 << 16
_MOST_KEYWORD_BYTES = 16_384
_BLOCK_COUNTS = 1024
"""How many keywords are counted in workgroup memory; the ones behind go to device memory."""

Words = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class KeywordTables:
    """An automaton as arrays; `keyword_tables` makes it.

    States in which no keyword ends come first, the initial state as state 0.

    Attributes:
        keywords: the keywords, encoded.
        transitions: u16, 256 elements for each state: the state after a byte.
        matches: u32, one element for each state in which keywords end: the index of the longest.
        shorter: u32, as many elements: where in ``matches`` the next shorter keyword that ends
            there stands, plus one; 0 if there is none.
    """

    keywords: tuple[bytes, ...]
    transitions: npt.NDArray[np.uint16]
    matches: Words
    shorter: Words

    @property
    def overlap(self) -> int:
        """Bytes that a match can reach back before its last one."""
        return max(map(len, self.keywords), default=1) - 1

    def inputs(self, data: object) -> dict[str, object]:
        """The inputs of `keyword_counts` for some data."""
        return {
            "data": data,
            "transitions": self.transitions,
            "matches": self.matches,
            "shorter": self.shorter,
        }

    def params(self, first: int = 0) -> dict[str, int]:
        """The params of `keyword_counts`.

        Args:
            first: matches that end before this index are not counted.
        """
        return {"overlap": self.overlap, "keywords": len(self.keywords), "first": first}


def keyword_tables(keywords: Sequence[bytes | str]) -> KeywordTables:
    """The automaton that finds some keywords.

    Args:
        keywords: bytes, or text that is encoded as UTF-8.

    Raises:
        InputError: a keyword is neither, empty, there twice or longer than 16,384 bytes, or the
            automaton has more than 65,536 states (one for each distinct beginning of a keyword, the
            empty one included).
    """
    encoded = _encode(keywords)
    # The trie, its states in order of their making: a parent comes before its children.
    children: list[dict[int, int]] = [{}]
    ends: list[int] = [-1]
    for index, keyword in enumerate(encoded):
        state = 0
        for byte in keyword:
            following = children[state].get(byte)
            if following is None:
                following = len(children)
                if following == _MOST_STATES:
                    raise vw.InputError(
                        f"the keywords up to {keyword[:40]!r} need more than {_MOST_STATES} states",
                        fix="count them in several groups",
                    )
                children[state][byte] = following
                children.append({})
                ends.append(-1)
            state = following
        ends[state] = index
    return _tables(encoded, children, ends)


def _encode(keywords: Sequence[bytes | str]) -> tuple[bytes, ...]:
    if isinstance(keywords, (str, bytes, bytearray)):
        raise vw.InputError(
            f"the keywords are {keywords!r}, one text", fix="pass a list, also for one keyword"
        )
    places: dict[bytes, int] = {}
    for index, keyword in enumerate(keywords):
        if not isinstance(keyword, (str, bytes, bytearray)):
            raise vw.InputError(
                f"keyword {index} is {keyword!r}", fix="pass keywords as bytes or str"
            )
        try:
            text = keyword.encode() if isinstance(keyword, str) else bytes(keyword)
        except UnicodeEncodeError as error:
            raise vw.InputError(
                f"keyword {index} is no UTF-8 text: {error}", fix="pass its bytes instead"
            ) from None
        if not text:
            raise vw.InputError(
                f"keyword {index} is empty, and would match everywhere", fix="leave it out"
            )
        if len(text) > _MOST_KEYWORD_BYTES:
            raise vw.InputError(
                f"keyword {index} has {len(text)} bytes, more than {_MOST_KEYWORD_BYTES}",
                fix="search for its beginning, and compare the rest where that is found",
            )
        if text in places:
            raise vw.InputError(
                f"keywords {places[text]} and {index} are both {keyword!r}",
                fix="pass each keyword once",
            )
        places[text] = index
    return tuple(places)


def _tables(
    keywords: tuple[bytes, ...], children: list[dict[int, int]], ends: list[int]
) -> KeywordTables:
    count = len(children)
    transitions = np.zeros((count, 256), np.uint16)
    longest = np.full(count, -1, np.int64)  # the keyword to report first
    own = np.zeros(count, np.int64)  # the state whose keyword that is
    below = np.full(count, -1, np.int64)  # the state of the next shorter one
    fallback = [0] * count
    pending = [0]
    for state in pending:  # by depth, so that a fallback, which is less deep, is complete
        if state:
            transitions[state] = transitions[fallback[state]]
        suffix = fallback[state]
        if ends[state] >= 0:
            longest[state], own[state] = ends[state], state
            below[state] = own[suffix] if longest[suffix] >= 0 else -1
        else:
            longest[state], own[state], below[state] = longest[suffix], own[suffix], below[suffix]
        for byte, child in children[state].items():
            # What the fallback does with the byte; the root has none and falls back to itself.
            fallback[child] = int(transitions[state, byte]) if state else 0
            transitions[state, byte] = child
            pending.append(child)
    order = np.argsort(longest >= 0, kind="stable")
    renumbered = np.empty(count, np.int64)
    renumbered[order] = np.arange(count)
    plain = int(np.count_nonzero(longest < 0))
    ending = order[plain:]
    shorter = np.where(below[ending] >= 0, renumbered[below[ending]] - plain + 1, 0)
    return KeywordTables(
        keywords,
        renumbered[transitions[order]].astype(np.uint16).reshape(-1),
        longest[ending].astype(np.uint32),
        shorter.astype(np.uint32),
    )


def keyword_counts(*, bytes_per_lane: int = 64) -> vw.Program:
    """How often each of many keywords occurs, overlapping occurrences included.

    One program serves all keywords; `keyword_tables` makes its tables, and
    ``pipe.dispatch(tables.inputs(data), tables.params())`` runs it. `count_keywords` does both, for
    the chunks of a stream.

    Input ``data``: u8, any length. Inputs ``transitions``, ``matches``, ``shorter``: the arrays of
    a `KeywordTables`. Params, u32: ``overlap``, the longest keyword's bytes less one; ``keywords``,
    how many there are; ``first``, the index in ``data`` from which on the last byte of a match must
    lie to be counted, 0 for all. Output ``counts``: u32, one element for each keyword.

    Counts are modulo 2^32, which no input reaches. A dispatch raises `InputError` if ``shorter``
    and ``matches`` differ in length. Does not trap; but on a software driver that ends long loops,
    a lane with more than about 65,000 matches traps with the tag ``loop-limit``: hundreds of
    keywords that end with each other, in data full of them. Count those in several groups.

    Args:
        bytes_per_lane: how many bytes each lane scans, besides the ``overlap`` in front of them; at
            least twice the overlap is taken.

    Raises:
        InputError: ``bytes_per_lane`` is not from 1 to 16,384.
    """
    bytes_per_lane = whole_number("bytes_per_lane", bytes_per_lane, 1, 16_384)
    b = vw.ProgramBuilder("keyword_counts", workgroup_size=_LANES)
    overlap = b.param("overlap", vw.u32)
    keywords = b.param("keywords", vw.u32)
    first = b.param("first", vw.u32)
    data = b.read("data", vw.u8)
    transitions = b.read("transitions", vw.u16)
    matches = b.read("matches", vw.u32)
    shorter = b.read("shorter", vw.u32, count=matches.length)
    counts = b.output("counts", vw.u32, count=keywords)
    # Many matches are of few keywords: their atomics meet in workgroup memory first.
    block_counts = b.workgroup("block_counts", vw.u32, _BLOCK_COUNTS)
    share = vw.maximum(overlap * 2, bytes_per_lane)
    lanes = vw.ceil_div(vw.maximum(data.length, first) - first, share)
    b.extent(lanes)

    plain = b.let("plain", transitions.length // 256 - matches.length)
    state = b.var("state", vw.u32, 0)

    def step(at: vw.Value) -> None:
        state.set(transitions[state * 256 + data[at].cast(vw.u32)].cast(vw.u32))

    # With a barrier the lanes behind the extent run too, and their start may pass 2^32.
    with b.if_(b.global_id(0) < lanes):
        start = b.let("start", b.global_id(0) * share + first)
        with b.for_range(start - vw.minimum(start, overlap), start, name="before") as before:
            step(before)
        stop = start + vw.minimum(data.length - start, share)
        with b.for_range(start, stop, name="at") as at:
            step(at)
            with b.if_(state >= plain):
                match = b.var("match", vw.u32, state - plain + 1)
                with b.while_(lambda: match != 0):
                    keyword = b.let("keyword", matches[match - 1])
                    with b.if_(keyword < _BLOCK_COUNTS):
                        b.atomic_add(block_counts, keyword, 1)
                    with b.else_():
                        b.atomic_add(counts, keyword, 1)
                    match.set(shorter[match - 1])
    b.barrier()
    with b.for_range(0, _BLOCK_COUNTS, _LANES, name="row") as row:
        keyword = b.let("merged", row + b.local_id(0))
        count = b.let("count", block_counts[keyword])
        with b.if_(count != 0):
            b.atomic_add(counts, keyword, count)
    return b.build()


def count_keywords(
    keywords: Sequence[bytes | str], chunks: Iterable[object], *, backend: Any = None
) -> npt.NDArray[np.int64]:
    """How often each keyword occurs in a stream, overlapping and chunk-crossing matches included.

    Args:
        keywords: as for `keyword_tables`.
        chunks: bytes-like objects or arrays of u8, of any sizes.
        backend: where to run, as for `vw.compile`.

    Returns:
        A count for each keyword, in their order.

    Raises:
        InputError: the keywords, or a chunk, are none.
        VyreError: what `vw.compile` and a dispatch raise.
    """
    tables = keyword_tables(keywords)
    pipe = vw.compile(keyword_counts(), backend=backend)
    totals = np.zeros(len(tables.keywords), np.int64)
    carried = np.empty(0, np.uint8)
    for chunk in chunks:
        data = byte_array(chunk)
        whole = np.concatenate([carried, data]) if carried.size else data
        (counts,) = pipe.dispatch(tables.inputs(whole), tables.params(first=carried.size))
        totals += counts
        # Of small chunks several may lie within the reach of one keyword. A copy, for the caller
        # may use the memory of a chunk again.
        carried = whole[max(whole.size - tables.overlap, 0) :].copy()
    return totals
