"""`ProgramBuilder`: writes a `Program` statement by statement, as Python runs.

Nothing here raises for a mistake in the program: ``build()`` validates and reports every problem
together, each with its source line. What cannot be recorded at all (a value that is no operand, an
``else_`` without its ``if_``) raises at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors import Problem, ValidationError
from .hints import BUILDER_HINTS, missing_attribute
from .ops import Op
from .program import Buffer, BufferKind, DebugInfo, Param, Program
from .recorder import Recorder
from .sizes import SizeExpr, SizeOp, constant_size
from .types import ALL_DTYPES, DType, TypedLiteral, bool_, u32
from .validate import infer_extent, validate
from .values import BufferHandle, Operand, ParamValue, SizeValue, Value, Var, index_row, operand_row

__all__ = ["ProgramBuilder"]

Count = int | Value | None


class _Block:
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


class ProgramBuilder:
    """Builds a `Program`.

    Args:
        name: the program's name in messages; no part of its identity.
        workgroup_size: lanes of a workgroup, an int or ``(x, y, z)``.
    """

    def __init__(self, name: str = "", *, workgroup_size: int | tuple[int, ...] = 256) -> None:
        _require_text("a program's name", name)
        self.name = name
        self._workgroup_size = _three(workgroup_size)
        self._recorder = Recorder()
        self._buffers: list[Buffer] = []
        self._params: list[Param] = []
        self._extent: tuple[SizeExpr, ...] | None = None

    # Declarations

    def param(self, name: str, dtype: DType) -> Value:
        """Declares a scalar given at each dispatch; an integer one can be used in sizes."""
        _require_text("a param's name", name)
        _require_dtype(dtype)
        index = len(self._params)
        self._params.append(Param(name, dtype))
        self._recorder.param_dtypes.append(dtype)
        if dtype.is_integer:
            node = self._recorder.size_node(SizeOp.PARAM, index)
            return SizeValue(self._recorder, node, dtype)
        return ParamValue(self._recorder, index, dtype)

    def read(self, name: str, dtype: DType, count: Count = None) -> BufferHandle:
        """Declares an input array.

        Args:
            name: its name at dispatch.
            dtype: element type.
            count: the number of elements it must have; None takes any.
        """
        return self._buffer(name, BufferKind.READ, dtype, count)

    def read_write(self, name: str, dtype: DType, count: Count = None) -> BufferHandle:
        """Declares an array that is copied in and whose final content is returned."""
        return self._buffer(name, BufferKind.READ_WRITE, dtype, count)

    def output(
        self, name: str, dtype: DType, count: Count = None, *, like: BufferHandle | None = None
    ) -> BufferHandle:
        """Declares a returned array; elements that the program does not write are zero.

        Args:
            name: its name in ``out=`` and in messages.
            dtype: element type.
            count: number of elements, a size expression or an int.
            like: takes the length and the shape of this buffer instead.
        """
        if like is not None:
            if count is not None:
                raise TypeError(f"output {name!r}: give count or like, not both")
            index = self._buffer_index(like)
            return self._buffer(name, BufferKind.OUTPUT, dtype, like.length, like=index)
        return self._buffer(name, BufferKind.OUTPUT, dtype, count)

    def scratch(
        self, name: str, dtype: DType, count: Count, *, uninitialized: bool = False
    ) -> BufferHandle:
        """Declares device memory that lives for one dispatch; zeros unless ``uninitialized``."""
        return self._buffer(name, BufferKind.SCRATCH, dtype, count, uninitialized=uninitialized)

    def carry(self, name: str, dtype: DType, count: int) -> BufferHandle:
        """Declares state that stays on the device from chunk to chunk of one stream."""
        return self._buffer(name, BufferKind.CARRY, dtype, count)

    def workgroup(self, name: str, dtype: DType, count: int) -> BufferHandle:
        """Declares memory shared by a workgroup, starting as zeros."""
        return self._buffer(name, BufferKind.WORKGROUP, dtype, count)

    def private(self, name: str, dtype: DType, count: int) -> BufferHandle:
        """Declares an array of each lane's own, starting as zeros."""
        return self._buffer(name, BufferKind.PRIVATE, dtype, count)

    def extent(
        self,
        x: int | Value | Sequence[int | Value],
        y: int | Value | None = None,
        z: int | Value | None = None,
    ) -> None:
        """Sets the logical number of elements on 1 to 3 axes: ints or size expressions."""
        given = (*x, y, z) if isinstance(x, (tuple, list)) else (x, y, z)
        axes = [axis for axis in given if axis is not None]
        if len(axes) > 3:
            raise TypeError(f"an extent has 1 to 3 axes, not {len(axes)}")
        self._extent = tuple(self._size("the extent", axis) for axis in axes)

    def _buffer(
        self,
        name: str,
        kind: BufferKind,
        dtype: DType,
        count: Count,
        *,
        like: int | None = None,
        uninitialized: bool = False,
    ) -> BufferHandle:
        _require_text("a buffer's name", name)
        _require_dtype(dtype)
        size = None if count is None else self._size(f"the count of {name!r}", count)
        index = len(self._buffers)
        self._buffers.append(Buffer(name, kind, dtype, size, like, uninitialized))
        return BufferHandle(self._recorder, index, name, dtype)

    def _size(self, what: str, size: object) -> SizeExpr:
        if isinstance(size, SizeValue):
            if size._recorder is not self._recorder:
                self._recorder.problem(
                    "E301",
                    f"{what} uses a size of another builder",
                    "build each program from the values of its own builder",
                )
                return constant_size(0)
            return self._recorder.size_expr(size._row)
        number = _whole(size)
        if number is not None:
            return constant_size(number)
        raise TypeError(
            f"{what} is an int or an expression of lengths and integer params "
            f"(+ - * // %, vw.ceil_div, vw.minimum, vw.maximum), not {size!r}"
        )

    def _buffer_index(self, buffer: object) -> int:
        if not isinstance(buffer, BufferHandle):
            what = "a buffer's name" if isinstance(buffer, str) else "not a buffer of this builder"
            raise TypeError(
                f"{buffer!r} is {what}: pass what b.read, b.output and the like gave, as in "
                'x = b.read("x", vw.f32)'
            )
        if buffer._recorder is not self._recorder:
            self._recorder.problem(
                "E301",
                f"buffer {buffer.name!r} of another builder is used",
                "use the buffers of the program's own builder",
            )
            return 0
        return buffer.index

    # Values

    def global_id(self, axis: int = 0) -> Value:
        """The logical index of the lane on an axis, u32."""
        return self._axis(Op.GLOBAL_ID, axis)

    def local_id(self, axis: int = 0) -> Value:
        """The index of the lane in its workgroup on an axis, u32."""
        return self._axis(Op.LOCAL_ID, axis)

    def workgroup_id(self, axis: int = 0) -> Value:
        """The logical index of the workgroup on an axis, u32."""
        return self._axis(Op.WORKGROUP_ID, axis)

    def num_workgroups(self, axis: int = 0) -> Value:
        """The logical number of workgroups on an axis, u32."""
        return self._axis(Op.NUM_WORKGROUPS, axis)

    def subgroup_size(self) -> Value:
        """The number of lanes in a subgroup, u32."""
        return self._leaf(Op.SUBGROUP_SIZE)

    def subgroup_lane(self) -> Value:
        """The index of the lane in its subgroup, u32."""
        return self._leaf(Op.SUBGROUP_LANE)

    def _axis(self, op: Op, axis: int) -> Value:
        number = _whole(axis)
        if number is None:
            raise TypeError(f"an axis is 0, 1 or 2, not {axis!r}")
        if number not in (0, 1, 2):
            raise ValueError(f"an axis is 0, 1 or 2, not {number}")
        return self._leaf(op, number)

    def _leaf(self, op: Op, axis: int = -1) -> Value:
        return self._value(self._recorder.pure(op, u32.code, const=axis))

    def _value(self, row: int) -> Value:
        return Value(self._recorder, row, self._recorder.dtype_of(row))

    # Names and variables

    def let(self, name: str, value: Value | TypedLiteral) -> Value:
        """Names a value. The empty name is allowed."""
        _require_text("a name", name)
        row = self._typed(value, "let")
        row = self._recorder.emit(Op.LET, self._recorder.dtype[row], row)
        self._name(row, name)
        return self._value(row)

    def var(self, name: str, dtype: DType, init: Operand | None = None) -> Var:
        """Declares a variable of the lane. Reading it takes its value at that point.

        Args:
            name: its name; may be empty.
            dtype: its type.
            init: its first value; zero or false if not given.
        """
        _require_text("a name", name)
        if init is None and not isinstance(dtype, DType):
            _refuse_first_value(name, dtype)
        _require_dtype(dtype)
        value = (
            self._recorder.literal(dtype, 0)
            if init is None
            else operand_row(self._recorder, init, dtype, "content")
        )
        row = self._recorder.emit(Op.VAR, dtype.code, value)
        self._name(row, name)
        return Var(self._recorder, row, dtype)

    def _name(self, row: int, name: str) -> None:
        if name:
            self._recorder.names[row] = name

    def _typed(self, value: object, what: str) -> int:
        if isinstance(value, (Value, TypedLiteral)):
            return operand_row(self._recorder, value, u32)
        raise TypeError(
            f"{what} takes a kernel value or a typed literal such as vw.f32(1), not {value!r}"
        )

    # Control flow

    def if_(self, condition: Operand) -> _Block:
        """Opens a block that runs where the bool condition holds."""
        row = operand_row(self._recorder, condition, bool_, "condition")
        self._recorder.open(Op.IF, a=row)
        return _Block(self._recorder, "b.if_(...)")

    def else_(self) -> _Block:
        """Opens the other block of the ``if_`` that just ended.

        Raises:
            ValidationError: it does not directly follow the block of an ``if_``.
        """
        if not self._recorder.reopen_for_else():
            problem = Problem(
                "E101",
                "else_ does not directly follow the block of an if_",
                "put `with b.else_():` right after the if_ block, before any other statement",
                self._recorder.caller(),
            )
            raise ValidationError([problem], program=self.name)
        self._recorder.next_part(Op.ELSE)
        return _Block(self._recorder, "b.else_()")

    def for_range(
        self,
        start: Operand,
        stop: Operand | None = None,
        step: Operand = 1,
        *,
        dtype: DType | None = None,
        name: str = "",
    ) -> _Block:
        """Opens a loop over ``start, start + step, ...`` below ``stop``; yields the index.

        Bounds are evaluated once; a negative step counts down to above ``stop``; the index never
        wraps. With one bound the loop starts at 0.

        Args:
            start: first index, or ``stop`` if that is not given.
            stop: the bound, itself excluded.
            step: the increment; 0 runs the loop zero times, and the literal 0 is refused.
            dtype: type of the index if all bounds are plain numbers; u32 unless given.
            name: name of the index.
        """
        _require_text("a name", name)
        bounds = [0, start, step] if stop is None else [start, stop, step]
        typed = [x.dtype for x in bounds if isinstance(x, (Value, TypedLiteral))]
        of = dtype or (typed[0] if typed else u32)
        _require_dtype(of)
        rows = [operand_row(self._recorder, x, of, "bound") for x in bounds]
        row = self._recorder.open(Op.FOR, self._recorder.dtype[rows[0]], *rows)
        self._name(row, name)
        return _Block(self._recorder, "b.for_range(...)", self._value(row))

    def while_(self, condition: Callable[[], Operand]) -> _Block:
        """Opens a loop; ``condition`` writes the block that runs before each iteration.

        Raises:
            TypeError: ``condition`` is not callable: a value would be computed only once.
        """
        if not callable(condition):
            raise TypeError(
                "while_ takes a function, for the condition is computed before each iteration: "
                "write b.while_(lambda: ...)"
            )
        self._recorder.open(Op.WHILE)
        row = operand_row(self._recorder, condition(), bool_, "condition")
        self._recorder.next_part(Op.DO, row)
        return _Block(self._recorder, "b.while_(...)")

    def break_(self) -> None:
        """Leaves the innermost loop."""
        self._recorder.emit(Op.BREAK)

    def continue_(self) -> None:
        """Starts the next iteration of the innermost loop."""
        self._recorder.emit(Op.CONTINUE)

    def return_(self) -> None:
        """Ends the lane; it keeps meeting barriers."""
        self._recorder.emit(Op.RETURN)

    def barrier(self) -> None:
        """Waits for the workgroup; orders its accesses to workgroup and storage memory."""
        self._recorder.emit(Op.BARRIER)

    def trap(self, tag: str, address: Operand = 0) -> None:
        """Makes the dispatch raise `TrapError`; the lane does nothing more.

        Args:
            tag: says what went wrong.
            address: an integer of at most 32 bits that says where.
        """
        _require_text("a trap's tag", tag)
        row = index_row(self._recorder, address)
        index = self._recorder.tags.setdefault(tag, len(self._recorder.tags))
        self._recorder.emit(Op.TRAP, a=row, const=index)

    def comment(self, text: str) -> None:
        """A remark for readers of the printed program."""
        self._recorder.comments.append((len(self._recorder.op), str(text)))

    # Atomics

    def atomic_add(self, buffer: BufferHandle, index: Operand, value: Operand) -> Value:
        """Adds to an element, wrapping; returns the old value."""
        return self._atomic(Op.ATOMIC_ADD, buffer, index, value)

    def atomic_sub(self, buffer: BufferHandle, index: Operand, value: Operand) -> Value:
        """Subtracts from an element, wrapping; returns the old value."""
        return self._atomic(Op.ATOMIC_SUB, buffer, index, value)

    def atomic_and(self, buffer: BufferHandle, index: Operand, value: Operand) -> Value:
        """Keeps the bits that both have; returns the old value."""
        return self._atomic(Op.ATOMIC_AND, buffer, index, value)

    def atomic_or(self, buffer: BufferHandle, index: Operand, value: Operand) -> Value:
        """Sets the bits of the value; returns the old value."""
        return self._atomic(Op.ATOMIC_OR, buffer, index, value)

    def atomic_xor(self, buffer: BufferHandle, index: Operand, value: Operand) -> Value:
        """Flips the bits of the value; returns the old value."""
        return self._atomic(Op.ATOMIC_XOR, buffer, index, value)

    def atomic_min(self, buffer: BufferHandle, index: Operand, value: Operand) -> Value:
        """Keeps the smaller; returns the old value."""
        return self._atomic(Op.ATOMIC_MIN, buffer, index, value)

    def atomic_max(self, buffer: BufferHandle, index: Operand, value: Operand) -> Value:
        """Keeps the larger; returns the old value."""
        return self._atomic(Op.ATOMIC_MAX, buffer, index, value)

    def atomic_exchange(self, buffer: BufferHandle, index: Operand, value: Operand) -> Value:
        """Replaces an element; returns the old value."""
        return self._atomic(Op.ATOMIC_EXCHANGE, buffer, index, value)

    def atomic_compare_exchange(
        self, buffer: BufferHandle, index: Operand, expected: Operand, value: Operand
    ) -> Value:
        """Replaces an element that equals ``expected`` (strong); returns the old value."""
        return self._atomic(Op.ATOMIC_COMPARE_EXCHANGE, buffer, index, expected, value)

    def _atomic(self, op: Op, buffer: BufferHandle, index: Operand, *values: Operand) -> Value:
        where = self._buffer_index(buffer)
        rows = [index_row(self._recorder, index)]
        rows += [operand_row(self._recorder, v, buffer.dtype, "content") for v in values]
        a, b, c = [*rows, -1][:3]
        return self._value(self._recorder.emit(op, buffer.dtype.code, a, b, c, where))

    # Subgroups

    def subgroup_add(self, value: Value) -> Value:
        """The sum over the subgroup."""
        return self._subgroup(Op.SUBGROUP_ADD, value)

    def subgroup_mul(self, value: Value) -> Value:
        """The product over the subgroup."""
        return self._subgroup(Op.SUBGROUP_MUL, value)

    def subgroup_min(self, value: Value) -> Value:
        """The smallest over the subgroup."""
        return self._subgroup(Op.SUBGROUP_MIN, value)

    def subgroup_max(self, value: Value) -> Value:
        """The largest over the subgroup."""
        return self._subgroup(Op.SUBGROUP_MAX, value)

    def subgroup_and(self, value: Value) -> Value:
        """The bits that all lanes of the subgroup have."""
        return self._subgroup(Op.SUBGROUP_AND, value)

    def subgroup_or(self, value: Value) -> Value:
        """The bits that any lane of the subgroup has."""
        return self._subgroup(Op.SUBGROUP_OR, value)

    def subgroup_xor(self, value: Value) -> Value:
        """The exclusive or of the bits over the subgroup."""
        return self._subgroup(Op.SUBGROUP_XOR, value)

    def subgroup_ballot(self, condition: Value, word: Operand = 0) -> Value:
        """The lanes whose condition holds, 32 to a word, as u32."""
        return self._subgroup(Op.SUBGROUP_BALLOT, condition, word)

    def subgroup_broadcast(self, value: Value, lane: Operand) -> Value:
        """The value of one lane, the same lane for all."""
        return self._subgroup(Op.SUBGROUP_BROADCAST, value, lane)

    def subgroup_shuffle(self, value: Value, lane: Operand) -> Value:
        """The value of the lane that each lane names; 0 from outside the subgroup."""
        return self._subgroup(Op.SUBGROUP_SHUFFLE, value, lane)

    def _subgroup(self, op: Op, value: Value, *more: Operand) -> Value:
        first = self._typed(value, op.name.lower())
        rows = [first, *(operand_row(self._recorder, x, u32, "index") for x in more)]
        dtype = u32.code if op is Op.SUBGROUP_BALLOT else self._recorder.dtype[first]
        return self._value(self._recorder.emit(op, dtype, *rows))

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(self, attribute: str) -> NoReturn:
            raise missing_attribute(self, attribute, BUILDER_HINTS)

    def __repr__(self) -> str:
        return f"<ProgramBuilder {self.name!r}>"

    # Result

    def build(self) -> Program:
        """The finished, validated program.

        Raises:
            ValidationError: lists every problem found while building and by the validator.
        """
        recorder = self._recorder
        problems = list(recorder.problems)
        if recorder.blocks:
            problems += [
                Problem(
                    "E102",
                    f"this {recorder.table().info(row).name} block is still open at build()",
                    "write `with b.if_(...):` and the like, and call build() after the blocks",
                    recorder.sites[recorder.site[row]] if recorder.site[row] >= 0 else None,
                )
                for row in recorder.blocks
            ]
            raise ValidationError(problems, program=self.name)
        buffers, table = tuple(self._buffers), recorder.table()
        extent = self._extent
        if extent is None:
            extent = infer_extent(buffers, table)
        debug = DebugInfo(
            self.name,
            recorder.sites,
            tuple(recorder.site),
            tuple(recorder.names.items()),
            tuple(recorder.comments),
        )
        program = Program(
            self._workgroup_size,
            buffers,
            tuple(self._params),
            extent or (),
            tuple(recorder.literals),
            tuple(recorder.tags),
            table,
            debug,
        )
        problems += validate(program)
        if problems:
            raise ValidationError(problems, program=self.name)
        return program


