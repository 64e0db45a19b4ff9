"""Files as one stream: chunks of one size, and every offset found back in its file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vyre_wgpu.cli.corpus import FileStream, find_files

CONTENTS = [b"", b"abc", b"", b"", b"0123456789", b"x", b"\xff" * 7, b""]


def write(folder: Path, contents: list[bytes]) -> tuple[Path, ...]:
    paths = []
    for number, content in enumerate(contents):
        path = folder / f"{number:03}.txt"
        path.write_bytes(content)
        paths.append(path)
    return tuple(paths)


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 4, 7, 20, 21, 22, 1000])
def test_chunks_are_the_files_in_order_and_all_but_the_last_are_full(
    tmp_path: Path, chunk_bytes: int
) -> None:
    stream = FileStream(write(tmp_path, CONTENTS), chunk_bytes)
    chunks = list(stream.chunks())
    assert b"".join(chunk for _, chunk in chunks) == b"".join(CONTENTS)
    assert [len(chunk) for _, chunk in chunks[:-1]] == [chunk_bytes] * (len(chunks) - 1)
    assert 0 < len(chunks[-1][1]) <= chunk_bytes
    assert [offset for offset, _ in chunks] == list(range(0, 21, chunk_bytes))
    assert stream.files_read == len(CONTENTS)
    assert stream.bytes_read == 21
    assert stream.unreadable == []


def test_every_offset_is_found_back_in_its_file(tmp_path: Path) -> None:
    paths = write(tmp_path, CONTENTS)
    stream = FileStream(paths, 4)
    assert len(list(stream.chunks())) == 6
    located = [stream.locate(offset) for offset in range(21)]
    assert located == [
        (path, i)
        for path, content in zip(paths, CONTENTS, strict=True)
        for i in range(len(content))
    ]


def test_an_offset_can_be_located_as_soon_as_its_chunk_is_there(tmp_path: Path) -> None:
    paths = write(tmp_path, CONTENTS)
    stream = FileStream(paths, 2)
    chunks = stream.chunks()
    next(chunks)
    next(chunks)
    assert stream.locate(3) == (paths[4], 0)
    with pytest.raises(IndexError, match="offset 4"):
        stream.locate(4)


@pytest.mark.parametrize("offset", [-1, 21])
def test_an_offset_outside_the_stream_is_an_error(tmp_path: Path, offset: int) -> None:
    stream = FileStream(write(tmp_path, CONTENTS), 8)
    assert sum(len(chunk) for _, chunk in stream.chunks()) == 21
    with pytest.raises(IndexError, match=str(offset)):
        stream.locate(offset)


def test_a_file_longer_than_a_read_is_whole(tmp_path: Path) -> None:
    content = os.urandom((2 << 20) + 12345)
    stream = FileStream(write(tmp_path, [b"a", content]), 1 << 20)
    assert b"".join(chunk for _, chunk in stream.chunks()) == b"a" + content


def test_no_files_or_only_empty_ones_give_no_chunk(tmp_path: Path) -> None:
    assert list(FileStream((), 8).chunks()) == []
    assert list(FileStream(write(tmp_path, [b"", b""]), 8).chunks()) == []


def test_a_file_that_is_gone_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    first, gone, last = write(tmp_path, [b"abc", b"lost", b"de"])
    gone.unlink()
    stream = FileStream((first, gone, last), 100)
    assert [bytes(chunk) for _, chunk in stream.chunks()] == [b"abcde"]
    assert [u.path for u in stream.unreadable] == [gone]
    assert stream.unreadable[0].reason
    assert stream.files_read == 2
    assert stream.locate(3) == (last, 0)


def test_finds_files_below_a_folder_sorted_by_suffix_and_without_skipped_folders(
    tmp_path: Path,
) -> None:
    for name in (
        "b.py",
        "a/z.py",
        "a/y.txt",
        "site-packages/no.py",
        "a/site-packages/no.py",
        "A.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    found = find_files(tmp_path, suffix=".py", skip=("site-packages",))
    names = [path.relative_to(tmp_path).as_posix() for path in found.paths]
    assert names == sorted(["A.py", "a/z.py", "b.py"], key=lambda name: tmp_path / name)
    assert found.total_bytes == len("A.py" + "a/z.py" + "b.py")
    assert found.unreadable == ()
    assert len(find_files(tmp_path).paths) == 6


def test_a_single_file_is_its_own_only_one(tmp_path: Path) -> None:
    (path,) = write(tmp_path, [b"abc"])
    assert find_files(path).paths == (path,)
    assert find_files(path).total_bytes == 3


def test_a_folder_that_does_not_exist_has_no_files(tmp_path: Path) -> None:
    found = find_files(tmp_path / "missing")
    assert found.paths == ()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_pipes_are_left_out_and_broken_links_are_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "broken").symlink_to(tmp_path / "missing")
    (tmp_path / "file").write_bytes(b"abc")
    found = find_files(tmp_path)
    assert found.paths == (tmp_path / "file",)
    assert [u.path for u in found.unreadable] == [tmp_path / "broken"]
