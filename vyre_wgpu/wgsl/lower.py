"""Lowering: a `Program` to a WGSL module and its launch contract.

The module has one entry point, ``main``. Its parts: the dispatch block, the buffers, the helpers
that the program uses, the access functions, the functions that a long body was split into, main.
No name of the user's is in it: buffers are ``b0``, ``b1``, ..., values ``v12`` after their row.

The program is optimised first (`CompileOptions.passes`). What a dispatch sees of it stays that of
the program as it was written: interface, launch, what it needs of the device, and trap sites.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import LimitError, UnsupportedFeatureError
from ..ir.blocks import find_blocks
from ..ir.elementwise import split_buffers
from ..ir.observes import observes_workgroup
from ..ir.ops import INFO, Op
from ..ir.passes import optimise
from ..ir.program import Program, Table
from ..ir.types import DType, dtype_from_code
from ..ir.uniformity import analyze
from .arithmetic import helpers_in
from .checks import checked_rows
from .descriptor import HEADER_WORDS, Binding, KernelDescriptor, ShaderArtifact, Word
from .emit import Emitter, LoopGuard
from .entry import entry_point, lane_index, required_ids
from .loops import most_iterations
from .memory import ATOMIC_OPS, MemoryPlan, plan_memory, private_bytes, workgroup_bytes
from .options import CompileOptions
from .prelude import HELPERS, with_dependencies
from .spelling import register_type
from .structure import MAIN, Layout, plan_functions
from .target import Target
from .values import Values

__all__ = ["lower"]


def lower(
    program: Program,
    options: CompileOptions | None = None,
    target: Target | None = None,
    *,
    indirect: bool = False,
    split: bool = False,
) -> ShaderArtifact:
    """Lowers a validated program.

    Args:
        program: the program.
        options: what the caller asked for.
        target: the device's limits and features; WebGPU's guaranteed limits unless given.
        indirect: the variant whose number of workgroups is known on the device only.
        split: the variant of which a launch runs some of the lanes, with their part of each of
            `split_buffers(program)`; not for programs without such parts.

    Raises:
        UnsupportedFeatureError: a type or operation that this release or the device lacks.
        LimitError: more storage buffers, workgroup memory, lanes or dispatch words than the device
            has.
    """
    options, target = options or CompileOptions(), target or Target()
    written = program
    _refuse_unsupported(written)
    workgroup = _workgroup_size(written, options, target)
    program, origin = _optimised(written, options)
    table = program.table
    guard = _loop_guard(program, options, target, math.prod(workgroup))
    checked = checked_rows(program) if options.checks == "trap" else bytes(len(table))
    may_trap = Op.TRAP in table.op or guard.is_on or any(checked)
    descriptor = _descriptor(
        written, workgroup, target, traps=may_trap, indirect=indirect, split=split
    )
    _check_limits(program, descriptor, target)
    lengths = _length_texts(program, descriptor)
    emitted = _emitted_rows(table, checked)
    memory = plan_memory(
        program,
        emitted,
        lengths,
        math.prod(workgroup),
        guard_loops=guard.is_on,
        trusted=options.checks == "trusted",
        split=split_buffers(written) if split else frozenset(),
    )
    ends = _rows_that_end_lanes(table, checked)
    first_guarded = _predicated_from(table, ends, loops_end=guard.is_on, many=any(checked))
    is_shared = first_guarded is not None and Op.BARRIER in table.op
    uniformity = analyze(program) if is_shared else None
    is_predicated = first_guarded is not None
    layout = plan_functions(
        program,
        emitted,
        table.value_of,
        bytes(len(table)) if is_predicated else ends,
        loops_exit=guard.is_on and not is_predicated,
    )
    values = Values(
        program,
        layout.shared,
        lengths,
        _param_texts(program),
        reorders_floats=target.reorders_floats,
    )
    emitter = Emitter(
        program, layout, emitted, uniformity, first_guarded, values, guard, checked, origin
    )
    bodies = [emitter.function_body(n) for n in range(len(layout.functions))]
    text = _module(program, descriptor, memory, layout, emitter, values.ids, guard, bodies)
    return ShaderArtifact(text, descriptor)


def _optimised(program: Program, options: CompileOptions) -> tuple[Program, Sequence[int]]:
    """The program to lower, and for each of its rows the one that a trap there names."""
    if not options.passes:
        return program, range(len(program.table))
    traps = checked_rows(program) if options.checks == "trap" else None
    result = optimise(program, traps, keep_loops=options.max_iterations is not None)
    return result.program, result.origin


# What is refused


def _refuse_unsupported(program: Program) -> None:
    for row, code in enumerate(program.table.op):
        dtype = program.table.dtype[row]
        if INFO[code].group == "subgroup" and dtype_from_code(dtype).bits == 64:
            raise UnsupportedFeatureError(
                f"{INFO[code].name} on {dtype_from_code(dtype)}{_at(program, row)} is not lowered "
                "to WGSL by this release",
                fix="use workgroup memory and barriers",
            )


def _required_features(program: Program) -> tuple[str, ...]:
    """The wgpu features that a program's types and atomics need."""
    table = program.table
    used = {buffer.dtype for buffer in program.buffers}
    used |= {param.dtype for param in program.params}
    used |= {dtype_from_code(code) for code in set(table.dtype) if code}
    features = {dtype.feature for dtype in used if dtype.feature is not None}
    if "shader-f64" in features:
        features.add("shader-int64")  # what f64 is by its bits: params, NaNs, signs, rounding
    for row, code in enumerate(table.op):
        if INFO[code].group == "subgroup" or code in (Op.SUBGROUP_SIZE, Op.SUBGROUP_LANE):
            features.add("subgroup")
        elif code in ATOMIC_OPS:
            buffer = program.buffers[table.const[row]]
            dtype = buffer.dtype
            if dtype.is_float and buffer.kind.is_storage:
                features.add("shader-float32-atomic")
            elif dtype.bits == 64:
                features.add("shader-int64-atomic-all-ops")
    return tuple(sorted(features))


