"""E2xx: types of operands, literals and results."""

from __future__ import annotations

import vyre_wgpu.ir as vw
from tests.ir.rules.kernel import Kernel, allowed, breaks
from vyre_wgpu.ir.types import TypedLiteral


@breaks("E201", "add mixes f32 and u32", "an element of 'x'", "param 'n'")
def mixed_addition(k: Kernel) -> None:
    k.y[k.i] = k.x[k.i] + k.n  # <-


@breaks("E201", "for mixes u32 and i32", "the literal 1")
def mixed_bounds(k: Kernel) -> None:
    with k.b.for_range(0, k.n, vw.i32(1)):  # <-
        pass


@breaks("E203", "for takes an integer, found f32 (param 's')")
def float_bound(k: Kernel) -> None:
    with k.b.for_range(k.s):  # <-
        pass


@breaks("E203", "for takes an integer, found f32 (an element of 'x')")
def float_stop(k: Kernel) -> None:
    with k.b.for_range(k.n, k.x[k.i]):  # <-
        pass


@breaks("E203", "for takes an integer, found f32 (the literal 0.5)")
def float_step(k: Kernel) -> None:
    with k.b.for_range(0, 10, vw.f32(0.5)):  # <-
        pass


@breaks("E203", "for takes an integer, found bool (param 'flag')")
def bool_bound(k: Kernel) -> None:
    with k.b.for_range(0, k.flag):  # <-
        pass


@breaks("E203", "the index of a loop is an integer, found dtype=f32")
def float_loop_index(k: Kernel) -> None:
    with k.b.for_range(0, 10, dtype=vw.f32):  # <-
        pass


@breaks("E202", "300", "u8")
def literal_out_of_range(k: Kernel) -> None:
    byte = k.n.cast(vw.u8)
    k.u[0] = (byte + 300).cast(vw.u32)  # <-


@breaks("E202", "bits do not fit u8")
def literal_with_stray_bits(k: Kernel) -> None:
    k.b.let("big", TypedLiteral(vw.u8, 256))  # <-


@breaks("E201", "pow mixes f32 and i32", "param 's'")
def pow_of_float_and_integer(k: Kernel) -> None:
    k.b.let("power", vw.power(k.s, k.i.cast(vw.i32)))  # <-


@breaks("E202", "2147483649 is an integer exponent that f32 does not have")
def exponent_that_would_be_rounded(k: Kernel) -> None:
    k.b.let("power", k.s**2147483649)  # <-


@breaks("E202", "-16777217 is an integer exponent that f32 does not have")
def exponent_of_pow_that_would_be_rounded(k: Kernel) -> None:
    k.b.let("power", vw.power(k.s, -16777217))  # <-


@breaks("E203", "sqrt takes a float, found u32 (param 'n')")
def root_of_integer(k: Kernel) -> None:
    k.b.let("root", vw.sqrt(k.n))  # <-


@breaks("E203", "neg takes a number, found bool (param 'flag')")
def negated_bool(k: Kernel) -> None:
    k.b.let("minus", -k.flag)  # <-


@breaks("E203", "the exponent of an integer power is unsigned, found i32")
def signed_exponent(k: Kernel) -> None:
    k.b.let("power", k.n ** k.i.cast(vw.i32))  # <-


@breaks("E202", "-3 is no exponent of an integer")
def negative_exponent(k: Kernel) -> None:
    k.b.let("power", k.n**-3)  # <-


@breaks("E204", "condition of if is a bool, found u32 (param 'n')")
def integer_condition(k: Kernel) -> None:
    with k.b.if_(k.n):  # <-
        pass


@breaks("E204", "condition of select")
def integer_choice(k: Kernel) -> None:
    k.y[0] = vw.select(k.n, k.s, 0.0)  # <-


@breaks("E204", "condition of while", "'left'")
def float_loop_condition(k: Kernel) -> None:
    left = k.b.var("left", vw.f32, 1.0)
    with k.b.while_(lambda: left):  # <-
        left.set(0.0)


