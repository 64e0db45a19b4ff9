"""The ready-made programs by name, and the programs that files hold."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

from .. import programs
from ..errors import InputError, ProgramDecodeError
from ..ir.program import Program
from ..ir.serialize import MAX_BYTES
from .output import printable

__all__ = ["load_program", "shipped", "summary_of"]

Maker = Callable[[], Program]

_SCRIPT_FIX = (
    "run the script with python; for a file that this command takes, let it write "
    'Path("NAME.vyre").write_bytes(program.to_bytes())'
)


def shipped() -> dict[str, Maker]:
    """The functions of `vyre_wgpu.programs` that make a program without being told anything."""
    functions = {name: getattr(programs, name) for name in programs.__all__}
    return {name: function for name, function in functions.items() if _is_maker(function)}


def _is_maker(function: object) -> bool:
    if not inspect.isfunction(function):
        return False
    signature = inspect.signature(function)
    return str(signature.return_annotation).rpartition(".")[2] == "Program" and all(
        parameter.default is not parameter.empty for parameter in signature.parameters.values()
    )


def summary_of(maker: Maker) -> str:
    """The first line of a program's documentation."""
    return (inspect.getdoc(maker) or "").partition("\n")[0].rstrip(".").replace("``", "")


def load_program(text: str) -> Program:
    """The program that an argument means: a ready-made one's name, else a file.

    Args:
        text: a name, or the path of what `Program.to_bytes` gave. A name wins over a file of that
            name in the current folder, which is ``./name``.

    Raises:
        InputError: there is neither.
        ProgramDecodeError: the file holds no program that this version reads.
        ValidationError: it holds one that breaks the rules.
    """
    makers = shipped()
    if text in makers:
        return makers[text]()
    path, where = Path(text), printable(text)
    fix = "give a file written with Program.to_bytes(), or one of: " + ", ".join(sorted(makers))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError(
            f"there is no program file {where} and no ready-made program of that name", fix=fix
        ) from None
    except (OSError, ValueError) as error:  # the latter for a name with a NUL character
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"the program file {where} cannot be read: {reason}", fix=fix) from None
    try:
        return Program.from_bytes(data)
    except ProgramDecodeError as error:
        fix = _SCRIPT_FIX if path.suffix == ".py" else error.fix
        raise ProgramDecodeError(f"{where} holds no program: {error.message}", fix=fix) from None
