"""Running a whole dispatch: its lanes in parts, and the parts in some order.

Without a seed the parts are consecutive workgroups that run one part after the other. With a seed
workgroups (lanes, in programs whose lanes never meet) are dealt out at random, and several parts
take turns at random, so that workgroups interleave, also between barriers. Of a few workgroups the
lanes are dealt out too, and wait for each other at barriers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..ir.ops import Op
from ..ir.program import Buffer, BufferKind
from ..ir.types import DType, dtype_from_code
from .lanes import Grid, Lanes
from .machine import Machine, Run
from .memory import Memory
from .order import Order
from .outcome import Outcome, TrapLog
from .plan import Plan
from .races import AccessLog
from .team import Team
from .watch import Watch

Array = npt.NDArray[Any]
Int64s = npt.NDArray[np.int64]

__all__ = ["Arguments", "Rules", "execute"]

_OWN_BYTES = 1 << 28
"""Most bytes of workgroup memory and private arrays of the lanes of one part, about."""

_PARTS = 6
"""Most parts that a small dispatch, or a workgroup of one, is dealt out to at random."""

_TURNS = 4
"""Most parts that take turns, those of one workgroup counted as one."""

_FEW_GROUPS = 6
"""Most workgroups of a dispatch whose workgroups are dealt out too."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """One dispatch's arguments, checked against the program.

    Attributes:
        inputs: buffer index to host array; not changed.
        lengths: elements of every buffer, by buffer index.
        params: bit pattern of every param, by param index.
        extent: logical elements on 1 to 3 axes, none of them 0.
    """

    inputs: Mapping[int, Array]
    lengths: Sequence[int]
    params: Sequence[int]
    extent: Sequence[int]


@dataclass(frozen=True, slots=True)
class Rules:
    """How to run, where the meaning of a program leaves it open.

    Attributes:
        subgroup_size: lanes of a subgroup.
        seed: shuffles lanes and workgroups; None runs them in order.
        detect_races: log accesses and look for races.
        max_iterations: loop iterations that the lanes of a part may make together.
        lanes_at_once: lanes of a part, about; in whole workgroups.
    """

    subgroup_size: int = 32
    seed: int | None = None
    detect_races: bool = False
    max_iterations: int = 10_000_000
    lanes_at_once: int = 1 << 16


def execute(plan: Plan, arguments: Arguments, rules: Rules) -> Outcome:
    """Runs a program.

    Raises:
        LoopLimitError: it made more loop iterations than the rules allow.
    """
    return _Execution(plan, arguments, rules).run()


class _Execution:
    def __init__(self, plan: Plan, arguments: Arguments, rules: Rules) -> None:
        program = plan.program
        self._plan = plan
        self._arguments = arguments
        self._rules = rules
        self._order = Order(rules.seed)
        self._grid = Grid.of(
            arguments.extent,
            program.workgroup_size,
            whole=plan.has_barriers,
            subgroup_size=rules.subgroup_size,
        )
        self._traps = TrapLog(program, self._grid, arguments.lengths)
        self._log = AccessLog(program, self._grid) if rules.detect_races else None
        self._storage = {
            index: self._storage_memory(index, buffer)
            for index, buffer in enumerate(program.buffers)
            if buffer.kind.is_storage
        }
        self._constants = self._constant_values()

    def run(self) -> Outcome:
        with np.errstate(all="ignore"):
            self._take_turns(self._teams())
            races = self._log.races() if self._log is not None else ()
        chosen = self._order.pick(len(self._traps)) if self._order.is_random else None
        contents = {index: memory.data for index, memory in self._storage.items()}
        unwritten = self._log.unwritten_reads if self._log is not None else ()
        return Outcome(contents, self._traps, chosen, races, unwritten)

    def _take_turns(self, teams: Iterator[list[Int64s]]) -> None:
        most = _TURNS if self._order.is_random else 1
        running: list[Team] = []
        while True:
            while len(running) < most and (members := next(teams, None)) is not None:
                running.append(self._start(members))
            if not running:
                return
            turn = self._order.pick(len(running))
            if not running[turn].go_on(self._order):
                running.pop(turn)

    # Parts

    def _teams(self) -> Iterator[list[Int64s]]:
        """The numbers of the lanes of each part; parts that wait for each other together."""
        grid, order = self._grid, self._order
        may_split = self._plan.is_grouped and grid.group_count <= _FEW_GROUPS
        if order.is_random and may_split and order.coin():
            for group in order.permutation(grid.group_count):
                yield self._members(grid.lanes_of_groups(np.array([group])))
        else:
            for part in self._parts():
                yield [part]

    def _members(self, number: Int64s) -> list[Int64s]:
        """The lanes of a workgroup dealt out, or its subgroups if they have to stay together."""
        together = self._grid.subgroup_size if self._plan.has_subgroups else 1
        unit = number % self._grid.group_lanes // together
        return [number[np.isin(unit, units)] for units in self._deal(np.unique(unit))]

    def _parts(self) -> Iterator[Int64s]:
        """The numbers of the lanes of each part, whole workgroups where they run together."""
        grid, order = self._grid, self._order
        lanes = self._lanes_at_once()
        if order.is_random and not self._plan.is_grouped and self._is_small(lanes):
            number = grid.lanes_of_groups(np.arange(grid.group_count))
            yield from self._deal(number)
            return
        groups = max(1, lanes // grid.group_lanes)
        if order.is_random:
            if grid.group_count <= groups:
                for part in self._deal(np.arange(grid.group_count)):
                    yield grid.lanes_of_groups(part)
                return
            shuffled = order.permutation(grid.group_count)
            for first in range(0, grid.group_count, groups):
                yield grid.lanes_of_groups(shuffled[first : first + groups])
            return
        for first in range(0, grid.group_count, groups):
            last = min(first + groups, grid.group_count)
            yield grid.lanes_of_groups(np.arange(first, last))

    def _is_small(self, lanes: int) -> bool:
        return self._grid.group_count * self._grid.group_lanes <= lanes

    def _deal(self, things: Int64s) -> Iterator[Int64s]:
        """Deals things out at random, to a random number of parts; each keeps their order."""
        parts = 1 + self._order.pick(min(_PARTS, things.size))
        cards = self._order.permutation(things.size) % parts
        for part in range(parts):
            yield things[cards == part]

    def _lanes_at_once(self) -> int:
        own = 0
        for buffer in self._plan.program.buffers:
            share = _static_count(buffer) * buffer.dtype.itemsize
            if buffer.kind is BufferKind.PRIVATE:
                own += share
            elif buffer.kind is BufferKind.WORKGROUP:
                own += -(-share // self._grid.group_lanes)
        return min(self._rules.lanes_at_once, _OWN_BYTES // max(own, 1))

    def _start(self, members: list[Int64s]) -> Team:
        shared: dict[int, Memory] = {}
        return Team([self._run(Lanes(self._grid, number), shared) for number in members])

    def _run(self, lanes: Lanes, shared: dict[int, Memory]) -> Run:
        """A machine for some lanes.

        Args:
            lanes: the lanes.
            shared: workgroup memory of the team by buffer index; filled by its first member.
        """
        program = self._plan.program
        memories = []
        for index, buffer in enumerate(program.buffers):
            match buffer.kind:
                case BufferKind.WORKGROUP:
                    memories.append(self._workgroup_memory(index, buffer, lanes, shared))
                case BufferKind.PRIVATE:
                    memories.append(_private_memory(buffer, lanes))
                case _:
                    memories.append(self._storage[index])
        values = self._constants.copy()
        for leaf in self._plan.leaves:
            if leaf.op not in _CONSTANT_LEAVES:
                values[leaf.row] = lanes.id(leaf.op, leaf.const)
        watch = Watch(program, lanes, self._log) if self._log is not None else None
        machine = Machine(
            self._plan,
            lanes,
            memories,
            values,
            self._order,
            self._traps,
            self._rules.max_iterations,
            watch,
        )
        return machine.run()

    # Memory

    def _storage_memory(self, index: int, buffer: Buffer) -> Memory:
        length = self._arguments.lengths[index]
        dtype = buffer.dtype.numpy
        given = self._arguments.inputs.get(index)
        written = None
        if given is not None:
            flat = given.reshape(-1)
            data = flat if buffer.kind is BufferKind.READ else flat.copy()
        elif buffer.uninitialized:
            data = self._order.garbage(length, dtype)
            written = self._tracked(length)
        else:
            data = np.zeros(length, dtype)
        return Memory(data, length, None, written)

    def _workgroup_memory(
        self, index: int, buffer: Buffer, lanes: Lanes, shared: dict[int, Memory]
    ) -> Memory:
        count, base = _static_count(buffer), lanes.slot * _static_count(buffer)
        first = shared.get(index)
        if first is None:
            data = np.zeros(count * lanes.slots, buffer.dtype.numpy)
            shared[index] = Memory(data, count, base, self._tracked(data.size))
            return shared[index]
        return Memory(first.data, count, base, first.written)

    def _tracked(self, count: int) -> npt.NDArray[np.bool_] | None:
        return np.zeros(count, np.bool_) if self._log is not None else None

    # Values known beforehand

    def _constant_values(self) -> list[Array]:
        program, arguments = self._plan.program, self._arguments
        values: list[Array] = [np.zeros(0)] * len(program.table)
        for leaf in self._plan.leaves:
            dtype = dtype_from_code(program.table.dtype[leaf.row])
            match leaf.op:
                case Op.LITERAL:
                    values[leaf.row] = _from_bits(program.literals[leaf.const], dtype)
                case Op.PARAM:
                    values[leaf.row] = _from_bits(arguments.params[leaf.const], dtype)
                case Op.LENGTH:
                    values[leaf.row] = np.array([arguments.lengths[leaf.const]], np.uint32)
        return values


def _private_memory(buffer: Buffer, lanes: Lanes) -> Memory:
    count = _static_count(buffer)
    data = np.zeros(count * lanes.count, buffer.dtype.numpy)
    return Memory(data, count, np.arange(lanes.count) * count)


_CONSTANT_LEAVES = (Op.LITERAL, Op.PARAM, Op.LENGTH)


def _from_bits(bits: int, dtype: DType) -> Array:
    """One value of a type from its bit pattern."""
    if dtype.kind == "bool":
        return np.array([bits != 0])
    return np.array([bits], f"u{dtype.itemsize}").view(dtype.numpy)


def _static_count(buffer: Buffer) -> int:
    """Elements of workgroup memory or a private array."""
    count = buffer.count.constant if buffer.count is not None else None
    return count or 0
