"""The interpreter: runs some lanes in step, statement by statement, under masks.

A value is an array with one entry for each lane of the part, or with one entry if it is the same
for all of them. Pure operations are computed for all lanes, also those that do not run the
statement; what those get is never looked at. Only what changes something looks at the mask.

Running is a generator: it yields where other parts may go on, before atomics and at barriers, and
says whether it is at a barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import LoopLimitError
from ..ir.ops import Op
from . import atomics, subgroups
from .lanes import Lanes
from .masks import Mask, lanes_of, narrow, union, without
from .memory import Memory
from .order import Order
from .outcome import TrapLog
from .plan import Block, Plan, Step
from .watch import Watch

Array = npt.NDArray[Any]
Run = Generator[bool, None, Mask]

__all__ = ["Machine", "Run"]

_GONE = np.zeros(0)
_NO_ADDRESS = np.zeros(1, np.int64)
_NO_LANES: Mask = False


@dataclass(slots=True)
class _Loop:
    """The innermost loop: lanes that left it, and those that ended this iteration early."""

    broken: Mask = False
    continued: Mask = False


class Machine:
    """Some lanes of a dispatch.

    Args:
        plan: the program.
        lanes: the lanes.
        memories: each buffer as these lanes see it.
        values: a value for each leaf row; changed.
        order: how open choices are made.
        traps: takes the traps.
        max_iterations: loop iterations that the lanes may make together.
        watch: is told of every access, or None.
    """

    def __init__(
        self,
        plan: Plan,
        lanes: Lanes,
        memories: list[Memory],
        values: list[Array],
        order: Order,
        traps: TrapLog,
        max_iterations: int,
        watch: Watch | None = None,
    ) -> None:
        self._plan = plan
        self._lanes = lanes
        self._count = lanes.count
        self._memories = memories
        self._values = values
        self._order = order
        self._traps = traps
        self._iterations_left = max_iterations
        self._max_iterations = max_iterations
        self._watch = watch
        self._loops: list[_Loop] = []
        # Of each lane, where they are bounded.
        self._iterations = np.zeros(lanes.count, np.int64)

    def run(self) -> Run:
        """Runs the whole program."""
        return self._block(self._plan.body, True)

    def _block(self, block: Block, mask: Mask) -> Run:
        """Runs a block; gives the lanes that reach its end."""
        values = self._values
        if mask is False:
            return False
        for step in block:
            if step.compute is not None:
                values[step.row] = step.compute(*[values[row] for row in step.operands])
                if step.divides:
                    mask = self._end_divisions_by_zero(step, mask)
            elif step.op in _NESTS:
                mask = yield from _NESTS[step.op](self, step, mask)
            else:
                if step.op in _MEETINGS:
                    yield step.op == Op.BARRIER
                mask = _EFFECTS[step.op](self, step, mask)
            for row in step.drops:
                values[row] = _GONE
            if mask is False:
                return False
        return mask

    # Blocks

    def _if(self, step: Step, mask: Mask) -> Run:
        condition = self._values[step.operands[0]]
        ways = [(step.parts[0], narrow(mask, condition))]
        outside = without(mask, condition)
        if len(step.parts) == 2:
            ways.append((step.parts[1], outside))
            if self._order.coin():
                ways.reverse()
            outside = False
        for block, inside in ways:
            ended = yield from self._block(block, inside)
            outside = union(outside, ended)
        return outside

    def _for(self, step: Step, mask: Mask) -> Run:
        start, stop, stride = (self._values[row] for row in step.operands)
        trips = _trip_counts(start, stop, stride)
        loop = self._enter_loop()
        active, done, index, trip = mask, _NO_LANES, start, 0
        while active is not False:
            going_on = trips > trip
            done = union(done, without(active, going_on))
            going = narrow(active, going_on)
            if going is False:
                break
            going = self._count_iteration(step, going)
            self._values[step.row] = index
            loop.continued = False
            ended = yield from self._block(step.parts[0], going)
            active = union(ended, loop.continued)
            index, trip = index + stride, trip + 1
        self._loops.pop()
        return union(done, loop.broken)

    def _while(self, step: Step, mask: Mask) -> Run:
        loop = self._enter_loop()
        active, done = mask, _NO_LANES
        while active is not False:
            active = yield from self._block(step.parts[0], active)
            if active is False:
                break
            condition = self._values[step.condition]
            done = union(done, without(active, condition))
            going = narrow(active, condition)
            if going is False:
                break
            going = self._count_iteration(step, going)
            loop.continued = False
            ended = yield from self._block(step.parts[1], going)
            active = union(ended, loop.continued)
        self._loops.pop()
        return union(done, loop.broken)

    def _enter_loop(self) -> _Loop:
        loop = _Loop()
        self._loops.append(loop)
        return loop

    def _count_iteration(self, step: Step, mask: Mask) -> Mask:
        """Counts one more iteration of some lanes; ends those that have made too many."""
        self._iterations_left -= 1
        most = self._plan.lane_iterations
        if most is not None:
            mask = self._end_where(step, mask, self._iterations >= most, _NO_ADDRESS)
            self._iterations[lanes_of(mask, self._count)] += 1
        if self._iterations_left < 0:
            program = self._plan.program
            source = program.debug.source(step.row)
            where = f" at {source[0]}:{source[1]}" if source else ""
            kind = Op(step.op).name.lower()
            raise LoopLimitError(
                f"program {program.name!r} made {self._max_iterations} loop iterations, the last "
                f"in the {kind} loop{where}",
                fix="make the loop end, or raise max_iterations of the ReferenceBackend",
            )
        return mask

    def _break(self, step: Step, mask: Mask) -> Mask:
        self._loops[-1].broken = union(self._loops[-1].broken, mask)
        return False

    def _continue(self, step: Step, mask: Mask) -> Mask:
        self._loops[-1].continued = union(self._loops[-1].continued, mask)
        return False

    def _return(self, step: Step, mask: Mask) -> Mask:
        return False

    def _trap(self, step: Step, mask: Mask) -> Mask:
        self._note_traps(step, mask, self._values[step.operands[0]])
        return False

    def _note_traps(self, step: Step, mask: Mask, address: Array) -> None:
        lanes = lanes_of(mask, self._count)
        if lanes.size:
            self._traps.add(step.row, self._lanes.number[lanes], self._of_lanes(address, lanes))

    def _end_where(self, step: Step, mask: Mask, fault: Array, address: Array) -> Mask:
        """Those of some lanes that go on; the others, at which a fault holds, trap."""
        if not fault.any():
            return mask
        self._note_traps(step, narrow(mask, fault), address)
        return without(mask, fault)

    def _end_divisions_by_zero(self, step: Step, mask: Mask) -> Mask:
        return self._end_where(step, mask, self._values[step.operands[1]] == 0, _NO_ADDRESS)

    def _end_out_of_bounds(self, step: Step, mask: Mask) -> Mask:
        """The lanes that make an access: all but, under checks, those out of bounds."""
        if not self._plan.check_bounds:
            return mask
        index = self._values[step.operands[0]]
        _, inside = self._memories[step.const].in_bounds(index)
        return self._end_where(step, mask, ~inside, index)

    def _barrier(self, step: Step, mask: Mask) -> Mask:
        # All lanes have come here: those of a part run in step, parts were waited for.
        if self._watch is not None:
            self._watch.barrier(mask)
        return mask

    # Names

    def _let(self, step: Step, mask: Mask) -> Mask:
        self._values[step.row] = self._values[step.operands[0]]
        return mask

    def _assign(self, step: Step, mask: Mask) -> Mask:
        variable, value = step.operands
        new = self._values[value]
        if mask is not True:
            # A new array: whoever read the variable before keeps the value of that time.
            new = np.where(mask, new, self._values[variable])
        self._values[variable] = new
        return mask

    # Memory

    def _load(self, step: Step, mask: Mask) -> Mask:
        mask = self._end_out_of_bounds(step, mask)
        memory, index = self._memories[step.const], self._values[step.operands[0]]
        if step.used:
            self._values[step.row] = memory.load(index)
        if self._watch is not None:
            lanes, place = memory.targets(index, mask, self._count, self._order)
            self._watch.read(step, memory, lanes, place)
        return mask

    def _store(self, step: Step, mask: Mask) -> Mask:
        mask = self._end_out_of_bounds(step, mask)
        memory = self._memories[step.const]
        index, value = (self._values[row] for row in step.operands)
        lanes, place = memory.targets(index, mask, self._count, self._order)
        values = self._of_lanes(value, lanes)
        memory.store(place, values)
        if self._watch is not None:
            self._watch.write(step, memory, lanes, place, values)
        return mask

    def _atomic(self, step: Step, mask: Mask) -> Mask:
        mask = self._end_out_of_bounds(step, mask)
        memory = self._memories[step.const]
        index, *operands = (self._values[row] for row in step.operands)
        lanes, place = memory.targets(index, mask, self._count, self._order)
        given = [self._of_lanes(value, lanes) for value in operands]
        old: Array | None
        match step.op:
            case Op.ATOMIC_EXCHANGE:
                old = atomics.exchange(memory.data, place, *given)
            case Op.ATOMIC_COMPARE_EXCHANGE:
                old = atomics.compare_exchange(memory.data, place, *given)
            case _:
                old = atomics.update(step.op, memory.data, place, *given, want_old=step.used)
        if old is not None and step.used:
            found = np.zeros(self._count, old.dtype)
            found[lanes] = old
            self._values[step.row] = found
        if self._watch is not None:
            self._watch.atomic(step, memory, lanes, place)
        return mask

    def _of_lanes(self, value: Array, lanes: npt.NDArray[np.int64]) -> Array:
        return np.broadcast_to(value, self._count)[lanes]

    # Subgroups

    def _reduce(self, step: Step, mask: Mask) -> Mask:
        value = self._values[step.operands[0]]
        self._values[step.row] = subgroups.reduce(step.op, self._lanes, mask, value)
        return mask

    def _ballot(self, step: Step, mask: Mask) -> Mask:
        condition, word = (self._values[row] for row in step.operands)
        self._values[step.row] = subgroups.ballot(self._lanes, mask, condition, word)
        return mask

    def _take(self, step: Step, mask: Mask) -> Mask:
        value, lane = (self._values[row] for row in step.operands)
        self._values[step.row] = subgroups.take(self._lanes, mask, value, lane)
        return mask


def _trip_counts(start: Array, stop: Array, stride: Array) -> npt.NDArray[np.uint64]:
    """How often a loop runs: what Python's range gives, 0 for a step of 0."""

    def wide(x: Array) -> npt.NDArray[np.uint64]:
        # Differences modulo 2^64 are right, for the true ones lie in its range.
        return x.astype(np.int64).view(np.uint64) if x.dtype.kind == "i" else x.astype(np.uint64)

    up, down = (stride > 0) & (start < stop), (stride < 0) & (start > stop)
    distance = np.where(down, wide(start) - wide(stop), wide(stop) - wide(start))
    size = np.where(down, np.negative(wide(stride)), wide(stride))
    runs = up | down
    trips = (distance - 1) // np.where(runs, size, np.uint64(1)) + 1
    return np.where(runs, trips, np.uint64(0))


