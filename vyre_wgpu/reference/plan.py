"""A program as nested steps, ready to be run: functions looked up, lifetimes of values known.

A value is dropped after its last use, so that long programs do not hold an array for each of their
operations. A use in an inner block counts as one at the end of that block: loops come back to it,
and either part of an ``if`` may run first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ir.ops import INFO, Op
from ..ir.program import BufferKind, Program
from ..ir.types import dtype_from_code
from .arithmetic import Compute, operation

__all__ = ["Block", "Leaf", "Plan", "Step", "plan_program"]

_COMPUTED = ("unary", "binary", "ternary")
_DIVISIONS = (Op.FLOOR_DIV, Op.MOD, Op.TRUNC_DIV, Op.REM)
_SUBGROUP_LEAVES = (Op.SUBGROUP_SIZE, Op.SUBGROUP_LANE)


@dataclass(slots=True)
class Step:
    """One statement or operation, or a nest of blocks.

    Attributes:
        op: operation code.
        row: its row in the table.
        operands: rows of its operands.
        const: index of a buffer or tag, or -1.
        compute: gives the value from the operands' values; None where there is more to do.
        divides: whether lanes with a divisor of zero trap.
        used: whether anything uses its value.
        parts: the blocks of an ``if``, ``for`` or ``while`` (condition, body).
        condition: for a ``while``, the row of its condition; else -1.
        drops: rows whose values are not needed after this step.
    """

    op: int
    row: int
    operands: tuple[int, ...]
    const: int
    compute: Compute | None = None
    divides: bool = False
    used: bool = False
    parts: list[Block] = field(default_factory=list)
    condition: int = -1
    drops: list[int] = field(default_factory=list)


Block = list[Step]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A row whose value is known before anything runs.

    Attributes:
        op: operation code.
        row: its row.
        const: index of a literal, param, buffer or axis, or -1.
    """

    op: int
    row: int
    const: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A program ready to be run.

    Attributes:
        program: the program.
        body: its steps.
        leaves: its leaves that are used.
        has_barriers: whether it has a barrier, so that whole workgroups run.
        has_subgroups: whether lanes of a subgroup exchange values, so that they run together.
        lane_iterations: most loop iterations of a lane over all its loops; one that needs more
            traps with the tag `LOOP_LIMIT`. None does not count them.
        check_bounds: whether lanes that access an element which a buffer does not have trap.
        is_grouped: whether lanes of a workgroup must run together: barriers, subgroup operations
            or workgroup memory.
    """

    program: Program
    body: Block
    leaves: tuple[Leaf, ...]
    has_barriers: bool
    has_subgroups: bool
    is_grouped: bool
    lane_iterations: int | None = None
    check_bounds: bool = False


def plan_program(
    program: Program,
    lane_iterations: int | None = None,
    *,
    check_bounds: bool = False,
    check_divisions: bool = False,
) -> Plan:
    """Plans a valid program.

    Args:
        program: the program.
        lane_iterations: see `Plan`.
        check_bounds: see `Plan`.
        check_divisions: whether lanes that divide an integer by zero trap, be the result used or
            not.
    """
    codes = set(program.table.op)
    barriers = Op.BARRIER in codes
    subgroups = any(INFO[code].group == "subgroup" for code in codes)
    grouped = (
        barriers
        or subgroups
        or any(code in _SUBGROUP_LEAVES for code in codes)
        or any(buffer.kind is BufferKind.WORKGROUP for buffer in program.buffers)
    )
    planner = _Planner(program, check_divisions=check_divisions)
    planner.run()
    leaves = tuple(planner.leaves)
    return Plan(
        program,
        planner.body,
        leaves,
        barriers,
        subgroups,
        grouped,
        lane_iterations,
        check_bounds,
    )


class _Planner:
    """One pass over the table: nests steps, then attaches lifetimes."""

    def __init__(self, program: Program, *, check_divisions: bool) -> None:
        self._program = program
        self._check_divisions = check_divisions
        self.body: Block = []
        self.leaves: list[Leaf] = []
        self._block: Block = self.body
        self._nests: list[Step] = []
        # By block number: the enclosing block, and the nest it belongs to. Block 0 is the body.
        self._parent = [-1]
        self._nest_of: list[Step | None] = [None]
        self._open = [0]
        self._home = [0] * len(program.table)
        self._last: dict[int, tuple[int, Step]] = {}
        self._uses: list[tuple[int, int, Step]] = []
        self._end: dict[int, int] = {}

    def run(self) -> None:
        table = self._program.table
        used = bytearray(len(table))
        for row in range(len(table)):
            for operand in table.operands(row):
                used[operand] = 1
        for row, code in enumerate(table.op):
            if INFO[code].group == "leaf":
                if used[row]:
                    self.leaves.append(Leaf(code, row, table.const[row]))
            else:
                self._take(row, code, bool(used[row]))
        self._end[0] = len(table)
        self._attach_drops()

    def _take(self, row: int, code: int, used: bool) -> None:
        operands = self._program.table.operands(row)
        self._home[row] = self._open[-1]
        match code:
            case Op.ELSE | Op.DO:
                nest = self._nests[-1]
                if code == Op.DO:
                    nest.condition = operands[0]
                    self._note_uses(row, operands, nest)
                else:
                    self._open.pop()
                    self._enter(nest)
                nest.parts.append([])
                self._block = nest.parts[-1]
            case Op.END:
                nest = self._nests.pop()
                self._end[nest.row] = row
                self._open.pop()
                self._block = self._nests[-1].parts[-1] if self._nests else self.body
            case _:
                self._add(row, code, operands, used)

    def _add(self, row: int, code: int, operands: tuple[int, ...], used: bool) -> None:
        info = INFO[code]
        divides = self._check_divisions and self._divides_integers(code, operands)
        if info.pure and not used and not divides:
            return
        const = self._program.table.const[row]
        step = Step(code, row, operands, const, divides=divides, used=used)
        self._note_uses(row, operands, step)
        if info.group in _COMPUTED:
            table = self._program.table
            # The class of a type is that of operand 0; of operand 1 for a select.
            operand = dtype_from_code(table.dtype[operands[0]])
            step.compute = operation(Op(code), operand, dtype_from_code(table.dtype[row]))
        self._block.append(step)
        if code in (Op.IF, Op.FOR, Op.WHILE):
            self._nests.append(step)
            self._enter(step)
            self._home[row] = self._open[-1] if code == Op.FOR else self._home[row]
            step.parts.append([])
            self._block = step.parts[0]
        elif info.result != "void":
            self._uses.append((row, row, step))

    def _divides_integers(self, code: int, operands: tuple[int, ...]) -> bool:
        if code not in _DIVISIONS:
            return False
        return dtype_from_code(self._program.table.dtype[operands[0]]).is_integer

    def _enter(self, nest: Step) -> None:
        self._parent.append(self._open[-1])
        self._nest_of.append(nest)
        self._open.append(len(self._parent) - 1)

    def _note_uses(self, row: int, operands: tuple[int, ...], step: Step) -> None:
        self._uses += [(operand, row, step) for operand in operands]

    def _attach_drops(self) -> None:
        """Finds for each value the last step that needs it."""
        table = self._program.table
        for value, row, step in self._uses:
            if INFO[table.op[value]].group == "leaf":
                continue
            block, position, last = self._home[row], row, step
            if row == value:
                block = self._home[value]
            while block != self._home[value]:
                nest = self._nest_of[block]
                assert nest is not None  # an operand is defined in an enclosing block
                block, position, last = self._parent[block], self._end[nest.row], nest
            if last.parts:
                position = self._end[last.row]
            if value not in self._last or self._last[value][0] < position:
                self._last[value] = (position, last)
        for value, (_, last) in self._last.items():
            last.drops.append(value)