def _at(program: Program, row: int) -> str:
    source = program.debug.source(row)
    return f" at {source[0]}:{source[1]}" if source else ""


def _workgroup_size(
    program: Program, options: CompileOptions, target: Target
) -> tuple[int, int, int]:
    size = program.workgroup_size
    if options.workgroup_size is not None:
        if observes_workgroup(program):
            raise UnsupportedFeatureError(
                f"program {program.name!r} depends on its workgroup size {size}, "
                f"which CompileOptions would replace",
                fix="build the program with the workgroup size you want",
            )
        x, y, z = (*_axes(options.workgroup_size), 1, 1)[:3]
        size = x, y, z
    lanes = size[0] * size[1] * size[2]
    if lanes > target.max_workgroup_invocations:
        raise LimitError(
            f"a workgroup of {size} has {lanes} lanes, the device allows "
            f"{target.max_workgroup_invocations}",
            fix="use a smaller workgroup_size",
        )
    for axis, (given, limit) in enumerate(zip(size, target.max_workgroup_size, strict=True)):
        if given > limit:
            raise LimitError(
                f"a workgroup of {size} has {given} lanes on axis {axis}, "
                f"the device allows {limit}",
                fix="build the program with a smaller workgroup_size",
            )
    return size


def _axes(size: int | tuple[int, ...]) -> tuple[int, ...]:
    return size if isinstance(size, tuple) else (size,)


def _check_limits(program: Program, descriptor: KernelDescriptor, target: Target) -> None:
    bound = len(descriptor.bindings) + (descriptor.trap_binding is not None)
    if bound > target.max_storage_buffers:
        traps = descriptor.trap_binding is not None
        extra = f", and traps take one: {bound} in all" if traps else ""
        raise LimitError(
            f"program {program.name!r} binds {len(descriptor.bindings)} storage buffers{extra}; "
            f"the device allows {target.max_storage_buffers}",
            fix="merge buffers, or split the program in two",
        )
    sizes = workgroup_bytes(program)
    if sum(sizes.values()) > target.max_workgroup_storage:
        listed = ", ".join(f"{name!r} {size}" for name, size in sizes.items())
        raise LimitError(
            f"workgroup buffers take {sum(sizes.values())} bytes ({listed}; 4 bytes an element at "
            f"least), the device allows {target.max_workgroup_storage}",
            fix="use smaller workgroup buffers; small elements can share a u32, by shifts",
        )
    private = private_bytes(program)
    if sum(private.values()) > target.max_private_bytes:
        listed = ", ".join(f"{name!r} {size}" for name, size in private.items())
        raise LimitError(
            f"private buffers take {sum(private.values())} bytes of a lane ({listed}; 4 bytes an "
            f"element at least), the limit is {target.max_private_bytes}",
            fix="use smaller private arrays, or a scratch buffer with a part for each lane",
        )
    if descriptor.block_binding is not None:
        taken = descriptor.block_words * 4
        if taken > target.max_uniform_bytes:
            raise LimitError(
                f"the dispatch block of program {program.name!r} takes {taken} bytes "
                f"({len(descriptor.length_words)} buffer lengths, {len(descriptor.param_words)} "
                f"params), the device allows {target.max_uniform_bytes}",
                fix="put params into a buffer",
            )


