"""The commands of ``vyre-wgpu cache`` that compile: verify, explain, warm."""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .. import settings
from ..backends import Backend
from ..errors import InputError, VyreError
from ..ir.program import Program
from ..wgsl.options import CompileOptions
from .arguments import Commands, add_adapter, add_json, complete_files, positive
from .cache_disk import opened_disk, reading
from .catalog import load_program
from .device import opened_backend
from .output import complain, note, printable, verdict

__all__ = ["register"]


def register(commands: Commands) -> None:
    """Adds the parsers."""
    verify = commands.add_parser(
        "verify",
        help="compile every entry anew and compare",
        description="Reads every entry in full. Those that were compiled by this version for this "
        "device are compiled anew and compared. The exit status is 1 if one is not as it should "
        "be. 'prune' removes what is damaged or does not fit its key; what only compiling finds, "
        "a shader of other content, leaves with 'clear'.",
    )
    verify.set_defaults(run=_verify, parser=verify)
    explain = commands.add_parser(
        "explain",
        help="whether a program would be found, and if not, why",
        description="Says whether a program would be found in the cache. If not, it says which "
        "parts of its key differ from those of the nearest entry. The exit status is 0 either way.",
    )
    explain.set_defaults(run=_explain, parser=explain)
    warm = commands.add_parser(
        "warm",
        help="compile programs before they are needed",
        description="Compiles programs into the cache. Those that are there already are left. The "
        "exit status is 1 if one cannot be compiled.",
    )
    warm.set_defaults(run=_warm, parser=warm)
    complete_files(
        explain.add_argument("program", metavar="FILE|NAME", help="a program file or a name")
    )
    complete_files(
        warm.add_argument("programs", metavar="FILE|NAME", nargs="+", help="program files or names")
    )
    warm.add_argument(
        "--threads",
        type=positive,
        default=min(os.cpu_count() or 1, 8),
        metavar="N",
        help="programs compiled at a time (default: %(default)s)",
    )
    for parser in (explain, warm):
        parser.add_argument(
            "--checks", choices=("total", "trap", "trusted"), default="total",
            help="as in CompileOptions (default: total)",
        )  # fmt: skip
        parser.add_argument(
            "--max-iterations", type=positive, metavar="N", help="as in CompileOptions"
        )
    for parser in (verify, explain, warm):
        add_adapter(parser)
        add_json(parser)


def _options(args: argparse.Namespace) -> CompileOptions:
    return CompileOptions(checks=args.checks, max_iterations=args.max_iterations)


def _verify(args: argparse.Namespace) -> int:
    from ..backends.wgpu import WgpuBackend
    from ..pipeline.verify import verify_entries

    disk = opened_disk(changes=False)
    with opened_backend(args.adapter, own_process=args.own_process) as backend:
        assert isinstance(backend, WgpuBackend)
        with reading(disk.root):
            verdicts = list(verify_entries(disk, backend.compiler))
    bad = [v for v in verdicts if v.problem]
    compared = sum(v.compared for v in verdicts)
    if args.json:
        report = {
            "entries": len(verdicts),
            "compared": compared,
            "only_read": len(verdicts) - compared - len(bad),
            "bad": [{"key": v.name.removesuffix(".entry"), "problem": v.problem} for v in bad],
        }
        print(json.dumps(report, indent=2))
    else:
        note(f"{len(verdicts):,} entries, {compared:,} compiled anew and compared")
        for v in bad:
            verdict(False, f"{v.name.removesuffix('.entry')[:12]}: {printable(v.problem)}")
        verdict(not bad, "all are good" if not bad else f"{len(bad):,} are not")
    if bad:
        complain(
            f"error: {len(bad):,} of {len(verdicts):,} entries are not as they should be. Fix: "
            "'vyre-wgpu cache prune' removes what is damaged; 'vyre-wgpu cache clear' everything"
        )
    return 1 if bad else 0


def _explain(args: argparse.Namespace) -> int:
    from ..backends.wgpu import WgpuBackend

    program, mode = load_program(args.program), settings.current().cache
    with opened_backend(args.adapter, own_process=args.own_process) as backend:
        assert isinstance(backend, WgpuBackend)
        found = backend.explain(program, _options(args))
    if args.json:
        report = {
            "mode": mode,
            "found": found.found,
            "key": found.key,
            "parts": dict(found.parts),
            "nearest": found.nearest,
            "differences": [
                {"part": d.part, "wanted": d.wanted, "found": d.found} for d in found.differences
            ],
        }
        print(json.dumps(report, indent=2))
    else:
        if mode == "off":
            note("VYRE_WGPU_CACHE is off: the cache folder is not looked at")
        for line in str(found).splitlines():
            note(printable(line))
    return 0


def _warm(args: argparse.Namespace) -> int:
    if settings.current().cache != "rw":
        raise InputError(
            f"VYRE_WGPU_CACHE is {settings.current().cache!r}, so nothing would be kept",
            fix="unset it, or set it to rw",
        )
    if settings.current().cache_folder is None:
        raise settings.no_cache_folder()
    programs = [_loaded(text) for text in args.programs]
    options = _options(args)
    with opened_backend(args.adapter, own_process=args.own_process) as backend:
        before = backend.stats()
        with ThreadPoolExecutor(args.threads) as pool:
            problems = list(pool.map(lambda p: _problem(backend, p, options), programs))
        after = backend.stats()
    report: dict[str, Any] = {
        "programs": [
            {
                "program": text,
                "fingerprint": program.fingerprint if isinstance(program, Program) else None,
                "problem": problem,
            }
            for text, program, problem in zip(args.programs, programs, problems, strict=True)
        ],
        "lowered": after.lowerings - before.lowerings,
        "found": after.disk_hits - before.disk_hits,
        "written": after.disk_writes - before.disk_writes,
    }
    failed = [row for row in report["programs"] if row["problem"]]
    # What is lowered and not written (a full disk) was not kept, and the log says why.
    is_kept = report["lowered"] <= report["written"]
    if args.json:
        print(json.dumps(report, indent=2))
    else:
        note(
            f"{len(programs):,} program(s): {report['lowered']:,} compiled, {report['found']:,} "
            f"found, {report['written']:,} stored"
        )
        for row in failed:
            complain(f"error: {printable(row['program'])}: {' '.join(row['problem'].split())}")
    return 0 if not failed and is_kept else 1


def _loaded(text: str) -> Program | VyreError:
    """A program, or why there is none: the others are compiled all the same."""
    try:
        return load_program(text)
    except VyreError as error:
        return error


def _problem(backend: Backend, program: Program | VyreError, options: CompileOptions) -> str | None:
    try:
        if isinstance(program, VyreError):
            raise program
        backend.compile(program, options)
    except VyreError as error:
        return str(error)
    return None
