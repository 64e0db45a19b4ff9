"""``vyre-wgpu wgsl``: the shader of a program, or its text."""

from __future__ import annotations

import argparse

from ..errors import LimitError, UnsupportedFeatureError
from ..ir.program import Program
from .arguments import Commands, add_adapter, complete_files, make_parser
from .catalog import load_program
from .device import opened_backend

__all__ = ["register", "run"]

_DESCRIPTION = """\
Prints the WGSL shader that a program becomes. No device is needed: the shader is the one
for the limits that every device has, unless --device or --adapter asks for a real one's.
"""

_EPILOG = """\
examples:
  vyre-wgpu wgsl saxpy                    a ready-made program; "vyre-wgpu programs" lists them
  vyre-wgpu wgsl kernel.vyre              a file written with Program.to_bytes()
  vyre-wgpu wgsl kernel.vyre --ir         the program as readable text
  vyre-wgpu wgsl crc32 --device           as it is compiled on this machine
"""


def register(commands: Commands) -> None:
    """Adds the command's parser."""
    parser = make_parser(
        commands,
        "wgsl",
        run,
        summary="print the shader of a program",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    complete_files(
        parser.add_argument("program", metavar="FILE|NAME", help="a program file or a name")
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--ir", action="store_true", help="print the program's own text instead")
    form.add_argument(
        "--device",
        action="store_true",
        help="open a device and print the shader that it compiled",
    )
    add_adapter(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the shader.

    Raises:
        VyreError: no such program, or one that cannot be lowered.
    """
    program = load_program(args.program)
    if args.ir:
        print(str(program).rstrip("\n"))
    elif args.device or args.adapter is not None:
        print(_on_device(program, args).rstrip("\n"))
    else:
        print(_for_any_device(program).rstrip("\n"))
    return 0


def _on_device(program: Program, args: argparse.Namespace) -> str:
    from ..backends.wgpu import WgpuBackend  # the library is needed only here

    with opened_backend(args.adapter, own_process=args.own_process) as backend:
        assert isinstance(backend, WgpuBackend)
        return backend.compile(program).wgsl


def _for_any_device(program: Program) -> str:
    from ..wgsl.lower import lower
    from ..wgsl.target import Target

    try:
        return lower(program, target=Target()).wgsl
    except (LimitError, UnsupportedFeatureError) as error:
        error.fix = f"{error.fix}; or lower it for a real device with --device".lstrip("; ")
        raise
