"""The demo on small folders: what it reports, what it checks, and how it ends."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vyre_wgpu as vw
from vyre_wgpu.cli import demo, demo_checksums, demo_job, demo_keywords, demo_mandelbrot, main
from vyre_wgpu.cli.corpus import FileStream
from vyre_wgpu.cli.demo_job import first_non_ascii
from vyre_wgpu.cli.demo_keywords import KEYWORDS, occurrences

CHUNK = 4096
Reply = subprocess.CompletedProcess[str]


@pytest.fixture(autouse=True)
def small_picture(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A picture that NumPy is quick to check, in a folder of its own."""
    folder = tmp_path_factory.mktemp("current")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(demo_mandelbrot, "WIDTH", 96)
    monkeypatch.setattr(demo_mandelbrot, "HEIGHT", 64)
    return folder


def run_json(capsys: pytest.CaptureFixture[str], path: Path, *argv: str) -> tuple[int, Any]:
    """Runs ``vyre-wgpu demo --json`` in this process; gives the status and what it printed."""
    status = main(["demo", "--json", "--path", str(path), "--chunk-bytes", str(CHUNK), *argv])
    captured = capsys.readouterr()
    assert captured.err == ""
    return status, json.loads(captured.out)


def write(folder: Path, **contents: bytes) -> None:
    for name, content in contents.items():
        (folder / f"{name}.py").write_bytes(content)


# Without a device


def test_pythons_own_search_names_file_offset_and_byte(tmp_path: Path) -> None:
    write(tmp_path, a=b"", b=b"ascii", c=b"x" * (1 << 20) + b"yz\xe4\xff", d=b"\xff")
    paths = tuple(sorted(tmp_path.iterdir()))
    assert first_non_ascii(paths) == (tmp_path / "c.py", (1 << 20) + 2, 0xE4)
    assert first_non_ascii(paths[:2]) is None


def test_a_folder_that_does_not_exist_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing"
    assert main(["demo", "--path", str(missing)]) == 1
    message = f"vyre-wgpu: error: there is no file or folder {missing}. Fix: "
    assert capsys.readouterr() == ("", message + "give a folder with readable files: --path DIR\n")


def test_a_folder_without_files_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["demo", "--path", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("vyre-wgpu: error: there are no files to read below")


def test_a_library_that_is_no_folder_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo.sysconfig, "get_path", lambda _: str(tmp_path / "python.zip"))
    assert main(["demo"]) == 1
    assert "where this Python's standard library should be" in capsys.readouterr().err


# With one


@pytest.mark.gpu
def test_report_has_what_was_read_and_that_it_agrees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = random.Random(1).randbytes(3 * CHUNK + 7)
    write(tmp_path, a=b"", b=b"x" * CHUNK, c=content)
    status, report = run_json(capsys, tmp_path)
    assert status == 0
    assert report["agrees"] is True
    assert report["differences"] == []
    assert report["files"] == 3
    assert report["bytes"] == 4 * CHUNK + 7
    assert report["dispatches"] == 5
    assert report["counts"] == np.bincount(
        np.frombuffer(b"x" * CHUNK + content, np.uint8), minlength=256
    ).tolist()  # fmt: skip
    assert report["unreadable"] == []
    assert report["first_result_s"] > 0
    assert report["later_dispatch_median_s"] > 0
    assert report["bytes_per_s"] > 0
    assert report["adapter"]


@pytest.mark.gpu
def test_one_program_serves_all_chunks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, a=b"a" * (20 * CHUNK + 1))
    run_json(capsys, tmp_path)
    _, again = run_json(capsys, tmp_path)
    assert again["dispatches"] == 21
    assert again["modules_created"] == 0


@pytest.mark.gpu
@pytest.mark.parametrize("offset", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK - 1, 3 * CHUNK])
def test_trap_names_file_and_offset_wherever_a_chunk_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], offset: int
) -> None:
    content = bytearray(b"a" * (3 * CHUNK + 1))
    content[offset:] = b"\xc3" + b"\xff" * (len(content) - offset - 1)
    # Files in front whose sizes do not fall together with chunks.
    write(tmp_path, a=b"#" * 77, b=b"", c=bytes(content), d=b"\x80")
    status, report = run_json(capsys, tmp_path)
    assert (status, report["differences"]) == (0, [])
    trap = report["trap"]
    assert trap["file"] == str(tmp_path / "c.py")
    assert (trap["offset"], trap["byte"]) == (offset, 0xC3)
    assert "'byte is not ASCII'" in trap["error"]
    assert trap["source"][0].endswith("first.py")
    assert trap["source_text"].startswith("b.trap(")


