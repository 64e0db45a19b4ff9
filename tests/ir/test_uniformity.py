"""Uniformity: what it finds, and that it never claims too much.

The second part runs random programs lane by lane and compares what the lanes did: whatever the
analysis calls uniform must have been the same for all of them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

import vyre_wgpu.ir as vw
from vyre_wgpu.ir.blocks import find_blocks
from vyre_wgpu.ir.ops import Op
from vyre_wgpu.ir.program import Program
from vyre_wgpu.ir.uniformity import analyze


class Kernel:
    """A builder with a uniform and a varying value, and marks to ask about."""

    def __init__(self) -> None:
        self.b = vw.ProgramBuilder("kernel")
        self.x = self.b.read("x", vw.u32)
        self.n = self.b.param("n", vw.u32)
        self.i = self.b.local_id(0)
        self.b.extent(64)

    def mark(self, name: str, value: vw.Value | None = None) -> None:
        """A row of this name: for its flow, and for the value if one is given."""
        self.b.let(name, vw.u32(0) if value is None else value)


def marks(write: Callable[[Kernel], None]) -> tuple[dict[str, bool], dict[str, bool]]:
    """Value and flow of the marks of a program."""
    kernel = Kernel()
    write(kernel)
    program = kernel.b.build()
    found = analyze(program)
    named = program.debug.names
    values = {name: bool(found.value[row]) for row, name in named}
    return values, {name: bool(found.flow[row]) for row, name in named}


def test_uniform_values_are_constants_group_ids_and_what_is_computed_from_them() -> None:
    def write(k: Kernel) -> None:
        k.mark("literal", vw.f32(1))
        k.mark("param", k.n)
        k.mark("length", k.x.length)
        k.mark("group", k.b.workgroup_id(0))
        k.mark("groups", k.b.num_workgroups(2) + k.n * 2)
        k.mark("choice", vw.select(k.n > 3, k.n, k.x.length + 0))

    values, flow = marks(write)
    assert all(values.values())
    assert all(flow.values())


def test_varying_values_are_lane_ids_memory_subgroups_and_what_is_computed_from_them() -> None:
    def write(k: Kernel) -> None:
        shared = k.b.workgroup("shared", vw.u32, 1)
        k.mark("global", k.b.global_id(1))
        k.mark("local", k.b.local_id(2))
        k.mark("load", k.x[0])
        k.mark("atomic", k.b.atomic_add(shared, 0, 1))
        k.mark("lane", k.b.subgroup_lane())
        k.mark("size", k.b.subgroup_size())
        k.mark("sum", k.b.subgroup_add(k.n))
        k.mark("ballot", k.b.subgroup_ballot(k.n > 0))
        k.mark("computed", k.i * 0 + k.n)

    values, flow = marks(write)
    assert not any(values.values())
    assert all(flow.values())


def test_flow_parts_in_a_varying_branch_and_meets_after_it() -> None:
    def write(k: Kernel) -> None:
        with k.b.if_(k.i < 3):
            k.mark("then", k.n)
            with k.b.if_(k.n > 3):
                k.mark("inner")
        with k.b.else_():
            k.mark("otherwise")
        k.mark("after")
        with k.b.if_(k.n > 3):
            k.mark("together")

    values, flow = marks(write)
    assert values["then"]
    assert flow == {
        "then": False,
        "inner": False,
        "otherwise": False,
        "after": True,
        "together": True,
    }


def test_variable_is_uniform_where_what_was_assigned_last_is() -> None:
    def write(k: Kernel) -> None:
        same, value, branch, late = (
            k.b.var(name, vw.u32, k.n) for name in ("same", "value", "branch", "late")
        )
        k.mark("late read before", late)
        same += 3
        value += k.i
        with k.b.if_(k.i > 3):
            branch.set(1)
            k.b.var("inside", vw.u32)
        late.set(branch)
        k.mark("same read", same)
        k.mark("value read", value)
        k.mark("branch read", branch)
        k.mark("late read after", late)
        value.set(k.n)
        late.set(value)
        k.mark("value read again", value)
        k.mark("late read again", late)
        k.mark("branch read again", branch)

    values, _ = marks(write)
    assert values == {
        "same": True,
        "value": True,
        "branch": True,
        "late": True,
        "inside": False,
        "late read before": True,
        "same read": True,
        "value read": False,
        "branch read": False,
        "late read after": False,
        "value read again": True,
        "late read again": True,
        "branch read again": False,
    }


def test_parts_of_a_branch_see_what_was_before_it_and_meet_behind_it() -> None:
    def write(k: Kernel) -> None:
        one, both, neither = (k.b.var(name, vw.u32, k.i) for name in ("one", "both", "neither"))
        with k.b.if_(k.n > 3):
            one.set(1)
            both.set(2)
            k.mark("one in first", one)
        with k.b.else_():
            k.mark("both in second before", both)
            both.set(k.n)
            k.mark("both in second", both)
        k.mark("one after", one)
        k.mark("both after", both)
        k.mark("neither after", neither)

    values, _ = marks(write)
    assert {name for name, uniform in values.items() if uniform} == {
        "one in first",
        "both in second",
        "both after",
    }


def test_iterations_see_what_the_one_before_left() -> None:
    def write(k: Kernel) -> None:
        passed, set_anew = k.b.var("passed", vw.u32), k.b.var("set_anew", vw.u32)

        def condition() -> vw.Value:
            k.mark("passed in condition", passed)
            k.mark("set anew in condition", set_anew)
            return k.n > 3

        with k.b.while_(condition):
            set_anew.set(k.i)
            k.mark("set anew between", set_anew)
            set_anew.set(k.n)
            k.mark("set anew at the end", set_anew)
            passed.set(k.i)
        k.mark("set anew after", set_anew)
        k.mark("passed after", passed)

    values, _ = marks(write)
    assert not values["passed in condition"]
    assert values["set anew in condition"]
    assert not values["set anew between"]
    assert values["set anew at the end"]
    assert values["set anew after"]
    assert not values["passed after"]


def test_what_follows_a_while_sees_what_its_condition_assigned() -> None:
    def write(k: Kernel) -> None:
        seen = k.b.var("seen", vw.u32)

        def condition() -> vw.Value:
            seen.set(k.i)
            return k.n > 3

        with k.b.while_(condition):
            seen.set(k.n)
        k.mark("after", seen)

    values, _ = marks(write)
    assert not values["after"]


@pytest.mark.parametrize("leap", ["break_", "continue_"])
def test_leap_takes_along_whatever_its_loop_assigns(leap: str) -> None:
    def write(k: Kernel) -> None:
        taken, kept = k.b.var("taken", vw.u32), k.b.var("kept", vw.u32)
        with k.b.for_range(k.n):
            k.mark("taken at the start", taken)
            with k.b.for_range(k.n):
                taken.set(k.i)
            with k.b.if_(k.n == 3):
                getattr(k.b, leap)()
            taken.set(k.n)
            kept.set(k.n)
        k.mark("taken after", taken)
        k.mark("kept after", kept)

    values, _ = marks(write)
    assert values["taken at the start"] == (leap == "break_")
    assert not values["taken after"]
    assert values["kept after"]


def test_barrier_may_stand_in_a_loop_over_a_variable_that_is_uniform_again() -> None:
    kernel = Kernel()
    b = kernel.b
    left = b.var("left", vw.u32, 0)
    left.set(kernel.i)
    left.set(kernel.n)
    with b.while_(lambda: left > 0):
        b.barrier()
        left -= 1
    program = b.build()
    barrier = program.table.op.index(Op.BARRIER)
    assert analyze(program).flow[barrier]


def test_loop_with_uniform_bounds_is_uniform() -> None:
    def write(k: Kernel) -> None:
        with k.b.for_range(0, k.n, name="j") as j:
            k.mark("body", j + 1)
            with k.b.if_(j == 3):
                k.b.break_()

    values, flow = marks(write)
    assert values == {"j": True, "body": True}
    assert flow["body"]


@pytest.mark.parametrize("bound", ["start", "stop", "step"])
def test_loop_with_a_varying_bound_is_not_uniform(bound: str) -> None:
    def write(k: Kernel) -> None:
        bounds = {"start": k.n + 0, "stop": k.n + 0, "step": k.n + 0, bound: k.i}
        with k.b.for_range(*bounds.values(), name="j") as j:
            k.mark("body", j)
        k.mark("after")

    values, flow = marks(write)
    assert values == {"j": False, "body": False, "after": True}
    assert flow == {"j": True, "body": False, "after": True}


@pytest.mark.parametrize("leap", ["break_", "continue_"])
def test_leap_of_some_lanes_parts_the_flow_of_the_whole_loop_but_not_after_it(leap: str) -> None:
    def write(k: Kernel) -> None:
        count = k.b.var("count", vw.u32)
        with k.b.for_range(0, k.n, name="outer"):
            k.mark("around")
            with k.b.for_range(0, k.n, name="j"):
                k.mark("before")
                count += 1
                with k.b.if_(k.x[0] > 3):
                    getattr(k.b, leap)()
            k.mark("between")
        k.mark("after", count)

    values, flow = marks(write)
    assert not flow["before"]
    assert flow["around"]
    assert flow["between"]
    assert flow["after"]
    assert not values["after"]
    assert values["outer"]


def test_condition_of_a_while_that_varies_parts_condition_and_body() -> None:
    def write(k: Kernel) -> None:
        left = k.b.var("left", vw.u32, k.i)

        def condition() -> vw.Value:
            k.mark("condition")
            return left > 0

        with k.b.while_(condition):
            k.mark("body")
            left -= 1
        k.mark("after")

    _, flow = marks(write)
    assert flow == {"left": True, "condition": False, "body": False, "after": True}


def test_non_uniformity_found_late_reaches_what_stands_before() -> None:
    def write(k: Kernel) -> None:
        chain = [k.b.var(f"v{j}", vw.u32) for j in range(20)]
        with k.b.while_(lambda: chain[0] < k.n):
            k.mark("body")
            for one, next_one in itertools.pairwise(chain):
                one.set(next_one)
            with k.b.if_(k.n == 77):
                chain[-1].set(k.i)
            for j, variable in enumerate(chain):
                k.mark(f"read{j}", variable)

    values, flow = marks(write)
    assert not flow["body"]
    assert not any(values[f"read{j}"] for j in range(20))


@pytest.mark.parametrize("end", ["return_", "trap"])
def test_lane_that_ends_does_not_part_later_flow(end: str) -> None:
    def write(k: Kernel) -> None:
        with k.b.for_range(0, 4):
            with k.b.if_(k.i > 3):
                k.b.return_() if end == "return_" else k.b.trap("bad")
            k.b.barrier()
            k.mark("in loop")
        k.mark("after")

    _, flow = marks(write)
    assert flow == {"in loop": True, "after": True}


def test_ended_lanes_leave_a_loop_without_barrier_only_if_no_barrier_is_lost() -> None:
    def write(k: Kernel, barrier: bool) -> None:
        count = k.b.var("count", vw.u32)
        with k.b.while_(lambda: count < k.n):
            k.mark("in loop")
            count += 1
            with k.b.if_(k.i > 3):
                k.b.return_()
        with k.b.if_(count > 3):
            if barrier:
                k.b.barrier()

    _, flow = marks(lambda k: write(k, barrier=False))
    assert not flow["in loop"]
    _, flow = marks(lambda k: write(k, barrier=True))
    assert flow["in loop"]


def test_lanes_cannot_meet_after_a_loop_that_only_a_return_ends() -> None:
    def write(k: Kernel) -> None:
        count = k.b.var("count", vw.u32)
        with k.b.while_(lambda: vw.bool_(True)):
            count += 1
            with k.b.if_(k.x[0] > count):
                k.b.return_()
            k.b.subgroup_add(count + 0)

    with pytest.raises(vw.ValidationError) as error:
        marks(write)
    assert error.value.codes == ("E504",)


# Lane by lane

SEEDS = 100
LANES = range(4)
PARAMS = (3, 4, 5)
FUEL = 50_000


class Writer:
    """Writes random statements over a few variables."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.b = vw.ProgramBuilder("random")
        self.b.extent(4)
        self.values = [self.b.local_id(0), self.b.param("n", vw.u32)]
        self.vars = [self.b.var(f"v{j}", vw.u32, j) for j in range(3)]

    def value(self) -> vw.Value:
        chance = self.chance
        value = chance.choice([*self.values, chance.choice(self.vars)])
        return value + chance.randint(1, 3) if chance.random() < 0.5 else value

    def condition(self) -> vw.Value:
        return self.bound() % 4 < self.chance.randint(1, 3)

    def bound(self) -> vw.Value:
        """A value that is mostly uniform, or lanes would hardly ever be together."""
        return self.value() if self.chance.random() < 0.2 else self.values[1]

    def look(self) -> None:
        """Reads every variable, to have it in the trace."""
        for variable in self.vars:
            variable + 0

    def assign(self) -> None:
        self.chance.choice(self.vars).set(self.value())

    def block(self, depth: int, in_loop: bool) -> None:
        self.look()
        for _ in range(self.chance.randint(1, 4)):
            self.statement(depth, in_loop)
            self.look()

    def statement(self, depth: int, in_loop: bool) -> None:
        b, kind = self.b, self.chance.random()
        if kind < 0.3 or depth == 0:
            self.assign()
        elif kind < 0.45:
            with b.if_(self.condition()):
                self.block(depth - 1, in_loop)
            if self.chance.random() < 0.5:
                with b.else_():
                    self.block(depth - 1, in_loop)
        elif kind < 0.6:
            with b.for_range(0, self.bound() % 4):
                self.block(depth - 1, True)
        elif kind < 0.75:
            left = b.var("", vw.u32)

            def condition() -> vw.Value:
                if self.chance.random() < 0.5:
                    self.assign()
                return left + self.bound() % 3 < 4

            with b.while_(condition):
                left += 1
                self.block(depth - 1, True)
        elif in_loop:
            with b.if_(self.condition()):
                self.assign()
                b.break_() if self.chance.random() < 0.5 else b.continue_()


