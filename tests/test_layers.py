"""Data flows one way: who may import whom, held by reading the imports of every module."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "vyre_wgpu"
ROOT = "vyre_wgpu"

BELOW_PIPELINE = {"ir", "wgsl", "buffer", "runtime", "errors", "settings"}
PUBLIC = {ROOT, "ir"}
"""What is built on us may see the root module and `vyre_wgpu.ir`; ROOT stands for the former."""

# Unit of the package (a folder or a module beside the root) -> units that it may import.
# None: anything. Imports under `if TYPE_CHECKING:` and inside functions count too.
ALLOWED: dict[str, set[str] | None] = {
    ROOT: None,  # vyre_wgpu/__init__.py
    "errors": set(),
    "settings": {"errors"},
    "ir": {"errors"},
    "wgsl": {"ir", "errors"},
    "runtime": {"errors", "settings"},
    "buffer": {"runtime", "errors"},
    "pipeline": BELOW_PIPELINE - {"pipeline"},
    "reference": {"ir", "errors"},
    "backends": BELOW_PIPELINE | {"pipeline", "reference"},
    "frontend": {"ir", "errors"},
    "programs": PUBLIC,
    "autodiff": PUBLIC | {"backends"},
    "integrations": PUBLIC | {"backends"},
    "testing": PUBLIC | {"backends"},
    "cli": None,
    "__main__": {"cli"},
}

# Modules of others that only some units may import.
CONFINED = {
    "wgpu": {"runtime", "buffer", "pipeline", "backends", "cli"},
    "rich": {"cli"},
    "PIL": {"cli"},
}
RUNTIME_DEPENDENCIES = {"cachetools", "numpy", "platformdirs", "wgpu", "xxhash"}


class Import(NamedTuple):
    """One import: the dotted name of what is imported, and the line."""

    target: str
    line: int


def imports_of(source: str, module: str, is_package: bool) -> Iterator[Import]:
    """Yield what a module imports, relative names resolved, `from a import b` as `a.b`."""
    package = module if is_package else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield Import(alias.name, node.lineno)
            case ast.ImportFrom(module=name, names=names, level=level):
                base = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                prefix = ".".join([*base, *([name] if name else [])])
                for alias in names:
                    yield Import(f"{prefix}.{alias.name}", node.lineno)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ) if not name.startswith("."):
                yield Import(name, node.lineno)


def unit_of(target: str) -> str:
    """Return the unit that a dotted name belongs to; a name of the root module is ROOT's."""
    _, _, rest = target.partition(".")
    first = rest.partition(".")[0]
    return first if first in ALLOWED and first != ROOT else ROOT


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """Return one sentence for each import that the tables above do not allow."""
    importer = unit_of(module)
    allowed = ALLOWED[importer]
    found = []
    for target, line in imports_of(source, module, is_package):
        top = target.partition(".")[0]
        if top == ROOT:
            unit = unit_of(target)
            if allowed is not None and unit not in allowed | {importer}:
                found.append(f"{module}:{line}: {importer} must not import {unit} ({target})")
        elif importer not in CONFINED.get(top, {importer}):
            found.append(f"{module}:{line}: {importer} must not import {top}")
    return found


def modules(unit: str) -> list[tuple[Path, str]]:
    """Return files and dotted names of the modules of a unit."""
    if unit == ROOT:
        files = [PACKAGE / "__init__.py"]
    else:
        files = [PACKAGE / f"{unit}.py", *sorted((PACKAGE / unit).rglob("*.py"))]
    result = []
    for file in files:
        if file.exists():
            parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
            result.append((file, ".".join(parts[:-1] if parts[-1] == "__init__" else parts)))
    return result


def units_present() -> list[str]:
    """Return the units that have files, listed above or not."""
    names = {p.stem for p in PACKAGE.glob("*.py")} - {"__init__"}
    names |= {p.name for p in PACKAGE.iterdir() if p.is_dir() and any(p.rglob("*.py"))}
    return [ROOT, *sorted(names)]


