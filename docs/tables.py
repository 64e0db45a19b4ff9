"""Tables of the documentation that are made from the code when it is built.

A page asks for one with the directive of `Generated`, for example::

    ```{generated} operations unary
    ```

What a table says of an operation is tried: each Python spelling is run for each type, so the build
fails where a spelling does not build its operation, and the last column is what lowering accepts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable

import mathematics_tables
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import vyre_wgpu as vw
from vyre_wgpu import settings
from vyre_wgpu.backends import BackendStats
from vyre_wgpu.ir import OPS, DType, Op, OpInfo, functions
from vyre_wgpu.ir.types import ALL_DTYPES
from vyre_wgpu.ir.validate import RULES
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.target import Target

# Names of the functions that would hide a Python builtin inside the package.
_PUBLIC = {"abs_": "abs", "power": "pow", "round_": "round"}

# x, y, z are values, c is a bool, i an index, s a shift count, e an exponent, n a variable,
# buf a buffer, b the builder. The others follow from the operation's name.
_SPELLINGS = {
    Op.LITERAL: "vw.f32(1)",
    Op.PARAM: "b.param(name, dtype)",
    Op.LENGTH: "buf.length",
    Op.SUBGROUP_SIZE: "b.subgroup_size()",
    Op.SUBGROUP_LANE: "b.subgroup_lane()",
    Op.CAST: "x.cast(dtype)",
    Op.BITCAST: "x.bitcast(dtype)",
    Op.POW: "x ** y",
    Op.POWI: "x ** e",
    Op.SELECT: "vw.select(c, x, y)",
    Op.FMA: "vw.fma(x, y, z)",
    Op.LOAD: "buf[i]",
    Op.STORE: "buf[i] = x",
    Op.ATOMIC_COMPARE_EXCHANGE: "b.atomic_compare_exchange(buf, i, x, y)",
    Op.SUBGROUP_BALLOT: "b.subgroup_ballot(c, i)",
    Op.LET: "b.let(name, x)",
    Op.VAR: "b.var(name, dtype, x)",
    Op.VAR_GET: "n",
    Op.ASSIGN: "n.set(x)",
    Op.IF: "with b.if_(c):",
    Op.ELSE: "with b.else_():",
    Op.FOR: "with b.for_range(start, stop, step) as k:",
    Op.WHILE: "with b.while_(lambda: c):",
    Op.BREAK: "b.break_()",
    Op.CONTINUE: "b.continue_()",
    Op.RETURN: "b.return_()",
    Op.BARRIER: "b.barrier()",
    Op.TRAP: "b.trap(tag, address)",
}
# No spelling of their own: the `with` statement writes them.
_IMPLICIT = {Op.END, Op.DO}

_CLASSES = {
    "any": "any",
    "bool": "bool",
    "int": "integer",
    "float": "float",
    "num": "number",
    "bits": "integer or bool",
    "word": "integer of at most 32 bits",
    "same": "the same",
    "element": "element type",
    "shift": "u32 or the same",
    "u32": "u32",
    "i32": "i32",
    "var": "variable",
}
_RESULTS = {"void": "", "same": "the same", "declared": "as declared", "element": "element type"}

_EVERYTHING = Target(
    max_storage_buffers=32, features=frozenset(t.feature for t in ALL_DTYPES if t.feature)
)


def operations(group: str) -> str:
    """The operations of a group: meaning, types, and for which types they are lowered."""
    rows = []
    for op, info in OPS.items():
        if info.group == group and op not in _IMPLICIT:
            operands = ", ".join(_CLASSES[o] for o in info.operands)
            result = _RESULTS.get(info.result, info.result)
            cells = [info.name, _code(_spelling(op, info)), operands, result, info.meaning]
            rows.append([*cells, _lowered(op, info)])
    head = ["operation", "Python", "operands", "result", "meaning", "`wgpu` backend"]
    return _table(head, rows)


def types() -> str:
    """The element types."""
    rows = []
    for dtype in ALL_DTYPES:
        name = f"vw.{'bool_' if dtype is vw.bool_ else dtype.name}"
        rows.append(
            [
                _code(name),
                f"`{dtype.numpy}`",
                str(dtype.itemsize),
                f"`{dtype.feature}`" if dtype.feature else "",
                "yes" if dtype in _types_of(Op.STORE, OPS[Op.STORE])[1] else "not yet",
            ]
        )
    head = ["type", "NumPy", "bytes of an element", "needs the feature", "`wgpu` backend"]
    return _table(head, rows)


def rules() -> str:
    """The validator's rules."""
    return _table(["code", "rule"], ([code, _text(rule)] for code, rule in RULES.items()))


def environment() -> str:
    """The variables that the library reads."""
    return settings.markdown_table()


