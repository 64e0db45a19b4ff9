"""``vyre-wgpu run``: one dispatch of a program, its arrays in files."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from ..errors import InputError
from ..ir.program import Program
from ..ir.types import DType
from ..pipeline.arguments import Binder
from ..pipeline.config import DispatchConfig
from ..wgsl.options import CompileOptions
from .arguments import (
    Commands,
    add_adapter,
    complete_files,
    make_parser,
    positive,
)
from .catalog import load_program, shipped
from .device import opened_backend
from .output import printable
from .run_files import STANDARD, Array, check_destinations, read_array, write_arrays

__all__ = ["register", "run"]

_MOST_SHOWN = 8

_DESCRIPTION = """\
Runs a program once. Each input comes from a file, each output goes to one; an output
without a file is summarised on standard error.

A file whose name ends in .npy is a NumPy file. Any other holds the bare elements of the
buffer's type, little-endian. "-" is standard input or output, without a header.
"""

_EPILOG = """\
examples:
  vyre-wgpu run byte_histogram --input data=/etc/hosts
  vyre-wgpu run saxpy --input x=x.npy --input y=y.npy --param a=2.0 --output out=out.npy
  cat FILE | vyre-wgpu run xor_map --input data=- --input key=key.bin --output out=- > masked
  vyre-wgpu run kernel.vyre --input image=image.npy --extent 640,480 --json

