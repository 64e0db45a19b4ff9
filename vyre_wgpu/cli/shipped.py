"""``vyre-wgpu programs``: the ready-made programs, and what each takes and returns."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..ir.program import Program
from .arguments import Commands, add_json, make_parser
from .catalog import Maker, load_program, shipped, summary_of
from .output import heading, note, show

__all__ = ["interface", "register", "run"]

_DESCRIPTION = """\
Lists the ready-made programs that "wgsl" and "run" take by name. With FILE|NAME: what that
program takes and returns.
"""

_EPILOG = """\
examples:
  vyre-wgpu programs
  vyre-wgpu programs saxpy
  vyre-wgpu programs kernel.vyre --json
"""


def register(commands: Commands) -> None:
    """Adds the command's parser."""
    parser = make_parser(
        commands,
        "programs",
        run,
        summary="list the ready-made programs, or show what one takes and returns",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("program", metavar="FILE|NAME", nargs="?", help="one program only")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the list, or one program's interface.

    Raises:
        VyreError: no such program.
    """
    makers = shipped()
    if args.program is None:
        found = {name: interface(maker(), maker) for name, maker in sorted(makers.items())}
        if args.json:
            print(json.dumps(found, indent=2))
        else:
            heading('Ready-made programs ("vyre-wgpu programs NAME" says what one takes)')
            show([(name, one["summary"]) for name, one in found.items()])
        return 0
    program = load_program(args.program)
    one = interface(program, makers.get(args.program))
    if args.json:
        print(json.dumps(one, indent=2))
    else:
        _show(one)
    return 0


def interface(program: Program, maker: Maker | None = None) -> dict[str, Any]:
    """What a program takes and returns, as JSON has it."""

    def of(buffers: Any) -> list[dict[str, Any]]:
        return [
            {
                "name": b.name,
                "dtype": str(b.dtype),
                "count": None if b.count is None else program.format_size(b.count),
                "like": None if b.like is None else program.buffers[b.like].name,
            }
            for b in buffers
        ]

    return {
        "name": program.name,
        "summary": "" if maker is None else summary_of(maker),
        "inputs": of(program.inputs),
        "params": [{"name": p.name, "dtype": str(p.dtype)} for p in program.params],
        "outputs": of(program.outputs),
        "extent": [program.format_size(size) for size in program.extent],
        "workgroup_size": list(program.workgroup_size),
        "fingerprint": program.fingerprint,
    }


def _show(one: dict[str, Any]) -> None:
    heading(one["name"] or "a program without a name")
    if one["summary"]:
        note(one["summary"])
    rows = [("input", _buffer(b)) for b in one["inputs"]]
    rows += [("param", f"{p['name']}: {p['dtype']}") for p in one["params"]]
    rows += [("output", _buffer(b)) for b in one["outputs"]]
    rows += [
        ("extent", ", ".join(one["extent"])),
        ("workgroup", " x ".join(map(str, one["workgroup_size"]))),
        ("fingerprint", one["fingerprint"]),
    ]
    show(rows)


def _buffer(b: dict[str, Any]) -> str:
    size = f", the shape of {b['like']}" if b["like"] else ""
    if not size and b["count"] is not None:
        size = f", {b['count']} element(s)"
    return f"{b['name']}: {b['dtype']}{size}"
