"""``vyre-wgpu run``: results, files, and what happens with every wrong argument."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu import programs
from vyre_wgpu.cli import main, run_files

Capture = pytest.CaptureFixture[str]

X = np.arange(5, dtype=np.float32)
Y = np.ones(5, np.float32)
SAXPY = ["run", "saxpy", "--backend", "reference"]
INPUTS = ["--input", "x=x.npy", "--input", "y=y.npy"]
GOOD = [*SAXPY, *INPUTS, "--param", "a=2"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the inputs of saxpy."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    np.save("y.npy", Y)
    return tmp_path


def fails(capsys: Capture, argv: Sequence[str], *parts: str, fix: bool = True) -> None:
    """One message on standard error with all the parts, nothing on standard output, status 1."""
    before = sorted(os.listdir())
    assert main(list(argv)) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("vyre-wgpu: error: ")
    assert captured.err.count("\n") == 1
    assert [part for part in parts if part not in captured.err] == []
    if fix:
        assert "Fix: " in captured.err
    assert sorted(os.listdir()) == before


# What it computes


@pytest.mark.gpu
def test_a_shipped_program_on_npy_files(capsys: Capture) -> None:
    assert main(["run", "saxpy", *INPUTS, "--param", "a=2.0", "--output", "out=out.npy"]) == 0
    np.testing.assert_array_equal(np.load("out.npy"), 2 * X + Y)
    assert capsys.readouterr() == ("", "")


@pytest.mark.gpu
def test_a_program_file_gives_the_same(capsys: Capture) -> None:
    Path("saxpy.vyre").write_bytes(programs.saxpy().to_bytes())
    argv = ["run", "saxpy.vyre", *INPUTS, "--param", "a=2.0", "--output", "out=out.npy", "--json"]
    assert main(argv) == 0
    np.testing.assert_array_equal(np.load("out.npy"), 2 * X + Y)
    summary = json.loads(capsys.readouterr().out)
    assert summary["program"] == "saxpy"
    assert summary["fingerprint"] == programs.saxpy().fingerprint
    assert summary["extent"] == [5]
    assert summary["adapter"]
    assert summary["outputs"] == [
        {"name": "out", "dtype": "float32", "shape": [5], "bytes": 20, "file": "out.npy"}
    ]


def test_raw_files_are_bare_little_endian_elements() -> None:
    Path("x.bin").write_bytes(X.astype("<f4").tobytes())
    argv = [*SAXPY, "--input", "x=x.bin", "--input", "y=y.npy", "--param", "a=0x1p1"]
    assert main([*argv, "--output", "out=out.bin"]) == 0
    np.testing.assert_array_equal(np.frombuffer(Path("out.bin").read_bytes(), "<f4"), 2 * X + Y)


@pytest.mark.parametrize(
    "array",
    [
        X.astype(">f4"),
        np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4)),
        np.float32(3).reshape(()),
        np.empty((0, 7), np.float32),
    ],
    ids=["big-endian", "Fortran order", "0-d", "empty"],
)
def test_npy_files_of_any_layout_keep_values_and_shape(array: np.ndarray[Any, Any]) -> None:
    np.save("x.npy", array)
    np.save("y.npy", np.zeros(array.size, np.float32))
    assert main([*GOOD, "--output", "out=out.npy"]) == 0
    result = np.load("out.npy")
    assert (result.dtype, result.shape) == (np.float32, array.shape)
    np.testing.assert_array_equal(result, 2 * array)


def test_outputs_without_a_file_are_summarised_on_standard_error(capsys: Capture) -> None:
    assert main(GOOD) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "out: float32, 5 element(s), 1.0 to 9.0: 1.0, 3.0, 5.0, 7.0, 9.0\n"


def test_standard_input_and_output_are_raw(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hello")))
    Path("key").write_bytes(b"\1")
    argv = ["run", "xor_map", "--backend", "reference", "--input", "key=key"]
    assert main([*argv, "--input", "data=-", "--output", "out=-"]) == 0
    assert capfdbinary.readouterr() == (b"idmmn", b"")


def test_an_extent_of_zero_runs_nothing(capsys: Capture) -> None:
    assert main([*GOOD, "--extent", "0"]) == 0
    assert "0.0 to 0.0" in capsys.readouterr().err


def test_bool_and_integer_params_from_text() -> None:
    b = vw.ProgramBuilder("params")
    flag, number = b.param("flag", vw.bool_), b.param("number", vw.i32)
    out = b.output("out", vw.i32, count=1)
    b.extent(1)
    out[0] = vw.select(flag, number, 0)
    Path("p.vyre").write_bytes(b.build().to_bytes())
    argv = ["run", "p.vyre", "--backend", "reference", "--output", "out=out.npy"]
    for flag_text, text, expected in (
        ("true", "-0x10", -16),
        ("1", "1_000", 1000),
        ("False", "5", 0),
    ):
        assert main([*argv, "--param", f"flag={flag_text}", "--param", f"number={text}"]) == 0
        assert np.load("out.npy").tolist() == [expected]


# Output files


def test_an_output_may_replace_an_input() -> None:
    assert main([*GOOD, "--output", "out=x.npy"]) == 0
    np.testing.assert_array_equal(np.load("x.npy"), 2 * X + Y)


@pytest.mark.skipif(os.name != "posix", reason="permissions and links")
def test_a_replaced_file_keeps_permissions_and_a_link_stays_one() -> None:
    Path("real.npy").touch(mode=0o640)
    Path("link.npy").symlink_to("real.npy")
    assert main([*GOOD, "--output", "out=link.npy"]) == 0
    assert Path("link.npy").is_symlink()
    assert stat.S_IMODE(Path("real.npy").stat().st_mode) == 0o640
    np.testing.assert_array_equal(np.load("real.npy"), 2 * X + Y)


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="the system has no null device")
def test_a_device_is_written_to_and_not_replaced() -> None:
    assert main([*GOOD, "--output", f"out={os.devnull}"]) == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")
def test_a_full_device_is_one_message(capsys: Capture) -> None:
    argv = [*GOOD, "--output", "out=/dev/full"]
    fails(capsys, argv, "output 'out', file /dev/full, cannot be written: No space", fix=False)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_what_was_there(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    b = vw.ProgramBuilder("two")
    first, second = b.output("first", vw.u8, count=9), b.output("second", vw.u8, count=9)
    b.extent(9)
    first[b.global_id(0)] = 1
    second[b.global_id(0)] = 2
    Path("two.vyre").write_bytes(b.build().to_bytes())
    Path("1.bin").write_bytes(b"old")
    real = run_files._write

    def write(array: Any, file: Any, *, is_npy: bool) -> None:
        if array[0] == 2:
            file.write(b"half")
            raise error
        real(array, file, is_npy=is_npy)

    monkeypatch.setattr(run_files, "_write", write)
    before = sorted(os.listdir())
    outputs = ["--output", "first=1.bin", "--output", "second=2.bin"]
    status = main(["run", "two.vyre", "--backend", "reference", *outputs])
    assert status == (1 if isinstance(error, OSError) else 130)
    assert sorted(os.listdir()) == before
    assert Path("1.bin").read_bytes() == b"old"
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="limits the size of files")
def test_a_disk_that_takes_no_more_leaves_no_half_file(folder: Path) -> None:
    np.save("x.npy", np.zeros(100_000, np.float32))
    np.save("y.npy", np.zeros(100_000, np.float32))
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)); "
        "from vyre_wgpu.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    before = sorted(os.listdir())
    done = subprocess.run(
        [sys.executable, "-c", code, *GOOD, "--output", "out=out.npy"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("vyre-wgpu: error: output 'out', file out.npy, cannot be written")
    assert sorted(os.listdir()) == before


@pytest.mark.skipif(os.name != "posix", reason="closes a pipe's reader")
def test_a_closed_pipe_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "vyre_wgpu", *GOOD, "--output", "out=-"],
            stdout=writer, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_while_it_waits_for_input_is_status_130() -> None:
    os.mkfifo("pipe.npy")
    argv = [*SAXPY, "--input", "x=pipe.npy", "--input", "y=y.npy", "--param", "a=2"]
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from vyre_wgpu.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, *argv], stderr=subprocess.PIPE)
    with open("pipe.npy", "wb"):  # returns when the other side has opened it
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (130, b"vyre-wgpu: interrupted\n")


# Wrong input. Most of it is found before a device is opened.


def a_program(*, version: int = 1, cut: int = 0) -> bytes:
    data = programs.saxpy().to_bytes()
    data = data[:4] + struct.pack("<H", version) + data[6:]
    return data[: len(data) - cut]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "this is no program"),
        (b"garbage", "this is no program"),
        (b"\x89VYR", "too few for a program"),
        (a_program(cut=9), "checksum"),
        (a_program(version=9), "format version 9"),
        (bytes(100_000), "this is no program"),
    ],
    ids=["empty", "garbage", "magic only", "truncated", "future", "zeros"],
)
@pytest.mark.parametrize("command", ["run", "wgsl", "programs"])
def test_a_file_that_is_no_program(
    command: str, content: bytes, message: str, capsys: Capture
) -> None:
    Path("p.vyre").write_bytes(content)
    fails(capsys, [command, "p.vyre"], "p.vyre holds no program", message)


@pytest.mark.parametrize("command", ["run", "wgsl", "programs"])
def test_a_script_is_no_program_file(command: str, capsys: Capture) -> None:
    """It says how a script makes one."""
    Path("k.py").write_text("import vyre_wgpu as vw\n")
    fails(capsys, [command, "k.py"], "k.py holds no program", "with python", "to_bytes()")


@pytest.mark.parametrize("command", ["run", "wgsl", "programs"])
def test_a_program_that_does_not_exist(command: str, capsys: Capture) -> None:
    fails(capsys, [command, "sax"], "no program file sax", "saxpy")
    fails(capsys, [command, "."], "cannot be read")
    fails(capsys, [command, "a\0b"], "cannot be read")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([*INPUTS], "param 'a' (f32) is missing"),
        ([*INPUTS[:2], "--param", "a=1"], "input 'y' is missing"),
        ([*INPUTS, "--input", "x=x.npy", "--param", "a=1"], "--input x is given twice"),
        ([*INPUTS, "--param", "a=1", "--param", "a=2"], "--param a is given twice"),
        ([*INPUTS, "--input", "z=x.npy", "--param", "a=1"], "no input 'z'"),
        ([*INPUTS, "--param", "a=1", "--param", "b=1"], "no param 'b'"),
        ([*INPUTS, "--param", "a=1", "--output", "x=o.npy"], "no output 'x'"),
        ([*INPUTS, "--param", "a=1", "--output", "out=no/o.npy"], "there is no folder"),
        ([*INPUTS, "--param", "a=1", "--output", "out=."], "is a folder"),
        ([*INPUTS, "--param", "a=1", "--output", "out=x.npy/o"], "there is no folder"),
        ([*INPUTS, "--param", "a=1", "--output", f"out={'o' * 300}"], "may not be written"),
        ([*INPUTS, "--param", "a=1", "--output", "out=a\0b"], "may not be written"),
        ([*INPUTS, "--param", "a=1", "--output", "out=-", "--json"], "both go to standard"),
        (["--input", "x=-", "--input", "y=-", "--param", "a=1"], "two inputs come from"),
        ([*INPUTS, "--param", "a=one"], "param 'a' is 'one', not a value of f32"),
        ([*INPUTS, "--param", "a=1e400"], "param 'a' is '1e400', not a value of f32"),
        ([*INPUTS, "--param", "a=1e39"], "not a value of f32"),
        ([*INPUTS, "--param", "a=1", "--extent", "4,4"], "has 2 axes"),
        ([*INPUTS, "--param", "a=1", "--extent", "5000000000"], "4294967295"),
        ([*INPUTS, "--param", "a=1", "--adapter", "0"], "does not take one"),
    ],
)
def test_wrong_arguments(argv: list[str], message: str, capsys: Capture) -> None:
    fails(capsys, [*SAXPY, *argv], message)


def test_a_missing_input_file(capsys: Capture) -> None:
    argv = [*SAXPY, "--input", "x=none.npy", "--input", "y=y.npy", "--param", "a=1"]
    fails(capsys, argv, "input 'x', file none.npy does not exist")
    fails(capsys, [a.replace("none.npy", ".") for a in argv], "file . cannot be read")


def test_an_unknown_backend(capsys: Capture) -> None:
    argv = ["run", "saxpy", *INPUTS, "--param", "a=1", "--backend", "cuda"]
    fails(capsys, argv, "'cuda' is unknown", "reference, wgpu")


@pytest.mark.gpu
def test_an_unknown_adapter(capsys: Capture) -> None:
    argv = ["run", "saxpy", *INPUTS, "--param", "a=1", "--adapter", "no such adapter"]
    fails(capsys, argv, "no adapter matches")


@pytest.mark.gpu
def test_an_output_beyond_the_device_is_refused_and_not_written(capsys: Capture) -> None:
    sizes = [f"--param={p}" for p in ("width=60000", "height=60000", "max_iterations=3")]
    sizes += [f"--param={p}" for p in ("x0=0", "y0=0", "dx=1", "dy=1")]
    argv = ["run", "mandelbrot", *sizes, "--output", "iterations=i.npy"]
    fails(capsys, argv, "buffer 'iterations' has 14400000000 bytes")
    argv[3] = "--param=height=100000"
    fails(capsys, argv, "width * height")


def save(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def header(text: str) -> bytes:
    padded = text.encode() + b" " * (117 - len(text)) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(padded)) + padded


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (save(X.astype(np.float64)), "has dtype float64"),
        (save(X.astype(np.complex64)), "has dtype complex64"),
        (save(X > 1), "has dtype bool"),
        (save(np.array([{}], object), allow_pickle=True), "pickled Python objects"),
        (save(np.zeros(3, [("a", "f4"), ("b", "u1")])), "has dtype"),
        (save(np.zeros(3, "V0")), "declares shape"),
        (save(X)[:-1], "its header declares 20 bytes of elements, 19 follow"),
        (save(X) + b"\0", "its header declares 20 bytes of elements, 21 follow"),
        (save(X)[:20], "not a usable .npy file"),
        (b"", "not a usable .npy file"),
        (b"PK\3\4 a zip archive", "not a usable .npy file"),
        (b"\x93NUMPY\x09\0" + save(X)[8:], "its format version is 9.0"),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,)}"), "declares"),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"), "declares shape"),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (2 ** 9,)}"), "not a usable"),
        (header("__import__('os').abort()"), "not a usable .npy file"),
        (header("((((((((((((((((((((("), "not a usable .npy file"),
    ],
)
def test_npy_files_that_do_not_fit(content: bytes, message: str, capsys: Capture) -> None:
    Path("x.npy").write_bytes(content)
    fails(capsys, GOOD, "input 'x'", message)


def test_a_raw_file_of_a_wrong_size(capsys: Capture) -> None:
    argv = [*SAXPY, "--input", "x=x.bin", "--input", "y=y.npy", "--param", "a=1"]
    Path("x.bin").write_bytes(b"abc")
    fails(capsys, argv, "has 3 bytes, not a whole number of f32 elements of 4 bytes")
    Path("x.bin").write_bytes(bytes(16))
    fails(capsys, argv, "input 'y' has 5 elements, but the program declares x.length = 4")


def test_raw_bools_are_0_or_1(capsys: Capture) -> None:
    b = vw.ProgramBuilder("bools")
    x = b.read("x", vw.bool_)
    b.output("y", vw.bool_, like=x)[b.global_id(0)] = ~x[b.global_id(0)]
    Path("p.vyre").write_bytes(b.build().to_bytes())
    argv = ["run", "p.vyre", "--backend", "reference", "--input", "x=x.bin"]
    Path("x.bin").write_bytes(b"\0\1\2")
    fails(capsys, argv, "has the byte 2")
    Path("x.bin").write_bytes(b"\0\1")
    assert main([*argv, "--output", "y=y.bin"]) == 0
    assert Path("y.bin").read_bytes() == b"\1\0"


def test_two_outputs_to_one_file(folder: Path, capsys: Capture) -> None:
    Path("text").write_bytes(b"QQ==")
    argv = ["run", "base64_decoder", "--backend", "reference", "--input", "data=text"]
    for other in ("w", "./w", str(folder / "w"), f"../{folder.name}/w"):
        fails(capsys, [*argv, "--output", "words=w", "--output", f"bad={other}"], "both go to")
    fails(capsys, [*argv, "--output", "words=-", "--output", "bad=-"], "both go to -")


def test_an_output_that_is_the_program(capsys: Capture) -> None:
    content = a_program()
    Path("p.vyre").write_bytes(content)
    argv = ["run", "p.vyre", *INPUTS, "--param", "a=1", "--output", "out=./p.vyre"]
    fails(capsys, argv, "is the program itself")
    assert Path("p.vyre").read_bytes() == content


def test_binary_output_to_a_terminal_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    fails(capsys, [*GOOD, "--output", "out=-"], "would go to a terminal")


@pytest.mark.gpu
def test_a_trap_is_one_message_and_writes_nothing(capsys: Capture) -> None:
    Path("bad").write_bytes(bytes(4))
    argv = ["run", "base64_trap", "--input", "bad=bad", "--param", "length=5"]
    fails(capsys, argv, "trapped: 'base64 ends early', address 5", fix=False)


@pytest.mark.gpu
def test_a_program_that_hangs_is_ended_by_max_iterations(capsys: Capture) -> None:
    b = vw.ProgramBuilder("hangs")
    out = b.output("out", vw.u32, count=1)
    b.extent(1)
    n = b.var("n", vw.u32, 1)
    with b.while_(lambda: n != 0):
        n.set(n | 1)
    out[0] = n
    Path("hangs.vyre").write_bytes(b.build().to_bytes())
    argv = ["run", "hangs.vyre", "--max-iterations", "1000", "--output", "out=o.npy"]
    fails(capsys, argv, "'loop-limit'", fix=False)