def _three(size: int | tuple[int, ...]) -> tuple[int, int, int]:
    axes = [_whole(n) for n in (size if isinstance(size, (tuple, list)) else (size,))]
    given = [n for n in axes if n is not None]
    if not 1 <= len(axes) <= 3 or len(given) != len(axes):
        raise TypeError(f"workgroup_size is an int or up to three ints, not {size!r}")
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z


def _whole(value: object) -> int | None:
    """A Python or NumPy integer as an int; None for anything else, a bool too."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return int(value) if is_whole else None  # type: ignore[call-overload]


def _require_text(what: str, text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {text!r}")


def _require_dtype(dtype: object) -> None:
    if not isinstance(dtype, DType):
        raise TypeError(f"{dtype!r} is not an element type; {_dtype_hint(dtype)}")


def _refuse_first_value(name: str, given: object) -> None:
    """Raises `TypeError` for a first value that stands in the place of a variable's type."""
    if isinstance(given, (Value, TypedLiteral)):
        dtype, shown = str(given.dtype), "value"
    elif isinstance(given, (bool, int, float, np.generic)):
        is_bool, is_int = isinstance(given, (bool, np.bool_)), isinstance(given, (int, np.integer))
        dtype, shown = "bool" if is_bool else "i32" if is_int else "f32", str(given)
    else:
        return
    dtype += "_" if dtype == "bool" else ""
    raise TypeError(
        f"a variable's type comes before its first value: write b.var({name!r}, vw.{dtype}, "
        f"{shown})"
    )


def _dtype_hint(dtype: object) -> str:
    """What to write for a NumPy or Python type."""
    try:
        wanted = np.dtype(dtype)  # type: ignore[call-overload]
    except TypeError:
        wanted = None
    for known in ALL_DTYPES:
        if wanted is not None and known.numpy == wanted:
            return f"use vw.{known}{'_' if known is bool_ else ''}"
    return "use vw.f32, vw.u32, vw.u8, ..."