_NESTS: dict[int, Callable[[Machine, Step, Mask], Run]] = {
    Op.IF: Machine._if,
    Op.FOR: Machine._for,
    Op.WHILE: Machine._while,
}

_EFFECTS: dict[int, Callable[[Machine, Step, Mask], Mask]] = {
    Op.BREAK: Machine._break,
    Op.CONTINUE: Machine._continue,
    Op.RETURN: Machine._return,
    Op.TRAP: Machine._trap,
    Op.BARRIER: Machine._barrier,
    Op.LET: Machine._let,
    Op.VAR: Machine._let,
    Op.VAR_GET: Machine._let,
    Op.ASSIGN: Machine._assign,
    Op.LOAD: Machine._load,
    Op.STORE: Machine._store,
    Op.ATOMIC_ADD: Machine._atomic,
    Op.ATOMIC_SUB: Machine._atomic,
    Op.ATOMIC_AND: Machine._atomic,
    Op.ATOMIC_OR: Machine._atomic,
    Op.ATOMIC_XOR: Machine._atomic,
    Op.ATOMIC_MIN: Machine._atomic,
    Op.ATOMIC_MAX: Machine._atomic,
    Op.ATOMIC_EXCHANGE: Machine._atomic,
    Op.ATOMIC_COMPARE_EXCHANGE: Machine._atomic,
    Op.SUBGROUP_ADD: Machine._reduce,
    Op.SUBGROUP_MUL: Machine._reduce,
    Op.SUBGROUP_MIN: Machine._reduce,
    Op.SUBGROUP_MAX: Machine._reduce,
    Op.SUBGROUP_AND: Machine._reduce,
    Op.SUBGROUP_OR: Machine._reduce,
    Op.SUBGROUP_XOR: Machine._reduce,
    Op.SUBGROUP_BALLOT: Machine._ballot,
    Op.SUBGROUP_BROADCAST: Machine._take,
    Op.SUBGROUP_SHUFFLE: Machine._take,
}

# Where the scheduler may let other parts go on.
_MEETINGS = frozenset(
    {Op.BARRIER, *(op for op, effect in _EFFECTS.items() if effect is Machine._atomic)}
)
