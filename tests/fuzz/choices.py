"""Every choice of a random program, drawn from Hypothesis so that it can be shrunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from vyre_wgpu.ir import DType

__all__ = ["Choices"]

T = TypeVar("T")

_NUMBERS = {n: st.integers(0, n - 1) for n in range(1, 400)}


class Choices:
    """Draws.

    Args:
        draw: Hypothesis's.
        types: the types that the program may have.
    """

    def __init__(self, draw: Any, types: Sequence[DType]) -> None:
        self.draw = draw
        self.types = types

    def number(self, n: int) -> int:
        return self.draw(_NUMBERS[n])  # type: ignore[no-any-return]

    def pick(self, among: Sequence[T]) -> T:
        return among[self.number(len(among))]

    def chance(self, one_in: int) -> bool:
        return self.number(one_in) == one_in - 1

    def type(self, among: Sequence[DType] | None = None) -> DType:
        usable = [t for t in among or self.types if t in self.types]
        return self.pick(usable or among or self.types)
