"""Buffers in WGSL: their declarations, and the functions that load, store and update them.

Every access goes through a function that tests the index against the logical length, so an access
out of bounds gives 0 or does nothing, and stale bytes behind the end of a pooled allocation cannot
be seen. Elements below 32 bits are packed in u32 words of storage; a store replaces its bits with
compare-exchange, so neighbours written by other lanes at the same time are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ir.ops import Op
from ..ir.program import Buffer, BufferKind, Program
from ..ir.types import DType
from .descriptor import UNKNOWN_SITE
from .spelling import register_type, zero

__all__ = ["ATOMIC_OPS", "Access", "MemoryPlan", "plan_memory", "private_bytes", "workgroup_bytes"]

ATOMIC_OPS: dict[int, str] = {
    Op.ATOMIC_ADD: "atomicAdd",
    Op.ATOMIC_SUB: "atomicSub",
    Op.ATOMIC_AND: "atomicAnd",
    Op.ATOMIC_OR: "atomicOr",
    Op.ATOMIC_XOR: "atomicXor",
    Op.ATOMIC_MIN: "atomicMin",
    Op.ATOMIC_MAX: "atomicMax",
    Op.ATOMIC_EXCHANGE: "atomicExchange",
    Op.ATOMIC_COMPARE_EXCHANGE: "atomicCompareExchangeWeak",
}

_MEMORY_OPS: frozenset[int] = frozenset({Op.LOAD, Op.STORE, *ATOMIC_OPS})


@dataclass(slots=True)
class Access:
    """How a program uses one buffer.

    Attributes:
        ops: the memory operations it applies, in order of first use.
    """

    ops: dict[Op, None] = field(default_factory=dict)

    @property
    def is_atomic(self) -> bool:
        """Whether any atomic operation is applied."""
        return any(op in ATOMIC_OPS for op in self.ops)


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Declarations and access functions of a program's buffers.

    Attributes:
        declarations: module-scope variables, in declaration order.
        functions: the access functions that the program uses.
        storage: indices of the storage buffers; a position is a binding number.
        clears: statements that the lanes of a workgroup run together to zero its memory.
    """

    declarations: tuple[str, ...]
    functions: tuple[str, ...]
    storage: tuple[int, ...]
    clears: tuple[str, ...]


def plan_memory(
    program: Program,
    live: bytes,
    lengths: dict[int, str],
    lanes: int,
    *,
    guard_loops: bool = False,
    trusted: bool = False,
    split: frozenset[int] = frozenset(),
) -> MemoryPlan:
    """Declarations and functions for every buffer of a program.

    Args:
        program: the program.
        live: 1 for each row that is emitted.
        lengths: text of each buffer's logical length in elements.
        lanes: lanes of a workgroup.
        guard_loops: whether a lane traps whose compare-exchange loop the driver ended early.
        trusted: whether indices are in bounds by the author's word.
        split: buffers of which only the part from ``d.base`` on is bound.
    """
    accesses = [Access() for _ in program.buffers]
    table = program.table
    for row, code in enumerate(table.op):
        if code in _MEMORY_OPS and live[row]:
            accesses[table.const[row]].ops[Op(code)] = None
    declarations: list[str] = []
    functions: list[str] = []
    storage = tuple(i for i, b in enumerate(program.buffers) if b.kind.is_storage)
    bindings = {buffer: binding for binding, buffer in enumerate(storage)}
    for index, (buffer, access) in enumerate(zip(program.buffers, accesses, strict=True)):
        declarations.append(_declaration(index, buffer, access, bindings.get(index, -1)))
        functions += [
            _function(
                op,
                index,
                buffer,
                access,
                "" if trusted else lengths[index],
                guard_loops=guard_loops,
                is_split=index in split,
            )
            for op in sorted(access.ops)
        ]
    clears = [
        _clear(index, buffer, access, lanes)
        for index, (buffer, access) in enumerate(zip(program.buffers, accesses, strict=True))
        if buffer.kind is BufferKind.WORKGROUP and access.ops
    ]
    return MemoryPlan(tuple(declarations), tuple(functions), storage, tuple(clears))


