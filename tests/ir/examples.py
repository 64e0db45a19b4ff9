"""Small programs, one for each feature of the IR, for all tests that want "any program".

`EXAMPLES` maps a name to a function that builds the program. Together they use every operation,
statement, buffer kind and element type; `test_serialize` holds that.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import vyre_wgpu.ir as vw
from vyre_wgpu.ir import Program, ProgramBuilder

EXAMPLES: dict[str, Callable[[], Program]] = {}

INTEGERS = (vw.i8, vw.u8, vw.i16, vw.u16, vw.i32, vw.u32, vw.i64, vw.u64)
FLOATS = (vw.f16, vw.f32, vw.f64)

FLOAT_UNARY = (
    "abs_", "sign", "floor", "ceil", "trunc", "round_", "sqrt", "rsqrt", "cbrt", "exp",
    "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma",
    "gamma", "sigmoid",
)  # fmt: skip
FLOAT_BINARY = ("fmod", "fmin", "fmax", "minimum", "maximum", "power", "atan2", "hypot")


def example(function: Callable[[], Program]) -> Callable[[], Program]:
    EXAMPLES[function.__name__] = function
    return function


# Declarations


@example
def saxpy() -> Program:
    b = ProgramBuilder("saxpy", workgroup_size=256)
    a = b.param("a", vw.f32)
    x = b.read("x", vw.f32)
    y = b.read_write("y", vw.f32, count=x.length)
    i = b.global_id()
    y[i] = a * x[i] + y[i]
    return b.build()


@example
def no_operations() -> Program:
    b = ProgramBuilder()
    b.output("y", vw.u32, count=4)
    b.extent(4)
    return b.build()


@example
def buffer_kinds() -> Program:
    b = ProgramBuilder("kinds", workgroup_size=64)
    x = b.read("x", vw.u32)
    rw = b.read_write("rw", vw.u32, count=16)
    y = b.output("y", vw.u32, like=x)
    z = b.output("z", vw.u32, count=x.length + 1)
    s = b.scratch("s", vw.u32, count=x.length)
    t = b.scratch("t", vw.u32, count=8, uninitialized=True)
    c = b.carry("c", vw.u32, count=2)
    w = b.workgroup("w", vw.u32, count=64)
    p = b.private("p", vw.u32, count=4)
    i, k = b.global_id(), b.local_id()
    for buffer in (rw, y, z, s, t, c):
        buffer[i] = x[i]
    w[k] = rw[i]
    p[0] = w[k]
    b.extent(x.length)
    return b.build()


@example
def all_types() -> Program:
    b = ProgramBuilder("types")
    i = b.global_id()
    for dtype in (vw.bool_, *INTEGERS, *FLOATS):
        x = b.read(f"x_{dtype}", dtype, count=8)
        y = b.output(f"y_{dtype}", dtype, count=8)
        v = b.param(f"v_{dtype}", dtype)
        y[i] = vw.select(x[i] == v, v, x[i])
    b.extent(8)
    return b.build()


@example
def size_expressions() -> Program:
    b = ProgramBuilder("sizes")
    x = b.read("x", vw.f32)
    n = b.param("n", vw.u32)
    m = b.param("m", vw.i64)
    half = x.length // 2
    b.output("a", vw.f32, count=half * n + half)
    b.output("b", vw.f32, count=vw.ceil_div(x.length, n) - 1)
    b.output("c", vw.f32, count=vw.minimum(m, vw.maximum(x.length % 7, 3)))
    b.output("d", vw.f32, count=10 - (n - (m - 1)))
    b.extent(vw.ceil_div(half, 4), n * 3 + 0, 2)
    return b.build()


@example
def sizes_as_values() -> Program:
    b = ProgramBuilder()
    x = b.read("x", vw.u32)
    n = b.param("n", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id()
    y[i] = (x.length + n) * 2 + vw.ceil_div(x.length, n)
    return b.build()


@example
def two_dimensions() -> Program:
    b = ProgramBuilder("transpose", workgroup_size=(16, 16))
    w, h = b.param("w", vw.u32), b.param("h", vw.u32)
    x = b.read("x", vw.f32, count=w * h)
    y = b.output("y", vw.f32, count=w * h)
    i, j = b.global_id(0), b.global_id(1)
    y[i * h + j] = x[j * w + i]
    b.extent(w, h)
    return b.build()


@example
def ids() -> Program:
    b = ProgramBuilder("ids", workgroup_size=(4, 2, 2))
    y = b.output("y", vw.u32, count=64)
    total = vw.u32(0)
    for axis in range(3):
        for leaf in (b.global_id, b.local_id, b.workgroup_id, b.num_workgroups):
            total = leaf(axis) + total
    y[b.global_id()] = total
    b.extent(4, 4, 4)
    return b.build()


# Values


@example
def float_functions() -> Program:
    b = ProgramBuilder("floats")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    v = x[i]
    for name in FLOAT_UNARY:
        y[i] = getattr(vw, name)(v)
    for name in FLOAT_BINARY:
        y[i] = getattr(vw, name)(v, 2.0)
    y[i] = vw.powi(v, 3) + v**-2 + v**0.5
    y[i] = vw.fma(v, v, 1.0)
    y[i] = (v / 3.0) % 2.0 - -v
    for test in (vw.is_nan, vw.is_inf, vw.is_finite):
        y[i] = vw.select(test(v), 1.0, v)
    return b.build()


@example
def integer_functions() -> Program:
    b = ProgramBuilder("integers")
    x = b.read("x", vw.i32)
    y = b.output("y", vw.i32, like=x)
    i = b.global_id()
    v = x[i]
    for function in (vw.abs_, vw.sign, vw.clz, vw.ctz, vw.popcount, vw.reverse_bits):
        y[i] = function(v)
    for function in (vw.trunc_div, vw.rem, vw.rotl, vw.rotr, vw.mul_high, vw.fmin, vw.fmax):
        y[i] = function(v, v + 3)
    y[i] = (~v & 7 | v ^ 1) + (v << 2) - (v >> 3)
    y[i] = (v // 3) * (v % 5) - (7 - v)
    y[i] = v << b.local_id() >> 1
    return b.build()


@example
def comparisons() -> Program:
    b = ProgramBuilder("comparisons")
    x = b.read("x", vw.i16)
    y = b.output("y", vw.bool_, like=x)
    i = b.global_id()
    v = x[i]
    y[i] = (v < 1) & (v <= 2) | (v > 3) ^ (v >= 4)
    y[i] = ~((v == 5) == (v != 6))
    return b.build()


@example
def casts() -> Program:
    b = ProgramBuilder("casts")
    x = b.read("x", vw.f64)
    y = b.output("y", vw.f64, like=x)
    i = b.global_id()
    v = x[i]
    for dtype in (vw.bool_, *INTEGERS, *FLOATS):
        y[i] = v.cast(dtype).cast(vw.f64)
    y[i] = v.bitcast(vw.u64).bitcast(vw.f64)
    y[i] = vw.bitcast(vw.cast(v, vw.f16), vw.i16).cast(vw.f64)
    return b.build()


@example
def literals() -> Program:
    b = ProgramBuilder("literals")
    y = b.output("y", vw.f32, count=8)
    z = b.output("z", vw.i64, count=8)
    for k, value in enumerate((0.0, -0.0, 1e20, 0.1, math.inf, -math.inf, math.nan)):
        y[k] = value
    quiet = b.let("quiet", vw.f32(1.0)) + 0.0
    y[7] = vw.select(quiet == 1.0, quiet, -quiet)
    for k, value in enumerate((0, -1, vw.i64.min, vw.i64.max)):
        z[k] = value
    b.let("least", vw.f16(2**-24))
    b.let("most", vw.u64(vw.u64.max))
    b.let("yes", vw.bool_(True))
    b.extent(1)
    return b.build()


@example
def select_between_literals() -> Program:
    b = ProgramBuilder("select")
    x = b.read("x", vw.bool_)
    y = b.output("y", vw.u8, like=x)
    i = b.global_id()
    y[i] = vw.select(x[i], vw.u8(255), 0)
    return b.build()


# Statements


@example
def lets_and_vars() -> Program:
    b = ProgramBuilder("names")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.let("i", b.global_id())
    v = b.var("v", vw.f32)
    w = b.var("w", vw.f32, x[i])
    v.set(w * 2.0)
    old = +v
    v += 1.0
    y[i] = v - old
    unnamed = b.let("", old * old)
    w.set(unnamed)
    return b.build()


@example
def branches() -> Program:
    b = ProgramBuilder("branches")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    v = x[i]
    with b.if_(v > 0.0):
        y[i] = v
        with b.if_(v > 1.0):
            pass
    with b.else_():
        with b.if_(v < -1.0):
            y[i] = -v
        with b.else_():
            y[i] = 0.0
    with b.if_(v == 2.0):
        b.return_()
    y[i] = y[i] + 1.0
    return b.build()


@example
def loops() -> Program:
    b = ProgramBuilder("loops")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    total = b.var("total", vw.f32)
    with b.for_range(0, 10, name="k") as k:
        total += x[k]
    with b.for_range(10, -1, -1, dtype=vw.i32, name="down") as down:
        with b.if_(down == 5):
            b.continue_()
        with b.if_(total > 100.0):
            b.break_()
        total += down.cast(vw.f32)
    with b.for_range(x.length):
        total += 1.0
    with b.for_range(vw.u8(1), 255, 2, name="step"):
        pass
    y[i] = total
    return b.build()


@example
def while_loops() -> Program:
    b = ProgramBuilder("while")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id()
    n = b.var("n", vw.u32, x[i])
    steps = b.var("steps", vw.u32)

    def going() -> vw.Value:
        v = b.let("v", n % 3)
        return (v != 0) & (v * v < 100)

    with b.while_(lambda: n > 1):
        n.set(vw.select(n % 2 == 0, n // 2, 3 * n + 1))
        steps += 1
    with b.while_(going):
        n -= 1
    y[i] = steps
    return b.build()


@example
def barriers() -> Program:
    b = ProgramBuilder("reverse in groups", workgroup_size=64)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    tile = b.workgroup("tile", vw.u32, count=64)
    i, k = b.global_id(), b.local_id()
    tile[k] = x[i]
    b.barrier()
    y[i] = tile[63 - k]
    return b.build()


@example
def atomics() -> Program:
    b = ProgramBuilder("atomics")
    x = b.read("x", vw.u32)
    h = b.read_write("h", vw.u32, count=16)
    i = b.global_id()
    for update in (
        b.atomic_add,
        b.atomic_sub,
        b.atomic_and,
        b.atomic_or,
        b.atomic_xor,
        b.atomic_min,
        b.atomic_max,
        b.atomic_exchange,
    ):
        update(h, x[i] % 16, 1)
    old = b.atomic_compare_exchange(h, 0, 3, x[i])
    with b.if_(old == 3):
        h[1] = old
    b.extent(x.length)
    return b.build()


@example
def subgroups() -> Program:
    b = ProgramBuilder("subgroups", workgroup_size=32)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id()
    v = x[i]
    total = b.subgroup_size() + b.subgroup_lane()
    for reduce in (
        b.subgroup_add,
        b.subgroup_mul,
        b.subgroup_min,
        b.subgroup_max,
        b.subgroup_and,
        b.subgroup_or,
        b.subgroup_xor,
    ):
        total = total + reduce(v)
    total = total + b.subgroup_ballot(v > 3) + b.subgroup_broadcast(v, 0)
    y[i] = total + b.subgroup_shuffle(v, b.subgroup_lane() ^ 1)
    return b.build()


@example
def traps() -> Program:
    b = ProgramBuilder("traps")
    x = b.read("x", vw.u8)
    y = b.output("y", vw.u8, like=x)
    i = b.global_id()
    with b.if_(x[i] > 127):
        b.trap("not ascii", i)
    with b.if_(x[i] == 0):
        b.trap('a "zero"\n', vw.i32(-1))
    with b.if_(x[i] == 1):
        b.trap("not ascii")
    y[i] = x[i]
    return b.build()


@example
def reads_before_writes() -> Program:
    """Loads and variables whose place changes between where they are read and where used."""
    b = ProgramBuilder("order")
    x = b.read_write("x", vw.i32)
    i = b.global_id()
    n = b.var("n", vw.i32, 1)
    first, second = x[i], x[i + 1]
    x[i] = second
    x[i + 1] = first
    before = n * 2
    n += 1
    x[i] = before + n
    return b.build()


@example
def unused_values() -> Program:
    b = ProgramBuilder("unused")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    x[i] + 1.0
    y[i] = x[i]
    return b.build()


# Names and comments


@example
def unicode_names() -> Program:
    b = ProgramBuilder("größe \N{GREEK SMALL LETTER PI}")
    x = b.read("señal", vw.f32)
    y = b.output("出力", vw.f32, like=x)
    i = b.let("índice", b.global_id())
    b.comment("тест\tone\n\x1b[31mtwo")
    y[i] = x[i]
    return b.build()


@example
def awkward_names() -> Program:
    b = ProgramBuilder('quotes " and \\ and\nlines')
    x = b.read("while", vw.f32)
    y = b.output("a b", vw.f32, like=x)
    n = b.param("__class__", vw.f32)
    i = b.let("t0", b.global_id())
    twice = x[i] * n
    v = b.let("fn", twice * twice)
    w = b.var("\u202eright to left", vw.f32, v)
    y[i] = w
    return b.build()


@example
def comments() -> Program:
    b = ProgramBuilder("comments")
    b.comment("first")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    with b.if_(x[i] > 0.0):
        b.comment("only a comment")
    with b.else_():
        y[i] = 1.0
        b.comment("at the end of a block")
    b.comment("last")
    return b.build()
