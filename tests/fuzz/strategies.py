"""Random valid programs with inputs, every observable result of which is determined.

What the language leaves open is kept out by construction, so that any difference between backends
is a fault of one of them:

- Each lane stores to elements of its own; what several lanes store is one literal, never read.
- Atomics commute, their old values are not used, and their buffers are read after a barrier only.
- Workgroup memory is, from barrier to barrier, either written (own elements) or read.
- Products are never summands: a driver may contract ``a * b + c`` (`Expressions.no_product`).
- Results that may be subnormal become zero, for a driver may flush them (`Expressions.normal`).
- NaN payloads and the sign of a zero from ``minimum`` and the like reach no integer.
- Quotients and elementary functions go to *rough* outputs, compared within the bounds stated for
  them, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

import vyre_wgpu.ir as vw
from tests.fuzz.case import Case
from tests.fuzz.choices import Choices
from tests.fuzz.declarations import Declarations, Known
from tests.fuzz.expressions import Expressions
from tests.fuzz.inexact import inexact
from tests.fuzz.operations import INTEGERS, WORDS
from vyre_wgpu.ir import DebugInfo, Value
from vyre_wgpu.ir.types import ALL_DTYPES

__all__ = ["cases"]


@dataclass
class Flow:
    """Where a statement stands."""

    uniform: bool = True
    loop: str = ""  # "", "uniform" or "lane": who leaves the innermost loop
    loops: int = 0
    barriers: bool = True
    depth: int = 0


class Writer:
    """Writes the statements of one program.

    Args:
        choices: draws.
        budget: about how many expressions and statements it may have.
        only: "total" or "trap"; either of them, mostly the former, if empty.
    """

    def __init__(self, choices: Choices, budget: int, only: str) -> None:
        self.choices = choices
        rarely = "trap" if choices.chance(5) else "total"
        self.checks = only or rarely
        self.declared = Declarations(choices)
        self.b = self.declared.b
        self.expressions = Expressions(choices, self.declared, budget, self.checks)
        self.flagged = 0

    def write(self) -> Case:
        """The program, with what it takes to run it."""
        flow, declared = Flow(), self.declared
        for _ in range(2 + self.choices.number(8)):
            if self.expressions.budget < 0:
                break
            self.statement(flow)
        if declared.phased and self.choices.chance(2):
            self.barrier()
            self.store_own()
        self.store_own()
        return Case(
            replace(declared.b.build(), debug=DebugInfo()),
            declared.inputs,
            declared.params,
            self.checks,
            declared.rough,
            self.choices.number(8) or None,
            not self.choices.chance(4),
        )

    @contextmanager
    def scope(self) -> Iterator[None]:
        self.expressions.scopes.append([])
        self.expressions.variables.append([])
        yield
        self.expressions.scopes.pop()
        self.expressions.variables.pop()

    def block(self, flow: Flow, most: int = 4) -> None:
        with self.scope():
            for _ in range(1 + self.choices.number(most)):
                if self.expressions.budget < 0:
                    break
                self.statement(flow)

    def statement(self, flow: Flow) -> None:
        self.expressions.looping = flow.loops > 0
        self.expressions.budget -= 1
        if self.declared.phased and self.choices.chance(3):
            if flow.uniform and flow.barriers and self.choices.chance(2):
                self.barrier()
            else:
                self.store_phased()
            return
        form = self.choices.number(18)
        if form < 5:
            self.store_own()
        elif form < 7:
            dtype = self.choices.type()
            made = self.expressions.value(dtype)
            self.expressions.scopes[-1].append(
                Known(self.b.let("", made.value), made.uniform, made.product, made.whole)
            )
        elif form == 7:
            dtype = self.choices.type()
            start = self.expressions.expression(dtype).value if self.choices.chance(2) else None
            self.expressions.variables[-1].append(self.b.var("", dtype, start))
        elif form == 8:
            self.assign()
        elif form < 12 and flow.depth < 4:
            self.branch(flow)
        elif form < 14 and flow.loops < 2 and flow.depth < 4:
            self.loop(flow)
        elif form == 14:
            self.atomic()
        elif form == 15 and self.declared.private:
            m = self.choices.pick(self.declared.private)
            m[self.expressions.index(6)] = self.expressions.expression(m.dtype).value
        elif form == 16 and self.declared.flags is not None and self.flagged < 16:
            dtype = self.declared.flags.dtype
            self.declared.flags[self.flagged] = self.expressions.literal(dtype).value
            self.flagged += 1
        elif form == 17:
            self.leave(flow)
        else:
            self.store_own()

    def store_own(self) -> None:
        y, per_lane = self.choices.pick(self.declared.own)
        rough = self.declared.rough
        if y.name in rough:
            index = self.expressions.own_index(per_lane)
            y[index], ulp = inexact(self.choices, self.expressions, y.dtype)
            rough[y.name] = max(ulp, rough[y.name])
        else:
            y[self.expressions.own_index(per_lane)] = self.expressions.expression(y.dtype, 3).value

    def assign(self) -> None:
        found = [v for scope in self.expressions.variables for v in scope]
        if found:
            v = self.choices.pick(found)
            v.set(self.expressions.expression(v.dtype).value)
        else:
            self.store_own()

    def branch(self, flow: Flow) -> None:
        c = self.expressions.value(vw.bool_, 2, uniform=self.choices.chance(3))
        inner = Flow(
            flow.uniform and c.uniform, flow.loop, flow.loops, flow.barriers, flow.depth + 1
        )
        before = [p.own for p in self.declared.phased]
        inner.barriers = False  # both ways must leave the phases alike
        with self.b.if_(c.value):
            self.block(inner, 3)
        if self.choices.chance(2):
            with self.b.else_():
                self.block(inner, 3)
        assert before == [p.own for p in self.declared.phased]

    def loop(self, flow: Flow) -> None:
        synchronous = (
            bool(self.declared.phased) and flow.uniform and flow.barriers and self.choices.chance(2)
        )
        uniform = synchronous or self.choices.chance(3)
        inner = Flow(
            flow.uniform and uniform,
            "uniform" if synchronous else "lane",
            flow.loops + 1,
            synchronous,
            flow.depth + 1,
        )
        self.expressions.looping = True
        if self.choices.chance(3) and not synchronous:
            inner.uniform = False
            self.loop_while(inner)
            return
        with self.loop_for(uniform) as k, self.scope():
            self.expressions.scopes[-1].append(Known(k, uniform=uniform))
            if not synchronous:
                inner.uniform = False  # a break or an ended lane may part them
            self.loop_body(inner, synchronous)
        if synchronous:
            self.barrier()

    def loop_body(self, inner: Flow, synchronous: bool) -> None:
        if synchronous:
            self.barrier()
        self.block(inner, 3)
        self.expressions.looping = inner.loops > 1

    def loop_for(self, uniform: bool) -> Any:
        dtype = self.choices.pick(INTEGERS)
        form = self.choices.number(8)
        if form == 7:
            bounds = [self.expressions.literal(dtype).value for _ in range(2)]
            step = self.choices.pick((1, 2, 100))
            return self.b.for_range(*bounds, dtype(step))
        if form == 6:
            # To the end of the type, which the index must not pass.
            start = dtype.max - self.choices.number(5)
            return self.b.for_range(dtype(start), dtype.max, self.choices.pick((1, 2, 3)))
        if form == 5 and dtype.is_signed:
            return self.b.for_range(
                dtype(self.choices.number(4)),
                -1 - self.choices.number(3),
                -1 - self.choices.number(2),
            )
        if form == 4 and dtype.is_signed:
            return self.b.for_range(
                dtype(dtype.min + self.choices.number(4)),
                dtype.min,
                dtype(-1 - self.choices.number(3)),
            )
        if form < 2:
            return self.b.for_range(dtype(self.choices.number(5)))
        stop = self.expressions.value(dtype, 1, uniform=uniform).value
        return self.b.for_range(dtype(self.choices.number(2)), stop & 3, self.choices.pick((1, 2)))

    def loop_while(self, inner: Flow) -> None:
        n = self.b.var("", vw.u32)
        most = 1 + self.choices.number(4)
        with self.scope():

            def going() -> Value:
                c = self.expressions.value(vw.bool_, 2)
                return (n < most) & c.value

            with self.b.while_(going):
                n.set(n + 1)
                self.loop_body(inner, False)

    def leave(self, flow: Flow) -> None:
        """A break, continue, return or trap, mostly under a condition."""
        form = self.choices.number(5)
        c = self.expressions.value(vw.bool_, 2, uniform=flow.loop == "uniform" and form < 3)
        if form == 4:
            # Rare, or most programs would trap.
            rare = self.expressions.value(self.choices.type(INTEGERS), 1)
            edge = self.expressions.literal(rare.value.dtype)
            c = Known(c.value & (rare.value == edge.value))
        if form < 3 and not flow.loop:
            form = 3
        if form < 3 and flow.loop == "uniform" and not flow.uniform:
            self.store_own()
            return
        with self.b.if_(c.value):
            if form == 0:
                self.b.continue_()
            elif form < 3:
                self.b.break_()
            elif form == 3:
                self.b.return_()
            else:
                self.b.trap(
                    self.choices.pick(("one", "two")),
                    self.expressions.value(self.choices.type(WORDS), 1).value,
                )

    def barrier(self) -> None:
        self.b.barrier()
        for p in self.declared.phased:
            p.own = self.choices.chance(2)

    def store_phased(self) -> None:
        p = self.choices.pick(self.declared.phased)
        if not p.own:
            self.store_own()
        elif p.atomic:
            update = getattr(self.b, f"atomic_{p.atomic}")
            index = self.expressions.value(vw.u32, 1).value % 11
            update(p.buffer, index, self.expressions.expression(p.buffer.dtype).value)
        else:
            p.buffer[self.expressions.own_index(p.per_lane, self.declared.local)] = (
                self.expressions.expression(p.buffer.dtype).value
            )

    def atomic(self) -> None:
        if not self.declared.atomics:
            self.store_own()
            return
        shared, name = self.choices.pick(self.declared.atomics)
        dtype = self.choices.pick((vw.u32, vw.i32, vw.u8, vw.u64))
        index = self.expressions.value(dtype, 1).value % 9
        getattr(self.b, f"atomic_{name}")(
            shared, index, self.expressions.expression(shared.dtype).value
        )


@st.composite
def cases(draw: Any, budget: int = 70, checks: str = "") -> Case:
    """A program of about ``budget`` expressions and statements, with its inputs.

    Args:
        draw: Hypothesis's.
        budget: how long.
        checks: "total" or "trap"; either of them, mostly the former, if empty.
    """
    few = draw(st.booleans())
    types = ALL_DTYPES
    if few:
        types = tuple(draw(st.permutations(ALL_DTYPES))[:4])
    return Writer(Choices(draw, types), budget, checks).write()
