"""What an import costs: building programs needs no GPU library, and the root needs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("wgpu", "cffi", "asyncio", "importlib.metadata", "concurrent.futures")


def imported(statement: str) -> set[str]:
    """Names of the modules that a statement leaves imported in a new process."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{statement}\n"
         "print(' '.join(sys.modules))"],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1],
    )  # fmt: skip
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import vyre_wgpu.ir",
        "import vyre_wgpu as vw; vw.ProgramBuilder, vw.CompileOptions, vw.u32, vw.TrapError",
        "import vyre_wgpu as vw; vw.programs.crc32().to_bytes()",
        "import vyre_wgpu.wgsl.lower",
        "import vyre_wgpu.pipeline.disk_cache",
        "import vyre_wgpu as vw; vw.compile, vw.precompile, vw.explain, vw.get_backend",
    ],
)
def test_programs_are_built_without_a_gpu_library(statement: str) -> None:
    assert not imported(statement) & set(HEAVY)


def test_the_root_imports_nothing_but_itself() -> None:
    assert not imported("import vyre_wgpu") & {"numpy", "xxhash", "platformdirs", *HEAVY}


def test_the_library_is_loaded_where_it_is_used() -> None:
    """The other side of the tests above: they can fail."""
    assert "wgpu" in imported("import wgpu.backends.wgpu_native")
