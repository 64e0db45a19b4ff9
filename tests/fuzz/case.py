"""A program of the random ones, with all that it takes to run it and compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vyre_wgpu.ir import Program

__all__ = ["MAX_ITERATIONS", "Case"]

MAX_ITERATIONS = 200
"""Far below what a software driver can do for a vector of lanes, helper loops included."""


@dataclass(frozen=True, repr=False)
class Case:
    """A program, what to run it with, and within how many ULP some outputs are compared."""

    program: Program
    inputs: dict[str, np.ndarray[Any, Any]]
    params: dict[str, Any]
    checks: str
    rough: dict[str, float]
    seed: int | None
    passes: bool = True

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What Hypothesis prints of a failing case."""
        printer.text(repr(self))

    def __repr__(self) -> str:
        """A script: the program in words, then code that runs it."""
        arrays = ", ".join(
            f"{name!r}: np.frombuffer(bytes.fromhex({array.tobytes().hex()!r}), "
            f"{array.dtype.name!r})"
            for name, array in self.inputs.items()
        )
        params = {name: value.item() for name, value in self.params.items()}
        return (
            f"\n{self.program}\n"
            f"program = Program.from_bytes(bytes.fromhex({self.program.to_bytes().hex()!r}))\n"
            f"inputs = {{{arrays}}}\n"
            f"params = {params}\n"
            f"options = CompileOptions(checks={self.checks!r}, max_iterations={MAX_ITERATIONS}, "
            f"passes={self.passes})\n"
            f"rough outputs: {self.rough}, seed of the oracle: {self.seed}\n"
        )
