"""Printed programs: readable, one statement a line, and true to the table."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from textwrap import dedent

import pytest
from hypothesis import given, settings, strategies as st

import vyre_wgpu.ir as vw
from tests.ir import examples
from tests.ir.examples import EXAMPLES
from vyre_wgpu.ir import DebugInfo, Op, Program, ProgramBuilder

GOLDEN: dict[str, str] = {
    "saxpy": """
        program saxpy(workgroup_size=256):
            param a: f32
            read x: f32
            read_write y: f32[x.length]
            extent x.length

            t0 = global_id()
            y[t0] = a * x[t0] + y[t0]
        """,
    "no_operations": """
        program(workgroup_size=256):
            output y: u32[4]
            extent 4
        """,
    "buffer_kinds": """
        program kinds(workgroup_size=64):
            read x: u32
            read_write rw: u32[16]
            output y: u32[x.length] like x
            output z: u32[x.length + 1]
            scratch s: u32[x.length]
            scratch t: u32[8] uninitialized
            carry c: u32[2]
            workgroup w: u32[64]
            private p: u32[4]
            extent x.length

            t0 = global_id()
            t1 = local_id()
            rw[t0] = x[t0]
            y[t0] = x[t0]
            z[t0] = x[t0]
            s[t0] = x[t0]
            t[t0] = x[t0]
            c[t0] = x[t0]
            w[t1] = rw[t0]
            p[0] = w[t1]
        """,
    "branches": """
        program branches(workgroup_size=256):
            read x: f32
            output y: f32[x.length] like x
            extent x.length

            t0 = global_id()
            t1 = x[t0]
            if t1 > 0.0:
                y[t0] = t1
                if t1 > 1.0:
                    pass
            else:
                if t1 < -1.0:
                    y[t0] = -t1
                else:
                    y[t0] = 0.0
            if t1 == 2.0:
                return
            y[t0] = y[t0] + 1.0
        """,
    "loops": """
        program loops(workgroup_size=256):
            read x: f32
            output y: f32[x.length] like x
            extent x.length

            var total: f32 = 0.0
            for k in range(0, 10, 1):
                total = total + x[k]
            for down in range(i32(10), -1, -1):
                if down == 5:
                    continue
                if total > 100.0:
                    break
                total = total + cast(down, f32)
            for t0 in range(0, x.length, 1):
                total = total + 1.0
            for step in range(u8(1), 255, 2):
                pass
            y[global_id()] = total
        """,
    "while_loops": """
        program "while"(workgroup_size=256):
            read x: u32
            output y: u32[x.length] like x
            extent x.length

            t0 = global_id()
            var n: u32 = x[t0]
            var steps: u32 = 0
            while n > 1:
                n = select(n % 2 == 0, n // 2, 3 * n + 1)
                steps = steps + 1
            while:
                let v = n % 3
            do (v != 0) & (v * v < 100):
                n = n - 1
            y[t0] = steps
        """,
    "reads_before_writes": """
        program order(workgroup_size=256):
            read_write x: i32
            extent x.length

            t0 = global_id()
            var n: i32 = 1
            t1 = t0 + 1
            t2 = x[t0]
            x[t0] = x[t1]
            x[t1] = t2
            t3 = n * 2
            n = n + 1
            x[t0] = t3 + n
        """,
    "literals": """
        program literals(workgroup_size=256):
            output y: f32[8]
            output z: i64[8]
            extent 1

            y[0] = 0.0
            y[1] = -0.0
            y[2] = 1e+20
            y[3] = 0.1
            y[4] = inf
            y[5] = -inf
            y[6] = nan
            let quiet = f32(1.0)
            t0 = quiet + 0.0
            y[7] = select(t0 == 1.0, t0, -t0)
            z[0] = 0
            z[1] = -1
            z[2] = -9223372036854775808
            z[3] = 9223372036854775807
            let least = f16(6e-08)
            let most = u64(18446744073709551615)
            let yes = true
        """,
    "traps": """
        program traps(workgroup_size=256):
            read x: u8
            output y: u8[x.length] like x
            extent x.length

            t0 = global_id()
            if x[t0] > 127:
                trap "not ascii" at t0
            if x[t0] == 0:
                trap "a \\"zero\\"\\n" at i32(-1)
            if x[t0] == 1:
                trap "not ascii" at 0
            y[t0] = x[t0]
        """,
    "atomics": """
        program atomics(workgroup_size=256):
            read x: u32
            read_write h: u32[16]
            extent x.length

            t0 = global_id()
            atomic_add(h, x[t0] % 16, 1)
            atomic_sub(h, x[t0] % 16, 1)
            atomic_and(h, x[t0] % 16, 1)
            atomic_or(h, x[t0] % 16, 1)
            atomic_xor(h, x[t0] % 16, 1)
            atomic_min(h, x[t0] % 16, 1)
            atomic_max(h, x[t0] % 16, 1)
            atomic_exchange(h, x[t0] % 16, 1)
            t1 = atomic_compare_exchange(h, 0, 3, x[t0])
            if t1 == 3:
                h[1] = t1
        """,
    "unused_values": """
        program unused(workgroup_size=256):
            read x: f32
            output y: f32[x.length] like x
            extent x.length

            t0 = global_id()
            _ = x[t0] + 1.0
            y[t0] = x[t0]
        """,
    "unicode_names": """
        program "größe π"(workgroup_size=256):
            read señal: f32
            output 出力: f32[señal.length] like señal
            extent señal.length

            let índice = global_id()
            # тест    one
            # \\x1b[31mtwo
            出力[índice] = señal[índice]
        """,
    "awkward_names": """
        program "quotes \\" and \\\\ and\\nlines"(workgroup_size=256):
            param __class__: f32
            read "while": f32
            output "a b": f32["while".length] like "while"
            extent "while".length

            let t0 = global_id()
            t1 = "while"[t0] * __class__
            let fn = t1 * t1
            var "\\u202eright to left": f32 = fn
            "a b"[t0] = "\\u202eright to left"
        """,
    "comments": """
        program comments(workgroup_size=256):
            read x: f32
            output y: f32[x.length] like x
            extent x.length

            # first
            t0 = global_id()
            if x[t0] > 0.0:
                # only a comment
            else:
                y[t0] = 1.0
                # at the end of a block
            # last
        """,
}


def body(program: Program) -> list[str]:
    """The lines of the statements, without the indentation of the whole."""
    lines = str(program).split("\n")
    return [line[4:] for line in lines[lines.index("") + 1 :]]


@pytest.mark.parametrize("name", GOLDEN)
def test_printed_text(name: str) -> None:
    assert str(EXAMPLES[name]()) == dedent(GOLDEN[name]).strip("\n")


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_text_is_the_same_each_time_and_holds_only_printable_lines(
    example: Callable[[], Program],
) -> None:
    program = example()
    text = str(program)
    assert text == str(example()) == str(Program.from_bytes(program.to_bytes()))
    assert all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_programs_without_debug_information_print(example: Callable[[], Program]) -> None:
    assert str(replace(example(), debug=DebugInfo())).startswith("program(workgroup_size=")


def test_literals_say_their_type_where_nothing_else_does() -> None:
    b = ProgramBuilder()
    x = b.read_write("x", vw.i32)
    i = b.global_id()
    v = x[i]
    x[vw.i32(3)] = v + 1
    x[vw.u8(3)] = v << 1
    x[3] = v << vw.i32(2)
    b.let("a", vw.clz(b.let("one", vw.i32(1)) * 0 + vw.i32(2)))
    b.let("b", vw.minimum(vw.i32(1), v))
    b.let("c", vw.select(v > 0, vw.i32(1), 2))
    assert body(b.build()) == [
        "t0 = x[global_id()]",
        "x[i32(3)] = t0 + 1",
        "x[u8(3)] = t0 << 1",
        "x[3] = t0 << i32(2)",
        "let one = i32(1)",
        "let a = clz(one * 0 + 2)",
        "let b = minimum(1, t0)",
        "let c = select(t0 > 0, i32(1), 2)",
    ]


def test_nans_unlike_the_usual_one_show_their_bits() -> None:
    b = ProgramBuilder()
    y = b.output("y", vw.f32, count=1)
    y[0] = vw.TypedLiteral(vw.f32, 0x7FC00123)
    b.extent(1)
    assert body(b.build()) == ["y[0] = f32.from_bits(0x7fc00123)"]


def test_temporaries_avoid_the_users_names() -> None:
    b = ProgramBuilder()
    t0 = b.read("t0", vw.f32)
    y = b.output("t2", vw.f32, like=t0)
    v = t0[b.let("t1", b.global_id())]
    y[0] = v * v
    assert body(b.build()) == ["let t1 = global_id()", "t3 = t0[t1]", "t2[0] = t3 * t3"]


def test_values_read_before_a_block_are_written_before_it() -> None:
    b = ProgramBuilder()
    x = b.read_write("x", vw.u32)
    v = x[0]
    with b.for_range(3, name="k") as k:
        x[k] = v
    b.extent(1)
    assert body(b.build()) == ["t0 = x[0]", "for k in range(0, 3, 1):", "    x[k] = t0"]


def test_values_read_before_a_barrier_are_written_before_it() -> None:
    b = ProgramBuilder()
    x = b.read_write("x", vw.u32)
    n = b.var("n", vw.u32)
    v, w = x[0], n * 2
    b.barrier()
    x[1] = v + w
    b.extent(1)
    assert body(b.build()) == ["var n: u32 = 0", "t0 = x[0]", "barrier", "x[1] = t0 + n * 2"]


def test_long_names_and_tags_are_cut() -> None:
    """One may be used in every row: the text must stay linear in the size of the program."""
    b = ProgramBuilder()
    y = b.output("y", vw.u32, count=4)
    v = b.let("n" * 10_000, b.global_id())
    for k in range(100):
        y[v + k] = v
        b.trap("t" * 10_000, v)
    b.extent(1)
    assert len(str(b.build())) < 100_000


def test_long_and_deep_expressions_are_broken_into_short_lines() -> None:
    b = ProgramBuilder()
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id()
    deep = wide = x[i]
    for k in range(200):
        deep = vw.sqrt(-deep)
        wide = wide + float(k)
    y[i] = deep * wide
    lines = body(b.build())
    assert 30 < len(lines) < 120
    assert max(map(len, lines)) <= 100


def test_deep_nesting_keeps_the_text_linear() -> None:
    depth = 5_000
    table = examples.no_operations().table
    nested = replace(
        table,
        op=bytes([Op.WHILE] * depth + [Op.END] * depth),
        dtype=bytes(2 * depth),
        **dict.fromkeys(("a", "b", "c", "const"), (-1,) * 2 * depth),
    )
    assert len(str(replace(examples.no_operations(), table=nested))) < 300 * 2 * depth


# The text says what the table does: both are run.

BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [*BINARY, "neg", "not", "less", "if", *["load", "store", "get", "set"] * 4]
        ),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(1, 4),
    ),
    min_size=4,
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(steps=STEPS, data=st.lists(st.integers(-9, 9), min_size=3, max_size=3))
def test_text_computes_what_the_program_does(
    steps: list[tuple[str, int, int, int]], data: list[int]
) -> None:
    b = ProgramBuilder()
    x = b.read_write("x", vw.i64)
    n = b.var("n", vw.i64, 1)
    b.extent(1)
    values: list[vw.Value] = [x[0]]
    memory, variable = list(data), 1
    results = [memory[0]]
    for kind, first, second, number in steps:
        # Mostly of the last ones, so that many are used once and stand where they are used.
        one, two = -1 - first % len(values), -1 - second % len(values)
        v, w, p, q = values[one], values[two], results[one], results[two]
        if abs(p) > 1 << 20 or abs(q) > 1 << 20:
            continue
        match kind:
            case "neg":
                values.append(-v)
                results.append(-p)
            case "not":
                values.append(~v)
                results.append(~p)
            case "less":
                values.append(((v < w) == (v >= number)).cast(vw.i64))
                results.append(int((p < q) == (p >= number)))
            case "load":
                values.append(x[second])
                results.append(memory[second])
            case "store":
                x[second] = v
                memory[second] = p
            case "get":
                values.append(+n)
                results.append(variable)
            case "set":
                n.set(v)
                variable = p
            case "if":
                with b.if_(v < w):
                    x[second] = v + number
                    n.set(w)
                if p < q:
                    memory[second], variable = p + number, q
            case "//" | "%" | "<<" | ">>":
                values.append(getattr(operator, BINARY[kind].__name__)(v, number))
                results.append(BINARY[kind](p, number))
            case _:
                values.append(BINARY[kind](v, w))
                results.append(BINARY[kind](p, q))
    for value, result in zip(values[-3:], results[-3:], strict=True):
        x[0] = value
        memory[0] = result
        x[1] = x[0] + x[1]
        memory[1] += result
    lines = [line.replace("var ", "", 1) for line in body(b.build())]
    scope: dict[str, object] = {"x": list(data), "i64": int, "cast": lambda value, to: to(value)}
    exec("\n".join(lines), scope)
    assert scope["x"] == memory
    assert scope["n"] == variable
