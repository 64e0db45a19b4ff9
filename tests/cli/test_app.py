"""Exit status and messages of the command line, whatever ends it."""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import vyre_wgpu as vw
from vyre_wgpu.cli import demo, main
from vyre_wgpu.cli.output import printable


def make_demo(monkeypatch: pytest.MonkeyPatch, run: Callable[[], int]) -> None:
    """Makes ``vyre-wgpu demo`` do something else."""

    def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
        commands.add_parser("demo").set_defaults(run=lambda _: run())

    monkeypatch.setattr(demo, "register", register)


def raises(error: BaseException) -> Callable[[], int]:
    def run() -> int:
        raise error

    return run


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"vyre-wgpu {vw.__version__}\n"


COMMANDS = ["info", "doctor", "demo", "run", "wgsl", "cache", "programs", "completion"]


def test_help_names_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert [name for name in COMMANDS if f"  {name}" not in out] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"examples:\n  vyre-wgpu {command}" in capsys.readouterr().out


def test_the_guide_describes_every_command() -> None:
    guide = (Path(__file__).parents[2] / "docs/guide/command-line.md").read_text()
    assert [name for name in COMMANDS if f"## `vyre-wgpu {name}`" not in guide] == []


def test_no_command_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "usage: vyre-wgpu" in captured.err


@pytest.mark.parametrize(
    "argv",
    [
        ["fly"],
        ["demo", "--fly"],
        ["demo", "--chunk-bytes", "0"],
        ["demo", "--chunk-bytes", "-1"],
        ["demo", "--chunk-bytes", "many"],
        ["demo", "--path"],
        ["demo", "--png", "a.png", "--no-png"],
        ["run"],
        ["run", "saxpy", "--input", "x"],
        ["run", "saxpy", "--input", "=x"],
        ["run", "saxpy", "--output", "x="],
        ["run", "saxpy", "--param", "a"],
        ["run", "saxpy", "--extent", "-1"],
        ["run", "saxpy", "--extent", "1,2,3,4"],
        ["run", "saxpy", "--extent", "1,,2"],
        ["run", "saxpy", "--max-iterations", "0"],
        ["wgsl"],
        ["wgsl", "saxpy", "--ir", "--device"],
        ["completion"],
        ["completion", "cmd"],
    ],
)
def test_wrong_usage_is_status_2_and_says_what(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "error:" in captured.err


def test_an_error_of_ours_is_one_message_with_its_fix(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_demo(monkeypatch, raises(vw.NoAdapterError("no adapter", fix="install one")))
    assert main(["demo"]) == 1
    assert capsys.readouterr() == ("", "vyre-wgpu: error: no adapter. Fix: install one\n")


def test_an_error_of_the_system_is_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_demo(monkeypatch, raises(OSError(28, "No space left on device")))
    assert main(["demo"]) == 1
    assert capsys.readouterr().err == (
        "vyre-wgpu: error: standard output: No space left on device. "
        "Fix: free some space, or write somewhere else\n"
    )


def test_memory_that_is_not_there_is_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_demo(monkeypatch, raises(MemoryError("Unable to allocate 9 TiB")))
    assert main(["demo"]) == 1
    expected = "vyre-wgpu: error: not enough memory. Unable to allocate 9 TiB\n"
    assert capsys.readouterr().err == expected


def test_interrupt_is_status_130_and_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_demo(monkeypatch, raises(KeyboardInterrupt()))
    assert main(["demo"]) == 130
    assert capsys.readouterr() == ("", "vyre-wgpu: interrupted\n")


def test_a_mistake_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    make_demo(monkeypatch, raises(RuntimeError("a bug")))
    with pytest.raises(RuntimeError, match="a bug"):
        main(["demo"])


def test_status_of_the_command_is_the_status(monkeypatch: pytest.MonkeyPatch) -> None:
    make_demo(monkeypatch, lambda: 1)
    assert main(["demo"]) == 1


def run_module(*argv: str, code: str = "", **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code] if code else [sys.executable, "-m", "vyre_wgpu"]
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [*command, *argv],
        cwd=Path(__file__).parents[2],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        **options,
    )


def test_module_runs_the_command_line() -> None:
    done = run_module("--version", stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (0, f"vyre-wgpu {vw.__version__}\n")


@pytest.mark.skipif(os.name != "posix", reason="closes a pipe's reader")
@pytest.mark.parametrize("argv", [["--help"], ["--version"]])
def test_standard_output_closed_early_ends_quietly(argv: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run_module(*argv, stdout=writer)
    finally:
        os.close(writer)
    assert done.stderr == ""
    # argparse itself swallows the error while it prints its help.
    assert done.returncode in ((0, 141) if "--help" in argv else (141,))


@pytest.mark.skipif(os.name != "posix", reason="starts without standard streams")
def test_missing_standard_output_is_no_crash() -> None:
    code = (
        "import os, sys; os.close(1); sys.stdout = None; from vyre_wgpu.cli import main; "
        "sys.exit(main(['--version']))"
    )
    done = run_module(code=code, stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_in_the_middle_is_status_130_and_one_line() -> None:
    code = (
        "import os, signal, sys; from vyre_wgpu.cli import demo, main; "
        "demo.find_files = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT); "
        "signal.signal(signal.SIGINT, signal.default_int_handler); sys.exit(main(['demo']))"
    )
    done = run_module(code=code, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "vyre-wgpu: interrupted\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")
def test_full_disk_is_one_message() -> None:
    with open("/dev/full", "w") as full:
        done = run_module("--version", stdout=full)
    assert done.returncode == 1
    assert done.stderr.startswith("vyre-wgpu: error: ")
    assert done.stderr.count("\n") == 1


def test_importing_the_command_line_loads_no_gpu_library() -> None:
    code = "import sys, vyre_wgpu.cli; sys.exit('wgpu' in sys.modules)"
    assert run_module(code=code, stdout=subprocess.PIPE).returncode == 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain/näme [1].py", "plain/näme [1].py"),
        ("two\nlines\t\x1b[31m", "two\\nlines\\t\\x1b[31m"),
        ("undecodable \udcff", "undecodable \\udcff"),
    ],
)
def test_names_are_shown_without_control_characters(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_characters_that_the_terminal_lacks_become_escapes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    make_demo(monkeypatch, lambda: print("näme") or 0)  # type: ignore[func-returns-value]
    assert main(["demo"]) == 0
    assert raw.getvalue() == b"n\\xe4me" + os.linesep.encode()
