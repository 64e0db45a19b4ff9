"""Every exception the package raises: what was found, where, and how to fix it.

All of them derive from `VyreError`. Where Python has a built-in class for the same fault
(`ValueError`, `TypeError`, `TimeoutError`, ...) the exception derives from that too, so callers may
catch either. This module imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "BoundsTrapError",
    "CompileError",
    "DeviceLostError",
    "DispatchTimeoutError",
    "DivisionTrapError",
    "ForkedProcessError",
    "InputError",
    "LimitError",
    "LoopLimitError",
    "NoAdapterError",
    "OutputBudgetError",
    "Problem",
    "ProgramDecodeError",
    "RaceError",
    "SourceLocation",
    "TrapError",
    "UnsupportedFeatureError",
    "ValidationError",
    "VyreError",
]

SourceLocation = tuple[str, int]
"""File name and 1-based line number."""

# Tags of traps that no trap statement raised. Not public: the classes say which it is.
OUT_OF_BOUNDS = "out-of-bounds"
DIVISION_BY_ZERO = "division-by-zero"
LOOP_LIMIT = "loop-limit"


class VyreError(Exception):
    """Base of every error of this package.

    Args:
        message: what was found and where, without a final full stop.
        fix: what to do about it, one sentence; shown after ``Fix:``.
    """

    def __init__(self, message: str, *, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message}. Fix: {self.fix}" if self.fix else self.message

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive Exception's own pickling; state does.
        return _restore, (type(self), self.args, self.__dict__.copy())


def _restore(cls: type[VyreError], args: tuple[object, ...], state: dict[str, object]) -> VyreError:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of the validator.

    Attributes:
        code: stable rule code, such as ``E201``.
        message: names the buffer or variable, the expected and the found.
        fix: one sentence that says what to do.
        source: where the statement was written, if known.
    """

    code: str
    message: str
    fix: str
    source: SourceLocation | None = None

    def __str__(self) -> str:
        where = f" ({self.source[0]}:{self.source[1]})" if self.source else ""
        return f"{self.code}: {self.message}{where}. Fix: {self.fix}"


class ValidationError(VyreError, ValueError):
    """A program breaks the rules of the IR; `problems` lists every finding."""

    def __init__(self, problems: Sequence[Problem], *, program: str = "") -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        self.program = program
        count = len(self.problems)
        head = f"program {program!r}" if program else "program"
        head += f" has {count} problem{'s' if count != 1 else ''}"
        super().__init__("\n  ".join([head + ":", *map(str, self.problems)]))

    @property
    def codes(self) -> tuple[str, ...]:
        """The rule codes, in the order of `problems`."""
        return tuple(problem.code for problem in self.problems)


class ProgramDecodeError(VyreError, ValueError):
    """Bytes given to `Program.from_bytes` are not a program this version can read."""


class CompileError(VyreError):
    """Lowering, or the shader compiler behind wgpu, refused a valid program."""


class UnsupportedFeatureError(VyreError):
    """The program needs a type, operation or feature which the backend or its adapter lacks."""


class LimitError(VyreError):
    """A program or dispatch exceeds a limit of the adapter; names what and by how much."""


class LoopLimitError(LimitError):
    """The reference backend stopped a program that made more loop iterations than allowed."""


class NoAdapterError(VyreError):
    """No usable GPU adapter, or none that matches the request."""


class InputError(VyreError, ValueError, TypeError):
    """A host input, parameter, size or output destination does not fit the program."""


class OutputBudgetError(VyreError):
    """The outputs would exceed ``DispatchConfig.max_output_bytes``; nothing was dispatched."""


class DispatchTimeoutError(VyreError, TimeoutError):
    """A deadline passed before the device finished."""


class DeviceLostError(VyreError):
    """The device was lost or closed; its buffers are gone, compiled artifacts remain valid."""


class ForkedProcessError(VyreError):
    """A device was used in a child of ``fork()``; start workers with spawn instead."""


