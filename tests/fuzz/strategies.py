"""Random valid programs with inputs, every observable result of which is determined.

What the language leaves open is kept out by construction, so that any difference between backends
is a fault of one of them:

- Each lane stores to elements of its own; what several lanes store is one literal, never read.
- Atomics commute, their old values are not used, and their buffers are read after a barrier only.
- Workgroup memory is, from barrier to barrier, either written (own elements) or read.
- Products are never summands: a driver may contract ``a * b + c`` (`Writer.no_product`).
- Results that may be subnormal become zero, for a driver may flush them (`Writer.normal`).
- NaN payloads and the sign of a zero from ``minimum`` and the like reach no integer.
- Quotients, square roots and the like go to *rough* outputs, compared by ULP, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

import vyre_wgpu.ir as vw
from tests import scalar_model
from vyre_wgpu.ir import DebugInfo, DType, Program, ProgramBuilder, Value
from vyre_wgpu.ir.types import ALL_DTYPES

__all__ = ["MAX_ITERATIONS", "Case", "cases"]

MAX_ITERATIONS = 200
"""Far below what a software driver can do for a vector of lanes, helper loops included."""

T = TypeVar("T")

INTEGERS = tuple(t for t in ALL_DTYPES if t.is_integer)
FLOATS = tuple(t for t in ALL_DTYPES if t.is_float)
WORDS = tuple(t for t in INTEGERS if t.bits <= 32)
UNSIGNED = {16: vw.u16, 32: vw.u32, 64: vw.u64}
WORKGROUPS: tuple[tuple[int, ...], ...] = (
    (32,), (1,), (3,), (7,), (33,), (64,), (100,), (256,),
    (4, 2), (3, 5), (1, 9), (16, 16), (2, 3, 2), (1, 1, 5), (4, 4, 4),
)  # fmt: skip
ATOMICS = ("add", "sub", "and", "or", "xor", "min", "max")

INT_UNARY: tuple[Callable[[Any], Value], ...] = (
    lambda x: -x, vw.abs_, lambda x: ~x, vw.sign, vw.clz, vw.ctz, vw.popcount, vw.reverse_bits,
)  # fmt: skip
INT_BINARY: tuple[Callable[[Any, Any], Value], ...] = (
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b,
    lambda a, b: a // b, lambda a, b: a % b, vw.trunc_div, vw.rem,
    lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b,
    lambda a, b: a << b, lambda a, b: a >> b, vw.rotl, vw.rotr,
    vw.mul_high, vw.minimum, vw.maximum, vw.fmin, vw.fmax,
)  # fmt: skip
SHIFTS: tuple[Callable[[Any, Any], Value], ...] = (
    lambda a, b: a << b, lambda a, b: a >> b, vw.rotl, vw.rotr,
)  # fmt: skip
COMPARE: tuple[Callable[[Any, Any], Value], ...] = (
    lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b,
    lambda a, b: a <= b, lambda a, b: a > b, lambda a, b: a >= b,
)  # fmt: skip
BOOL_BINARY: tuple[Callable[[Any, Any], Value], ...] = (
    lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b,
    lambda a, b: a == b, lambda a, b: a != b,
)  # fmt: skip
EXACT_UNARY: tuple[Callable[[Any], Value], ...] = (lambda x: -x, vw.abs_)
WHOLE_UNARY: tuple[Callable[[Any], Value], ...] = (
    vw.sign, vw.floor, vw.ceil, vw.trunc, vw.round_,
)  # fmt: skip
CHOOSE: tuple[Callable[[Any, Any], Value], ...] = (vw.minimum, vw.maximum, vw.fmin, vw.fmax)


@dataclass(frozen=True, repr=False)
class Case:
    """A program, what to run it with, and which of its outputs are compared by ULP."""

    program: Program
    inputs: dict[str, np.ndarray[Any, Any]]
    params: dict[str, Any]
    checks: str
    rough: frozenset[str]
    seed: int | None
    passes: bool = True

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What Hypothesis prints of a failing case."""
        printer.text(repr(self))

    def __repr__(self) -> str:
        """A script: the program in words, then code that runs it."""
        arrays = ", ".join(
            f"{name!r}: np.frombuffer(bytes.fromhex({array.tobytes().hex()!r}), "
            f"{array.dtype.name!r})"
            for name, array in self.inputs.items()
        )
        params = {name: value.item() for name, value in self.params.items()}
        return (
            f"\n{self.program}\n"
            f"program = Program.from_bytes(bytes.fromhex({self.program.to_bytes().hex()!r}))\n"
            f"inputs = {{{arrays}}}\n"
            f"params = {params}\n"
            f"options = CompileOptions(checks={self.checks!r}, max_iterations={MAX_ITERATIONS}, "
            f"passes={self.passes})\n"
            f"rough outputs: {sorted(self.rough)}, seed of the oracle: {self.seed}\n"
        )


