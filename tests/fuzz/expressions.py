"""Random expressions whose values are determined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import vyre_wgpu.ir as vw
from tests import scalar_model
from tests.fuzz.choices import Choices
from tests.fuzz.declarations import Declarations, Known
from tests.fuzz.operations import (
    BOOL_BINARY,
    CHOOSE,
    COMPARE,
    EDGES,
    EXACT_UNARY,
    FLOATS,
    INT_BINARY,
    INT_UNARY,
    INTEGERS,
    SHIFTS,
    UNSIGNED,
    WHOLE_UNARY,
    WORDS,
)  # fmt: skip
from vyre_wgpu.ir import DType, Value

__all__ = ["Expressions"]


class Expressions:
    """Writes expressions of what has been declared.

    Args:
        choices: draws.
        declared: the builder and its declarations.
        budget: about how many expressions and statements the program may have.
        checks: "total" or "trap".

    Attributes:
        scopes: values that were named, by open block.
        variables: the same of variables.
        looping: whether the next expression stands in a loop.
    """

    def __init__(self, choices: Choices, declared: Declarations, budget: int, checks: str) -> None:
        self.choices = choices
        self.declared = declared
        self.b = declared.b
        self.budget = budget
        self.checks = checks
        self.scopes: list[list[Known]] = [declared.known]
        self.variables: list[list[Any]] = [[]]
        self.looping = False

    def literal(self, dtype: DType) -> Known:
        value = self.choices.pick(EDGES[dtype])
        if dtype.is_float:
            whole = bool(np.isnan(value) or np.isinf(value) or value == np.trunc(value))
            bits = scalar_model.float_bits(dtype, value)
            return Known(vw.TypedLiteral(dtype, bits), True, False, whole)
        return Known(dtype(bool(value) if dtype is vw.bool_ else int(value)), True)

    def known(self, dtype: DType, uniform: bool) -> Known | None:
        found = [
            k
            for scope in self.scopes
            for k in scope
            if k.value.dtype is dtype and (k.uniform or not uniform)
        ]
        return self.choices.pick(found[-8:]) if found else None

    def value(self, dtype: DType, depth: int = 2, *, uniform: bool = False) -> Known:
        """An expression whose value is a kernel value, not a bare literal."""
        made = self.expression(dtype, depth, uniform=uniform)
        if isinstance(made.value, vw.TypedLiteral):
            return Known(self.b.let("", made.value), True, False, made.whole)
        return made

    def expression(self, dtype: DType, depth: int = 2, *, uniform: bool = False) -> Known:
        self.budget -= 1
        if depth <= 0 or self.budget < 0 or self.choices.chance(4):
            return self.leaf(dtype, uniform)
        if self.choices.chance(8):
            return self.choice(dtype, depth - 1, uniform)
        if dtype is vw.bool_:
            return self.condition(depth - 1, uniform)
        if dtype.is_integer:
            return self.integer(dtype, depth - 1, uniform)
        return self.float(dtype, depth - 1, uniform)

    def leaf(self, dtype: DType, uniform: bool) -> Known:
        form = self.choices.number(6)
        if form == 0:
            return self.literal(dtype)
        if form >= 3 and not uniform:
            return self.load(dtype)
        return self.known(dtype, uniform) or (
            self.literal(dtype) if uniform or form < 2 else self.load(dtype)
        )

    def load(self, dtype: DType) -> Known:
        """An element, or a variable, of this type; of another, converted."""
        places: list[Callable[[], Known]] = []
        for scope in self.variables:
            for v in scope:
                if v.dtype is dtype:
                    places.append(lambda v=v: Known(+v, product=True))
        for x in self.declared.read:
            if x.dtype is dtype:
                places.append(lambda x=x: Known(x[self.index(x.length)]))
        for m in self.declared.private:
            if m.dtype is dtype:
                places.append(lambda m=m: Known(m[self.index(6)], product=True))
        for y, per_lane in self.declared.own:
            if y.dtype is dtype and y.name not in self.declared.rough:
                places.append(lambda y=y, n=per_lane: Known(y[self.own_index(n)], product=True))
        for p in self.declared.phased:
            if p.buffer.dtype is dtype and not p.own:
                places.append(lambda p=p: Known(p.buffer[self.index(64)], product=True))
            elif p.buffer.dtype is dtype and not p.atomic:
                places.append(
                    lambda p=p: Known(
                        p.buffer[self.own_index(p.per_lane, self.declared.local)], product=True
                    )
                )
        if places:
            return self.choices.pick(places)()
        x = self.choices.pick(self.declared.read)
        return self.cast(Known(x[self.index(x.length)]), dtype)

    def own_index(self, per_lane: int, lane: Value | None = None) -> Value:
        lane = self.declared.lane if lane is None else lane
        return lane if per_lane == 1 else lane * per_lane + self.choices.number(per_lane)

    def index(self, length: Any) -> Any:
        """Where to load: mostly in bounds, sometimes anywhere."""
        form = self.choices.number(6)
        if self.checks == "trap" and form and not isinstance(length, int):
            return self.declared.lane % length  # or most lanes would end at their first load
        if form == 0 or (form < 4 and not isinstance(length, int)):
            return self.declared.lane
        if form < 4:
            return self.declared.lane % length
        if form == 4 or self.checks == "trap":
            return self.choices.number(3)
        dtype = self.choices.pick((vw.i32, vw.u32, vw.u8, vw.i8, vw.i64, vw.u64))
        return self.value(dtype, 1).value

    def cast(self, x: Known, dtype: DType) -> Known:
        source = x.value.dtype
        if source is dtype:
            return x
        made = Known(x.value.cast(dtype), x.uniform)
        made.whole = x.whole or not source.is_float
        made.product = x.product and dtype.is_float and source.is_float
        return self.normal(made) if dtype.is_float and source.is_float else made

    def choice(self, dtype: DType, depth: int, uniform: bool) -> Known:
        c = self.value(vw.bool_, depth, uniform=uniform)
        t = self.expression(dtype, depth, uniform=uniform)
        f = self.expression(dtype, depth, uniform=uniform)
        return Known(
            vw.select(c.value, t.value, f.value),
            c.uniform and t.uniform and f.uniform,
            t.product or f.product,
            t.whole and f.whole,
        )

    def pair(self, dtype: DType, depth: int, uniform: bool) -> tuple[Known, Known]:
        """Two operands, either of which may be a literal, but not both."""
        a = self.value(dtype, depth, uniform=uniform)
        b = self.expression(dtype, depth, uniform=uniform)
        return (b, a) if self.choices.chance(2) else (a, b)

    def condition(self, depth: int, uniform: bool) -> Known:
        form = self.choices.number(6)
        if form < 3:
            dtype = self.choices.type(
                [t for t in self.choices.types if t is not vw.bool_] or [vw.u32]
            )
            a, b = self.pair(dtype, depth, uniform)
            return Known(self.choices.pick(COMPARE)(a.value, b.value), a.uniform and b.uniform)
        if form == 3:
            a, b = self.pair(vw.bool_, depth, uniform)
            return Known(self.choices.pick(BOOL_BINARY)(a.value, b.value), a.uniform and b.uniform)
        if form == 4:
            x = self.value(self.choices.type(FLOATS), depth, uniform=uniform)
            return Known(
                self.choices.pick((vw.is_nan, vw.is_inf, vw.is_finite))(x.value), x.uniform
            )
        x = self.value(self.choices.type(), depth, uniform=uniform)
        return Known(~x.value if x.value.dtype is vw.bool_ else x.value.cast(vw.bool_), x.uniform)

    def integer(self, dtype: DType, depth: int, uniform: bool) -> Known:
        form = self.choices.number(8)
        if form < 4:
            a, b = self.pair(dtype, depth, uniform)
            return Known(self.choices.pick(INT_BINARY)(a.value, b.value), a.uniform and b.uniform)
        if form == 4:
            x = self.value(dtype, depth, uniform=uniform)
            return Known(self.choices.pick(INT_UNARY)(x.value), x.uniform)
        if form == 5:
            a = self.value(dtype, depth, uniform=uniform)
            s = self.expression(vw.u32, depth, uniform=uniform)
            return Known(self.choices.pick(SHIFTS)(a.value, s.value), a.uniform and s.uniform)
        if form == 6:
            return self.cast(self.value(self.choices.type(), depth, uniform=uniform), dtype)
        same = [t for t in (*INTEGERS, *FLOATS) if t.bits == dtype.bits and t in self.choices.types]
        x = self.value(self.choices.pick(same or [dtype]), depth, uniform=uniform)
        made = Known(x.value.bitcast(dtype), x.uniform)
        if x.value.dtype.is_float:
            made.value = vw.select(vw.is_nan(x.value), 0, made.value)
        return made

    def float(self, dtype: DType, depth: int, uniform: bool) -> Known:
        form = self.choices.number(11)
        if form < 3:
            a, b = self.pair(dtype, depth, uniform)
            a, b = self.no_product(a), self.no_product(b)
            made = a.value + b.value if form else a.value - b.value
            whole = a.whole and b.whole
            return self.normal(Known(made, a.uniform and b.uniform, False, whole))
        if form == 3:
            a, b = self.pair(dtype, depth, uniform)
            made = a.value * b.value
            whole = a.whole and b.whole
            return self.normal(Known(made, a.uniform and b.uniform, True, whole))
        if form == 4:
            x = self.value(dtype, depth, uniform=uniform)
            return Known(self.choices.pick(EXACT_UNARY)(x.value), x.uniform, x.product, x.whole)
        if form == 5:
            x = self.value(dtype, depth, uniform=uniform)
            return Known(self.choices.pick(WHOLE_UNARY)(x.value), x.uniform, False, True)
        if form == 6:
            a, b = self.pair(dtype, depth, uniform)
            chosen = self.choices.pick(CHOOSE)(a.value, b.value)
            bits = chosen.bitcast(UNSIGNED[dtype.bits])
            made = vw.select(bits == 1 << (dtype.bits - 1), 0.0, chosen)
            whole, product = a.whole and b.whole, a.product or b.product
            return Known(made, a.uniform and b.uniform, product, whole)
        if form == 7:
            return self.cast(self.value(self.choices.type(), depth, uniform=uniform), dtype)
        if form == 8:
            x = self.value(UNSIGNED[dtype.bits], depth, uniform=uniform)
            return self.normal(Known(x.value.bitcast(dtype), x.uniform))
        if form == 9 and not self.looping:
            a, b = self.pair(dtype, depth, uniform)
            a, b = self.no_product(a), self.no_product(b)
            made = a.value % b.value if self.choices.chance(2) else vw.fmod(a.value, b.value)
            return self.normal(Known(made, a.uniform and b.uniform))
        # The product is exact, so that contraction changes nothing.
        a, b = (
            self.value(self.choices.type(WORDS), depth, uniform=uniform).value.cast(vw.u32) & 31
            for _ in range(2)
        )
        c = self.no_product(self.value(dtype, depth, uniform=uniform))
        a, b = a.cast(dtype), b.cast(dtype)
        made = vw.fma(a, b, c.value) if self.choices.chance(2) else a * b + c.value
        return self.normal(Known(made, False, False, c.whole))

    def no_product(self, x: Known) -> Known:
        """The value, or if that is a product something else that is none."""
        if not x.product:
            return x
        return Known(vw.trunc(x.value), x.uniform, False, True)

    def normal(self, x: Known) -> Known:
        """The value, or zero where it may be subnormal."""
        if x.whole:
            return x
        dtype = x.value.dtype
        least = dtype.numpy.type(2 * np.finfo(dtype.numpy).smallest_normal)
        return Known(vw.select(vw.abs_(x.value) < least, 0.0, x.value), x.uniform, x.product, False)
