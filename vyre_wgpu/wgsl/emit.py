"""Emits the statements of a program as WGSL: one ``let`` for each value, structured control flow.

Two ways of ending a lane. Without barriers ``trap`` and ``return`` leave the shader (through a
status, where the statement stands in a function that was split off). With barriers a lane must go
on meeting them, and with checked accesses it may end nearly anywhere: the program is *predicated*.
A private flag ``alive`` is cleared, every effect after a possible end is guarded by it, and loops
whose iterations may differ between lanes stop on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..ir.ops import INFO, Op
from ..ir.program import Program
from ..ir.uniformity import Uniformity
from .arithmetic import helpers_in
from .checks import DIVISIONS
from .memory import ATOMIC_OPS, access_name
from .spelling import register_type, suffix, zero
from .structure import Block, Call, Function, Layout, Nest
from .subgroups import subgroup_expression
from .values import Values

__all__ = ["Emitter", "LoopGuard"]

_STATUS: dict[int, int] = {Op.RETURN: 1, Op.BREAK: 2, Op.CONTINUE: 3}


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
        uniformity: which flow is uniform; given for predicated programs with barriers only.
        predicated_from: first row whose effects are guarded by ``alive``, or None if the program
            is not predicated.
        values: text of every row's value.
        guard: what bounds the loops.
        checked: 1 for each row that traps on its own (`checks`).
        sites: for each row, what a trap there names it by: its row in the program as it was
            written.
    """

    def __init__(
        self,
        program: Program,
        layout: Layout,
        emitted: bytes,
        uniformity: Uniformity | None,
        predicated_from: int | None,
        values: Values,
        guard: LoopGuard,
        checked: bytes,
        sites: Sequence[int],
    ) -> None:
        self._program = program
        self._table = program.table
        self._layout = layout
        self._emitted = emitted
        self._uniformity = uniformity
        self._predicated_from = predicated_from
        self._values = values
        self._guard = guard
        self._checked = checked
        self._sites = sites
        self.helpers: set[str] = set()
        self.privates: list[str] = []
        self.asks_for_life = False
        # Iterations that lanes make together are counted apart, so that they end together: at the
        # barriers of a loop, and where a variable may bound such a loop later.
        self._with_barriers = _loops_with_barriers(program)
        self.counts_rounds = guard.max_iterations is not None and bool(self._with_barriers)
        self.notes_traps = False
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

    def _define(self, row: int, text: str) -> None:
        """Binds a row's value to a name."""
        name = self._values.name(row)
        if row in self._layout.shared:
            self.privates.append(f"var<private> {name}: {register_type(self._values.dtype(row))};")
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
        if self._checked[row]:
            self._check(row, op)
        if INFO[op].pure:
            self._define(row, self._values.pure(row, op, self._line))
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
                self._define(row, self._values.name(table.a[row]))
            case Op.ASSIGN:
                self._line(
                    f"{self._values.name(table.a[row])} = {self._values.kept(table.b[row])};"
                )
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

    # Memory

    def _access(self, row: int, op: int) -> str:
        table = self._table
        first, *others = table.operands(row)
        arguments = [self._values.index(first), *map(self._values.kept, others)]
        return f"{access_name(op, table.const[row])}({', '.join(arguments)})"

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
        name = self._values.name(row)
        declaration = f"{name}: {register_type(self._values.dtype(row))}"
        if row in self._layout.shared:
            self.privates.append(f"var<private> {declaration};")
            self._line(f"{name} = {zero(self._values.dtype(row))};")
        else:
            self._line(f"var {declaration};")
        self._line(f"if (alive) {{ {name} = {call}; }}")

    def _subgroup(self, row: int, op: int) -> None:
        rows = self._table.operands(row)
        text = subgroup_expression(
            op,
            self._values.dtype(rows[0]),
            [self._values.text(r) for r in rows],
            predicated=self._is_guarded(row),
        )
        self._define(row, text)

    def _variable(self, row: int) -> None:
        name, init = self._values.name(row), self._values.kept(self._table.a[row])
        kind = register_type(self._values.dtype(row))
        if row in self._layout.shared:
            self.privates.append(f"var<private> {name}: {kind};")
            self._line(f"{name} = {init};")
        else:
            self._line(f"var {name}: {kind} = {init};")

    def _check(self, row: int, op: int) -> None:
        """Traps where an index is out of bounds or a divisor is zero."""
        values, table = self._values, self._table
        if op in DIVISIONS:
            divisor = table.b[row]
            fault = f"{values.text(divisor)} == {zero(values.dtype(divisor))}"
            address = "0u"
        else:
            index = table.a[row]
            fault = f"{values.index(index)} >= {values.length(table.const[row])}"
            address = values.word(index)
        self._raise(row, address, fault)

    # Control flow

    def _nest(self, nest: Nest) -> None:
        match self._table.op[nest.row]:
            case Op.IF:
                self._line(f"if ({self._values.text(self._table.a[nest.row])}) {{")
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
        start, stop, step = map(self._values.text, table.operands(row))
        dtype = self._values.dtype(row)
        if dtype.bits == 64:
            # llvmpipe compares a widened i64 with a constant wrongly.
            stop = self._values.text(table.b[row], opaque=True)
        kind = register_type(dtype)
        counter = f"k{row}"
        one = f"1{suffix(dtype)}"
        is_bounded = all(self._values.literal_value(r) is not None for r in table.operands(row))
        some_alive = "" if is_bounded else self._whether_some_are_alive(row)
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
        self._test(row, f"{some_alive}{going}")
        self._define(row, counter)
        self._block(nest.parts[0])
        self._line(f"continuing {{ {advance} }}")
        self._close_loop(row)

    def _while(self, nest: Nest) -> None:
        condition, body = nest.parts
        self._open_loop(nest.row)
        if not self._block(condition):
            self._leave_if_all_have_ended(nest)
            self._test(nest.row, self._values.text(self._table.a[nest.split]))
            self._block(body)
        self._close_loop(nest.row)

    def _leave_if_all_have_ended(self, nest: Nest) -> None:
        """The end of an endless loop with barriers whose lanes have all trapped or returned.

        They go on meeting its barriers, and no condition of theirs would ever end it.
        """
        condition = self._table.value_of(self._table.a[nest.split])
        if self._table.op[condition] == Op.LITERAL and self._meets_barriers_dead(nest.row):
            self._ask_for_life()
            self._line(f"if (workgroupUniformLoad(&any_alive) == 0u) {{ {self._leave_loop()} }}")

    def _whether_some_are_alive(self, row: int) -> str:
        """A first part of the condition of a loop with barriers: that not all lanes have ended.

        What made them end may have made its bounds, too: a range over a quotient by zero is long.
        """
        if row == self._predicated_from or not self._meets_barriers_dead(row):
            return ""
        self._ask_for_life()
        self._line(f"let some_alive{row} = workgroupUniformLoad(&any_alive) != 0u;")
        return f"some_alive{row} && "

    def _meets_barriers_dead(self, row: int) -> bool:
        """Whether lanes that have ended go through a loop for its barriers."""
        return row in self._with_barriers and self._is_guarded(row)

    def _ask_for_life(self) -> None:
        self.asks_for_life = True
        self._line("if (first_lane) { any_alive = 0u; }")
        self._line("workgroupBarrier();")
        self._line("if (alive) { any_alive = 1u; }")

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
            self._count(row, f"{self._guard.max_iterations}u")

    def _count(self, row: int, most: str) -> None:
        """Bounds the iterations of a lane: those of its own, and those that all make together."""
        left = f"{most} - rounds" if self.counts_rounds else most
        if self.counts_rounds and self._is_in_step(row):
            self._line(f"if (rounds >= {most}) {{ break; }}")
            self._line("rounds = rounds + 1u;")
            self._raise(row, "0u", f"iterations > {left}")
        else:
            self._line(f"if (iterations >= {left}) {{ break; }}")
            self._line("iterations = iterations + 1u;")

    def _is_in_step(self, row: int) -> bool:
        """Whether all lanes make the same iterations of a loop, those that have ended too."""
        if row in self._with_barriers:
            return True
        return self._uniformity is not None and bool(self._uniformity.body[row])

    def _leave_loop(self) -> str:
        return f"done{self._loops[-1]} = true; break;" if self._guard.is_on else "break;"

    def _close_loop(self, row: int) -> None:
        self._loops.pop()
        self._indent -= 1
        self._line("}")
        if self._guard.is_on:
            self._raise(row, "0u", f"!done{row}")

    def _while_alive(self, row: int) -> str:
        """The further condition of a loop whose iterations differ between lanes."""
        if self._predicated_from is None:
            return ""
        is_shared = self._uniformity is not None and self._uniformity.body[row]
        return "" if is_shared else " && alive"

    def _jump(self, op: int) -> bool:
        self._line(self._jump_text(op))
        return True

    def _jump_text(self, op: int) -> str:
        if not self._loops:
            return f"return {_STATUS[op]}u;"
        return self._leave_loop() if op == Op.BREAK else "continue;"

    def _trap(self, row: int) -> bool:
        return self._raise(row, self._values.word(self._table.a[row]), "")

    def _raise(self, row: int, address: str, fault: str) -> bool:
        """Records a trap where a fault holds (always, if it is empty) and ends the lane.

        A predicated lane only notes it; the entry point hands it on at its end (`epilogue`), so
        that not every check has the loop of `h_trap` in it.
        """
        site = self._sites[row]
        if self.is_predicated:
            conditions = " && ".join(["alive", *([fault] if fault else [])])
            self._line(f"if ({conditions}) {{")
            self._indent += 1
            self._line(f"trapped = true; trap_site = {site}u; trap_address = {address};")
            self.notes_traps = True
            self._end_lane()
            self._indent -= 1
            self._line("}")
            return False
        if fault:
            self._line(f"if ({fault}) {{")
            self._indent += 1
        self._line(f"h_trap({site}u, {address}, lane_index());")
        ended = self._end_lane()
        if fault:
            self._indent -= 1
            self._line("}")
        return ended and not fault

    def epilogue(self) -> list[str]:
        """What the entry point does behind the body of a predicated program."""
        if not self.notes_traps:
            return []
        return ["  if (trapped) { h_trap(trap_site, trap_address, lane_index()); }"]

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


def _loops_with_barriers(program: Program) -> frozenset[int]:
    """The rows of the loops with a barrier in them, at any depth."""
    found: set[int] = set()
    around: list[int] = []
    codes = program.table.op
    for row, code in enumerate(codes):
        if code in (Op.IF, Op.FOR, Op.WHILE):
            around.append(row)
        elif code == Op.END:
            around.pop()
        elif code == Op.BARRIER:
            found.update(opener for opener in around if codes[opener] != Op.IF)
    return frozenset(found)
