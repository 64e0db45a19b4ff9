"""``vyre-wgpu doctor``: whether everything works here, and if not, what is wrong and what to do."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

from .. import settings
from ..backends import Backend
from ..errors import VyreError
from .arguments import Commands, add_adapter, add_json, make_parser
from .device import opened_backend, skip_opengl
from .doctor_programs import PROGRAMS, Wrong
from .output import heading, note, printable, verdict

__all__ = ["Check", "examine", "register", "run"]

_WRONG_RESULT = (
    "update the GPU's driver, or use another adapter with --adapter; if it stays, report it with "
    'what "vyre-wgpu info --json" prints'
)

_DESCRIPTION = """\
Checks the settings, the GPU library, the adapters and the cache folder; then opens the chosen
adapter, and compiles and runs programs on it that are compared with NumPy. Each check is a
line; a failed one says what is wrong and how to fix it.
"""

_EPILOG = """\
examples:
  vyre-wgpu doctor
  vyre-wgpu doctor --adapter 1            the second adapter of "vyre-wgpu info"
  vyre-wgpu doctor --json

The exit status is 1 if a check fails.
"""


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check.

    Attributes:
        name: what was checked.
        ok: whether it holds.
        detail: what was found.
        fix: what to do where it does not hold.
        seconds: how long it took.
    """

    name: str
    ok: bool
    detail: str = ""
    fix: str = ""
    seconds: float = 0.0


def register(commands: Commands) -> None:
    """Adds the command's parser."""
    parser = make_parser(
        commands,
        "doctor",
        run,
        summary="check that programs compile and compute the right thing here",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    add_adapter(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the checks; 0 if all hold, else 1."""
    checks = []
    if not args.json:
        heading("Checks")
    for check in examine(args.adapter, own_process=args.own_process):
        checks.append(check)
        if not args.json:
            _show(check)
    good = all(check.ok for check in checks)
    if args.json:
        print(json.dumps({"ok": good, "checks": [asdict(check) for check in checks]}, indent=2))
        return 0 if good else 1
    failed = sum(not check.ok for check in checks)
    print()
    if good:
        verdict(True, "everything works")
    else:
        verdict(False, f"{failed} of {len(checks)} checks failed")
    return 0 if good else 1


def _show(check: Check) -> None:
    detail = f": {printable(check.detail)}" if check.detail else ""
    verdict(check.ok, f"{'ok    ' if check.ok else 'failed'}  {check.name}{detail}")
    if check.fix:
        note(f"        Fix: {printable(check.fix)}")


def examine(adapter: str | None, *, own_process: bool = False) -> Iterator[Check]:
    """Yields each check as it is done; the ones that a failure makes pointless are left out.

    Args:
        adapter: the request for an adapter; None is the environment's.
        own_process: whether this process is the command line's own.
    """
    check = _checked("settings", _settings)
    yield check
    if not check.ok:
        return
    yield _checked("cache folder", _cache_folder)
    check = _checked("GPU library", lambda: _library(adapter, own_process))
    yield check
    if not check.ok:
        return
    check = _checked("adapters", _adapters)
    yield check
    if not check.ok:
        return
    with ExitStack() as stack:
        opened: list[Backend] = []
        yield _checked("device", lambda: _open(adapter, stack, opened))
        for backend in opened:
            for name, compute in PROGRAMS.items():
                yield _checked(name, partial(_compute, compute, backend))


def _checked(name: str, look: Callable[[], str]) -> Check:
    """Does one check: it gives a detail, or raises."""
    started = perf_counter()
    detail, fix, good = "", "", False
    try:
        detail = look()
        good = True
    except Wrong as error:
        detail, fix = str(error), _WRONG_RESULT
    except VyreError as error:
        detail, fix = error.message, error.fix
    except Exception as error:  # whatever a broken installation raises is a finding
        detail, fix = f"{type(error).__name__}: {error}", _WRONG_RESULT
    return Check(name, good, detail, fix, perf_counter() - started)


def _settings() -> str:
    settings.replace_current(None)  # a wrong value is found here and not later
    settings.current()
    names = [v.name for v in settings.VARIABLES if os.environ.get(v.name, "").strip()]
    return ", ".join(names) + " set" if names else "no environment variable is set"


def _cache_folder() -> str:
    chosen = settings.current()
    folder = chosen.cache_folder
    if chosen.cache == "off":
        return "not used: VYRE_WGPU_CACHE is off"
    if folder is None:
        raise settings.no_cache_folder()
    if chosen.cache == "ro":
        return f"{folder}, only read: VYRE_WGPU_CACHE is ro"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, path = tempfile.mkstemp(dir=folder, suffix=".tmp")
        try:
            with os.fdopen(descriptor, "wb", buffering=0) as file:
                file.write(bytes(4096))
        finally:
            Path(path).unlink()
    except OSError as error:
        raise VyreError(
            f"{folder} cannot be written: {error.strerror or error}; each start compiles and "
            "probes anew",
            fix="set VYRE_WGPU_CACHE_DIR to a folder that you may write to, or VYRE_WGPU_CACHE=off",
        ) from None
    return f"{folder} can be written"


def _library(adapter: str | None, own_process: bool) -> str:
    if own_process:
        skip_opengl(adapter)
    try:
        import wgpu
        import wgpu.backends.wgpu_native as native  # loads the native library
    except (ImportError, OSError, RuntimeError) as error:
        named = os.environ.get("WGPU_LIB_PATH")
        fix = 'reinstall it: pip install --force-reinstall "wgpu>=0.32,<0.33"'
        raise VyreError(
            f"wgpu cannot be loaded: {error}",
            fix=f"unset WGPU_LIB_PATH, which is {named}" if named else fix,
        ) from None
    return f"wgpu {wgpu.__version__}, wgpu-native {'.'.join(map(str, native.lib_version_info))}"


def _adapters() -> str:
    from ..runtime.adapter import enumerate_adapters, select

    found = [adapter.info for adapter in enumerate_adapters()]
    select(found, 0)  # says what to install where there is none
    return "; ".join(f"{info.index}: {info.summary}" for info in found)


def _open(adapter: str | None, stack: ExitStack, opened: list[Backend]) -> str:
    backend = stack.enter_context(opened_backend(adapter))
    opened.append(backend)
    return backend.adapter_info.summary


def _compute(compute: Callable[[Backend], None], backend: Backend) -> str:
    compute(backend)
    return ""