def counters() -> str:
    """The counters of `BackendStats`."""
    lines = inspect.getdoc(BackendStats).split("Attributes:\n")[1].splitlines()
    rows = [line.strip().split(": ", 1) for line in lines if line.strip()]
    assert [name for name, _ in rows] == list(BackendStats().as_dict())
    return _table(["counter", "meaning"], ([f"`{name}`", text] for name, text in rows))


def free_functions() -> str:
    """The free functions with the first sentence of their docstrings."""
    rows = []
    for name in functions.__all__:
        function, public = getattr(functions, name), _PUBLIC.get(name, name)
        assert getattr(vw, public) is function
        text = inspect.getdoc(function).partition("\n")[0].replace("``", "`")
        text = text.partition("`: ")[2] or text
        names = ", ".join(inspect.signature(function).parameters)
        rows.append([_code(f"vw.{public}({names})"), text])
    return _table(["function", "meaning"], rows)


def mathematics(dtype: str) -> str:
    """The elementary functions of a type: bound, method, worst error on each device."""
    return _table(*mathematics_tables.errors(dtype))


def mathematics_speed() -> str:
    """Times of the elementary functions beside builtins and CuPy's."""
    return _table(*mathematics_tables.speed())


TABLES: dict[str, Callable[..., str]] = {
    f.__name__: f
    for f in (
        *(operations, types, rules, environment, counters, free_functions),
        *(mathematics, mathematics_speed),
    )
}


class Generated(SphinxDirective):
    """Puts the table of a name into the page."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        name, *arguments = self.arguments
        return self.parse_text_to_nodes(TABLES[name](*arguments))


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def _text(text: str) -> str:
    return text.replace("|", "\\|")


def _spelling(op: Op, info: OpInfo) -> str:
    if op in _SPELLINGS:
        return _SPELLINGS[op]
    if info.const == "axis":
        return f"b.{info.name}(axis)"
    if info.symbol:
        second = "s" if "shift" in info.operands else "y"
        return f"{info.symbol}x" if info.arity == 1 else f"x {info.symbol} {second}"
    if info.name.startswith("atomic_"):
        return f"b.{info.name}(buf, i, x)"
    if info.name.startswith("subgroup_"):
        return f"b.{info.name}({'x' if info.arity == 1 else 'x, i'})"
    second = "s" if "shift" in info.operands else "y"
    return f"vw.{info.name}({'x' if info.arity == 1 else f'x, {second}'})"


def _lowered(op: Op, info: OpInfo) -> str:
    """Which types of an operation the wgpu backend lowers, in words."""
    if op in _NOT_TRIED:
        return "yes"
    accepted, lowered = _types_of(op, info)
    assert accepted, f"{_spelling(op, info)} does not build {info.name} for any type"
    usual = [t for t in accepted if t in _types_of(Op.STORE, OPS[Op.STORE])[1]]
    if not lowered:
        return "not yet"
    return "yes" if lowered == usual else ", ".join(f"{t}" for t in lowered)


_NOT_TRIED = {op for op, info in OPS.items() if info.group in ("leaf", "name", "control")} - {
    Op.SUBGROUP_SIZE,
    Op.SUBGROUP_LANE,
}
_tried: dict[Op, tuple[list[DType], list[DType]]] = {}


def _types_of(op: Op, info: OpInfo) -> tuple[list[DType], list[DType]]:
    """The types for which a spelling builds its operation, and those that are lowered."""
    if op not in _tried:
        accepted, lowered = _tried[op] = [], []
        for dtype in ALL_DTYPES:
            program = _one_operation(op, _spelling(op, info), dtype)
            if program is not None:
                accepted.append(dtype)
                try:
                    lower(program, target=_EVERYTHING)
                except vw.UnsupportedFeatureError:
                    continue
                lowered.append(dtype)
    return _tried[op]


def _one_operation(op: Op, spelling: str, dtype: DType) -> vw.Program | None:
    """A program that does one operation on values of a type, or None where that is refused."""
    b = vw.ProgramBuilder("one")
    b.extent(1)
    names = {"b": b, "vw": vw, "dtype": dtype, "buf": b.read_write("buf", dtype, 1)}
    names |= {name: b.var("", dtype) for name in ("x", "y", "z")}
    names |= {"c": b.var("", vw.bool_), "i": b.global_id(0)}
    names |= {"s": b.var("", vw.u32), "e": b.var("", vw.i32)}
    if op is Op.CAST:
        names["dtype"] = vw.u32
    if " = " in spelling:
        exec(spelling, names)
    else:
        value = eval(spelling, names)
        # What is not used is not lowered either.
        b.output("out", value.dtype, 1)[0] = value
    try:
        program = b.build()
    except vw.ValidationError:
        return None
    # ``x ** y`` of integers, for one, is built of other operations.
    return program if any(row.op is op for row in program.table.rows()) else None
