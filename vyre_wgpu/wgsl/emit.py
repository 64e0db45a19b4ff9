"""Emits the statements of a program as WGSL: one ``let`` for each value, structured control flow.

Two ways of ending a lane. Without barriers ``trap`` and ``return`` leave the shader (through a
status, where the statement stands in a function that was split off). With barriers a lane must go
on meeting them: the program is *predicated*. A private flag ``alive`` is cleared, every effect
after a possible end is guarded by it, and loops whose iterations may differ between lanes stop on
it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from ..errors import UnsupportedFeatureError
from ..ir.ops import INFO, Op
from ..ir.program import Program
from ..ir.types import DType, dtype_from_code
from ..ir.uniformity import Uniformity
from .arithmetic import expression, helpers_in, shift_count
from .memory import ATOMIC_OPS, access_name
from .numbering import may_be_equal
from .spelling import literal, normalize, register_type, suffix, zero
from .structure import Block, Call, Function, Layout, Nest
from .subgroups import subgroup_expression

__all__ = ["Emitter", "LoopGuard"]

_STATUS: dict[int, int] = {Op.RETURN: 1, Op.BREAK: 2, Op.CONTINUE: 3}
_SHIFTS = frozenset({Op.SHL, Op.SHR, Op.ROTL, Op.ROTR})
_COMPARISONS = frozenset({Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE})
_HIDES_EQUAL = frozenset({Op.SUB, Op.DIV, *_COMPARISONS})
_HIDES_ZERO = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.FMA})
_ID_NAMES: dict[int, str] = {
    Op.GLOBAL_ID: "gid",
    Op.LOCAL_ID: "lid",
    Op.WORKGROUP_ID: "wid",
    Op.NUM_WORKGROUPS: "nwg",
    Op.SUBGROUP_SIZE: "subgroup_lanes",
    Op.SUBGROUP_LANE: "subgroup_lane",
}


@dataclass(frozen=True, slots=True)
class LoopGuard:
    """What bounds the loops of a shader.

    Attributes:
        is_on: loops note their regular exits, and a lane that left one otherwise traps.
        max_iterations: most iterations of a lane over all its loops, or None.
    """

    is_on: bool = False
    max_iterations: int | None = None


class Emitter:
    """Turns the functions of a `Layout` into text.

    Args:
        program: the program.
        layout: its division into functions.
        emitted: 1 for each row that becomes a statement.
        uniformity: which flow is uniform; consulted only for predicated programs.
        predicated_from: first row whose effects are guarded by ``alive``, or None if the program
            is not predicated.
        lengths: text of each buffer's length.
        params: text of each param's value.
        guard: what bounds the loops.
    """

    def __init__(
        self,
        program: Program,
        layout: Layout,
        emitted: bytes,
        uniformity: Uniformity | None,
        predicated_from: int | None,
        lengths: dict[int, str],
        params: dict[int, str],
        guard: LoopGuard,
    ) -> None:
        self._program = program
        self._table = program.table
        self._layout = layout
        self._emitted = emitted
        self._uniformity = uniformity
        self._predicated_from = predicated_from
        self._lengths = lengths
        self._params = params
        self._guard = guard
        self._numbers = may_be_equal(program)
        self.helpers: set[str] = set()
        self.privates: list[str] = []
        self.ids: set[str] = set()
        self.asks_for_life = False
        self._lines: list[str] = []
        self._indent = 1
        self._function = Function(Block())
        self._loops: list[int] = []

    def function_body(self, number: int) -> list[str]:
        """The statements of one function of the layout, indented by two spaces."""
        self._function = self._layout.functions[number]
        self._lines = []
        self._indent = 1
        self._loops = []
        ended = self._block(self._function.body)
        if self._function.escapes and not ended:
            self._line("return 0u;")
        return self._lines

    @property
    def is_predicated(self) -> bool:
        """Whether lanes that have ended go on, to meet barriers."""
        return self._predicated_from is not None

    # Text

    def _line(self, text: str) -> None:
        self._lines.append("  " * self._indent + text)
        self.helpers |= helpers_in(text)

    def _dtype(self, row: int) -> DType:
        return dtype_from_code(self._table.dtype[row])

    def _name(self, row: int) -> str:
        """The variable of a row's value."""
        return f"{'s' if row in self._layout.shared else 'v'}{row}"

    def _text(self, row: int, *, opaque: bool = False) -> str:
        """The value of a row as an operand."""
        table = self._table
        op = table.op[row]
        if op == Op.LET:
            return self._text(self.value_of(row), opaque=opaque)
        const = table.const[row]
        if op == Op.LITERAL:
            return literal(self._dtype(row), self._program.literals[const], opaque=opaque)
        if op == Op.PARAM:
            return self._params[const]
        if op == Op.LENGTH:
            text = self._lengths[const]
            return f"({text} | d.zero)" if opaque and text[0].isdigit() else text
        if op in _ID_NAMES:
            name = _ID_NAMES[op]
            self.ids.add(name)
            return f"{name}.{'xyz'[const]}" if const >= 0 else name
        return self._name(row)

    def value_of(self, row: int) -> int:
        """The row that a value really comes from: names of ``let`` are looked through."""
        while self._table.op[row] == Op.LET:
            row = self._table.a[row]
        return row

    def _define(self, row: int, text: str) -> None:
        """Binds a row's value to a name."""
        name = self._name(row)
        if row in self._layout.shared:
            self.privates.append(f"var<private> {name}: {register_type(self._dtype(row))};")
            self._line(f"{name} = {text};")
        else:
            self._line(f"let {name} = {text};")

    # Statements

    def _block(self, block: Block) -> bool:
        """Emits a block; says whether control cannot reach its end."""
        for item in block.items:
            if isinstance(item, Nest):
                self._nest(item)
            elif isinstance(item, Call):
                if self._call(item):
                    return True
            elif self._row(item):
                return True
        return False

    def _nested(self, block: Block) -> None:
        self._indent += 1
        self._block(block)
        self._indent -= 1

    def _row(self, row: int) -> bool:
        """Emits one plain row; says whether control cannot go on behind it."""
        table = self._table
        op = table.op[row]
        if not self._emitted[row]:
            return False
        if INFO[op].pure:
            self._define(row, self._pure(row, op))
            return False
        match op:
            case Op.LOAD:
                self._define(row, self._access(row, op))
            case Op.STORE:
                self._effect(row, f"{self._access(row, op)};")
            case _ if INFO[op].group == "subgroup":
                self._subgroup(row, op)
            case _ if op in ATOMIC_OPS:
                self._atomic(row, op)
            case Op.VAR:
                self._variable(row)
            case Op.VAR_GET:
                self._define(row, self._name(table.a[row]))
            case Op.ASSIGN:
                self._line(f"{self._name(table.a[row])} = {self._text(table.b[row])};")
            case Op.BARRIER:
                self._line("storageBarrier();")
                self._line("workgroupBarrier();")
            case Op.TRAP:
                return self._trap(row)
            case Op.RETURN:
                return self._end_lane()
            case Op.BREAK | Op.CONTINUE:
                return self._jump(op)
            case _:
                raise AssertionError(f"row {row}: {INFO[op].name} is no plain statement")
        return False

    def _pure(self, row: int, op: int) -> str:
        table = self._table
        rows = table.operands(row)
        # With only literals a compiler would evaluate the operation itself, and refuse some.
        constant = all(self._is_constant(r) for r in rows)
        texts = [self._text(r, opaque=constant and i == 0) for i, r in enumerate(rows)]
        dtype = self._dtype(rows[1] if op == Op.SELECT else rows[0])
        if op in _SHIFTS:
            texts[1] = shift_count(dtype, texts[1], self._dtype(rows[1]))
        elif op == Op.POWI and self._literal_value(rows[1]) is not None:
            return self._power(row, texts[0], int(self._literal_value(rows[1]) or 0), dtype)
        elif dtype.is_float:
            self._hide(op, rows, texts)
            if op == Op.DIV and self._is_plain_literal(rows[1], up_to=2.0**126):
                return normalize(dtype, f"{texts[0]} / {texts[1]}")
        try:
            return expression(op, dtype, self._dtype(row), texts)
        except UnsupportedFeatureError as error:
            source = self._program.debug.source(row)
            where = f" at {source[0]}:{source[1]}" if source else ""
            raise UnsupportedFeatureError(
                f"program {self._program.name!r}: {error.message}{where}", fix=error.fix
            ) from None

    def _power(self, row: int, base: str, exponent: int, dtype: DType) -> str:
        """A power with a literal exponent: the multiplications, written out."""
        square, product, left = base, "", abs(exponent)
        for step in range(left.bit_length()):
            if left >> step & 1:
                product = self._step(f"p{row}_{step}", product, square)
            if left >> (step + 1):
                square = self._step(f"q{row}_{step}", square, square)
        one = f"1.0{suffix(dtype)}"
        product = product or one
        if exponent < 0:
            product = f"h_div_{register_type(dtype)}({one}, {product})"
        return normalize(dtype, product)

    def _step(self, name: str, a: str, b: str) -> str:
        if not a:
            return b
        self._line(f"let {name} = {a} * {b};")
        return name

    def _is_constant(self, row: int) -> bool:
        op = self._table.op[self.value_of(row)]
        return op == Op.LITERAL or (op == Op.LENGTH and self._text(row)[0].isdigit())

    def _hide(self, op: int, rows: tuple[int, ...], texts: list[str]) -> None:
        """Hides from the driver what it would fold wrongly: zero factors and equal operands."""
        if op in _HIDES_ZERO:
            for i, row in enumerate(rows):
                if self._literal_value(row) == 0:
                    texts[i] = self._text(row, opaque=True)
        # A finite non-zero literal folds rightly with anything that a driver can prove equal to it.
        if op in _HIDES_EQUAL and not any(self._is_plain_literal(r) for r in rows):
            a, b = (self._numbers[self.value_of(r)] for r in rows)
            if a == b or 0 in (a, b):
                register = register_type(self._dtype(rows[0]))
                texts[1] = f"h_opaque_{register}({texts[1]})"

    def _is_plain_literal(self, row: int, up_to: float = sys.float_info.max) -> bool:
        """Whether a row is a literal, not zero, of at most the magnitude given."""
        value = self._literal_value(row)
        return value is not None and 0 < abs(value) <= up_to

    def _literal_value(self, row: int) -> float | None:
        row = self.value_of(row)
        if self._table.op[row] != Op.LITERAL:
            return None
        return self._dtype(row).decode(self._program.literals[self._table.const[row]])

    # Memory

    def _access(self, row: int, op: int) -> str:
        table = self._table
        first, *others = table.operands(row)
        arguments = [self._index(first), *map(self._text, others)]
        return f"{access_name(op, table.const[row])}({', '.join(arguments)})"

    def _index(self, row: int) -> str:
        text = self._text(row)
        dtype = self._dtype(row)
        if dtype.is_signed or dtype.bits == 64:
            return f"h_index_{register_type(dtype)}({text})"
        return text

    def _effect(self, row: int, statement: str) -> None:
        if self._is_guarded(row):
            self._line(f"if (alive) {{ {statement} }}")
        else:
            self._line(statement)

    def _is_guarded(self, row: int) -> bool:
        return self._predicated_from is not None and row >= self._predicated_from

    def _atomic(self, row: int, op: int) -> None:
        call = self._access(row, op)
        if not self._is_guarded(row):
            self._define(row, call)
            return
        name = self._name(row)
        declaration = f"{name}: {register_type(self._dtype(row))}"
        if row in self._layout.shared:
            self.privates.append(f"var<private> {declaration};")
            self._line(f"{name} = {zero(self._dtype(row))};")
        else:
            self._line(f"var {declaration};")
        self._line(f"if (alive) {{ {name} = {call}; }}")

    def _subgroup(self, row: int, op: int) -> None:
        rows = self._table.operands(row)
        text = subgroup_expression(
            op,
            self._dtype(rows[0]),
            [self._text(r) for r in rows],
            predicated=self._is_guarded(row),
        )
        self._define(row, text)

    def _variable(self, row: int) -> None:
        name, init = self._name(row), self._text(self._table.a[row])
        kind = register_type(self._dtype(row))
        if row in self._layout.shared:
            self.privates.append(f"var<private> {name}: {kind};")
            self._line(f"{name} = {init};")
        else:
            self._line(f"var {name}: {kind} = {init};")

    # Control flow

    def _nest(self, nest: Nest) -> None:
        match self._table.op[nest.row]:
            case Op.IF:
                self._line(f"if ({self._text(self._table.a[nest.row])}) {{")
                self._nested(nest.parts[0])
                if len(nest.parts) > 1:
                    self._line("} else {")
                    self._nested(nest.parts[1])
                self._line("}")
            case Op.FOR:
                self._for(nest)
            case _:
                self._while(nest)

    def _for(self, nest: Nest) -> None:
        table, row = self._table, nest.row
        start, stop, step = map(self._text, table.operands(row))
        dtype = self._dtype(row)
        kind = register_type(dtype)
        counter = f"k{row}"
        one = f"1{suffix(dtype)}"
        self._line(f"var {counter}: {kind} = {start};")
        if step == one:
            going, advance = f"{counter} < {stop}", f"{counter} = {counter} + {one};"
        else:
            # The index may pass the end of its type behind the last iteration: count trips.
            trips = f"t{row}"
            wide = dtype.bits == 64
            count, end = ("u64", "lu") if wide else ("u32", "u")
            self._line(f"var {trips}: {count} = h_trips_{kind}({start}, {stop}, {step});")
            going = f"{trips} > 0{end}"
            advance = f"{counter} = {counter} + {step}; {trips} = {trips} - 1{end};"
        self._open_loop(row)
        self._test(row, going)
        self._define(row, counter)
        self._block(nest.parts[0])
        self._line(f"continuing {{ {advance} }}")
        self._close_loop(row)

    def _while(self, nest: Nest) -> None:
        condition, body = nest.parts
        self._open_loop(nest.row)
        if not self._block(condition):
            self._leave_if_all_have_ended(nest)
            self._test(nest.row, self._text(self._table.a[nest.split]))
            self._block(body)
        self._close_loop(nest.row)

    def _leave_if_all_have_ended(self, nest: Nest) -> None:
        """The end of an endless loop with barriers whose lanes have all trapped or returned.

        They go on meeting its barriers, and no condition of theirs would ever end it.
        """
        condition = self.value_of(self._table.a[nest.split])
        is_endless = self._table.op[condition] == Op.LITERAL
        if not (is_endless and self.is_predicated and self._holds_barrier(nest)):
            return
        self.asks_for_life = True
        self._line("if (first_lane) { any_alive = 0u; }")
        self._line("workgroupBarrier();")
        self._line("if (alive) { any_alive = 1u; }")
        self._line(f"if (workgroupUniformLoad(&any_alive) == 0u) {{ {self._leave_loop()} }}")

    def _holds_barrier(self, nest: Nest) -> bool:
        """Whether a barrier stands in a loop, in pieces that were split off too."""
        pending = list(nest.parts)
        while pending:
            for item in pending.pop().items:
                if isinstance(item, Nest):
                    pending += item.parts
                elif isinstance(item, Call):
                    pending.append(self._layout.functions[item.function].body)
                elif self._table.op[item] == Op.BARRIER:
                    return True
        return False

    def _open_loop(self, row: int) -> None:
        if self._guard.is_on:
            # Set at every regular exit; a driver that ends loops early leaves it false.
            self._line(f"var done{row} = false;")
        self._line("loop {")
        self._indent += 1
        self._loops.append(row)

    def _test(self, row: int, going: str) -> None:
        """Leaves the loop where its condition no longer holds, or after too many iterations."""
        self._line(f"if (!({going}{self._while_alive(row)})) {{ {self._leave_loop()} }}")
        if self._guard.is_on:
            # An exit that is never taken: without one a compiler would know that the flag is set.
            self._line("if (d.zero != 0u) { break; }")
        if self._guard.max_iterations is not None:
            self._line(f"if (iterations >= {self._guard.max_iterations}u) {{ break; }}")
            self._line("iterations = iterations + 1u;")

    def _leave_loop(self) -> str:
        return f"done{self._loops[-1]} = true; break;" if self._guard.is_on else "break;"

    def _close_loop(self, row: int) -> None:
        self._loops.pop()
        self._indent -= 1
        self._line("}")
        if self._guard.is_on:
            alive = " && alive" if self.is_predicated else ""
            self._line(f"if (!done{row}{alive}) {{")
            self._indent += 1
            self._line(f"h_trap({row}u, 0u, lane_index());")
            self._end_lane()
            self._indent -= 1
            self._line("}")

    def _while_alive(self, row: int) -> str:
        """The further condition of a loop whose iterations differ between lanes."""
        if self._predicated_from is None or self._uniformity is None:
            return ""
        return "" if self._uniformity.body[row] else " && alive"

    def _jump(self, op: int) -> bool:
        self._line(self._jump_text(op))
        return True

    def _jump_text(self, op: int) -> str:
        if not self._loops:
            return f"return {_STATUS[op]}u;"
        return self._leave_loop() if op == Op.BREAK else "continue;"

    def _trap(self, row: int) -> bool:
        address = self._table.a[row]
        text = self._text(address)
        if self._dtype(address).is_signed:
            text = f"bitcast<u32>({text})"
        statement = f"h_trap({row}u, {text}, lane_index());"
        if self._predicated_from is None:
            self._line(statement)
        else:
            self._line(f"if (alive) {{ {statement} }}")
        return self._end_lane()

    def _end_lane(self) -> bool:
        if self._predicated_from is not None:
            self._line("alive = false;")
            return False
        self._line("return 1u;" if self._function.escapes else "return;")
        return True

    def _call(self, call: Call) -> bool:
        escapes = self._layout.functions[call.function].escapes
        if not escapes:
            self._line(f"part{call.function}();")
            return False
        status = f"c{call.function}"
        self._line(f"let {status} = part{call.function}();")
        for op in (Op.RETURN, Op.BREAK, Op.CONTINUE):
            if op in escapes:
                if op == Op.RETURN:
                    leave = "return 1u;" if self._function.escapes else "return;"
                else:
                    leave = self._jump_text(op)
                self._line(f"if ({status} == {_STATUS[op]}u) {{ {leave} }}")
        return False
