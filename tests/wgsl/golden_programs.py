"""Programs whose WGSL is kept in git: what the examples of the IR do not show.

Each shows one thing that lowering does: a type that needs an extension, an option, a launch, a
memory, a form of control flow, and the programs that the package ships.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import vyre_wgpu as vw
from vyre_wgpu import programs
from vyre_wgpu.wgsl.options import CompileOptions

__all__ = ["GOLDEN_PROGRAMS", "HOW", "Lowering"]

Build = Callable[[], vw.Program]

GOLDEN_PROGRAMS: dict[str, Build] = {
    "shipped_saxpy": programs.saxpy,
    "shipped_byte_histogram": programs.byte_histogram,
    "shipped_first_of": lambda: programs.first_of(lambda byte: byte >= 128),
    "shipped_trap_if_found": lambda: programs.trap_if_found("found"),
    "shipped_argmax": programs.argmax_blocks,
    "shipped_base64_decoder": programs.base64_decoder,
    "shipped_crc32": programs.crc32,
    "shipped_keyword_counts": programs.keyword_counts,
    "shipped_mandelbrot": programs.mandelbrot,
    "shipped_matmul": programs.matmul_tiled,
    "shipped_radix_histogram": programs.radix_histogram,
    "shipped_radix_scatter": programs.radix_scatter,
    "shipped_reduce_sum": programs.reduce_blocks,
    "shipped_scan": programs.scan_blocks,
    "shipped_xor_map": programs.xor_map,
}


@dataclass(frozen=True)
class Lowering:
    """How a golden program is lowered, where it is not as by default.

    Attributes:
        options: the caller's.
        indirect: the variant whose number of workgroups is known on the device only.
        split: the variant for dispatches in parts.
        immediate_bytes: as in `Target`; 0 puts the dispatch block into a uniform buffer.
        loop_iterations: as in `Target`: the driver ends loops after so many iterations.
        reorders_floats: as in `Target`: the driver takes floats for real numbers.
    """

    options: CompileOptions | None = None
    indirect: bool = False
    split: bool = False
    immediate_bytes: int = 128
    loop_iterations: int | None = None
    reorders_floats: bool = False


HOW: dict[str, Lowering] = {
    # Passes would fold or drop what these show.
    name: Lowering(CompileOptions(passes=False))
    for name in ("casts", "literals", "loops")
}
"""How some golden programs are lowered, by name."""


def golden(how: Lowering | None = None) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        name = build.__name__
        GOLDEN_PROGRAMS[name] = build
        if how is not None:
            HOW[name] = how
        return build

    return register


# Barriers, packing, long bodies, what drivers fold


@golden()
def predicated() -> vw.Program:
    b = vw.ProgramBuilder("predicated", workgroup_size=64)
    x = b.read("x", vw.u32)
    out = b.output("out", vw.u32, like=x)
    shared = b.workgroup("shared", vw.u32, 64)
    i, k = b.global_id(), b.local_id()
    with b.for_range(0, x[i]) as j, b.if_(j == 7):
        b.trap("seven", i)
    with b.if_(k == 0):
        b.return_()
    shared[k] = x[i]
    b.barrier()
    old = b.atomic_add(shared, 63 - k, 1)
    b.barrier()
    out[i] = shared[k] + old
    return b.build()


@golden()
def packed() -> vw.Program:
    b = vw.ProgramBuilder("packed")
    i = b.global_id()
    for dtype in (vw.u8, vw.i8, vw.u16, vw.i16, vw.bool_):
        x = b.read(f"x_{dtype}", dtype)
        b.output(f"y_{dtype}", dtype, like=x)[i] = x[i]
        if dtype is vw.u8:
            b.extent(x.length)
    return b.build()


@golden()
def split() -> vw.Program:
    b = vw.ProgramBuilder("split")
    x = b.read("x", vw.u32)
    out = b.output("out", vw.u32, like=x)
    i = b.global_id()
    v = x[i]
    total = b.var("total", vw.u32, v)
    with b.for_range(0, 3):
        for step in range(700):
            total.set(total * 3 + step)
            if step == 350:
                with b.if_(v == 9):
                    b.break_()
    out[i] = total
    return b.build()


@golden()
def folding_hazards() -> vw.Program:
    b = vw.ProgramBuilder("hazards")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    v = x[i]
    w = b.var("w", vw.f32, v)
    y[i] = v - v + v / v + v * 0.0 + (w - v) + vw.select(v != v, vw.f32(1.5), -0.0)
    return b.build()


# Types


@golden()
def f32_arithmetic() -> vw.Program:
    """What f32 has besides elementary functions."""
    b = vw.ProgramBuilder("f32_arithmetic")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    v, w = x[i], x[i + 1]
    for function in (vw.floor, vw.ceil, vw.trunc, vw.round_, vw.abs_, vw.sign, vw.sqrt):
        y[i] = function(v)
    for combine in (vw.minimum, vw.maximum, vw.fmin, vw.fmax):
        y[i] = combine(v, w)
    y[i] = vw.fma(v, w, 1.0)
    for test in (vw.is_nan, vw.is_inf, vw.is_finite):
        y[i] = vw.select(test(v), 1.0, -w)
    for dtype in (vw.i8, vw.u8, vw.i16, vw.u16, vw.i32, vw.u32):
        y[i] = v.cast(dtype).cast(vw.f32)
    y[i] = (v.bitcast(vw.u32) ^ 0x80000000).bitcast(vw.f32)
    return b.build()


@golden()
def small_integers() -> vw.Program:
    """8 and 16 bits: arithmetic in 32, brought back into range after each operation."""
    b = vw.ProgramBuilder("small_integers")
    i = b.global_id()
    for dtype in (vw.i8, vw.u16):
        x = b.read(f"x_{dtype}", dtype)
        y = b.output(f"y_{dtype}", dtype, like=x)
        v, w = x[i], x[i + 1]
        y[i] = (v + w) * (v - w)
        y[i] = v // w + v % w - vw.trunc_div(v, w) - vw.rem(v, w)
        y[i] = (v << 3) ^ (w >> 1) | vw.rotl(v, w)
        y[i] = vw.clz(v) + vw.ctz(v) + vw.popcount(w) + vw.reverse_bits(w) + vw.mul_high(v, w)
        y[i] = -v + vw.abs_(w) + vw.sign(v) + vw.minimum(v, w)
        if dtype is vw.i8:
            b.extent(x.length)
    return b.build()


@golden()
def long_integers() -> vw.Program:
    b = vw.ProgramBuilder("long_integers")
    i = b.global_id()
    n = b.param("n", vw.i64)
    for dtype in (vw.i64, vw.u64):
        x = b.read(f"x_{dtype}", dtype)
        y = b.output(f"y_{dtype}", dtype, like=x)
        v, w = x[i], x[i + 1]
        y[i] = v // w + v % w - vw.trunc_div(v, w) - vw.rem(v, w)
        y[i] = (v << 3) ^ (w >> 65) | vw.rotl(v, w)
        y[i] = vw.clz(v) + vw.ctz(v) + vw.popcount(w) + vw.reverse_bits(w) + vw.mul_high(v, w)
        y[i] = vw.maximum(v, w) + v.cast(vw.i8).cast(dtype) + n.cast(dtype)
        y[i] = v.cast(vw.f32).cast(dtype)
        if dtype is vw.i64:
            b.extent(x.length)
    return b.build()


@golden()
def halves() -> vw.Program:
    """f16: two in a word, computed in f32 and rounded."""
    b = vw.ProgramBuilder("halves")
    a = b.param("a", vw.f16)
    x = b.read("x", vw.f16)
    y = b.output("y", vw.f16, like=x)
    z = b.output("z", vw.u16, like=x)
    i = b.global_id()
    v = x[i]
    y[i] = a * v + x[i + 1]
    y[i] = v / a - vw.f16(0.1)
    y[i] = vw.fma(v, v, a) + vw.sqrt(v) + vw.floor(v)
    y[i] = vw.select(v < a, vw.minimum(v, a), -v)
    y[i] = v.cast(vw.i32).cast(vw.f16) + v.cast(vw.f32).cast(vw.f16)
    z[i] = v.bitcast(vw.u16)
    b.extent(x.length)
    return b.build()


@golden()
def doubles() -> vw.Program:
    b = vw.ProgramBuilder("doubles")
    a = b.param("a", vw.f64)
    x = b.read("x", vw.f64)
    y = b.output("y", vw.f64, like=x)
    i = b.global_id()
    v = x[i]
    y[i] = a * v + x[i + 1]
    y[i] = v / a - 0.1
    y[i] = vw.floor(v) + vw.round_(v) + vw.maximum(v, a) + vw.fma(v, v, a)
    y[i] = v.cast(vw.f32).cast(vw.f64) + v.cast(vw.u32).cast(vw.f64)
    y[i] = vw.select(vw.is_nan(v) | (v != a), v, -a)
    return b.build()


@golden()
def long_atomics() -> vw.Program:
    b = vw.ProgramBuilder("long_atomics")
    x = b.read("x", vw.u64)
    h = b.read_write("h", vw.u64, count=4)
    low = b.read_write("low", vw.i64, count=1)
    i = b.global_id()
    v = x[i]
    for update in (b.atomic_add, b.atomic_and, b.atomic_max, b.atomic_exchange):
        update(h, i % 4, v)
    b.atomic_compare_exchange(h, 0, 3, v)
    b.atomic_min(low, 0, v.cast(vw.i64))
    h[1] = h[2] + 1
    b.extent(x.length)
    return b.build()


@golden()
def float_atomics() -> vw.Program:
    b = vw.ProgramBuilder("float_atomics")
    x = b.read("x", vw.f32)
    total = b.read_write("total", vw.f32, count=2)
    i = b.global_id()
    old = b.atomic_add(total, 0, x[i])
    b.atomic_add(total, i, old)
    b.extent(x.length)
    return b.build()


@golden()
def float_atomics_of_a_workgroup() -> vw.Program:
    """Bits and compare-exchange: there are no f32 atomics in workgroup memory."""
    b = vw.ProgramBuilder("float_atomics_of_a_workgroup", workgroup_size=64)
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    sums = b.workgroup("sums", vw.f32, 2)
    i, lane = b.global_id(), b.local_id()
    sums[lane] = 1.0
    b.barrier()
    b.atomic_add(sums, lane % 2, x[i])
    b.barrier()
    y[i] = sums[lane % 2]
    b.extent(x.length)
    return b.build()


# Options and launches


def _checked(name: str, *, with_barrier: bool) -> vw.Program:
    b = vw.ProgramBuilder(name, workgroup_size=64)
    x = b.read("x", vw.i32)
    y = b.output("y", vw.i32, like=x)
    h = b.read_write("h", vw.u32, count=8)
    i = b.global_id()
    v = x[i]
    near = x
    if with_barrier:
        near = b.workgroup("near", vw.i32, 64)
        near[b.local_id()] = v
        b.barrier()
    b.atomic_add(h, v, 1)
    y[i] = near[v] // x[v + 1]
    b.extent(x.length)
    return b.build()


@golden(Lowering(CompileOptions(checks="trap")))
def checked() -> vw.Program:
    return _checked("checked", with_barrier=False)


@golden(Lowering(CompileOptions(checks="trap")))
def checked_with_barrier() -> vw.Program:
    return _checked("checked_with_barrier", with_barrier=True)


@golden(Lowering(CompileOptions(checks="trusted")))
def trusted() -> vw.Program:
    return _checked("trusted", with_barrier=True)


def _endless(name: str) -> vw.Program:
    b = vw.ProgramBuilder(name)
    x = b.read_write("x", vw.u32)
    i = b.global_id()
    n = b.var("n", vw.u32, x[i])
    with b.while_(lambda: n != 1), b.for_range(0, n):
        n.set(vw.select(n % 2 == 0, n // 2, 3 * n + 1))
    x[i] = n
    return b.build()


@golden(Lowering(CompileOptions(max_iterations=1000)))
def counted_loops() -> vw.Program:
    return _endless("counted_loops")


@golden(Lowering(CompileOptions(max_iterations=1000)))
def counted_loops_with_barriers() -> vw.Program:
    b = vw.ProgramBuilder("counted_loops_with_barriers", workgroup_size=32)
    rounds = b.param("rounds", vw.u32)
    x = b.read_write("x", vw.u32)
    tile = b.workgroup("tile", vw.u32, 32)
    i, lane = b.global_id(), b.local_id()
    value = b.var("value", vw.u32, x[i])
    with b.for_range(0, rounds):
        with b.while_(lambda: value > 9):
            value.set(value // 2)
        tile[lane] = value
        b.barrier()
        value += tile[31 - lane]
        b.barrier()
    x[i] = value
    return b.build()


@golden(Lowering(loop_iterations=65_535))
def loops_that_a_driver_ends() -> vw.Program:
    return _endless("loops_that_a_driver_ends")


@golden(Lowering(CompileOptions(workgroup_size=(8, 4))))
def other_workgroup_size() -> vw.Program:
    b = vw.ProgramBuilder("other_workgroup_size")
    w, h = b.param("w", vw.u32), b.param("h", vw.u32)
    y = b.output("y", vw.u32, count=w * h)
    y[b.global_id(1) * w + b.global_id(0)] = b.global_id(0) ^ b.global_id(1)
    b.extent(w, h)
    return b.build()


@golden(Lowering(immediate_bytes=0))
def uniform_block() -> vw.Program:
    """The dispatch block in a uniform buffer, with params of every width."""
    b = vw.ProgramBuilder("uniform_block")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    v = x[i]
    for dtype in (vw.bool_, vw.i8, vw.u16, vw.i32, vw.u32, vw.f16, vw.f32):
        v = v + b.param(f"p_{dtype}", dtype).cast(vw.f32)
    y[i] = v
    return b.build()


@golden(Lowering(indirect=True))
def indirect_grid() -> vw.Program:
    b = vw.ProgramBuilder("indirect_grid", workgroup_size=64)
    x = b.read_write("x", vw.u32)
    i = b.global_id()
    x[i] = x[i] + b.num_workgroups()
    b.extent(x.length)
    return b.build()


@golden(Lowering(split=True))
def split_parts() -> vw.Program:
    """Loads, stores and atomics of cut buffers, packed and not, beside a table that is whole."""
    b = vw.ProgramBuilder("split_parts", workgroup_size=64)
    x = b.read("x", vw.u16)
    table = b.read("table", vw.u32)
    y = b.output("y", vw.u8, like=x)
    z = b.read_write("z", vw.u32)
    b.extent(x.length)
    i = b.global_id()
    y[i] = (x[i].cast(vw.u32) + table[x[i]]).cast(vw.u8)
    z[i] = b.atomic_add(z, i, b.workgroup_id())
    return b.build()


@golden(Lowering(indirect=True))
def indirect_grid_2d() -> vw.Program:
    b = vw.ProgramBuilder("indirect_grid_2d", workgroup_size=(8, 8))
    x = b.read_write("x", vw.u32)
    i = b.global_id(1) * 8 + b.global_id(0)
    with b.if_(x[i] == 0):
        b.trap("zero", i)
    x[i] = x[i] + b.workgroup_id(1)
    b.extent(8, x.length)
    return b.build()


# Memory and control flow


@golden()
def private_arrays() -> vw.Program:
    b = vw.ProgramBuilder("private_arrays")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    recent = b.private("recent", vw.f32, 8)
    seen = b.private("seen", vw.bool_, 4)
    i = b.global_id()
    with b.for_range(0, 8) as k:
        recent[k] = x[i + k]
        seen[k % 4] = recent[k] > 0.0
    y[i] = vw.select(seen[i % 4], recent[i % 8], recent[7])
    return b.build()


@golden()
def workgroup_clears() -> vw.Program:
    """Workgroup memory of several types and sizes starts as zeros."""
    b = vw.ProgramBuilder("workgroup_clears", workgroup_size=(8, 4))
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    counts = b.workgroup("counts", vw.u32, 100)
    bytes_ = b.workgroup("bytes", vw.u8, 37)
    reals = b.workgroup("reals", vw.f32, 1)
    b.workgroup("unused", vw.u32, 16)
    i = b.global_id()
    b.atomic_add(counts, x[i] % 100, 1)
    with b.if_((b.local_id(0) == 0) & (b.local_id(1) == 0)):
        reals[0] = 0.5
    bytes_[b.local_id(0)] = x[i].cast(vw.u8)
    b.barrier()
    y[i] = counts[i % 100] + bytes_[36].cast(vw.u32) + reals[0].cast(vw.u32)
    b.extent(x.length, 1)
    return b.build()


@golden()
def nested_loops() -> vw.Program:
    b = vw.ProgramBuilder("nested_loops")
    x = b.read("x", vw.i32)
    y = b.output("y", vw.i32, like=x)
    i = b.global_id()
    total = b.var("total", vw.i32)
    with b.for_range(-5, x[i], 3, dtype=vw.i32, name="outer") as outer:
        with b.if_(outer == 1):
            b.continue_()
        with b.while_(lambda: total < 100):
            total += outer
            with b.if_(total % 7 == 0):
                b.break_()
            with b.if_(total == 13):
                b.return_()
            with b.if_(total == 14):
                b.continue_()
            total += 1
        with b.for_range(10, outer, -1, dtype=vw.i32):
            total -= 1
        with b.if_(total > 1000):
            b.break_()
    y[i] = total
    return b.build()


@golden()
def barriers_in_loops() -> vw.Program:
    """Lanes that have returned or trapped still meet the barriers of a uniform loop."""
    b = vw.ProgramBuilder("barriers_in_loops", workgroup_size=32)
    rounds = b.param("rounds", vw.u32)
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    tile = b.workgroup("tile", vw.u32, 32)
    i, lane = b.global_id(), b.local_id()
    value = b.var("value", vw.u32, x[i])
    with b.for_range(0, rounds) as round_:
        tile[lane] = value
        b.barrier()
        value += tile[(lane + round_) % 32]
        b.barrier()
        with b.if_(value == 0):
            b.trap("zero", lane)
        with b.if_(round_ > 5):
            b.break_()
    with b.if_(value > 100):
        b.return_()
    b.barrier()
    y[i] = tile[31 - lane] + value
    return b.build()


@golden()
def three_dimensions() -> vw.Program:
    b = vw.ProgramBuilder("three_dimensions", workgroup_size=(4, 4, 4))
    n = b.param("n", vw.u32)
    y = b.output("y", vw.u32, count=n * n * n)
    i, j, k = (b.global_id(axis) for axis in range(3))
    with b.if_(i + j + k == 9):
        b.trap("nine", j)
    y[(k * n + j) * n + i] = i
    b.extent(n, n, n)
    return b.build()


@golden()
def endless_loop_with_barriers() -> vw.Program:
    """Lanes that have returned meet the barriers until none is left, and then all leave."""
    b = vw.ProgramBuilder("endless_loop_with_barriers", workgroup_size=32)
    x = b.read_write("x", vw.u32)
    tile = b.workgroup("tile", vw.u32, 32)
    i, lane = b.global_id(), b.local_id()
    with b.while_(lambda: vw.bool_(True)):
        tile[lane] = x[i]
        b.barrier()
        x[i] = tile[(lane + 1) % 32] // 2
        b.barrier()
        with b.if_(x[i] == 0):
            b.return_()
    return b.build()


@golden()
def loop_of_nobody() -> vw.Program:
    """A long loop with barriers is left out where all lanes have trapped before it."""
    b = vw.ProgramBuilder("loop_of_nobody", workgroup_size=64)
    p = b.param("p", vw.u32)
    y = b.output("y", vw.u32, 64)
    tile = b.workgroup("tile", vw.u32, 64)
    b.extent(64)
    lane = b.local_id()
    with b.if_(p == 0):
        b.trap("zero", lane)
    with b.for_range(0, 10 // p):
        tile[lane] = tile[lane] + 1
        b.barrier()
    y[lane] = tile[63 - lane]
    return b.build()


@golden(Lowering(reorders_floats=True))
def compensated_sum() -> vw.Program:
    """Kahan's sum for a driver that would fold the compensation to nothing."""
    b = vw.ProgramBuilder("compensated_sum", workgroup_size=32)
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, count=1)
    b.extent(1)
    total, lost = b.var("total", vw.f32, 0.0), b.var("lost", vw.f32, 0.0)
    with b.for_range(0, x.length) as k:
        term = b.let("term", x[k] - lost)
        new = b.let("new", total + term)
        lost.set((new - total) - term)
        total.set(new)
    y[0] = vw.sqrt(total) / 2.0
    return b.build()


@golden()
def subgroups_with_ended_lanes() -> vw.Program:
    """Where lanes run on for the sake of barriers, those that have ended contribute nothing."""
    b = vw.ProgramBuilder("subgroups_with_ended_lanes", workgroup_size=64)
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    v = x[i]
    with b.if_(v < 0.0):
        b.return_()
    b.barrier()
    y[i] = b.subgroup_add(v) + b.subgroup_max(v) + b.subgroup_shuffle(v, 3)
    return b.build()