def _is_plain(value: Any) -> bool:
    """Whether a float is far enough from the subnormals."""
    return not 0 < abs(value) < 4 * np.finfo(value.dtype).smallest_normal


EDGES: dict[DType, list[Any]] = {
    dtype: [v for v in scalar_model.edges(dtype) if not dtype.is_float or _is_plain(v)]
    for dtype in ALL_DTYPES
}
NUMBERS = {n: st.integers(0, n - 1) for n in range(1, 400)}


@dataclass
class Known:
    """A kernel value and what is known of it.

    Attributes:
        value: the value.
        uniform: the same for all lanes of a workgroup.
        product: perhaps the result of a multiplication, which a driver may contract.
        whole: a float that is an integer, infinity or NaN: sums and products are not subnormal.
    """

    value: Any
    uniform: bool = False
    product: bool = False
    whole: bool = False


@dataclass
class Phased:
    """A workgroup buffer: ``own`` while lanes write their elements, else read or atomic."""

    buffer: Any
    atomic: str
    per_lane: int
    own: bool = True


@dataclass
class Flow:
    """Where a statement stands."""

    uniform: bool = True
    loop: str = ""  # "", "uniform" or "lane": who leaves the innermost loop
    loops: int = 0
    barriers: bool = True
    depth: int = 0


