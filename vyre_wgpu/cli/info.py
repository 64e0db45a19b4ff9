"""``vyre-wgpu info``: what this machine has, what is used, and with which settings."""

from __future__ import annotations

import argparse
import json
import os
import platform
from dataclasses import asdict
from typing import Any

from .. import __version__, settings
from ..errors import VyreError
from ..runtime.device import USEFUL_FEATURES, Device, open_device
from ..runtime.info import AdapterInfo
from .arguments import Commands, add_adapter, add_json, make_parser
from .device import skip_opengl
from .memory import gpu_memory
from .output import complain, heading, note, printable, show

__all__ = ["register", "run"]

_DESCRIPTION = """\
Shows the adapters of this machine, the one that is used and why, its features, limits and
quirks, the versions of what is installed, the cache folder, and the settings in force.
"""

_EPILOG = """\
examples:
  vyre-wgpu info
  vyre-wgpu info --adapter nvidia         as if that adapter were chosen
  vyre-wgpu info --all                    OpenGL adapters too, and every feature and limit
  vyre-wgpu info --json > report.json     to attach to a bug report

The exit status is 1 if there is no adapter or it cannot be opened.
"""


def register(commands: Commands) -> None:
    """Adds the command's parser."""
    parser = make_parser(
        commands,
        "info",
        run,
        summary="show adapters, features, limits, versions, cache and settings",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="OpenGL adapters too, and all features and limits of the one that is used",
    )
    add_adapter(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the report; 0 if there is a device to use, else 1.

    Raises:
        InputError: an environment variable holds what it does not take.
    """
    report = collect(args.adapter, everything=args.all, own_process=args.own_process)
    if args.json:
        print(json.dumps(report, indent=2))
    else:
        _show(report)
        if report["error"]:
            complain(f"error: {report['error']}")
    return 1 if report["error"] else 0


def collect(
    adapter: str | None, *, everything: bool = False, own_process: bool = False
) -> dict[str, Any]:
    """The report, as JSON has it; sizes in bytes.

    Args:
        adapter: the request for an adapter; None is the environment's.
        everything: OpenGL too, and every feature and limit.
        own_process: whether this process is the command line's own.

    Raises:
        InputError: an environment variable holds what it does not take.
    """
    in_force = _settings()
    adapters: list[AdapterInfo] = []
    device: dict[str, Any] | None = None
    error = ""
    try:
        if own_process:
            skip_opengl(adapter, everything=everything)
        from ..runtime.adapter import enumerate_adapters

        adapters = [found.info for found in enumerate_adapters()]
        opened = open_device(adapter)
        try:
            device = _device(opened, everything=everything)
            device["reason"] = _reason(adapter, adapters)
        finally:
            opened.close()
    except VyreError as problem:
        error = str(problem)
    return {
        "versions": _versions(),
        "adapters": [asdict(info) for info in adapters],
        "device": device,
        "cache": _cache(),
        "settings": in_force,
        "error": error,
    }


def _versions() -> dict[str, str | None]:
    from importlib.metadata import PackageNotFoundError, version

    def installed(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    native: str | None
    try:
        library: Any = __import__("wgpu.backends.wgpu_native", fromlist=["lib_version_info"])
        native = ".".join(map(str, library.lib_version_info))
    except (AttributeError, ImportError, OSError, RuntimeError):
        native = None
    return {
        "vyre_wgpu": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
        "numpy": installed("numpy"),
        "wgpu": installed("wgpu"),
        "wgpu_native": native,
    }


def _device(device: Device, *, everything: bool) -> dict[str, Any]:
    memory = gpu_memory(device.info)
    found: dict[str, Any] = {
        "index": device.info.index,
        "name": device.info.name,
        "summary": device.info.summary,
        "features": sorted(device.features & USEFUL_FEATURES),
        "missing_features": sorted(USEFUL_FEATURES - device.features),
        "limits": asdict(device.limits),
        "quirks": asdict(device.quirks),
        "quirks_in_words": device.quirks.describe(),
        "memory_bytes": memory.total_bytes if memory else None,
        "memory_source": memory.source if memory else None,
    }
    if everything:
        found["all_features"] = sorted(map(str, device.wgpu.adapter.features))
        found["all_limits"] = dict(device.wgpu.adapter.limits)
    return found


def _reason(adapter: str | None, adapters: list[AdapterInfo]) -> str:
    if adapter is not None:
        return f"--adapter {adapter}"
    asked = settings.current().adapter
    if asked is not None:
        return f"VYRE_WGPU_ADAPTER={asked}"
    if len([info for info in adapters if not info.is_opengl]) == 1:
        return "the only one"
    return "the best: discrete before integrated before other GPUs before software drivers"


def _cache() -> dict[str, Any]:
    chosen = settings.current()
    folder = chosen.cache_folder
    sizes = []
    for where, _, names in os.walk(folder) if folder else ():
        for name in names:
            try:
                sizes.append(os.lstat(os.path.join(where, name)).st_size)
            except OSError:
                continue  # gone since
    return {
        "folder": str(folder) if folder else None,
        "mode": chosen.cache,
        "files": len(sizes),
        "bytes": sum(sizes),
    }


def _settings() -> dict[str, dict[str, Any]]:
    chosen = settings.current()
    found = {}
    for variable in settings.VARIABLES:
        value = getattr(chosen, variable.field)
        found[variable.name] = {
            "value": value if value is None or isinstance(value, int) else str(value),
            "from": "environment" if os.environ.get(variable.name, "").strip() else "default",
        }
    return found


# For people


def _show(report: dict[str, Any]) -> None:
    device = report["device"]
    heading("Adapters")
    for info in report["adapters"]:
        mark = "*" if device and info["index"] == device["index"] else " "
        driver = f", {info['driver']}" if info["driver"] else ""
        kind = f"{info['kind']}, {info['api']}{driver}"
        note(printable(f"{mark} {info['index']}: {info['name']} ({kind})"))
    if not report["adapters"]:
        note("none")
    print()
    if device:
        _show_device(device)
    heading("Versions")
    show([(name, value or "not found") for name, value in report["versions"].items()])
    print()
    heading("Cache")
    cache = report["cache"]
    show(
        [
            (
                "folder",
                printable(cache["folder"] or "none: the system knows no home folder of this user"),
            ),
            ("mode", cache["mode"]),
            ("content", f"{cache['files']:,} file(s), {cache['bytes']:,} bytes"),
        ]
    )
    print()
    heading("Settings")
    show([(name, _setting(one)) for name, one in report["settings"].items()])


def _setting(one: dict[str, Any]) -> str:
    value = one["value"]
    if isinstance(value, bool):
        value = int(value)  # as the variable is written
    value = "not set" if value is None else printable(str(value))
    return value if one["from"] == "default" else f"{value} (environment)"


def _show_device(device: dict[str, Any]) -> None:
    heading(f"Used: adapter {device['index']}")
    memory = device["memory_bytes"]
    rows = [
        ("name", printable(device["name"])),
        ("why", printable(device["reason"])),
        ("memory", f"{memory:,} bytes ({device['memory_source']})" if memory else "not known"),
        ("features", ", ".join(device["features"]) or "none"),
        ("lacks", ", ".join(device["missing_features"]) or "nothing that is used"),
    ]
    rows += [("quirk", line) for line in device["quirks_in_words"] or ["none found"]]
    show(rows)
    print()
    heading("Limits")
    show([(name, _number(value)) for name, value in device["limits"].items()])
    if "all_limits" in device:
        print()
        heading("Everything that the adapter has")
        show([("features", ", ".join(device["all_features"]))])
        show([(name, _number(value)) for name, value in device["all_limits"].items()])
    print()


def _number(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return " x ".join(map(_number, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