@pytest.mark.parametrize("unit", units_present())
def test_unit_imports_only_what_its_row_allows(unit: str) -> None:
    assert unit in ALLOWED, f"vyre_wgpu/{unit} has no row in ALLOWED: say what it may import"
    found = [
        problem
        for file, name in modules(unit)
        for problem in violations(
            file.read_text(encoding="utf-8"), name, is_package=file.name == "__init__.py"
        )
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("unit", sorted(set(units_present()) - {"cli"}))
def test_unit_needs_only_the_standard_library_and_the_run_time_dependencies(unit: str) -> None:
    foreign = {
        f"{name}:{line}: {target}"
        for file, name in modules(unit)
        for target, line in imports_of(
            file.read_text(encoding="utf-8"), name, is_package=file.name == "__init__.py"
        )
        if (top := target.partition(".")[0]) not in RUNTIME_DEPENDENCIES | {ROOT}
        and top not in sys.stdlib_module_names
    }
    assert unit == "integrations" or not foreign


def test_table_has_no_cycle() -> None:
    order: list[str] = []

    def visit(unit: str, path: tuple[str, ...]) -> None:
        assert unit not in path, f"cycle: {' -> '.join([*path, unit])}"
        if unit not in order:
            # The root may import anything lazily; it is where a path ends.
            for lower in sorted((ALLOWED[unit] or set()) - {ROOT}):
                visit(lower, (*path, unit))
            order.append(unit)

    for unit in ALLOWED:
        visit(unit, ())
    assert set(order) == set(ALLOWED)


@pytest.mark.parametrize("unit", sorted(set(ALLOWED) - {ROOT, "cli", "__main__"}))
def test_nothing_may_import_the_command_line(unit: str) -> None:
    assert violations("from vyre_wgpu.cli import main", f"vyre_wgpu.{unit}.part")


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("vyre_wgpu.ir.types", "import vyre_wgpu.wgsl.emit"),
        ("vyre_wgpu.ir.types", "from vyre_wgpu import wgsl"),
        ("vyre_wgpu.ir.types", "from vyre_wgpu.wgsl import emit"),
        ("vyre_wgpu.ir.types", "from ..wgsl import emit"),
        ("vyre_wgpu.ir.types", "from .. import wgsl"),
        ("vyre_wgpu.ir.types", "from vyre_wgpu import Program"),
        ("vyre_wgpu.ir.types", "import vyre_wgpu"),
        ("vyre_wgpu.ir.types", "import wgpu"),
        ("vyre_wgpu.ir.types", "def f():\n    from wgpu.backends import wgpu_native"),
        ("vyre_wgpu.ir.types", "if TYPE_CHECKING:\n    from vyre_wgpu.pipeline import Key"),
        ("vyre_wgpu.ir.types", "importlib.import_module('vyre_wgpu.runtime')"),
        ("vyre_wgpu.buffer.pool", "from vyre_wgpu.ir import Program"),
        ("vyre_wgpu.errors", "from vyre_wgpu.ir import Program"),
        ("vyre_wgpu.programs.saxpy", "from vyre_wgpu.pipeline import cache"),
        ("vyre_wgpu.backends.wgpu", "import rich.progress"),
    ],
)
def test_forbidden_import_is_found(module: str, source: str) -> None:
    assert len(violations(source, module)) == 1


def test_relative_import_in_a_package_starts_at_the_package() -> None:
    assert not violations("from .types import u32", "vyre_wgpu.ir", is_package=True)
    assert violations("from ..wgsl import emit", "vyre_wgpu.ir", is_package=True)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("vyre_wgpu.ir.types", "from .ops import TABLE\nfrom vyre_wgpu.errors import VyreError"),
        ("vyre_wgpu.ir.types", "import wgpu_like_name\nimport struct\nimport numpy as np"),
        ("vyre_wgpu.pipeline.cache", "from ..ir import Program\nimport wgpu"),
        ("vyre_wgpu.programs.saxpy", "import vyre_wgpu as vw\nfrom vyre_wgpu.ir import Program"),
        ("vyre_wgpu.cli.demo", "import rich\nfrom vyre_wgpu.runtime import adapters"),
    ],
)
def test_allowed_import_is_not_reported(module: str, source: str) -> None:
    assert violations(source, module) == []
