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
from ..pipeline.cache_files import (
    FOLDER,
    TEMPORARY_SECONDS,
    Listing,
    age_of,
    list_files,
    remove,
)
from ..pipeline.disk_cache import DiskCache
from ..pipeline.entry import Entry, EntryError
from ..pipeline.entry_check import check_entry
from ..pipeline.keys import Parts, options_of
from ..pipeline.lowering_version import lowering_version
from ..runtime.cache_folder import is_plain_folder
from ..runtime.quirks import PROFILES, remove_profiles
from . import cache_device
from .arguments import Commands, add_json, make_parser
from .cache_disk import opened_disk, reading
from .human import age_text, bytes_text
from .output import complain, note, printable, show

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
    parser.set_defaults(run=run, parser=parser)
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
        return 0 if text.strip() == "0" else settings.byte_count(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes") from None


def _info(args: argparse.Namespace) -> int:
    chosen, now = settings.current(), time.time()
    root = chosen.cache_folder
    listing = Listing([], [])
    if root is not None:
        with reading(root):
            listing = list_files(root)
    ages = [now - file.used for file in listing.entries]
    left = [f for f in listing.temporaries if age_of(f.used, now) > TEMPORARY_SECONDS]
    report: dict[str, Any] = {
        "folder": None if root is None else str(root / FOLDER),
        "mode": chosen.cache,
        "max_bytes": chosen.cache_max_bytes,
        "entries": len(listing.entries),
        "bytes": listing.size,
        "temporaries": len(listing.temporaries),
        "left_over": len(left),
        "used_last_s": min(ages, default=None),
        "used_first_s": max(ages, default=None),
        "others_may_write": root is not None and _others_may_write(root),
        "problem": _problem(root),
    }
    if args.json:
        print(json.dumps(report, indent=2))
        return 0
    rows = [
        ("folder", printable(report["folder"] or "none")),
        ("mode", chosen.cache),
        ("entries", f"{len(listing.entries):,}"),
        ("size", f"{bytes_text(listing.size)} of {bytes_text(chosen.cache_max_bytes)}"),
    ]
    if ages:
        rows.append(("last used", f"{age_text(min(ages))}; the oldest {age_text(max(ages))}"))
    for label, count in (
        ("being written", len(listing.temporaries) - len(left)),
        ("left over", len(left)),
    ):
        if count:
            rows.append((label, f"{count:,}"))
    show(rows)
    if report["problem"]:
        note(printable(report["problem"]))
    if report["others_may_write"]:
        note("other users may write there: whoever does decides what runs on this user's GPU")
    return 0


def _problem(root: Path | None) -> str | None:
    """Why nothing is kept, where that can be seen from what stands in the folder's place."""
    if root is None:
        return str(settings.no_cache_folder())
    if root.exists() and not root.is_dir():
        return f"{root} is no folder, so nothing is kept. Fix: remove it"
    folder = root / FOLDER
    if os.path.lexists(folder) and not is_plain_folder(folder):
        return f"{folder} is no folder, or a link to one, so it is not used. Fix: remove it"
    return None


def _others_may_write(root: Path) -> bool:
    if os.name != "posix":
        return False
    for folder in (root, root / FOLDER):
        try:
            facts = folder.stat()
        except OSError:
            continue
        # The superuser may write everywhere anyway; any other owner is somebody else.
        is_foreign = facts.st_uid not in (0, os.geteuid())
        if is_foreign or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return True
    return False


def _list(args: argparse.Namespace) -> int:
    disk, now = opened_disk(changes=False), time.time()
    with reading(disk.root):
        rows = [
            {
                "key": file.name.removesuffix(".entry"),
                "bytes": file.size,
                "used_s": now - file.used,
                **_content(entry),
            }
            for file, entry in disk.entries()
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
    disk, now = opened_disk(changes=True), time.time()
    oldest = None if args.older_than is None else args.older_than * 86400
    doomed, found = [], set()
    with reading(disk.root):
        for file, entry in disk.entries():
            found.add(file.name)
            is_old = oldest is not None and now - file.used >= oldest
            if is_old or _is_bad(file.name, entry) or (args.other_versions and _is_other(entry)):
                doomed.append(file)
        gone = remove(disk.root, (file.name for file in doomed))
        limit = disk.max_bytes if args.max_bytes is None else min(args.max_bytes, disk.max_bytes)
        removed = [*(f for f in doomed if f.name in gone), *disk.trim(limit)]
        left = list_files(disk.root)
    # What other processes write meanwhile is no failure of ours.
    kept = found & {file.name for file in left.entries}
    is_stuck = (
        not kept.isdisjoint(file.name for file in doomed)
        or (bool(kept) and left.size > limit)
        or any(age_of(file.used, now) > TEMPORARY_SECONDS for file in left.temporaries)
    )
    return _report_removed(
        args, disk, left, len(removed), sum(f.size for f in removed), is_done=not is_stuck
    )


def _is_bad(name: str, entry: Entry | EntryError) -> bool:
    try:
        check_entry(name, entry)
    except EntryError:
        return True
    return False


def _is_other(entry: Entry | EntryError) -> bool:
    return bool(_content(entry)["parts"].get("lowering") != lowering_version())


def _clear(args: argparse.Namespace) -> int:
    disk = opened_disk(changes=True)
    with reading(disk.root):
        listing = list_files(disk.root)
        files = [*listing.entries, *listing.temporaries]
        gone = remove(disk.root, (file.name for file in files))
        count, size = len(gone), sum(file.size for file in files if file.name in gone)
        kept = len(files) - count
        if args.profiles:
            profiles = remove_profiles(disk.root / PROFILES)
            count, size, kept = count + profiles.files, size + profiles.size, kept + profiles.kept
        left = list_files(disk.root)
    return _report_removed(args, disk, left, count, size, is_done=not kept)


def _report_removed(
    args: argparse.Namespace,
    disk: DiskCache,
    left: Listing,
    count: int,
    size: int,
    *,
    is_done: bool,
) -> int:
    folder = str(disk.root / FOLDER)
    if args.json:
        report = {
            "folder": folder,
            "removed": count,
            "removed_bytes": size,
            "entries": len(left.entries),
            "bytes": left.size,
            "complete": is_done,
        }
        print(json.dumps(report, indent=2))
    else:
        note(f"removed {count:,} file(s), {bytes_text(size)}")
        note(f"left {len(left.entries):,} entries, {bytes_text(left.size)}")
    if not is_done:
        complain(
            f"error: not all of {printable(folder)} that should leave could be removed. Fix: make "
            "the folder writable for this user, or remove it by hand"
        )
    return 0 if is_done else 1
