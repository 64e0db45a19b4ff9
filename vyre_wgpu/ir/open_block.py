"""The ``with`` blocks of a program that is being built."""

from __future__ import annotations

from types import TracebackType
from typing import Any, NoReturn

from .recorder import Recorder
from .values import Value

__all__ = ["Block"]


class Block:
    """A ``with`` block of the program, for one use; yields the loop index of a ``for``."""

    def __init__(self, recorder: Recorder, written_as: str, opened: Value | None = None) -> None:
        self._recorder = recorder
        self._written_as = written_as
        self._opened = opened
        self._first_row: int | None = recorder.rows

    def __enter__(self) -> Any:
        """Raises `TypeError` at the second use, and where statements came before the first."""
        if self._first_row != self._recorder.rows:
            used = self._first_row is None
            raise TypeError(
                f"this block was {'used already' if used else 'opened before other statements'}: "
                f"each is for one with statement, written as `with {self._written_as}:`"
            )
        self._first_row = None
        return self._opened

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._recorder.close()

    def __iter__(self) -> NoReturn:
        variable = " as k" if self._opened is not None else ""
        raise TypeError(
            f"a block is opened by a with statement: write `with {self._written_as}{variable}:`, "
            "with no Python for"
        )
