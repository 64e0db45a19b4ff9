"""A program for every rule of the IR that breaks it, and near misses that do not.

A rule's case is a function that writes a program with one mistake, on the line marked ``# <-``.
What a builder cannot get wrong is made by editing the columns of a valid program.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import NamedTuple

import vyre_wgpu.ir as vw
from vyre_wgpu.errors import Problem, ValidationError
from vyre_wgpu.ir.types import TypedLiteral


class Kernel:
    """A builder with the declarations that most cases need."""

    def __init__(self) -> None:
        self.b = vw.ProgramBuilder("kernel")
        self.x = self.b.read("x", vw.f32)
        self.y = self.b.output("y", vw.f32, like=self.x)
        self.u = self.b.scratch("u", vw.u32, count=self.x.length)
        self.n = self.b.param("n", vw.u32)
        self.s = self.b.param("s", vw.f32)
        self.flag = self.b.param("flag", vw.bool_)
        self.i = self.b.global_id(0)


Write = Callable[[Kernel], object]


class Case(NamedTuple):
    code: str
    words: tuple[str, ...]
    write: Write


CASES: list[Case] = []
ALLOWED: list[Write] = []


def breaks(code: str, *words: str) -> Callable[[Write], Write]:
    """Registers a function that breaks one rule; the message must contain the words."""

    def register(write: Write) -> Write:
        CASES.append(Case(code, words, write))
        return write

    return register


def allowed(write: Write) -> Write:
    """Registers a function that breaks no rule, though nearly."""
    ALLOWED.append(write)
    return write


def problems_of(write: Write) -> list[Problem]:
    kernel = Kernel()
    try:
        write(kernel)
        kernel.b.build()
    except ValidationError as error:
        return list(error.problems)
    return []


def marked_line(write: Write) -> tuple[str, int] | None:
    lines, first = inspect.getsourcelines(write)
    marked = [first + offset for offset, line in enumerate(lines) if "# <-" in line]
    return (write.__code__.co_filename, marked[0]) if marked else None


# E1xx: what a builder lets one get wrong


@breaks("E101", "else_ does not directly follow")
def else_after_statement(k: Kernel) -> None:
    with k.b.if_(k.flag):
        k.y[0] = 1.0
    k.y[1] = 1.0
    with k.b.else_():  # <-
        k.y[2] = 1.0


@breaks("E102", "if block is still open")
def build_inside_block(k: Kernel) -> None:
    with k.b.if_(k.flag):  # <-
        k.b.build()


@breaks("E110", "(0, 1, 1)")
def empty_workgroup(k: Kernel) -> None:
    k.b._workgroup_size = (0, 1, 1)


# E2xx


@breaks("E201", "add mixes f32 and u32", "an element of 'x'", "param 'n'")
def mixed_addition(k: Kernel) -> None:
    k.y[k.i] = k.x[k.i] + k.n  # <-


@breaks("E201", "for mixes u32 and i32", "the literal 1")
def mixed_bounds(k: Kernel) -> None:
    with k.b.for_range(0, k.n, vw.i32(1)):  # <-
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


# E3xx


@breaks("E301", "u32 value of another builder")
def foreign_value(k: Kernel) -> None:
    k.u[0] = Kernel().i  # <-


@breaks("E302", "an element of 'x'", "outside the block", "computed at line")
def value_outside_its_block(k: Kernel) -> None:
    with k.b.if_(k.flag):
        value = k.x[k.i]
    k.y[k.i] = value  # <-


@breaks("E302", "the loop index 'j' is used outside its loop")
def index_outside_its_loop(k: Kernel) -> None:
    with k.b.for_range(4, name="j") as j:
        pass
    k.u[0] = j  # <-


@breaks("E302", "variable 'v' is used outside its block")
def variable_in_other_part(k: Kernel) -> None:
    with k.b.if_(k.flag):
        v = k.b.var("v", vw.u32)
    with k.b.else_():
        v.set(1)  # <-


@breaks("E303", "local 'v'")
def shadowing(k: Kernel) -> None:
    k.b.let("v", k.x[0])
    with k.b.if_(k.flag):
        k.b.var("v", vw.u32)  # <-


@breaks("E303", "local 'j'")
def shadowing_index(k: Kernel) -> None:
    with k.b.for_range(4, name="j"), k.b.for_range(4, name="j"):  # <-
        pass


@breaks("E304", "local 'x' has the name of a buffer")
def local_named_as_buffer(k: Kernel) -> None:
    k.b.let("x", k.x[0])  # <-


@breaks("E304", "local 's' has the name of a param")
def local_named_as_param(k: Kernel) -> None:
    k.b.var("s", vw.u32)  # <-


@allowed
def names_nearly_taken(k: Kernel) -> None:
    with k.b.if_(k.flag):
        k.b.let("v", k.x[0])
    with k.b.else_():
        k.b.let("v", k.x[0])
    for _ in range(2):
        with k.b.for_range(4, name="j") as j:
            k.u[j] = j
    k.b.let("v", k.x[0])
    k.b.let("", k.x[0])
    k.b.let("", k.x[0])


@allowed
def condition_value_used_in_the_body(k: Kernel) -> None:
    count = k.b.var("count", vw.u32)
    seen: list[vw.Value] = []

    def condition() -> vw.Value:
        seen.append(k.b.let("seen", k.x[count]))
        return seen[0] > 0.0

    with k.b.while_(condition):
        k.y[count] = seen[0]
        count += 1


# E4xx


@breaks("E401", "output buffer 'x'")
def name_twice(k: Kernel) -> None:
    k.b.output("x", vw.f32, like=k.x)


@breaks("E401", "param 'y'")
def param_named_as_buffer(k: Kernel) -> None:
    k.b.param("y", vw.u32)


@breaks("E402", "has no name")
def nameless_buffer(k: Kernel) -> None:
    k.b.read("", vw.f32)


@breaks("E402", "NUL", r"a\x00b")
def nul_in_name(k: Kernel) -> None:
    k.b.param("a\0b", vw.f32)


@breaks("E402", "surrogate")
def unencodable_name(k: Kernel) -> None:
    k.b.read("\ud800", vw.f32)


@breaks("E402", "256 bytes")
def long_name(k: Kernel) -> None:
    k.b.read("é" * 128, vw.f32)


@breaks("E403", "trap tag")
def unencodable_tag(k: Kernel) -> None:
    k.b.trap("\ud800")


@breaks("E404", "output 'z'")
def unsized_output(k: Kernel) -> None:
    k.b.output("z", vw.f32)


@breaks("E405", "scratch buffer 't'")
def unsized_scratch(k: Kernel) -> None:
    k.b.scratch("t", vw.f32, None)


@breaks("E406", "workgroup buffer 't'", "an expression")
def dynamic_workgroup_memory(k: Kernel) -> None:
    k.b.workgroup("t", vw.f32, k.x.length)  # type: ignore[arg-type]


@breaks("E406", "private buffer 't' is 0")
def empty_private_array(k: Kernel) -> None:
    k.b.private("t", vw.f32, 0)


@breaks("E406", "carry buffer 't' has no count")
def unsized_carry(k: Kernel) -> None:
    k.b.carry("t", vw.f32, None)  # type: ignore[arg-type]


@breaks("E407", "count of 't' is -1")
def negative_count(k: Kernel) -> None:
    k.b.scratch("t", vw.f32, -1)


@breaks("E407", "4294967296")
def too_many_elements(k: Kernel) -> None:
    k.b.scratch("t", vw.f32, 1 << 32)


@breaks("E409", "count of 't'", "workgroup buffer 'w'")
def length_of_workgroup_memory(k: Kernel) -> None:
    w = k.b.workgroup("w", vw.f32, 4)
    k.b.scratch("t", vw.f32, w.length * 2)


@breaks("E412", "count of 't' divides by the constant 0")
def size_by_zero(k: Kernel) -> None:
    k.b.scratch("t", vw.f32, k.x.length // 0)


@breaks("E413", "axis 0 of the extent")
def huge_size_constant(k: Kernel) -> None:
    k.b.extent(k.x.length % (1 << 70))


@breaks("E414", "output 'z' is like workgroup buffer 'w'")
def like_workgroup_memory(k: Kernel) -> None:
    w = k.b.workgroup("w", vw.f32, 4)
    k.b.output("z", vw.f32, like=w)
    k.b.extent(k.x.length)


@breaks("E415", "store to read-only buffer 'x'")
def store_to_input(k: Kernel) -> None:
    k.x[k.i] = 1.0  # <-


@breaks("E415", "atomic_add on read-only buffer 'r'")
def atomic_on_input(k: Kernel) -> None:
    r = k.b.read("r", vw.u32)
    k.b.atomic_add(r, 0, 1)  # <-


@breaks("E417", "atomic_add on private buffer 'p'")
def atomic_on_private(k: Kernel) -> None:
    p = k.b.private("p", vw.u32, 4)
    k.b.atomic_add(p, 0, 1)  # <-


@breaks("E418", "'z' is not the length of one input")
def extent_needed_for_constant_output(k: Kernel) -> None:
    k.b.output("z", vw.f32, 16)


@breaks("E418", "'y' and 'z' go by different inputs")
def extent_needed_for_two_inputs(k: Kernel) -> None:
    r = k.b.read("r", vw.f32)
    k.b.output("z", vw.f32, like=r)


@breaks("E418", "more than one axis")
def extent_needed_for_two_axes(k: Kernel) -> None:
    k.u[0] = k.b.global_id(1)


@breaks("E420", "axis 1 of the extent is -3")
def negative_extent(k: Kernel) -> None:
    k.b.extent(4, -3)


@allowed
def sizes_nearly_wrong(k: Kernel) -> None:
    k.b.scratch("t", vw.f32, (1 << 32) - 1, uninitialized=True)
    k.b.scratch("none", vw.f32, 0)
    k.b.scratch("u2", vw.u8, vw.ceil_div(k.u.length * k.n + 7, 8))
    k.b.read_write("e" * 255, vw.f32)
    w = k.b.workgroup("w", vw.u32, 1)
    k.b.atomic_or(w, w.length - 1, 1)
    k.b.output("z", vw.f32, like=k.y)
    k.b.extent(vw.maximum(k.x.length, 1) % 7, 1 - 1, k.n)


# E5xx


@breaks("E501", "break stands outside of any loop")
def break_outside_loop(k: Kernel) -> None:
    with k.b.if_(k.flag):
        k.b.break_()  # <-


@breaks("E501", "continue stands outside")
def continue_after_loop(k: Kernel) -> None:
    with k.b.for_range(4):
        pass
    k.b.continue_()  # <-


@breaks("E502", "break stands in the condition")
def break_in_condition(k: Kernel) -> None:
    def condition() -> vw.Value:
        with k.b.if_(k.flag):
            k.b.break_()  # <-
        return k.flag

    with k.b.while_(condition):
        pass


@breaks("E503", "a barrier stands in the if block", "goes by global_id(0)")
def barrier_for_some_lanes(k: Kernel) -> None:
    with k.b.if_(k.i < 4):
        k.b.barrier()  # <-


@breaks("E503", "in the while block", "'left'")
def barrier_in_uneven_loop(k: Kernel) -> None:
    left = k.b.var("left", vw.u32, k.i)
    with k.b.while_(lambda: left > 0):
        left -= 1
        k.b.barrier()  # <-


@breaks("E503", "goes by 'left', as set on line")
def barrier_in_a_loop_over_a_variable_set_by_lane(k: Kernel) -> None:
    left = k.b.var("left", vw.u32, k.n)
    left.set(k.i)
    with k.b.while_(lambda: left > 0):
        left -= 1
        k.b.barrier()  # <-


@breaks("E503", "goes by 'left', as set by some lanes on line")
def barrier_in_a_loop_over_a_variable_that_some_lanes_set(k: Kernel) -> None:
    left = k.b.var("left", vw.u32, k.n)
    with k.b.if_(k.i > 3):
        left.set(3)
    with k.b.while_(lambda: left > 0):
        k.b.barrier()  # <-


@breaks("E503", "in the for block", "break, continue or end at different times")
def barrier_after_break(k: Kernel) -> None:
    with k.b.for_range(4):
        k.b.barrier()  # <-
        with k.b.if_(k.x[k.i] > 0.0):
            k.b.break_()


@breaks("E504", "subgroup_add stands in the else block", "an element of 'x'")
def subgroup_for_some_lanes(k: Kernel) -> None:
    with k.b.if_(k.x[k.i] > 0.0):
        pass
    with k.b.else_():
        k.b.let("sum", k.b.subgroup_add(k.s))  # <-


@breaks("E505", "step of the loop over 'j' is 0")
def loop_without_step(k: Kernel) -> None:
    with k.b.for_range(0, 4, 0, name="j"):  # <-
        pass


@allowed
def flow_nearly_wrong(k: Kernel) -> None:
    with k.b.if_(k.x[k.i] > 0.0):
        k.b.return_()
    k.b.barrier()
    with k.b.if_(k.x.length > k.n):
        k.b.barrier()
    left = k.b.var("left", vw.u32, k.n)

    def condition() -> vw.Value:
        k.b.barrier()
        with k.b.for_range(4):
            k.b.break_()
        return left > 0

    with k.b.while_(condition):
        left -= 1
        with k.b.if_(left == 3):
            k.b.break_()
    left.set(k.i)
    left.set(k.n)
    with k.b.while_(lambda: left > 0):
        k.b.barrier()
        left -= 1
    with k.b.for_range(0, 4, k.n):
        k.b.let("sum", k.b.subgroup_add(k.s))
        with k.b.for_range(0, k.i):
            k.b.continue_()


# E6xx


@breaks("E601", "100001 operations", "100000")
def too_long(k: Kernel) -> None:
    value = k.s
    for _ in range(100_001):
        value = value + 1.0


@allowed
def fifty_thousand_loads_in_a_sum(k: Kernel) -> None:
    total = k.x[k.i]
    for term in range(1, 50_000):
        total = total + k.x[k.i + term]


@breaks("E602", "more than 64 deep")
def too_deep(k: Kernel) -> None:
    nest(k, 65)


@breaks("E603", "1001 buffers and params")
def too_many_params(k: Kernel) -> None:
    for index in range(1001 - 6):
        k.b.param(f"p{index}", vw.u32)


@breaks("E604", "65537 lanes")
def too_wide(k: Kernel) -> None:
    k.b._workgroup_size = (1, 1 << 16 | 1, 1)


@allowed
def limits_nearly_passed(k: Kernel) -> None:
    nest(k, 64)
    for index in range(1000 - 6):
        k.b.param(f"p{index}", vw.u32)
    value = k.s
    for _ in range(99_900):
        value = value + 1.0
    k.b._workgroup_size = (1, 1 << 16, 1)


def nest(k: Kernel, depth: int) -> None:
    blocks = [k.b.if_(k.flag) for _ in range(depth)]
    for block in blocks:
        block.__exit__(None, None, None)
