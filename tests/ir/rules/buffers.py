"""E4xx: names, counts, sizes and what may be done with which buffer."""

from __future__ import annotations

import vyre_wgpu.ir as vw
from tests.ir.rules.kernel import Kernel, allowed, breaks


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