# The dispatch block


def _loop_guard(program: Program, options: CompileOptions, target: Target, lanes: int) -> LoopGuard:
    codes = program.table.op
    if options.max_iterations is not None and (Op.FOR in codes or Op.WHILE in codes):
        return LoopGuard(is_on=True, max_iterations=options.max_iterations)
    limit = target.loop_iterations
    return LoopGuard(is_on=limit is not None and most_iterations(program, lanes) > limit)


def _descriptor(
    program: Program,
    workgroup: tuple[int, int, int],
    target: Target,
    *,
    traps: bool,
    indirect: bool,
    split: bool,
) -> KernelDescriptor:
    codes = program.table.op
    word = HEADER_WORDS
    lengths: list[tuple[int, int]] = []
    bindings: list[Binding] = []
    for index, buffer in enumerate(program.buffers):
        if buffer.kind.is_storage:
            bindings.append(Binding(index, buffer.kind.is_writable))
            if buffer.count is None or buffer.count.constant is None:
                lengths.append((index, word))
                word += 1
    params: list[tuple[int, int]] = []
    for index, param in enumerate(program.params):
        params.append((index, word))
        word += 2 if param.dtype.bits == 64 else 1
    fits = word * 4 <= target.immediate_bytes
    return KernelDescriptor(
        bindings=tuple(bindings),
        trap_binding=len(bindings) if traps else None,
        block_binding=None if fits else len(bindings) + traps,
        block_words=word,
        length_words=tuple(lengths),
        param_words=tuple(params),
        workgroup_size=workgroup,
        features=_required_features(program),
        whole_workgroups=indirect or Op.BARRIER in codes,
        indirect=indirect,
        split=split,
        axes=len(program.extent),
    )


def _length_texts(program: Program, descriptor: KernelDescriptor) -> dict[int, str]:
    texts = {index: f"d.len{index}" for index, _ in descriptor.length_words}
    for index, buffer in enumerate(program.buffers):
        if index not in texts:
            count = buffer.count.constant if buffer.count else None
            texts[index] = f"{count or 0}u"
    return texts


def _param_texts(program: Program) -> dict[int, str]:
    return {index: _param_text(index, p.dtype) for index, p in enumerate(program.params)}


def _param_text(index: int, dtype: DType) -> str:
    """A param's value from its words in the dispatch block."""
    if dtype.kind == "bool":
        return f"(d.p{index} != 0u)"
    if dtype.name == "f16":
        return f"h_from_f16(d.p{index})"
    if dtype.bits == 64:
        both = f"(u64(d.p{index}) | (u64(d.p{index}_high) << 32u))"
        return both if dtype.kind == "uint" else f"bitcast<{register_type(dtype)}>{both}"
    return f"d.p{index}"


def _block_type(dtype: DType) -> str:
    """The type of a word of the dispatch block that holds a param of other than 32 bits."""
    return "i32" if dtype.is_signed and dtype.bits < 32 else "u32"


def _dispatch_struct(program: Program, descriptor: KernelDescriptor) -> list[str]:
    fields = [f"  {word.name.lower()}: u32," for word in Word]
    fields += [f"  len{index}: u32," for index, _ in descriptor.length_words]
    for index, param in enumerate(program.params):
        dtype = param.dtype
        is_word = dtype.bits == 32
        fields.append(f"  p{index}: {register_type(dtype) if is_word else _block_type(dtype)},")
        if dtype.bits == 64:
            fields.append(f"  p{index}_high: u32,")
    place = "var<immediate>"
    if descriptor.block_binding is not None:
        place = f"@group(0) @binding({descriptor.block_binding}) var<uniform>"
    return ["struct Dispatch {", *fields, "}", f"{place} d: Dispatch;"]


# Rows


