"""What a backend says to something that is no program, or to options that are none."""

from __future__ import annotations

import inspect

from ..buffer.arrays import describe
from ..errors import InputError
from ..ir.builder import ProgramBuilder

__all__ = ["no_options", "no_program"]

_MOST_SHOWN = 80
"""Characters of what was passed."""


def no_program(given: object) -> InputError:
    """The error for what was passed as a program and is none.

    Args:
        given: what was passed; its name, if it is a function to call, is in the fix.
    """
    fix = "pass what ProgramBuilder.build() gives"
    if isinstance(given, ProgramBuilder):
        fix = "build it: pass b.build()"
    elif inspect.ismethod(given) and isinstance(given.__self__, ProgramBuilder):
        fix = f"call it: pass b.{given.__name__}()"
    elif inspect.isfunction(given) and given.__name__ != "<lambda>":
        fix = f"a function that makes a program is called: pass {given.__name__}()"
    elif hasattr(given, "program") and hasattr(given, "dispatch"):
        fix = "this is a compiled program: pass its .program, or dispatch it"
    elif isinstance(given, (bytes, bytearray, memoryview)):
        fix = "if these are the bytes of one, pass vw.Program.from_bytes(data)"
    text = repr(given)
    if len(text) > _MOST_SHOWN:
        text = text[:_MOST_SHOWN] + "..."
    kind = "" if given is None else f", but {describe(given)}"
    return InputError(f"{text} is not a Program{kind}", fix=fix)


def no_options(given: object) -> InputError:
    """The error for what was passed as options and is none.

    Args:
        given: what was passed.
    """
    fix = 'pass options=vw.CompileOptions(...), such as vw.CompileOptions(checks="trap")'
    return InputError(f"options is {given!r}, not a CompileOptions", fix=fix)