@pytest.mark.gpu
def test_trap_in_a_file_of_exactly_one_chunk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, a=b"a" * CHUNK, b=b"b" * (CHUNK - 1) + b"\xfe", c=b"\xff")
    _, report = run_json(capsys, tmp_path)
    assert report["trap"]["file"] == str(tmp_path / "b.py")
    assert (report["trap"]["offset"], report["trap"]["byte"]) == (CHUNK - 1, 0xFE)


@pytest.mark.gpu
def test_text_says_so_where_every_byte_is_ascii(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, a=b"print('hello')\n")
    assert run_json(capsys, tmp_path)[1]["trap"] is None
    assert main(["demo", "--path", str(tmp_path)]) == 0
    assert "every byte of every file is ASCII" in capsys.readouterr().out


@pytest.mark.gpu
def test_text_shows_adapter_counts_trap_and_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, a=b"a" * CHUNK, b="# ä".encode())
    assert main(["demo", "--path", str(tmp_path), "--chunk-bytes", "1000"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    for text in (
        "adapter",
        "4,100",
        "MB/s",
        "b.py",
        "0xC3",
        "b.trap(",
        "first.py, line",
        "agrees:",
    ):
        assert text in captured.out, text
    assert "DISAGREES" not in captured.out


@pytest.mark.gpu
def test_a_single_file_and_a_single_chunk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, a=b"abc")
    status, report = run_json(capsys, tmp_path / "a.py")
    assert (status, report["dispatches"], report["bytes"]) == (0, 1, 3)
    assert report["later_dispatch_median_s"] is None
    assert main(["demo", "--path", str(tmp_path / "a.py")]) == 0


@pytest.mark.gpu
def test_unreadable_files_are_named_and_the_rest_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, a=b"abc", b=b"de")
    (tmp_path / "link.py").symlink_to(tmp_path / "gone")
    status, report = run_json(capsys, tmp_path)
    assert (status, report["files"], report["bytes"]) == (0, 2, 5)
    assert [u["path"] for u in report["unreadable"]] == [str(tmp_path / "link.py")]
    assert main(["demo", "--path", str(tmp_path)]) == 0
    assert "1 could not be read" in capsys.readouterr().out