def run(program: Program, lane: int, param: int) -> dict[int, list[int]]:
    """The values that one lane computes at each row, in order."""
    table, (blocks, _) = program.table, find_blocks(program.table.op)
    ends = {row: blocks.end[int(blocks.scope[row])] for row in range(len(table))}
    opener_at = dict(zip(blocks.end, blocks.opener, strict=True))
    trace: dict[int, list[int]] = {row: [] for row in range(len(table))}
    values, loops = [0] * len(table), dict[int, list[int]]()
    row = steps = 0
    while row < len(table):
        steps += 1
        assert steps < FUEL, "a random program is meant to end"
        op, a, b, c = Op(table.op[row]), *(values[x[row]] for x in (table.a, table.b, table.c))
        here, at, following = blocks.scope[row], row, row + 1
        loop = blocks.loop[int(blocks.flow[row])]
        match op:
            case Op.LITERAL:
                values[row] = program.literals[table.const[row]]
            case Op.PARAM:
                values[row] = param
            case Op.LOCAL_ID:
                values[row] = lane
            case Op.ADD:
                values[row] = a + b
            case Op.MOD:
                values[row] = a % b
            case Op.LT:
                values[row] = int(a < b)
            case Op.VAR | Op.VAR_GET:
                values[row] = a
            case Op.ASSIGN:
                values[table.a[row]] = b
            case Op.IF:
                following = row + 1 if a else ends[row] + 1
            case Op.ELSE:
                following = ends[row] + 1
            case Op.FOR:
                first = loops.setdefault(row, [a, b, c])
                values[row], first[0] = first[0], first[0] + first[2]
                if values[row] >= first[1]:
                    del loops[row]
                    following = ends[row] + 1
            case Op.DO:
                following = row + 1 if a else blocks.end[int(here)] + 1
            case Op.END:
                opener = opener_at[row]
                following = opener if table.op[opener] in (Op.FOR, Op.WHILE) else row + 1
            case Op.BREAK:
                loops.pop(blocks.opener[loop], None)
                following = blocks.end[loop] + 1
            case Op.CONTINUE:
                following = blocks.opener[loop]
        # A loop's opener is passed once for each iteration, but it is run once.
        if op not in (Op.FOR, Op.WHILE, Op.END, Op.ELSE) or (op is Op.FOR and following == row + 1):
            trace[at].append(values[at])
        row = following
    return trace