@breaks("E205", "index of load in 'x'", "f32 (param 's')")
def float_index(k: Kernel) -> None:
    k.y[0] = k.x[k.s]  # <-


@breaks("E207", "store to f32 buffer 'y' of u32 (param 'n')")
def stored_type(k: Kernel) -> None:
    k.y[k.i] = k.n  # <-


@breaks("E207", "atomic_add on u32 buffer 'u' of f32")
def atomic_value(k: Kernel) -> None:
    k.b.atomic_add(k.u, 0, k.s)  # <-


@breaks("E208", "variable 'count' is u32, assigned f32 (param 's')")
def assigned_type(k: Kernel) -> None:
    count = k.b.var("count", vw.u32)
    count.set(k.s)  # <-


@breaks("E208", "variable 'count' is u32, its first value is f32")
def first_value(k: Kernel) -> None:
    k.b.var("count", vw.u32, k.s)  # <-


@breaks("E209", "f32 (param 's') and u32 (param 'n')")
def mixed_choices(k: Kernel) -> None:
    k.b.let("choice", vw.select(k.flag, k.s, k.n))  # <-


@breaks("E210", "count of shl is f32 (param 's')", "u32")
def float_shift(k: Kernel) -> None:
    k.u[0] = k.i << k.s  # <-


@breaks("E211", "bitcast from f32 (param 's') to u64")
def wide_bitcast(k: Kernel) -> None:
    k.b.let("bits", vw.bitcast(k.s, vw.u64))  # <-


@breaks("E211", "bitcast from bool (param 'flag')")
def bitcast_bool(k: Kernel) -> None:
    k.b.let("bits", vw.bitcast(k.flag, vw.u8))  # <-


@breaks("E212", "atomic_min on buffer 'y' of f32")
def atomic_float_min(k: Kernel) -> None:
    k.b.atomic_min(k.y, 0, 1.0)  # <-


@breaks("E212", "atomic_add on buffer 'bytes' of u8")
def atomic_bytes(k: Kernel) -> None:
    data = k.b.scratch("bytes", vw.u8, 4)
    k.b.atomic_add(data, 0, 1)  # <-


@breaks("E213", "div takes a float, found u32")
def integer_division(k: Kernel) -> None:
    k.u[0] = k.i / 2  # <-


@breaks("E213", "floor_div takes an integer, found f32")
def float_floor_division(k: Kernel) -> None:
    k.y[0] = k.s // 2.0  # <-


@breaks("E214", "an integer of at most 32 bits, found f32 (param 's')")
def float_address(k: Kernel) -> None:
    k.b.trap("bad", address=k.s)  # <-


@allowed
def types_nearly_wrong(k: Kernel) -> None:
    k.y[k.i.cast(vw.i64)] = k.x[k.i] + k.n.cast(vw.f32)
    k.u[0] = (k.i << k.n) // 2 + k.i.cast(vw.u8).cast(vw.u32) % 0
    shifted = k.i.cast(vw.i32) << k.i
    k.b.let("rotated", vw.rotl(shifted, shifted))
    k.b.let("bits", vw.bitcast(k.s, vw.u32))
    k.b.let("equal", (k.flag == k.flag) & ~k.flag)
    k.b.let("choice", vw.select(k.flag, k.flag, k.flag))
    k.b.let("wide", k.s.cast(vw.f64).cast(vw.bool_))
    k.b.let("power", k.s**3 + k.s**0.5 + k.s**2147483648 + k.s**16777217 + k.s**2147483649.0)
    k.b.let("integer_power", k.n**3 + k.n ** k.i.cast(vw.u8))
    k.b.atomic_add(k.y, 0, 1.0)
    k.b.atomic_compare_exchange(k.u, 0, 1, 2)
    k.b.trap("bad", address=k.i.cast(vw.i8))
