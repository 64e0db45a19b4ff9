"""``vyre-wgpu cache``: what is in the cache folder, and what leaves it. No device is needed."""

from __future__ import annotations

import argparse
import json
import os
import stat
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

from .. import settings
from ..errors import InputError
from ..pipeline.cache_files import FOLDER, age_of, list_files, remove
from ..pipeline.disk_cache import DiskCache
from ..pipeline.entry import Entry, EntryError
from ..pipeline.keys import Parts, options_of
from ..pipeline.lowering_version import lowering_version
from ..runtime.quirks import PROFILES, remove_profiles
from . import cache_device
from .arguments import Commands, add_json, make_parser
from .human import age_text, bytes_text
from .output import note, printable, show

__all__ = ["register"]

_DESCRIPTION = """\
Compiled programs are kept in the cache folder, so that no process lowers what another has
lowered. These commands show it, check it, fill it and empty it.
"""

_EPILOG = """\
examples:
  vyre-wgpu cache info                    where it is, how large, how much may be in it
  vyre-wgpu cache list                    its entries, the most recently used first
  vyre-wgpu cache warm kernel.vyre        compile before it is needed
  vyre-wgpu cache explain saxpy           would it be found? if not, why
  vyre-wgpu cache verify                  compile every entry anew and compare
  vyre-wgpu cache prune --older-than 30   drop what was not used for 30 days, and what is damaged
  vyre-wgpu cache clear                   drop everything
"""