def check_lanes(seed: int) -> None:
    """Runs a random program: whatever is called uniform must be the same in all lanes."""
    writer = Writer(random.Random(seed))
    writer.block(3, in_loop=False)
    program = writer.b.build()
    found = analyze(program)
    for param in PARAMS:
        traces = [run(program, lane, param) for lane in LANES]
        for row in range(len(program.table)):
            is_for = program.table.op[row] == Op.FOR
            together = found.body[row] if is_for else found.flow[row]
            if together:
                assert len({len(trace[row]) for trace in traces}) == 1, row
                if found.value[row]:
                    assert len({tuple(trace[row]) for trace in traces}) == 1, row


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_is_called_uniform_is_the_same_in_all_lanes(seed: int) -> None:
    check_lanes(seed)


@pytest.mark.parametrize("seed", range(10))
def test_program_too_tangled_to_follow_its_variables_is_judged_by_all_they_ever_hold(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(k: Kernel) -> None:
        again = k.b.var("again", vw.u32, k.i)
        with k.b.if_(k.n > 3):
            again.set(0)
        again.set(k.n)
        k.mark("read", again)

    assert marks(write)[0]["read"]
    monkeypatch.setattr("vyre_wgpu.ir.definitions._MOST_MEETINGS", 0)
    assert not marks(write)[0]["read"]
    check_lanes(seed)


def test_random_programs_part_and_stay_together_often_enough_to_mean_something() -> None:
    uniform = total = 0
    for seed in range(SEEDS):
        writer = Writer(random.Random(seed))
        writer.block(3, in_loop=False)
        found = analyze(writer.b.build())
        uniform += sum(found.flow)
        total += len(found.flow)
    assert 0.1 < uniform / total < 0.9
