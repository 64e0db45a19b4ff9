"""``vyre-wgpu completion``: the script that teaches a shell to complete this command line."""

from __future__ import annotations

import argparse

from ..errors import VyreError
from .arguments import Commands, make_parser

__all__ = ["register", "run"]

_SHELLS = ("bash", "zsh", "fish")

_DESCRIPTION = """\
Prints a script with which a shell completes commands, options and file names.
It is made by the package shtab, which the extra "cli" brings.
"""

_EPILOG = """\
examples:
  vyre-wgpu completion bash > ~/.local/share/bash-completion/completions/vyre-wgpu
  vyre-wgpu completion zsh > ~/.zfunc/_vyre-wgpu          a folder that $fpath lists
  vyre-wgpu completion fish > ~/.config/fish/completions/vyre-wgpu.fish
"""


def register(commands: Commands) -> None:
    """Adds the command's parser."""
    parser = make_parser(
        commands,
        "completion",
        run,
        summary="print a completion script for a shell",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("shell", choices=_SHELLS, help="the shell")


def run(args: argparse.Namespace) -> int:
    """Prints the script.

    Raises:
        VyreError: shtab is missing, or too old for the shell.
    """
    fix = 'install the extra: pip install "vyre-wgpu[cli]"'
    try:
        import shtab
    except ImportError:
        raise VyreError("completion scripts need the package shtab", fix=fix) from None
    from .app import make_root_parser  # that module imports this one

    if args.shell not in shtab.SUPPORTED_SHELLS:
        raise VyreError(f"this version of shtab knows no {args.shell}", fix=fix)
    print(shtab.complete(make_root_parser(), shell=args.shell))
    return 0