def _emitted_rows(table: Table, checked: bytes) -> bytes:
    """1 for each row that becomes a statement: effects, and what they use other than leaves.

    A row that may trap is an effect.
    """
    live = bytearray(len(table))
    for row in range(len(table) - 1, -1, -1):
        info = INFO[table.op[row]]
        removable = info.pure or table.op[row] in (Op.LOAD, Op.LET, Op.VAR, Op.VAR_GET)
        if not removable or checked[row]:
            live[row] = 1
        if live[row]:
            for operand in table.operands(row):
                live[operand] = 1
    for row, code in enumerate(table.op):
        if INFO[code].group == "leaf" or code == Op.LET:
            live[row] = 0
    return bytes(live)


def _rows_that_end_lanes(table: Table, checked: bytes) -> bytes:
    ends = bytearray(checked)
    for row, code in enumerate(table.op):
        if code in (Op.TRAP, Op.RETURN):
            ends[row] = 1
    return bytes(ends)


def _predicated_from(table: Table, ends: bytes, *, loops_end: bool, many: bool) -> int | None:
    """First row whose effects need the ``alive`` guard; None if ended lanes leave the shader.

    That is the first row at which a lane may end, or the start of the outermost loop around it.
    Ended lanes stay where they have barriers to meet, and where they may end in so many places that
    leaving would cost: drivers nest the rest of the program into a branch at each early return.

    Args:
        table: the program's operations.
        ends: 1 for each row at which a lane may end.
        loops_end: whether a lane may end in any loop too.
        many: whether lanes may end wherever memory is accessed.
    """
    if not many and Op.BARRIER not in table.op:
        return None
    loops = (Op.FOR, Op.WHILE) if loops_end else ()
    first = next((r for r, c in enumerate(table.op) if ends[r] or c in loops), None)
    return None if first is None else _outermost_loop(table, first)


def _outermost_loop(table: Table, row: int) -> int:
    blocks, _ = find_blocks(table.op)
    start, block = row, int(blocks.flow[row])
    while block > 0:
        if blocks.kind[block] in (Op.FOR, Op.WHILE):
            start = blocks.opener[block]
        block = blocks.parent[block]
    return start


# The module


_ID_TYPES = {"subgroup_lanes": "u32", "subgroup_lane": "u32"}


def _module(
    program: Program,
    descriptor: KernelDescriptor,
    memory: MemoryPlan,
    layout: Layout,
    emitter: Emitter,
    ids_used: set[str],
    guard: LoopGuard,
    bodies: list[list[str]],
) -> str:
    lines = [*_dispatch_struct(program, descriptor), "", *memory.declarations]
    if descriptor.trap_binding is not None:
        lines.append(
            f"@group(0) @binding({descriptor.trap_binding}) "
            "var<storage, read_write> trap_words: array<atomic<u32>, 4>;"
        )
    ids = sorted(required_ids(descriptor, ids_used))
    extra = ["first_lane"] if emitter.asks_for_life else []
    lines += [f"var<private> {name}: {_ID_TYPES.get(name, 'vec3<u32>')};" for name in ids]
    if emitter.is_predicated:
        lines.append("var<private> alive: bool = true;")
    if emitter.notes_traps:
        lines.append("var<private> trapped: bool;")
        lines += [f"var<private> {name}: u32;" for name in ("trap_site", "trap_address")]
    if emitter.asks_for_life:
        lines += ["var<private> first_lane: bool;", "var<workgroup> any_alive: u32;"]
    if guard.max_iterations is not None:
        lines.append("var<private> iterations: u32;")
    # What barriers depend on stays a local where it can: WGSL takes no private for uniform.
    rounds = ["  var rounds: u32;"] * emitter.counts_rounds
    if rounds and len(layout.functions) > 1:
        lines.append("var<private> rounds: u32;")
        rounds = []
    lines += emitter.privates
    helpers = set(emitter.helpers)
    for text in memory.functions:
        helpers |= helpers_in(text)
    if descriptor.trap_binding is not None:
        helpers.add("h_trap")
    for name in with_dependencies(helpers):
        helper = HELPERS[name]
        lines += ["", helper.guarded if guard.is_on and helper.guarded else helper.text]
    for text in memory.functions:
        lines += ["", text]
    if descriptor.trap_binding is not None:
        lines += ["", *lane_index(descriptor)]
    for number, function in enumerate(layout.functions):
        if number != MAIN:
            result = " -> u32" if function.escapes else ""
            lines += ["", f"fn part{number}(){result} {{", *bodies[number], "}"]
    body = [*rounds, *bodies[MAIN], *emitter.epilogue()]
    lines += ["", *entry_point(descriptor, memory.clears, {*ids, *extra}, body)]
    return "\n".join(lines) + "\n"
