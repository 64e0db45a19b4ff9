"""What the cases of rules share: a kernel to break, and the lists of those that break or keep one.

A rule's case is a function that writes a program with one mistake, on the line marked ``# <-``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import NamedTuple

import vyre_wgpu.ir as vw
from vyre_wgpu.errors import Problem, ValidationError


class Kernel:
    """A builder with the declarations that most cases need."""

    def __init__(self) -> None:
        self.b = vw.ProgramBuilder("kernel")
        self.x = self.b.read("x", vw.f32)
        self.y = self.b.output("y", vw.f32, like=self.x)
        self.u = self.b.scratch("u", vw.u32, count=self.x.length)
        self.n = self.b.param("n", vw.u32)
        self.s = self.b.param("s", vw.f32)
        self.flag = self.b.param("flag", vw.bool_)
        self.i = self.b.global_id(0)


Write = Callable[[Kernel], object]


class Case(NamedTuple):
    code: str
    words: tuple[str, ...]
    write: Write


CASES: list[Case] = []
ALLOWED: list[Write] = []


def breaks(code: str, *words: str) -> Callable[[Write], Write]:
    """Registers a function that breaks one rule; the message must contain the words."""

    def register(write: Write) -> Write:
        CASES.append(Case(code, words, write))
        return write

    return register


def allowed(write: Write) -> Write:
    """Registers a function that breaks no rule, though nearly."""
    ALLOWED.append(write)
    return write


def problems_of(write: Write) -> list[Problem]:
    kernel = Kernel()
    try:
        write(kernel)
        kernel.b.build()
    except ValidationError as error:
        return list(error.problems)
    return []


def marked_line(write: Write) -> tuple[str, int] | None:
    lines, first = inspect.getsourcelines(write)
    marked = [first + offset for offset, line in enumerate(lines) if "# <-" in line]
    return (write.__code__.co_filename, marked[0]) if marked else None