"vyre-wgpu programs NAME" says what a program takes. Files are written whole or not at all, so
an output may replace an input.
"""


def register(commands: Commands) -> None:
    """Adds the command's parser."""
    parser = make_parser(
        commands,
        "run",
        run,
        summary="run a program on files",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    complete_files(
        parser.add_argument(
            "program",
            metavar="FILE|NAME",
            help="a file written with Program.to_bytes(), or the name of a ready-made program",
        )
    )
    for option, text in (
        ("--input", "the array of an input; once for each"),
        ("--output", "where an output goes"),
    ):
        complete_files(
            parser.add_argument(
                option, type=_pair, action="append", default=[], metavar="NAME=FILE", help=text
            )
        )
    parser.add_argument(
        "--param",
        type=_pair,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the value of a param; once for each",
    )
    parser.add_argument(
        "--extent",
        type=_extent,
        metavar="N[,N[,N]]",
        help="elements on each axis, instead of the program's own rule",
    )
    parser.add_argument(
        "--max-iterations",
        type=positive,
        metavar="N",
        help="trap where a lane makes more loop iterations; for programs that might hang",
    )
    parser.add_argument(
        "--backend",
        metavar="NAME",
        help="wgpu, reference or another one (default: VYRE_WGPU_BACKEND, else wgpu)",
    )
    add_adapter(parser)
    parser.add_argument(
        "--json", action="store_true", help="print a summary as one JSON object on standard output"
    )


def run(args: argparse.Namespace) -> int:
    """Runs the program.

    Everything that can be checked without a device is checked before one is opened.

    Raises:
        VyreError: a wrong argument or file, no adapter, a trap, an error of the device.
        OSError: an output cannot be written.
    """
    program = load_program(args.program)
    files = _once("--input", args.input, [b.name for b in program.inputs])
    outputs = _once("--output", args.output, [b.name for b in program.outputs])
    texts = _once("--param", args.param, [p.name for p in program.params])
    if args.json and STANDARD in outputs.values():
        raise InputError(
            "--json and an output both go to standard output", fix="send the output to a file"
        )
    if list(files.values()).count(STANDARD) > 1:
        raise InputError("two inputs come from standard input", fix="use a file for one of them")
    check_destinations(outputs, () if args.program in shipped() else (args.program,))

    dtypes = {p.name: p.dtype for p in program.params}
    params = {name: _value(text, dtypes[name], name) for name, text in texts.items()}
    types = {b.name: b.dtype for b in program.inputs}
    missing = [name for name in types if name not in files]
    if missing:
        raise InputError(
            f"input {missing[0]!r} is missing",
            fix=f"give its file: --input {missing[0]}=FILE",
        )
    for name, dtype in dtypes.items():
        if name not in params:
            raise InputError(
                f"param {name!r} ({dtype}) is missing", fix=f"give its value: --param {name}=VALUE"
            )
    inputs = {name: read_array(path, types[name], name) for name, path in files.items()}
    config = DispatchConfig(extent=args.extent)
    extent = Binder(program).bind(inputs, params, config).extent

    with opened_backend(args.adapter, args.backend, own_process=args.own_process) as backend:
        pipe = backend.compile(program, CompileOptions(max_iterations=args.max_iterations))
        started = perf_counter()
        arrays = pipe.dispatch(inputs, params, config=config)
        seconds = perf_counter() - started
        adapter = backend.adapter_info.summary
    results = {b.name: a for b, a in zip(program.outputs, arrays, strict=True)}
    write_arrays(results, outputs)

    if args.json:
        print(json.dumps(_summary(program, adapter, extent, seconds, results, outputs), indent=2))
        return 0
    for name, array in results.items():
        if name not in outputs and sys.stderr is not None:
            print(_line(name, array), file=sys.stderr)
    return 0


# Arguments


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def _extent(text: str) -> tuple[int, ...]:
    try:
        axes = tuple(int(part) for part in text.split(","))
    except ValueError:
        axes = ()
    if not 1 <= len(axes) <= 3 or min(axes) < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not 1 to 3 whole numbers with commas")
    return axes


def _once(option: str, pairs: Sequence[tuple[str, str]], names: Sequence[str]) -> dict[str, str]:
    """The pairs of an option by name."""
    found: dict[str, str] = {}
    kind = option.lstrip("-")
    for name, value in pairs:
        if name not in names:
            known = f"use one of: {', '.join(names)}" if names else f"leave out {option}"
            raise InputError(f"the program has no {kind} {name!r}", fix=known)
        if name in found:
            raise InputError(f"{option} {name} is given twice", fix="give it once")
        found[name] = value
    return found


def _value(text: str, dtype: DType, name: str) -> bool | int | float:
    """A param's value from its text; its range is for the program to check."""
    try:
        if dtype.kind == "bool":
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        if dtype.is_integer:
            return int(text, 0)
        value = float.fromhex(text) if "0x" in text.lower() else float(text)
        if math.isinf(value) and "inf" not in text.lower():
            raise OverflowError
        return value
    except (ValueError, KeyError, OverflowError):
        forms = {"bool": "true or false", "float": "a number such as 2.5, 1e-3 or inf"}
        raise InputError(
            f"param {name!r} is {text[:60]!r}, not a value of {dtype}",
            fix=f"give {forms.get(dtype.kind, f'a whole number from {dtype.min} to {dtype.max}')}",
        ) from None


# The summary


def _summary(
    program: Program,
    adapter: str,
    extent: tuple[int, ...],
    seconds: float,
    results: dict[str, Array],
    outputs: dict[str, str],
) -> dict[str, Any]:
    return {
        "program": program.name,
        "fingerprint": program.fingerprint,
        "adapter": adapter,
        "extent": list(extent),
        "dispatch_s": seconds,
        "outputs": [
            {
                "name": name,
                "dtype": str(array.dtype),
                "shape": list(array.shape),
                "bytes": array.nbytes,
                "file": outputs.get(name),
            }
            for name, array in results.items()
        ],
    }


def _line(name: str, array: Array) -> str:
    shape = " x ".join(map(str, array.shape))
    shown = ", ".join(str(value) for value in array.reshape(-1)[:_MOST_SHOWN].tolist())
    more = ", ..." if array.size > _MOST_SHOWN else ""
    what = f"{printable(name)}: {array.dtype}, {shape} element(s)"
    if not array.size:
        return what
    return f"{what}, {array.min()} to {array.max()}: {shown}{more}"
