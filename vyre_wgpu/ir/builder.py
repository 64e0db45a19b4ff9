"""`ProgramBuilder`: writes a `Program` statement by statement, as Python runs.

Nothing here raises for a mistake in the program: ``build()`` validates and reports every problem
together, each with its source line. What cannot be recorded at all (a value that is no operand, an
``else_`` without its ``if_``) raises at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from ..errors import Problem, ValidationError
from .argument_checks import refuse_first_value, require_dtype, require_text, three, whole
from .handles import BufferHandle
from .hints import BUILDER_HINTS, missing_attribute
from .open_block import Block
from .ops import Op
from .program import Buffer, BufferKind, DebugInfo, Param, Program
from .recorder import Recorder
from .size_values import SizeValue
from .sizes import SizeExpr, SizeOp, constant_size
from .types import DType, TypedLiteral, bool_, i32, u32
from .validate import infer_extent, validate
from .values import Operand, ParamValue, Value, Var, index_row, operand_row

__all__ = ["ProgramBuilder"]

Count = int | Value | None


class ProgramBuilder:
    """Builds a `Program`.

    Args:
        name: the program's name in messages; no part of its identity.
        workgroup_size: lanes of a workgroup, an int or ``(x, y, z)``.
    """

    def __init__(self, name: str = "", *, workgroup_size: int | tuple[int, ...] = 256) -> None:
        require_text("a program's name", name)
        self.name = name
        self._workgroup_size = three(workgroup_size)
        self._recorder = Recorder()
        self._buffers: list[Buffer] = []
        self._params: list[Param] = []
        self._extent: tuple[SizeExpr, ...] | None = None

    # Declarations

    def param(self, name: str, dtype: DType) -> Value:
        """Declares a scalar given at each dispatch; an integer one can be used in sizes."""
        require_text("a param's name", name)
        require_dtype(dtype)
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
        require_text("a buffer's name", name)
        require_dtype(dtype)
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
        number = whole(size)
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
        number = whole(axis)
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
        require_text("a name", name)
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
        require_text("a name", name)
        if init is None and not isinstance(dtype, DType):
            refuse_first_value(name, dtype)
        require_dtype(dtype)
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

    def if_(self, condition: Operand) -> Block:
        """Opens a block that runs where the bool condition holds."""
        row = operand_row(self._recorder, condition, bool_, "condition")
        self._recorder.open(Op.IF, a=row)
        return Block(self._recorder, "b.if_(...)")

    def else_(self) -> Block:
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
        return Block(self._recorder, "b.else_()")

    def for_range(
        self,
        start: Operand,
        stop: Operand | None = None,
        step: Operand = 1,
        *,
        dtype: DType | None = None,
        name: str = "",
    ) -> Block:
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
        require_text("a name", name)
        bounds = [0, start, step] if stop is None else [start, stop, step]
        of = self._index_type(dtype, bounds)
        rows = [operand_row(self._recorder, x, of, "bound") for x in bounds]
        row = self._recorder.open(Op.FOR, self._recorder.dtype[rows[0]], *rows)
        self._name(row, name)
        return Block(self._recorder, "b.for_range(...)", self._value(row))

    def _index_type(self, dtype: DType | None, bounds: Sequence[object]) -> DType:
        """The type that plain numbers take as bounds: an integer, so that only others are wrong."""
        if dtype is not None:
            require_dtype(dtype)
            if dtype.is_integer:
                return dtype
            self._recorder.problem(
                "E203",
                f"the index of a loop is an integer, found dtype={dtype}",
                "leave dtype out, or give an integer type, as in dtype=vw.i32",
            )
        typed = [x.dtype for x in bounds if isinstance(x, (Value, TypedLiteral))]
        integers = [given for given in typed if given.is_integer]
        # i32 is what the advice about a bound of another type casts it to.
        return integers[0] if integers else i32 if typed else u32

    def while_(self, condition: Callable[[], Operand]) -> Block:
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
        return Block(self._recorder, "b.while_(...)")

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
        require_text("a trap's tag", tag)
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