@dataclass
class Writer:
    """Writes one program, drawing every choice."""

    draw: Any
    budget: int
    types: Sequence[DType] = ALL_DTYPES
    only: str = ""
    scopes: list[list[Known]] = field(default_factory=lambda: [[]])
    variables: list[list[Any]] = field(default_factory=lambda: [[]])

    # Choices

    def number(self, n: int) -> int:
        return self.draw(NUMBERS[n])  # type: ignore[no-any-return]

    def pick(self, among: Sequence[T]) -> T:
        return among[self.number(len(among))]

    def chance(self, one_in: int) -> bool:
        return self.number(one_in) == one_in - 1

    def type(self, among: Sequence[DType] | None = None) -> DType:
        usable = [t for t in among or self.types if t in self.types]
        return self.pick(usable or among or self.types)

    # Declarations

    def declare(self) -> None:
        self.size = self.pick(WORKGROUPS)
        self.with_barriers = self.chance(2)
        self.b = ProgramBuilder("random", workgroup_size=self.size)
        self.rough: set[str] = set()
        self.inputs: dict[str, Any] = {}
        self.params: dict[str, Any] = {}
        self.rng = np.random.default_rng(self.number(256))
        self.read: list[Any] = []
        for k in range(1 + self.number(3)):
            self.read.append(self.b.read(f"x{k}", self.type()))
            self.inputs[f"x{k}"] = self.contents(self.read[-1].dtype, self.length())
        for k in range(self.number(3)):
            dtype = self.type()
            self.scopes[0].append(Known(self.b.param(f"p{k}", dtype), uniform=True))
            self.params[f"p{k}"] = self.contents(dtype, 1)[0]
        self.declare_extent()
        self.own: list[tuple[Any, int]] = []
        for k in range(1 + self.number(3)):
            self.declare_own(k)
        self.private = [
            self.b.private(f"m{k}", self.type(), 1 + self.number(6)) for k in range(self.number(2))
        ]
        self.declare_shared()
        self.declare_phased()

    def declare_extent(self) -> None:
        """The extent, and the padded number of lanes as size, value and bound."""
        lanes: Any = 1
        axes: list[Any] = []
        self.padded: list[Any] = []
        for axis in range(len(self.size)):
            most = (90, 7, 4)[axis]
            form = self.number(3)
            if form == 1 and axis == 0:
                n, number = self.read[0].length, len(self.inputs["x0"])
            elif form == 2:
                name, number = f"n{axis}", self.number(most)
                dtype = self.pick((vw.u32, vw.i32, vw.u16, vw.i64))
                n = self.b.param(name, dtype)
                self.params[name] = dtype.numpy.type(number)
                if self.chance(3):
                    n, number = vw.minimum(n * 2 - 1, 9) + 1, min(number * 2 - 1, 9) + 1
            else:
                n = number = 1 + self.number(most)
            w = self.size[axis]
            whole = -(-n // w) * w if isinstance(n, int) else vw.ceil_div(n, w) * w
            axes.append(n)
            self.padded.append(whole)
            lanes = whole * lanes if isinstance(lanes, int) else lanes * whole
        self.lanes = lanes
        self.b.extent(*axes)

    def length(self) -> int:
        return self.pick((5, 1, 2, 3, 8, 17, 24, 0))

    def declare_own(self, k: int) -> None:
        """A buffer in which each lane has elements of its own."""
        dtype, per_lane = self.type(), self.pick((1, 2, 3))
        kind = self.number(5)
        count = self.lanes * per_lane + (1 if self.chance(4) else 0)
        name = f"y{k}"
        if kind == 3:
            # As long as what is passed: some lanes find their elements out of bounds.
            own = self.b.read_write(name, dtype)
            self.inputs[name] = self.contents(dtype, 1 + self.number(60))
        elif kind == 4 and k:
            own = self.b.scratch(name, dtype, count)
        else:
            own = self.b.output(name, dtype, count)
            if dtype.is_float and self.chance(3):
                self.rough.add(name)
        self.own.append((own, per_lane))

    def declare_shared(self) -> None:
        """Buffers of atomics, and of literals that several lanes store."""
        self.atomics: list[tuple[Any, str]] = []
        for k in range(self.number(3)):
            dtype = self.type((vw.u32, vw.i32, vw.u64, vw.i64))
            if not dtype.is_integer or dtype.bits < 32:
                dtype = vw.u32
            count = self.pick((4, 1, 9))
            shared = self.b.read_write(f"a{k}", dtype, count)
            self.inputs[f"a{k}"] = self.contents(dtype, count)
            self.atomics.append((shared, self.pick(ATOMICS)))
        self.flags = self.b.output("f", self.type(), 16) if self.chance(3) else None
        self.flagged = 0

    def declare_phased(self) -> None:
        self.phased: list[Phased] = []
        if not self.with_barriers:
            return
        lanes = int(np.prod(self.size))
        for k in range(1 + self.number(2)):
            if self.chance(3):
                dtype = self.pick((vw.u32, vw.i32))
                shared = self.b.workgroup(f"w{k}", dtype, self.pick((4, 1, 9)))
                self.phased.append(Phased(shared, self.pick(ATOMICS), 0))
            else:
                per_lane = self.pick((1, 2))
                shared = self.b.workgroup(f"w{k}", self.type(), lanes * per_lane)
                self.phased.append(Phased(shared, "", per_lane))

    def contents(self, dtype: DType, count: int) -> Any:
        """Edge values, and for integers any values, of a type."""
        edges = np.array(EDGES[dtype], dtype.numpy)
        data = self.rng.choice(edges, count)
        if dtype.is_integer:
            noise = self.rng.integers(dtype.min, dtype.max, count, dtype.numpy, endpoint=True)
            data = np.where(self.rng.random(count) < 0.4, noise, data)
        return data

    def declare_lanes(self) -> None:
        """Linear indices of the lane: in the padded extent, and in its workgroup."""
        b = self.b
        lane = b.global_id(len(self.size) - 1)
        local = b.local_id(len(self.size) - 1) if self.phased else None
        for axis in reversed(range(len(self.size) - 1)):
            pitch = self.padded[axis]
            lane = lane * (pitch if isinstance(pitch, int) else pitch.cast(vw.u32))
            lane = lane + b.global_id(axis)
            if local is not None:
                local = local * self.size[axis] + b.local_id(axis)
        self.lane, self.local = b.let("lane", lane), local
        self.scopes[0].append(Known(self.lane))
        if self.phased:
            self.scopes[0] += [
                Known(b.local_id(0)),
                Known(b.workgroup_id(0), uniform=True),
                Known(b.num_workgroups(0), uniform=True),
            ]

    # Values

    def literal(self, dtype: DType) -> Known:
        value = self.pick(EDGES[dtype])
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
        return self.pick(found[-8:]) if found else None

    def value(self, dtype: DType, depth: int = 2, *, uniform: bool = False) -> Known:
        """An expression whose value is a kernel value, not a bare literal."""
        made = self.expression(dtype, depth, uniform=uniform)
        if isinstance(made.value, vw.TypedLiteral):
            return Known(self.b.let("", made.value), True, False, made.whole)
        return made

    def expression(self, dtype: DType, depth: int = 2, *, uniform: bool = False) -> Known:
        self.budget -= 1
        if depth <= 0 or self.budget < 0 or self.chance(4):
            return self.leaf(dtype, uniform)
        if self.chance(8):
            return self.choice(dtype, depth - 1, uniform)
        if dtype is vw.bool_:
            return self.condition(depth - 1, uniform)
        if dtype.is_integer:
            return self.integer(dtype, depth - 1, uniform)
        return self.float(dtype, depth - 1, uniform)

    def leaf(self, dtype: DType, uniform: bool) -> Known:
        form = self.number(6)
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
        for x in self.read:
            if x.dtype is dtype:
                places.append(lambda x=x: Known(x[self.index(x.length)]))
        for m in self.private:
            if m.dtype is dtype:
                places.append(lambda m=m: Known(m[self.index(6)], product=True))
        for y, per_lane in self.own:
            if y.dtype is dtype and y.name not in self.rough:
                places.append(lambda y=y, n=per_lane: Known(y[self.own_index(n)], product=True))
        for p in self.phased:
            if p.buffer.dtype is dtype and not p.own:
                places.append(lambda p=p: Known(p.buffer[self.index(64)], product=True))
            elif p.buffer.dtype is dtype and not p.atomic:
                places.append(
                    lambda p=p: Known(
                        p.buffer[self.own_index(p.per_lane, self.local)], product=True
                    )
                )
        if places:
            return self.pick(places)()
        x = self.pick(self.read)
        return self.cast(Known(x[self.index(x.length)]), dtype)

    def own_index(self, per_lane: int, lane: Value | None = None) -> Value:
        lane = self.lane if lane is None else lane
        return lane if per_lane == 1 else lane * per_lane + self.number(per_lane)

    def index(self, length: Any) -> Any:
        """Where to load: mostly in bounds, sometimes anywhere."""
        form = self.number(6)
        if self.checks == "trap" and form and not isinstance(length, int):
            return self.lane % length  # or most lanes would end at their first load
        if form == 0 or (form < 4 and not isinstance(length, int)):
            return self.lane
        if form < 4:
            return self.lane % length
        if form == 4 or self.checks == "trap":
            return self.number(3)
        dtype = self.pick((vw.i32, vw.u32, vw.u8, vw.i8, vw.i64, vw.u64))
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
        return (b, a) if self.chance(2) else (a, b)

    def condition(self, depth: int, uniform: bool) -> Known:
        form = self.number(6)
        if form < 3:
            dtype = self.type([t for t in self.types if t is not vw.bool_] or [vw.u32])
            a, b = self.pair(dtype, depth, uniform)
            return Known(self.pick(COMPARE)(a.value, b.value), a.uniform and b.uniform)
        if form == 3:
            a, b = self.pair(vw.bool_, depth, uniform)
            return Known(self.pick(BOOL_BINARY)(a.value, b.value), a.uniform and b.uniform)
        if form == 4:
            x = self.value(self.type(FLOATS), depth, uniform=uniform)
            return Known(self.pick((vw.is_nan, vw.is_inf, vw.is_finite))(x.value), x.uniform)
        x = self.value(self.type(), depth, uniform=uniform)
        return Known(~x.value if x.value.dtype is vw.bool_ else x.value.cast(vw.bool_), x.uniform)

    def integer(self, dtype: DType, depth: int, uniform: bool) -> Known:
        form = self.number(8)
        if form < 4:
            a, b = self.pair(dtype, depth, uniform)
            return Known(self.pick(INT_BINARY)(a.value, b.value), a.uniform and b.uniform)
        if form == 4:
            x = self.value(dtype, depth, uniform=uniform)
            return Known(self.pick(INT_UNARY)(x.value), x.uniform)
        if form == 5:
            a = self.value(dtype, depth, uniform=uniform)
            s = self.expression(vw.u32, depth, uniform=uniform)
            return Known(self.pick(SHIFTS)(a.value, s.value), a.uniform and s.uniform)
        if form == 6:
            return self.cast(self.value(self.type(), depth, uniform=uniform), dtype)
        same = [t for t in (*INTEGERS, *FLOATS) if t.bits == dtype.bits and t in self.types]
        x = self.value(self.pick(same or [dtype]), depth, uniform=uniform)
        made = Known(x.value.bitcast(dtype), x.uniform)
        if x.value.dtype.is_float:
            made.value = vw.select(vw.is_nan(x.value), 0, made.value)
        return made

    def float(self, dtype: DType, depth: int, uniform: bool) -> Known:
        form = self.number(11)
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
            return Known(self.pick(EXACT_UNARY)(x.value), x.uniform, x.product, x.whole)
        if form == 5:
            x = self.value(dtype, depth, uniform=uniform)
            return Known(self.pick(WHOLE_UNARY)(x.value), x.uniform, False, True)
        if form == 6:
            a, b = self.pair(dtype, depth, uniform)
            chosen = self.pick(CHOOSE)(a.value, b.value)
            bits = chosen.bitcast(UNSIGNED[dtype.bits])
            made = vw.select(bits == 1 << (dtype.bits - 1), 0.0, chosen)
            whole, product = a.whole and b.whole, a.product or b.product
            return Known(made, a.uniform and b.uniform, product, whole)
        if form == 7:
            return self.cast(self.value(self.type(), depth, uniform=uniform), dtype)
        if form == 8:
            x = self.value(UNSIGNED[dtype.bits], depth, uniform=uniform)
            return self.normal(Known(x.value.bitcast(dtype), x.uniform))
        if form == 9 and not self.looping:
            a, b = self.pair(dtype, depth, uniform)
            a, b = self.no_product(a), self.no_product(b)
            made = a.value % b.value if self.chance(2) else vw.fmod(a.value, b.value)
            return self.normal(Known(made, a.uniform and b.uniform))
        # The product is exact, so that contraction changes nothing.
        a, b = (
            self.value(self.type(WORDS), depth, uniform=uniform).value.cast(vw.u32) & 31
            for _ in range(2)
        )
        c = self.no_product(self.value(dtype, depth, uniform=uniform))
        a, b = a.cast(dtype), b.cast(dtype)
        made = vw.fma(a, b, c.value) if self.chance(2) else a * b + c.value
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

    # Statements

    @contextmanager
    def scope(self) -> Iterator[None]:
        self.scopes.append([])
        self.variables.append([])
        yield
        self.scopes.pop()
        self.variables.pop()

    def block(self, flow: Flow, most: int = 4) -> None:
        with self.scope():
            for _ in range(1 + self.number(most)):
                if self.budget < 0:
                    break
                self.statement(flow)

    def statement(self, flow: Flow) -> None:
        self.looping = flow.loops > 0
        self.budget -= 1
        if self.phased and self.chance(3):
            if flow.uniform and flow.barriers and self.chance(2):
                self.barrier()
            else:
                self.store_phased()
            return
        form = self.number(18)
        if form < 5:
            self.store_own()
        elif form < 7:
            dtype = self.type()
            made = self.value(dtype)
            self.scopes[-1].append(
                Known(self.b.let("", made.value), made.uniform, made.product, made.whole)
            )
        elif form == 7:
            dtype = self.type()
            start = self.expression(dtype).value if self.chance(2) else None
            self.variables[-1].append(self.b.var("", dtype, start))
        elif form == 8:
            self.assign()
        elif form < 12 and flow.depth < 4:
            self.branch(flow)
        elif form < 14 and flow.loops < 2 and flow.depth < 4:
            self.loop(flow)
        elif form == 14:
            self.atomic()
        elif form == 15 and self.private:
            m = self.pick(self.private)
            m[self.index(6)] = self.expression(m.dtype).value
        elif form == 16 and self.flags is not None and self.flagged < 16:
            dtype = self.flags.dtype
            self.flags[self.flagged] = self.literal(dtype).value
            self.flagged += 1
        elif form == 17:
            self.leave(flow)
        else:
            self.store_own()

    def store_own(self) -> None:
        y, per_lane = self.pick(self.own)
        if y.name in self.rough:
            y[self.own_index(per_lane)] = self.inexact(y.dtype)
        else:
            y[self.own_index(per_lane)] = self.expression(y.dtype, 3).value

    def inexact(self, dtype: DType) -> Value:
        if self.chance(3):
            return vw.sqrt(self.value(dtype).value)
        a, b = self.pair(dtype, 2, False)
        return a.value / b.value

    def assign(self) -> None:
        found = [v for scope in self.variables for v in scope]
        if found:
            v = self.pick(found)
            v.set(self.expression(v.dtype).value)
        else:
            self.store_own()

    def branch(self, flow: Flow) -> None:
        c = self.value(vw.bool_, 2, uniform=self.chance(3))
        inner = Flow(
            flow.uniform and c.uniform, flow.loop, flow.loops, flow.barriers, flow.depth + 1
        )
        before = [p.own for p in self.phased]
        inner.barriers = False  # both ways must leave the phases alike
        with self.b.if_(c.value):
            self.block(inner, 3)
        if self.chance(2):
            with self.b.else_():
                self.block(inner, 3)
        assert before == [p.own for p in self.phased]

    def loop(self, flow: Flow) -> None:
        synchronous = bool(self.phased) and flow.uniform and flow.barriers and self.chance(2)
        uniform = synchronous or self.chance(3)
        inner = Flow(
            flow.uniform and uniform,
            "uniform" if synchronous else "lane",
            flow.loops + 1,
            synchronous,
            flow.depth + 1,
        )
        self.looping = True
        if self.chance(3) and not synchronous:
            inner.uniform = False
            self.loop_while(inner)
            return
        with self.loop_for(uniform) as k, self.scope():
            self.scopes[-1].append(Known(k, uniform=uniform))
            if not synchronous:
                inner.uniform = False  # a break or an ended lane may part them
            self.loop_body(inner, synchronous)
        if synchronous:
            self.barrier()

    def loop_body(self, inner: Flow, synchronous: bool) -> None:
        if synchronous:
            self.barrier()
        self.block(inner, 3)
        self.looping = inner.loops > 1

    def loop_for(self, uniform: bool) -> Any:
        dtype = self.pick(INTEGERS)
        form = self.number(8)
        if form == 7:
            bounds = [self.literal(dtype).value for _ in range(2)]
            step = self.pick((1, 2, 100))
            return self.b.for_range(*bounds, dtype(step))
        if form == 6:
            # To the end of the type, which the index must not pass.
            start = dtype.max - self.number(5)
            return self.b.for_range(dtype(start), dtype.max, self.pick((1, 2, 3)))
        if form == 5 and dtype.is_signed:
            return self.b.for_range(dtype(self.number(4)), -1 - self.number(3), -1 - self.number(2))
        if form == 4 and dtype.is_signed:
            return self.b.for_range(
                dtype(dtype.min + self.number(4)), dtype.min, dtype(-1 - self.number(3))
            )
        if form < 2:
            return self.b.for_range(dtype(self.number(5)))
        stop = self.value(dtype, 1, uniform=uniform).value
        return self.b.for_range(dtype(self.number(2)), stop & 3, self.pick((1, 2)))

    def loop_while(self, inner: Flow) -> None:
        n = self.b.var("", vw.u32)
        most = 1 + self.number(4)
        with self.scope():

            def going() -> Value:
                c = self.value(vw.bool_, 2)
                return (n < most) & c.value

            with self.b.while_(going):
                n.set(n + 1)
                self.loop_body(inner, False)

    def leave(self, flow: Flow) -> None:
        """A break, continue, return or trap, mostly under a condition."""
        form = self.number(5)
        c = self.value(vw.bool_, 2, uniform=flow.loop == "uniform" and form < 3)
        if form == 4:
            # Rare, or most programs would trap.
            rare = self.value(self.type(INTEGERS), 1)
            edge = self.literal(rare.value.dtype)
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
                self.b.trap(self.pick(("one", "two")), self.value(self.type(WORDS), 1).value)

    def barrier(self) -> None:
        self.b.barrier()
        for p in self.phased:
            p.own = self.chance(2)

    def store_phased(self) -> None:
        p = self.pick(self.phased)
        if not p.own:
            self.store_own()
        elif p.atomic:
            update = getattr(self.b, f"atomic_{p.atomic}")
            index = self.value(vw.u32, 1).value % 11
            update(p.buffer, index, self.expression(p.buffer.dtype).value)
        else:
            p.buffer[self.own_index(p.per_lane, self.local)] = self.expression(p.buffer.dtype).value

    def atomic(self) -> None:
        if not self.atomics:
            self.store_own()
            return
        shared, name = self.pick(self.atomics)
        dtype = self.pick((vw.u32, vw.i32, vw.u8, vw.u64))
        index = self.value(dtype, 1).value % 9
        getattr(self.b, f"atomic_{name}")(shared, index, self.expression(shared.dtype).value)

    def write(self) -> Case:
        rarely = "trap" if self.chance(5) else "total"
        self.checks = self.only or rarely
        self.looping = False
        self.declare()
        self.declare_lanes()
        flow = Flow()
        for _ in range(2 + self.number(8)):
            if self.budget < 0:
                break
            self.statement(flow)
        if self.phased and self.chance(2):
            self.barrier()
            self.store_own()
        self.store_own()
        return Case(
            replace(self.b.build(), debug=DebugInfo()),
            self.inputs,
            self.params,
            self.checks,
            frozenset(self.rough),
            self.number(8) or None,
            not self.chance(4),
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
    return Writer(draw, budget, types, checks).write()