def register(commands: Commands) -> None:
    """Adds the parsers of the command and of its own commands."""
    parser = make_parser(
        commands,
        "cache",
        lambda _: 0,
        summary="show, check, fill and empty the cache of compiled programs",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    own = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, run, summary in (
        ("info", _info, "where the cache is and how much is in it"),
        ("list", _list, "its entries, the most recently used first"),
    ):
        add_json(_add(own, name, run, summary))
    prune = _add(own, "prune", _prune, "remove what is damaged, left over, or not used for long")
    prune.add_argument(
        "--max-bytes", type=_bytes, metavar="N", help="go down to this size; K, M and G may follow"
    )
    prune.add_argument(
        "--older-than", type=_days, metavar="DAYS", help="remove what was not used for so long"
    )
    prune.add_argument(
        "--other-versions",
        action="store_true",
        help="remove what other versions of vyre_wgpu compiled",
    )
    add_json(prune)
    clear = _add(own, "clear", _clear, "remove all entries")
    clear.add_argument("--profiles", action="store_true", help="remove the device profiles too")
    add_json(clear)
    cache_device.register(own)


def _add(commands: Commands, name: str, run: Any, summary: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
    )
    parser.set_defaults(run=run)
    return parser


def _days(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days")
    return value


def _bytes(text: str) -> int:
    try:
        return settings.byte_count(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes") from None


def _disk(*, changes: bool) -> DiskCache:
    """The disk cache of the settings, whatever their mode is; one that is changed may not be ro."""
    chosen = settings.current()
    if changes and chosen.cache == "ro":
        raise InputError(
            "VYRE_WGPU_CACHE is 'ro', so nothing in the cache folder is changed",
            fix="unset it, or set it to rw",
        )
    return DiskCache(chosen.cache_folder, max_bytes=chosen.cache_max_bytes, read_only=not changes)


def _info(args: argparse.Namespace) -> int:
    chosen, disk, now = settings.current(), _disk(changes=False), time.time()
    listing = list_files(disk.root)
    ages = [age_of(file.used, now) for file in listing.entries]
    report = {
        "folder": str(disk.root / FOLDER),
        "mode": chosen.cache,
        "max_bytes": chosen.cache_max_bytes,
        "entries": len(listing.entries),
        "bytes": listing.size,
        "temporaries": len(listing.temporaries),
        "used_last_s": min(ages, default=None),
        "used_first_s": max(ages, default=None),
        "others_may_write": _others_may_write(disk.root),
    }
    if args.json:
        print(json.dumps(report, indent=2))
        return 0
    rows = [
        ("folder", printable(report["folder"])),  # type: ignore[arg-type]
        ("mode", chosen.cache),
        ("entries", f"{len(listing.entries):,}"),
        ("size", f"{bytes_text(listing.size)} of {bytes_text(chosen.cache_max_bytes)}"),
    ]
    if ages:
        rows.append(("last used", f"{age_text(min(ages))}; the oldest {age_text(max(ages))}"))
    if listing.temporaries:
        rows.append(("being written", f"{len(listing.temporaries):,}"))
    show(rows)
    if report["others_may_write"]:
        note("other users may write there: whoever does decides what runs on this user's GPU")
    return 0


def _others_may_write(root: Path) -> bool:
    if os.name != "posix":
        return False
    for folder in (root, root / FOLDER):
        try:
            if folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return True
        except OSError:
            continue
    return False


def _list(args: argparse.Namespace) -> int:
    now = time.time()
    rows = [
        {
            "key": file.name.removesuffix(".entry"),
            "bytes": file.size,
            "used_s": age_of(file.used, now),
            **_content(entry),
        }
        for file, entry in _disk(changes=False).entries()
    ]
    if args.json:
        print(json.dumps({"entries": rows}, indent=2))
        return 0
    for row in rows:
        parts = row["parts"]
        about = row["problem"] or "  ".join(
            [
                parts.get("program", "")[:12],
                parts.get("device", "").partition(" ")[2],
                *_unusual(row),
            ]
        )
        note(
            f"{row['key'][:12]}  {bytes_text(row['bytes']):>10}  {age_text(row['used_s']):>14}  "
            f"{printable(about)}"
        )
    if not rows:
        note("the cache is empty")
    return 0


def _content(entry: Entry | EntryError) -> dict[str, Any]:
    try:
        if isinstance(entry, EntryError):
            raise entry
        parts: Parts = entry.parts()
    except EntryError as error:
        return {"parts": {}, "wgsl_bytes": None, "problem": str(error)}
    return {"parts": dict(parts), "wgsl_bytes": len(entry.wgsl), "problem": None}


def _unusual(row: dict[str, Any]) -> list[str]:
    """What of an entry differs from the usual case."""
    parts = row["parts"]
    texts = []
    try:
        options = options_of(tuple(parts.items()))
    except ValueError:
        texts.append("options of another version")
    else:
        texts += [
            f"{field.name}={getattr(options, field.name)!r}"
            for field in fields(options)
            if getattr(options, field.name) != field.default
        ]
    if parts.get("variant") == "indirect":
        texts.append("indirect")
    if parts.get("lowering") != lowering_version():
        texts.append("of another version")
    return texts


def _prune(args: argparse.Namespace) -> int:
    disk, now = _disk(changes=True), time.time()
    doomed = []
    for file, entry in disk.entries():
        content = _content(entry)
        is_other = content["parts"].get("lowering") != lowering_version()
        is_old = args.older_than is not None and age_of(file.used, now) >= args.older_than * 86400
        if content["problem"] or is_old or (args.other_versions and is_other):
            doomed.append(file)
    count = remove(disk.root, (file.name for file in doomed))
    size = sum(file.size for file in doomed)
    limit = min(args.max_bytes or disk.max_bytes, disk.max_bytes)
    gone = disk.trim(limit)
    return _report_removed(args, disk, count + len(gone), size + sum(file.size for file in gone))


def _clear(args: argparse.Namespace) -> int:
    disk = _disk(changes=True)
    listing = list_files(disk.root)
    files = [*listing.entries, *listing.temporaries]
    count = remove(disk.root, (file.name for file in files))
    if args.profiles:
        count += remove_profiles(disk.root / PROFILES)
    return _report_removed(args, disk, count, sum(file.size for file in files))


def _report_removed(args: argparse.Namespace, disk: DiskCache, count: int, size: int) -> int:
    left = list_files(disk.root)
    if args.json:
        report = {
            "folder": str(disk.root / FOLDER),
            "removed": count,
            "removed_bytes": size,
            "entries": len(left.entries),
            "bytes": left.size,
        }
        print(json.dumps(report, indent=2))
    else:
        note(f"removed {count:,} file(s), {bytes_text(size)}")
        note(f"left {len(left.entries):,} entries, {bytes_text(left.size)}")
    return 0