@pytest.mark.gpu
def test_files_without_a_byte_are_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, a=b"", b=b"")
    assert main(["demo", "--path", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("vyre-wgpu: error: no bytes to count in the 2 file(s)")


def off_by_one(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    counts = np.bincount(data, minlength=256)
    counts[ord("b")] += 1
    return counts


@pytest.mark.gpu
def test_a_count_that_differs_fails_and_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_job, "reference_counts", off_by_one)
    write(tmp_path, a=b"ab" * CHUNK)
    status, report = run_json(capsys, tmp_path)
    assert status == 1
    assert report["agrees"] is False
    assert report["differences"][0] == (
        "chunk 0 (bytes 0 to 4095): 1 of 256 counts differ, the first at byte value 98: "
        "2048 on the device, 2049 expected"
    )
    assert main(["demo", "--path", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "DISAGREES" in out
    assert "byte value 98" in out
    assert "agrees:" not in out


@pytest.mark.gpu
def test_many_differences_are_cut_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_job, "reference_counts", off_by_one)
    write(tmp_path, a=b"a" * (20 * CHUNK))
    _, report = run_json(capsys, tmp_path)
    assert len(report["differences"]) == 6
    assert report["differences"][-1] == "and 16 more"


@pytest.mark.gpu
@pytest.mark.parametrize("expected", [None, (Path("other.py"), 1, 0xC3)])
def test_a_trap_at_another_place_fails(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    expected: object,
) -> None:
    monkeypatch.setattr(demo_job, "first_non_ascii", lambda _: expected)
    write(tmp_path, a=b"a\xc3")
    status, report = run_json(capsys, tmp_path)
    assert status == 1
    assert "first byte that is not ASCII" in report["differences"][0]


@pytest.mark.gpu
def test_a_byte_that_the_device_misses_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_job, "first_non_ascii", lambda _: (Path("a.py"), 1, 0xC3))
    write(tmp_path, a=b"all ASCII")
    assert run_json(capsys, tmp_path)[0] == 1


@pytest.mark.gpu
def test_a_program_that_does_not_trap_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(vw.programs, "first_index", lambda _: 0)  # claims to have found one
    write(tmp_path, a=b"all ASCII")
    status, report = run_json(capsys, tmp_path)
    assert status == 1
    assert "did not trap" in report["differences"][0]


@pytest.mark.gpu
def test_adapter_that_does_not_exist_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, a=b"abc")
    assert main(["demo", "--path", str(tmp_path), "--adapter", "no such adapter"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("vyre-wgpu: error: no adapter matches")
    assert captured.err.count("\n") == 1


@pytest.mark.gpu
def test_progress_is_told_of_every_byte(tmp_path: Path) -> None:
    write(tmp_path, a=b"a" * 10_000)
    steps: list[int] = []
    stream = FileStream((tmp_path / "a.py",), CHUNK)
    demo_job.count_bytes(vw.get_backend("wgpu"), stream, steps.append)
    assert steps == [CHUNK, CHUNK, 10_000 - 2 * CHUNK]


def run_process(path: Path, *argv: str, stdout: int = subprocess.PIPE) -> Reply:
    return subprocess.run(
        [sys.executable, "-m", "vyre_wgpu", "demo", "--no-png", "--path", str(path), *argv],
        cwd=Path(__file__).parents[2],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


@pytest.mark.gpu
def test_json_alone_is_on_standard_output(tmp_path: Path) -> None:
    write(tmp_path, a=b"abc\xff")
    done = run_process(tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["modules_created"], report["dispatches"]) == (1, 1)


@pytest.mark.gpu
@pytest.mark.skipif(os.name != "posix", reason="closes a pipe's reader")
def test_standard_output_closed_early_is_no_crash(tmp_path: Path) -> None:
    write(tmp_path, a=b"abc")
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run_process(tmp_path, stdout=writer)
    finally:
        os.close(writer)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr


@pytest.mark.gpu
def test_standard_library_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["agrees"] is True
    assert report["bytes"] > 1_000_000
    assert report["crc32"]["files"] == report["files"]
    assert report["crc32"]["bytes"] == report["bytes"]
    assert len(report["keywords"]["counts"]) == 40
    assert report["keywords"]["counts"]["def"] > 1000


def test_arguments_have_the_documented_defaults() -> None:
    parser = argparse.ArgumentParser()
    demo.register(parser.add_subparsers())
    args = parser.parse_args(["demo"])
    assert (args.json, args.path, args.chunk_bytes, args.adapter) == (False, None, 1 << 20, None)
    assert (args.png, args.no_png) == (None, False)


# Checksums, keywords, picture


@pytest.mark.gpu
def test_a_checksum_that_differs_fails_and_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_checksums, "reference_crc32", lambda chunk, crc: crc ^ len(chunk))
    write(tmp_path, a=b"", b=b"abc")
    status, report = run_json(capsys, tmp_path)
    assert status == 1
    assert report["differences"] == [
        f"CRC-32 of {tmp_path / 'b.py'}: 352441c2 on the device, 00000003 expected"
    ]


@pytest.mark.gpu
def test_checksums_of_files_larger_than_a_chunk_are_combined(tmp_path: Path) -> None:
    write(tmp_path, a=random.Random(3).randbytes(3 * CHUNK + 5), b=b"", c=b"x")
    (tmp_path / "d.py").symlink_to(tmp_path / "gone")
    done: list[int] = []
    report = demo_checksums.check_files(
        vw.get_backend("wgpu"), sorted(tmp_path.iterdir()), CHUNK, done.append
    )
    assert (report.files, report.dispatches, report.differences) == (3, 5, ())
    assert sum(done) == report.total_bytes == 3 * CHUNK + 6


def test_there_are_forty_different_keywords() -> None:
    assert len(set(KEYWORDS)) == len(KEYWORDS) == 40


@pytest.mark.parametrize(
    ("text", "keyword", "first", "count"),
    [
        (b"elselse else", b"else", 0, 3),
        (b"elselse else", b"else", 1, 2),
        (b"aaaa", b"aa", 0, 3),
        (b"in int print", b"in", 0, 3),
        (b"", b"in", 0, 0),
    ],
)
def test_python_counts_overlapping_occurrences(
    text: bytes, keyword: bytes, first: int, count: int
) -> None:
    assert occurrences(text, keyword, first) == count


@pytest.mark.gpu
@pytest.mark.parametrize("chunk_bytes", [1, 3, 8, 1000])
def test_keywords_across_chunks_and_files_are_counted_once(
    tmp_path: Path, chunk_bytes: int
) -> None:
    text = b"elselse import int nonlocal classert" * 2
    write(tmp_path, a=text[:11], b=text[11:])
    stream = FileStream(tuple(sorted(tmp_path.iterdir())), chunk_bytes)
    report = demo_keywords.count_in_stream(vw.get_backend("wgpu"), stream)
    assert report.differences == ()
    assert report.counts == tuple(occurrences(text, keyword) for keyword in KEYWORDS)


@pytest.mark.gpu
def test_a_keyword_count_that_differs_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_keywords, "occurrences", lambda *_: 1)
    write(tmp_path, a=b"".join(KEYWORDS) + b" def")
    status, report = run_json(capsys, tmp_path)
    assert status == 1
    assert "occurrences of 'def': 2 on the device, 1 expected" in report["differences"]


@pytest.mark.gpu
def test_the_picture_is_written_where_asked(
    tmp_path: Path, small_picture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = pytest.importorskip("PIL.Image")
    write(tmp_path, a=b"abc")
    status, report = run_json(capsys, tmp_path, "--png", "set.png")
    assert (status, report["mandelbrot"]["png"]) == (0, "set.png")
    with image.open(small_picture / "set.png") as picture:
        assert (picture.format, picture.size) == ("PNG", (96, 64))
        assert picture.getpixel((72, 32)) == (0, 0, 0)  # 0, the middle of the set
        assert picture.getpixel((0, 0)) != (0, 0, 0)
    assert [p.name for p in small_picture.iterdir()] == ["set.png"]


@pytest.mark.gpu
def test_the_picture_has_a_default_name_and_can_be_left_out(
    tmp_path: Path, small_picture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("PIL.Image")
    write(tmp_path, a=b"abc")
    assert run_json(capsys, tmp_path, "--no-png")[1]["mandelbrot"]["png"] is None
    assert list(small_picture.iterdir()) == []
    assert main(["demo", "--path", str(tmp_path)]) == 0
    assert "vyre-wgpu-mandelbrot.png" in capsys.readouterr().out
    assert (small_picture / "vyre-wgpu-mandelbrot.png").is_file()


def test_a_picture_in_a_missing_folder_is_refused_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo", "--png", "no/such/set.png"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "the picture, file no/such/set.png: there is no folder" in captured.err


@pytest.mark.gpu
def test_without_pillow_the_rest_runs_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    write(tmp_path, a=b"abc")
    assert main(["demo", "--path", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert 'pillow is not installed: pip install "vyre-wgpu[cli]"' in out
    assert "agrees" in out
    assert main(["demo", "--path", str(tmp_path), "--png", "set.png", "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["agrees"] is True
    assert "error: no picture: the package pillow" in captured.err


@pytest.mark.gpu
def test_a_picture_that_differs_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = demo_mandelbrot.reference_iterations

    def wrong(dtype: type[np.floating[Any]]) -> npt.NDArray[np.uint32]:
        iterations = right(dtype)
        iterations[:3, :3] = 77
        return iterations

    monkeypatch.setattr(demo_mandelbrot, "reference_iterations", wrong)
    write(tmp_path, a=b"abc")
    status, report = run_json(capsys, tmp_path)
    assert status == 1
    assert report["differences"][0].startswith("Mandelbrot set: 4 points differ from NumPy")
    # Contraction may round points at the boundary otherwise, beside the nine that were changed.
    assert report["mandelbrot"]["other_points"] >= 9