class TrapError(VyreError):
    """A kernel executed a trap: the exception a kernel raises.

    Attributes:
        tag: the tag given to ``b.trap``.
        address: the integer given to ``b.trap``.
        lane: the logical lane that trapped, one index for each axis of the extent.
        source: file and line of the trap statement, if the program carries it; None too for a loop
            inside an operation that the driver ended, which the message says.
        program: the program's name.
        chunk: index of the chunk in a stream, else None.
        chunk_offset: elements streamed before the chunk, else None.
    """

    def __init__(
        self,
        tag: str,
        address: int,
        lane: tuple[int, ...],
        *,
        source: SourceLocation | None = None,
        program: str = "",
        chunk: int | None = None,
        chunk_offset: int | None = None,
        cause: str = "",
        fix: str = "",
    ) -> None:
        self.tag = tag
        self.address = address
        self.lane = lane
        self.source = source
        self.program = program
        self.chunk = chunk
        self.chunk_offset = chunk_offset
        where = f" at {source[0]}:{source[1]}" if source else ""
        what = f"{tag!r}, address {address}, lane {_lane_text(lane)}"
        why = f": {cause}" if cause else ""
        super().__init__(f"program {program!r} trapped: {what}{where}{why}", fix=fix)


def _lane_text(lane: tuple[int, ...]) -> str:
    return str(lane[0]) if len(lane) == 1 else str(lane)


class RaceError(VyreError):
    """The reference backend found data races; `races` has one for each pair of statements.

    Attributes:
        races: what raced: each with ``buffer``, ``index``, and the accesses ``first`` and
            ``second``; ``str`` gives it in words.
        program: the program's name.
    """

    def __init__(self, races: Sequence[object], *, program: str = "") -> None:
        self.races = tuple(races)
        self.program = program
        count = len(self.races)
        head = f"program {program!r} has {count} data race{'s' if count != 1 else ''}"
        super().__init__(
            "\n  ".join([head + ":", *map(str, self.races)]),
            fix="separate the accesses by a barrier, or make them atomic",
        )


class BoundsTrapError(TrapError, IndexError):
    """A trap for an access outside a buffer (``CompileOptions(checks="trap")``).

    Attributes:
        buffer: the buffer's name.
        index: the index, also `address`; of a 64-bit index its low 32 bits.
        length: number of elements of the buffer.
    """

    buffer: str = ""
    index: int = 0
    length: int = 0

    @classmethod
    def of(
        cls,
        buffer: str,
        index: int,
        length: int,
        lane: tuple[int, ...],
        *,
        source: SourceLocation | None = None,
        program: str = "",
        is_low_half: bool = False,
    ) -> BoundsTrapError:
        """The error of an access to an element that a buffer does not have.

        Args:
            buffer: the buffer's name.
            index: the index, or its low 32 bits.
            length: number of elements of the buffer.
            lane: the lane that trapped.
            source: where the access was written, if known.
            program: the program's name.
            is_low_half: whether the index had 64 bits, of which a trap keeps the low 32.
        """
        error = cls(OUT_OF_BOUNDS, index, lane, source=source, program=program)
        error.buffer, error.index, error.length = buffer, index, length
        where = f" at {source[0]}:{source[1]}" if source else ""
        error.message = (
            f"program {program!r} trapped: "
            f"{'an index whose low 32 bits are' if is_low_half else 'index'} {index} is out of "
            f"bounds of buffer {buffer!r} "
            f"with {length} elements, lane {_lane_text(lane)}{where}"
        )
        error.args = (error.message,)
        return error


class DivisionTrapError(TrapError, ZeroDivisionError):
    """A trap for an integer division by zero (``CompileOptions(checks="trap")``)."""

    @classmethod
    def of(
        cls,
        lane: tuple[int, ...],
        *,
        source: SourceLocation | None = None,
        program: str = "",
    ) -> DivisionTrapError:
        """The error of a lane; its tag is `DIVISION_BY_ZERO`, its address 0."""
        return cls(DIVISION_BY_ZERO, 0, lane, source=source, program=program)