def workgroup_bytes(program: Program) -> dict[str, int]:
    """Bytes of workgroup memory that each workgroup buffer takes, rounded up to 16.

    Lowering may take 16 more for itself.
    """
    return {
        b.name: -(-_static_count(b) * max(b.dtype.itemsize, 4) // 16) * 16
        for b in program.buffers
        if b.kind is BufferKind.WORKGROUP
    }


def private_bytes(program: Program) -> dict[str, int]:
    """Bytes of a lane's own that each private buffer takes."""
    return {
        b.name: _static_count(b) * max(b.dtype.itemsize, 4)
        for b in program.buffers
        if b.kind is BufferKind.PRIVATE
    }


def _static_count(buffer: Buffer) -> int:
    count = buffer.count.constant if buffer.count else None
    if count is None:
        raise AssertionError(f"{buffer.kind.label} buffer {buffer.name!r} has no static count")
    return count


def _is_packed(buffer: Buffer) -> bool:
    return buffer.kind.is_storage and buffer.dtype.itemsize < 4


def _is_float_bits(buffer: Buffer, access: Access) -> bool:
    """Whether elements are kept as bits: WGSL compilers have no f32 atomics in workgroup memory."""
    return buffer.kind is BufferKind.WORKGROUP and buffer.dtype.is_float and access.is_atomic


def _element(buffer: Buffer, access: Access) -> str:
    """The WGSL element type of a buffer's array."""
    if _is_float_bits(buffer, access):
        return "atomic<u32>"
    if _is_packed(buffer):
        return "atomic<u32>" if Op.STORE in access.ops else "u32"
    element = "u32" if buffer.dtype.kind == "bool" else register_type(buffer.dtype)
    return f"atomic<{element}>" if access.is_atomic else element


def _declaration(index: int, buffer: Buffer, access: Access, binding: int) -> str:
    element = _element(buffer, access)
    match buffer.kind:
        case BufferKind.WORKGROUP:
            return f"var<workgroup> b{index}: array<{element}, {_static_count(buffer)}>;"
        case BufferKind.PRIVATE:
            return f"var<private> b{index}: array<{element}, {_static_count(buffer)}>;"
        case BufferKind.READ:
            mode = "read"
        case _:
            mode = "read_write"
    return f"@group(0) @binding({binding}) var<storage, {mode}> b{index}: array<{element}>;"


def _clear(index: int, buffer: Buffer, access: Access, lanes: int) -> str:
    """Zeros in workgroup memory: wgpu-native leaves there what was there, unlike WebGPU."""
    element = f"b{index}[k]"
    is_bits = buffer.dtype.kind == "bool" or _is_float_bits(buffer, access)
    zeros = "0u" if is_bits else zero(buffer.dtype)
    clear = f"atomicStore(&{element}, {zeros})" if access.is_atomic else f"{element} = {zeros}"
    count = _static_count(buffer)
    return f"for (var k = local_index; k < {count}u; k += {lanes}u) {{ {clear}; }}"


def _function(
    op: Op,
    index: int,
    buffer: Buffer,
    access: Access,
    length: str,
    *,
    guard_loops: bool,
    is_split: bool,
) -> str:
    """The function for an operation on a buffer.

    It takes the logical index, ``at`` where that is not yet the place ``i`` in what is bound.
    """
    value = register_type(buffer.dtype)
    given, found = ("at", "  let i = at - d.base;\n") if is_split else ("i", "")
    out_of_bounds, dropped = found, found
    if length:
        outside = f"  if ({given} >= {length})"
        out_of_bounds = f"{outside} {{ return {zero(buffer.dtype)}; }}\n{found}"
        dropped = f"{outside} {{ return; }}\n{found}"
    if op is Op.LOAD:
        if not length:
            body = f"{found}  return {_read(index, buffer, access)};\n"
        else:
            # Without a branch: drivers take long over hundreds of those. Element 0 is always bound.
            given, place = "at", "at - d.base" if is_split else "at"
            body = (
                f"  let i = select(0u, {place}, at < {length});\n"
                f"  return select({zero(buffer.dtype)}, {_read(index, buffer, access)}, "
                f"at < {length});\n"
            )
        return f"fn load{index}({given}: u32) -> {value} {{\n{body}}}"
    if op is Op.STORE:
        if _is_packed(buffer):
            return _packed_store(index, buffer, given, dropped, guarded=guard_loops)
        stored = "select(0u, 1u, v)" if buffer.dtype.kind == "bool" else "v"
        stored = "bitcast<u32>(v)" if _is_float_bits(buffer, access) else stored
        element = f"b{index}[i]"
        write = (
            f"atomicStore(&{element}, {stored})" if access.is_atomic else f"{element} = {stored}"
        )
        return f"fn store{index}({given}: u32, v: {value}) {{\n{dropped}  {write};\n}}"
    name, builtin = f"{_short(op)}{index}", ATOMIC_OPS[op]
    if _is_float_bits(buffer, access):
        attempt = (
            f"    let seen = old;\n"
            f"    let sum = bitcast<u32>(bitcast<{value}>(seen) + v);\n"
            f"    let r = atomicCompareExchangeWeak(&b{index}[i], seen, sum);\n"
            f"    old = r.old_value;\n"
        )
        return (
            f"fn {name}({given}: u32, v: {value}) -> {value} {{\n"
            f"{out_of_bounds}"
            f"  var old = atomicLoad(&b{index}[i]);\n"
            f"{_retry(attempt, 'r.exchanged', guarded=guard_loops)}"
            f"  return bitcast<{value}>(old);\n}}"
        )
    if op is Op.ATOMIC_COMPARE_EXCHANGE:
        # WGSL's compare-exchange may fail spuriously; ours does not.
        attempt = f"    let r = {builtin}(&b{index}[i], e, v);\n    old = r.old_value;\n"
        return (
            f"fn {name}({given}: u32, e: {value}, v: {value}) -> {value} {{\n"
            f"{out_of_bounds}"
            f"  var old = e;\n"
            f"{_retry(attempt, 'r.exchanged || old != e', guarded=guard_loops)}"
            f"  return old;\n}}"
        )
    return (
        f"fn {name}({given}: u32, v: {value}) -> {value} {{\n"
        f"{out_of_bounds}"
        f"  return {builtin}(&b{index}[i], v);\n}}"
    )


def access_name(op: int, index: int) -> str:
    """The name of the function that applies a memory operation to a buffer."""
    return f"{_short(op)}{index}"


def _short(op: int) -> str:
    return Op(op).name.lower().replace("_", "")


def _read(index: int, buffer: Buffer, access: Access) -> str:
    if _is_packed(buffer):
        per_word = 4 // buffer.dtype.itemsize
        word = f"b{index}[i / {per_word}u]"
        if Op.STORE in access.ops:
            word = f"atomicLoad(&{word})"
        return _unpack(word, buffer.dtype, f"(i % {per_word}u) * {32 // per_word}u")
    element = f"b{index}[i]"
    if access.is_atomic:
        load = f"atomicLoad(&{element})"
        is_bits = _is_float_bits(buffer, access)
        return f"bitcast<{register_type(buffer.dtype)}>({load})" if is_bits else load
    if buffer.kind is BufferKind.PRIVATE and buffer.dtype.is_float:
        return f"h_opaque_{register_type(buffer.dtype)}({element})"  # the driver knows it is 0
    return f"{element} != 0u" if buffer.dtype.kind == "bool" else element


def _unpack(word: str, dtype: DType, shift: str) -> str:
    width = dtype.itemsize * 8
    mask = (1 << width) - 1
    if dtype.is_signed:
        return f"bitcast<i32>(({word} >> ({shift})) << {32 - width}u) >> {32 - width}u"
    bits = f"({word} >> ({shift})) & {mask}u"
    if dtype.is_float:
        return f"h_from_f16({bits})"
    return f"({bits}) != 0u" if dtype.kind == "bool" else bits


def _retry(attempt: str, exit_test: str, *, guarded: bool) -> str:
    """A loop around a compare-exchange; guarded, a lane traps if the driver ends the loop early.

    The exit that is never taken keeps a compiler from knowing that ``done`` is set behind it.
    """
    if not guarded:
        return f"  loop {{\n{attempt}    if ({exit_test}) {{ break; }}\n  }}\n"
    return (
        f"  var done = false;\n"
        f"  loop {{\n"
        f"    if (d.zero != 0u) {{ break; }}\n"
        f"{attempt}"
        f"    if ({exit_test}) {{ done = true; break; }}\n"
        f"  }}\n"
        f"  if (!done) {{ h_trap({UNKNOWN_SITE}u, 0u, lane_index()); }}\n"
    )


def _packed_store(index: int, buffer: Buffer, given: str, dropped: str, *, guarded: bool) -> str:
    dtype = buffer.dtype
    width = dtype.itemsize * 8
    mask = (1 << width) - 1
    per_word = 4 // dtype.itemsize
    bits = {
        "bool": "select(0u, 1u, v)",
        "int": f"bitcast<u32>(v) & {mask}u",
        "float": "h_f16_bits(v)",
    }.get(dtype.kind, "v")
    attempt = (
        f"    let seen = old;\n"
        f"    let r = atomicCompareExchangeWeak(&b{index}[w], seen, (seen & keep) | bits);\n"
        f"    old = r.old_value;\n"
    )
    return (
        f"fn store{index}({given}: u32, v: {register_type(dtype)}) {{\n"
        f"{dropped}"
        f"  let w = i / {per_word}u;\n"
        f"  let s = (i % {per_word}u) * {width}u;\n"
        f"  let bits = ({bits}) << s;\n"
        f"  let keep = ~({mask}u << s);\n"
        f"  var old = atomicLoad(&b{index}[w]);\n"
        f"{_retry(attempt, 'r.exchanged', guarded=guarded)}}}"
    )
