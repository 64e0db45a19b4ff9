"""``info``, ``doctor``, ``wgsl``, ``programs``, ``completion``: reports, and how they fail."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu import programs, settings
from vyre_wgpu.cli import device, doctor, info, main
from vyre_wgpu.cli.catalog import shipped
from vyre_wgpu.cli.doctor_programs import PROGRAMS, Wrong
from vyre_wgpu.cli.memory import amdgpu_bytes, nvidia_bytes
from vyre_wgpu.runtime import adapter as adapter_module
from vyre_wgpu.runtime.info import AdapterInfo

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


@pytest.fixture
def environment(monkeypatch: Patch) -> Iterator[Patch]:
    """Environment variables that are read anew, and forgotten after the test."""
    before = settings.replace_current(None)
    yield monkeypatch
    settings.replace_current(before)


def run_json(capsys: Capture, *argv: str) -> tuple[int, Any]:
    status = main([*argv, "--json"])
    captured = capsys.readouterr()
    assert captured.err == ""
    return status, json.loads(captured.out)


def without_adapters(monkeypatch: Patch) -> None:
    monkeypatch.setattr(adapter_module, "enumerate_adapters", list)


# info


@pytest.mark.gpu
def test_info_has_everything_that_a_bug_report_needs(capsys: Capture) -> None:
    status, report = run_json(capsys, "info")
    assert (status, report["error"]) == (0, "")
    used = report["device"]
    chosen = report["adapters"][used["index"]]
    assert chosen["name"] == used["name"]
    assert {"kind", "api", "driver", "vendor_id"} <= set(chosen)
    assert used["limits"]["max_workgroups"] >= 65535
    assert not set(used["features"]) & set(used["missing_features"])
    assert isinstance(used["quirks"]["loop_iterations"], (int, type(None)))
    assert used["reason"]
    assert report["versions"]["vyre_wgpu"] == vw.__version__
    assert report["versions"]["numpy"] == np.__version__
    assert report["versions"]["wgpu_native"][0].isdigit()
    assert set(report["settings"]) == {variable.name for variable in settings.VARIABLES}


@pytest.mark.gpu
def test_info_as_text_marks_the_adapter_and_shows_its_quirks(capsys: Capture) -> None:
    used = vw.get_backend("wgpu")
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    assert f"* {used.adapter_info.index}: {used.adapter_info.name}" in out
    for line in used.device.quirks.describe():  # type: ignore[attr-defined]
        assert line in out
    assert "max_binding_size" in out
    assert "VYRE_WGPU_CACHE_DIR" in out
    # As the variable is written, not as Python's True.
    assert re.search(r"VYRE_WGPU_NATIVE\s+[01]\b", out)


@pytest.mark.gpu
def test_info_all_has_what_is_not_used_too(capsys: Capture) -> None:
    _, report = run_json(capsys, "info", "--all")
    assert set(report["device"]["features"]) <= set(report["device"]["all_features"])
    assert len(report["device"]["all_limits"]) > len(report["device"]["limits"])


@pytest.mark.gpu
def test_info_says_why_an_adapter_is_used(environment: Patch, capsys: Capture) -> None:
    name = vw.get_backend("wgpu").adapter_info.name
    assert run_json(capsys, "info", "--adapter", name)[1]["device"]["reason"] == f"--adapter {name}"
    environment.setenv("VYRE_WGPU_ADAPTER", name)
    settings.replace_current(None)
    _, report = run_json(capsys, "info")
    assert report["device"]["reason"] == f"VYRE_WGPU_ADAPTER={name}"
    assert report["settings"]["VYRE_WGPU_ADAPTER"] == {"value": name, "from": "environment"}


def test_info_without_an_adapter_shows_the_rest(monkeypatch: Patch, capsys: Capture) -> None:
    without_adapters(monkeypatch)
    status, report = run_json(capsys, "info")
    assert (status, report["adapters"], report["device"]) == (1, [], None)
    assert "this machine has no GPU adapter. Fix: install" in report["error"]
    assert main(["info"]) == 1
    captured = capsys.readouterr()
    assert "Versions" in captured.out
    assert captured.err.startswith("vyre-wgpu: error: this machine has no GPU adapter")


def test_info_counts_what_the_cache_holds(
    tmp_path: Path, environment: Patch, capsys: Capture
) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "a.json").write_bytes(bytes(70))
    (tmp_path / "b").write_bytes(bytes(7))
    environment.setenv("VYRE_WGPU_CACHE_DIR", str(tmp_path))
    without_adapters(environment)
    cache = run_json(capsys, "info")[1]["cache"]
    assert cache == {"folder": str(tmp_path), "mode": "rw", "files": 2, "bytes": 77}


def test_a_variable_with_a_wrong_value_is_one_message(environment: Patch, capsys: Capture) -> None:
    environment.setenv("VYRE_WGPU_CACHE", "maybe")
    assert main(["info"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "VYRE_WGPU_CACHE is 'maybe'" in captured.err


@pytest.mark.parametrize(
    ("count", "reason"), [(1, "the only one"), (2, "the best: discrete before integrated")]
)
def test_the_reason_without_a_request(environment: Patch, count: int, reason: str) -> None:
    environment.delenv("VYRE_WGPU_ADAPTER", raising=False)
    adapters = [AdapterInfo(i, "GPU", "discrete", "Vulkan") for i in range(count)]
    adapters.append(AdapterInfo(count, "GPU", "discrete", "OpenGL"))
    assert info._reason(None, adapters).startswith(reason)


def test_memory_from_nvidia_smi() -> None:
    listing = "0x233510DE, 143771\n0x1EB810DE, [N/A]\n\n"
    assert nvidia_bytes(listing, 0x2335) == 143771 << 20
    assert nvidia_bytes(listing, 0x1EB8) == 0
    assert nvidia_bytes("", 0x2335) == 0


def test_memory_from_the_kernel(tmp_path: Path) -> None:
    for card, device_id, size in (("card0", 0x1638, 512), ("card1", 0x73BF, 16 << 30)):
        folder = tmp_path / card / "device"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text("0x1002\n")
        (folder / "device").write_text(f"{device_id:#x}\n")
        (folder / "mem_info_vram_total").write_text(f"{size}\n")
    assert amdgpu_bytes(tmp_path, 0x1002, 0x73BF) == 16 << 30
    assert amdgpu_bytes(tmp_path, 0x1002, 0x9999) == 0
    assert amdgpu_bytes(tmp_path / "none", 0x1002, 0x73BF) == 0


# doctor


@pytest.mark.gpu
def test_doctor_finds_nothing_wrong_here(capsys: Capture) -> None:
    status, report = run_json(capsys, "doctor")
    assert [check for check in report["checks"] if not check["ok"]] == []
    assert (status, report["ok"]) == (0, True)
    names = [check["name"] for check in report["checks"]]
    assert names == [
        "settings", "cache folder", "GPU library", "adapters", "device", *PROGRAMS,
    ]  # fmt: skip


@pytest.mark.gpu
def test_doctor_says_what_a_device_got_wrong(monkeypatch: Patch, capsys: Capture) -> None:
    def wrong(backend: object) -> None:
        raise Wrong("sums: 3 of 7 elements differ")

    def broken(backend: object) -> None:
        raise RuntimeError("unexpected")

    monkeypatch.setitem(PROGRAMS, "barriers", wrong)
    monkeypatch.setitem(PROGRAMS, "loops", broken)
    assert main(["doctor"]) == 1
    captured = capsys.readouterr()
    assert "failed  barriers: sums: 3 of 7 elements differ\n" in captured.out
    assert "failed  loops: RuntimeError: unexpected\n" in captured.out
    assert "Fix: update the GPU's driver" in captured.out
    assert "ok      traps" in captured.out
    assert "2 of 13 checks failed" in captured.out


# 4.5 million lanes are too many for the oracle.
FOR_THE_ORACLE = [name for name in PROGRAMS if name != "large grid"]


@pytest.mark.parametrize("name", FOR_THE_ORACLE)
def test_the_checks_hold_on_the_oracle(name: str) -> None:
    """What is expected of a device is what the independent backend gives."""
    PROGRAMS[name](vw.get_backend("reference"))


def off_by_one() -> Any:
    """A backend whose every result is wrong in one element."""
    real = vw.get_backend("reference")

    class Pipe:
        def __init__(self, program: vw.Program) -> None:
            self.pipe = real.compile(program)

        def dispatch(self, *args: Any, **options: Any) -> Any:
            results = self.pipe.dispatch(*args, **options)
            for array in results:
                array.reshape(-1).view(np.uint8)[-1] ^= 1
            return results

    class Backend:
        def compile(self, program: vw.Program) -> Pipe:
            return Pipe(program)

    return Backend()


@pytest.mark.parametrize("name", FOR_THE_ORACLE)
def test_each_check_can_fail(name: str) -> None:
    with pytest.raises(Wrong, match=r"1 of \d+ elements differ, the first at \d+"):
        PROGRAMS[name](off_by_one())


def test_doctor_without_an_adapter(monkeypatch: Patch, capsys: Capture) -> None:
    without_adapters(monkeypatch)
    status, report = run_json(capsys, "doctor")
    assert (status, report["ok"]) == (1, False)
    assert report["checks"][-1]["name"] == "adapters"
    assert report["checks"][-1]["detail"] == "this machine has no GPU adapter"
    assert report["checks"][-1]["fix"].startswith("install")


@pytest.mark.gpu
def test_doctor_with_an_adapter_that_does_not_exist(capsys: Capture) -> None:
    assert main(["doctor", "--adapter", "no such adapter"]) == 1
    assert "failed  device: no adapter matches" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["doctor", "info"])
def test_a_missing_native_library_is_found(command: str) -> None:
    code = (
        "import os, sys; os.environ['WGPU_LIB_PATH'] = '/none/libwgpu.so'; "
        "from vyre_wgpu.cli import main; sys.exit(main([sys.argv[1], '--json']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "/none/libwgpu.so" in done.stdout
    assert "loaded" in done.stdout


@pytest.mark.parametrize(
    ("mode", "ok"), [("rw", False), ("ro", True), ("off", True)], ids=["rw", "ro", "off"]
)
def test_doctor_with_a_cache_folder_that_cannot_be_written(
    mode: str, ok: bool, tmp_path: Path, environment: Patch
) -> None:
    (tmp_path / "file").touch()
    environment.setenv("VYRE_WGPU_CACHE_DIR", str(tmp_path / "file" / "cache"))
    environment.setenv("VYRE_WGPU_CACHE", mode)
    without_adapters(environment)
    checks = {check.name: check for check in doctor.examine(None)}
    assert checks["cache folder"].ok is ok
    if not ok:
        assert "cannot be written" in checks["cache folder"].detail
        assert "VYRE_WGPU_CACHE_DIR" in checks["cache folder"].fix


@pytest.mark.parametrize(("mode", "ok"), [("rw", False), ("off", True)])
def test_doctor_without_a_home(mode: str, ok: bool, no_home: None, environment: Patch) -> None:
    environment.delenv("VYRE_WGPU_CACHE_DIR")
    environment.setenv("VYRE_WGPU_CACHE", mode)
    without_adapters(environment)
    check = {check.name: check for check in doctor.examine(None)}["cache folder"]
    assert check.ok is ok
    assert ok or "VYRE_WGPU_CACHE_DIR" in check.fix


def test_info_without_a_home(no_home: None, capsys: Capture) -> None:
    status, report = run_json(capsys, "info")
    assert status == 0
    assert report["cache"] == {"folder": None, "mode": "rw", "files": 0, "bytes": 0}
    assert main(["info"]) == 0
    assert "no home folder" in capsys.readouterr().out


def test_doctor_with_wrong_settings(environment: Patch, capsys: Capture) -> None:
    environment.setenv("VYRE_WGPU_PIPELINES", "none")
    status, report = run_json(capsys, "doctor")
    assert status == 1
    (check,) = report["checks"]
    assert "VYRE_WGPU_PIPELINES is 'none'" in check["detail"]


# wgsl


def test_wgsl_of_a_name_and_of_its_file_are_the_same(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "saxpy.vyre"
    file.write_bytes(programs.saxpy().to_bytes())
    assert main(["wgsl", "saxpy"]) == 0
    by_name = capsys.readouterr().out
    assert "@compute @workgroup_size(256" in by_name
    assert main(["wgsl", str(file)]) == 0
    assert capsys.readouterr() == (by_name, "")


def test_wgsl_ir_prints_the_program(capsys: Capture) -> None:
    assert main(["wgsl", "saxpy", "--ir"]) == 0
    assert capsys.readouterr().out == str(programs.saxpy()).rstrip("\n") + "\n"


def test_wgsl_needs_no_device() -> None:
    code = (
        "import sys; from vyre_wgpu.cli import main; "
        "sys.exit(main(['wgsl', 'saxpy']) or 'wgpu' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.gpu
def test_wgsl_of_the_device_is_what_was_compiled(capsys: Capture) -> None:
    compiled = vw.get_backend("wgpu").compile(programs.crc32())
    assert main(["wgsl", "crc32", "--device"]) == 0
    assert capsys.readouterr().out.strip() == compiled.wgsl.strip()  # type: ignore[attr-defined]
    assert main(["wgsl", "crc32", "--adapter", "no such adapter"]) == 1


def test_wgsl_beyond_the_guaranteed_limits_names_the_option(
    tmp_path: Path, capsys: Capture
) -> None:
    b = vw.ProgramBuilder("large", workgroup_size=512)
    x = b.read_write("x", vw.u32)
    x[b.global_id(0)] = b.local_id(0)
    (tmp_path / "large.vyre").write_bytes(b.build().to_bytes())
    assert main(["wgsl", str(tmp_path / "large.vyre")]) == 1
    assert "with --device" in capsys.readouterr().err


# programs


def test_every_program_that_needs_no_arguments_is_known_by_name() -> None:
    assert {
        "base64_decoder", "base64_trap", "byte_histogram", "crc32", "keyword_counts", "mandelbrot",
        "saxpy", "xor_map",
    } <= set(shipped())  # fmt: skip
    assert "first_of" not in shipped()
    for name, maker in shipped().items():
        assert isinstance(maker(), vw.Program), name


def test_programs_lists_them(capsys: Capture) -> None:
    assert main(["programs"]) == 0
    out = capsys.readouterr().out
    assert [name for name in shipped() if f"  {name} " not in out] == []
    assert set(run_json(capsys, "programs")[1]) == set(shipped())


def test_programs_shows_what_one_takes(capsys: Capture) -> None:
    _, one = run_json(capsys, "programs", "saxpy")
    assert [b["name"] for b in one["inputs"]] == ["x", "y"]
    assert one["inputs"][1]["count"] == "x.length"
    assert one["params"] == [{"name": "a", "dtype": "f32"}]
    assert one["outputs"][0]["like"] == "x"
    assert main(["programs", "mandelbrot"]) == 0
    out = capsys.readouterr().out
    assert "iterations: u32, width * height element(s)" in out
    assert "width, height" in out


# completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_commands(shell: str, capsys: Capture) -> None:
    pytest.importorskip("shtab")
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert "doctor" in out
    assert "max-iterations" in out


def test_completion_without_shtab_names_the_extra(monkeypatch: Patch, capsys: Capture) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert 'pip install "vyre-wgpu[cli]"' in capsys.readouterr().err


# OpenGL


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (None, False),
        ("0", False),
        ("1", True),
        (" 2 ", True),
        ("llvmpipe", False),
        ("OpenGL", True),
        ("gl", True),
        ("nvidia", False),
    ],
)
def test_opengl_is_looked_at_only_where_it_may_be_meant(
    request_: str | None, expected: bool
) -> None:
    assert device.looks_at_opengl(request_) is expected


@pytest.mark.gpu
def test_the_process_of_the_command_line_says_nothing_but_its_own_words(
    monkeypatch: Patch,
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    name = vw.get_backend("wgpu").adapter_info.name
    done = subprocess.run(
        [sys.executable, "-m", "vyre_wgpu", "info", "--json", "--adapter", name],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert [a["api"] for a in report["adapters"] if a["api"].startswith("OpenGL")] == []
