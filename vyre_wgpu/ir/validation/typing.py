"""E2xx: every operation gets operands of the types that the operation table names.

All rows are checked at once with arrays of allowed types by operation code; Python looks only at
the rows that break a rule.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..ops import OPS, Op, OperandClass
from ..program import Program
from ..types import ALL_DTYPES, DType, f32, i32, i64, u32, u64
from .columns import Columns, Ints, Mask, ops_where
from .report import DTYPE_NAMES, Report, spelling

__all__ = ["check_types"]

Bits = npt.NDArray[np.uint16]
Codes = npt.NDArray[np.uint8]


def _set(dtypes: Iterable[DType]) -> int:
    """A set of types as a bit mask by type code."""
    return sum(1 << dtype.code for dtype in dtypes)


_ANY = _set(ALL_DTYPES)
_INTEGERS = _set(d for d in ALL_DTYPES if d.is_integer)
_CLASSES: dict[str, tuple[int, str]] = {
    "any": (_ANY, "a value"),
    "bool": (_set(d for d in ALL_DTYPES if d.kind == "bool"), "a bool"),
    "int": (_INTEGERS, "an integer"),
    "float": (_set(d for d in ALL_DTYPES if d.is_float), "a float"),
    "num": (_set(d for d in ALL_DTYPES if d.kind != "bool"), "a number"),
    "bits": (_set(d for d in ALL_DTYPES if not d.is_float), "an integer or a bool"),
    "word": (
        _set(d for d in ALL_DTYPES if d.is_integer and d.bits <= 32),
        "an integer of at most 32 bits",
    ),
    "u32": (_set([u32]), "a u32"),
    "i32": (_set([i32]), "an i32"),
}
"""Operand classes that do not depend on another operand: the types, and words for them."""


def _class_of(op: Op, position: int) -> OperandClass:
    """The class of an operand, on its own where it can be said so.

    All bounds of a loop are integers: the first may be a 0 that nobody wrote, so it cannot be the
    one that the others are held against.
    """
    return "int" if op is Op.FOR else OPS[op].operands[position]


_ALLOWED = np.full((3, 256), _ANY, np.uint16)
_SAME = np.zeros((3, 256), np.bool_)
_ELEMENT = np.zeros((3, 256), np.bool_)
_SHIFT = ops_where("shl", "shr", "rotl", "rotr")
for _op, _info in OPS.items():
    for _position, _operand in enumerate(_info.operands):
        if _class_of(_op, _position) in _CLASSES:
            _ALLOWED[_position, _op] = _CLASSES[_class_of(_op, _position)][0]
        _SAME[_position, _op] = _operand == "same"
        _ELEMENT[_position, _op] = _operand == "element"

_ATOMIC = np.zeros(256, np.bool_)
_ATOMIC_TYPES = np.zeros(256, np.uint16)
for _op, _info in OPS.items():
    if _info.name.startswith("atomic_"):
        _ATOMIC[_op] = True
        _ATOMIC_TYPES[_op] = _set([u32, i32, u64, i64]) | (
            _set([f32]) if _op is Op.ATOMIC_ADD else 0
        )

_RESULT = {kind: ops_where(result=kind) for kind in ("void", "same", "bool", "u32", "element")}
_INDEXED = ops_where(const="buffer") & ops_where(group="memory")
_BOOL_CODE, _U32_CODE = 1, u32.code
_WIDTH = np.zeros(256, np.int64)
for _dtype in ALL_DTYPES:
    _WIDTH[_dtype.code] = _dtype.bits
_UNFIT = 1 << 16
"""Stands for the width of a bit pattern that no type has."""


def check_types(report: Report, columns: Columns) -> None:
    """Reports rows whose operands, result or literal have the wrong type."""
    types = _Types(report, columns)
    types.check_classes()
    types.check_pairs()
    types.check_memory()
    types.check_results()
    types.check_literals()


class _Types:
    """Columns of types beside those of the table."""

    def __init__(self, report: Report, columns: Columns) -> None:
        self.report = report
        self.columns = columns
        program = report.program
        self.op = columns.op
        padded = np.append(columns.dtype, np.uint8(0))
        # Operand -1 takes the last element: no type.
        self.of = [padded[operand] for operand in columns.operands]
        self.element = _by_constant(columns, "buffer", [b.dtype.code for b in program.buffers])
        self.param = _by_constant(columns, "param", [p.dtype.code for p in program.params])
        self.wrong = np.zeros(len(columns), np.bool_)

    def operand(self, row: int, position: int) -> int:
        return int(self.columns.operands[position][row])

    def found(self, row: int, position: int) -> str:
        return self.report.typed(self.operand(row, position))

    def name(self, row: int, position: int) -> str:
        return self.report.dtype(self.operand(row, position))

    def check_classes(self) -> None:
        """Operands whose class does not depend on another one."""
        for position, of in enumerate(self.of):
            fits = (_ALLOWED[position][self.op] >> of) & 1 == 1
            bad = ~fits & (of != 0)
            self.wrong |= bad
            for row in self.report.listed(np.flatnonzero(bad)):
                self._class(row, position)

    def _class(self, row: int, position: int) -> None:
        """The rule and the words for an operand of the wrong class."""
        op = Op(self.op[row])
        info = OPS[op]
        found = self.found(row, position)
        kind = _class_of(op, position)
        wanted = _CLASSES[kind][1]
        code, message = "E203", f"{info.name} takes {wanted}, found {found}"
        fix = f"cast it to a type that {info.name} takes: value.cast(...)"
        dtype = self.name(row, position)
        if kind == "bool":
            name = "while" if op is Op.DO else info.name
            code, message = "E204", f"the condition of {name} is a bool, found {found}"
            fix = "compare it, as in value != 0, or cast it: value.cast(vw.bool_)"
        elif position == 0 and _INDEXED[op]:
            code = "E205"
            message = f"the index of {info.name} in {self.report.buffer(row)} is {found}"
            fix = "an index is an integer: write value.cast(vw.u32)"
        elif op is Op.DIV:
            code = "E213"
            if dtype != "bool":
                fix = "write a // b for the floor of the quotient, or cast both to vw.f32 before /"
        elif op in (Op.FLOOR_DIV, Op.TRUNC_DIV, Op.REM):
            code = "E213"
            if dtype != "bool":
                fix = {
                    Op.FLOOR_DIV: "write vw.floor(a / b)",
                    Op.TRUNC_DIV: "write vw.trunc(a / b)",
                    Op.REM: "write vw.fmod(a, b)",
                }[op]
        elif op is Op.TRAP:
            code, message = "E214", f"a trap's address is {wanted}, found {found}"
            fix = "write address=value.cast(vw.u32)"
        elif op is Op.BITCAST:
            code, message = "E211", f"bitcast from {found}"
            fix = "write value.cast(...): a bool has no bits to keep"
        elif op is Op.POWI:
            if position == 1:
                fix = "write exponent.cast(vw.i32), or cast it to a float and use vw.power"
            else:
                fix = "cast the base to a float: value.cast(vw.f32)"
                if dtype != "bool":
                    fix = f"write base ** exponent for integers, or {fix}"
        elif op is Op.FOR:
            fix = "cast the bound or step, as in stop.cast(vw.u32)"
        elif op is Op.SHL or op is Op.SHR:
            fix = "shift an integer: value.cast(vw.u32), or vw.bitcast(value, vw.u32) for its bits"
        elif kind in ("u32", "i32"):
            fix = f"write value.cast(vw.{kind})"
        elif kind == "float":
            fix = "cast it: value.cast(vw.f32)"
        elif kind == "num" and dtype == "bool":
            fix = "cast it: value.cast(vw.u32) is 0 or 1; logic on bools is & | ^ ~"
        elif kind in ("int", "bits"):
            fix = "cast it: value.cast(vw.i32), or vw.bitcast(value, vw.u32) for its bits"
        self.report.add(code, message, fix, row)

    def check_pairs(self) -> None:
        """Operands that go by the type of another one."""
        first, second, third = self.of
        checkable = ~self.wrong & (first != 0)
        mixed = np.zeros(len(self.op), np.bool_)
        for position, of in ((1, second), (2, third)):
            bad = _SAME[position][self.op] & (of != first) & (of != 0) & checkable & ~mixed
            mixed |= bad
            assigns = self.op == Op.ASSIGN
            self.report.rows(
                "E201",
                np.flatnonzero(bad & ~assigns),
                lambda row, position=position: self._mixed(row, position),  # type: ignore[misc]
            )
            self.report.rows("E208", np.flatnonzero(bad & assigns), self._assigned)
        shift = _SHIFT[self.op] & (second != _U32_CODE) & (second != first) & (second != 0)
        self.report.rows("E210", np.flatnonzero(shift & checkable), self._shift)
        chosen = (self.op == Op.SELECT) & (second != third) & (second != 0) & (third != 0)
        self.report.rows("E209", np.flatnonzero(chosen), self._select)
        target = self.columns.dtype
        bitcast = (self.op == Op.BITCAST) & checkable & (target != 0)
        bitcast &= (_WIDTH[target] != _WIDTH[first]) | (target == _BOOL_CODE)
        self.report.rows("E211", np.flatnonzero(bitcast), self._bitcast)

    def _mixed(self, row: int, position: int) -> tuple[str, str]:
        name = self.report.op(row)
        one, other = self.operand(row, 0), self.operand(row, position)
        message = f"{name} mixes {self.name(row, 0)} and {self.name(row, position)}: "
        message += f"{self.report.value(one)} and {self.report.value(other)}"
        dtype = spelling(self.columns.dtype[one])
        if self.op[row] == Op.FOR:
            return message, f"give all bounds and the step one type, as in stop.cast({dtype})"
        if self.op[row] == Op.POW and _INTEGERS >> int(self.columns.dtype[other]) & 1:
            n = "n" if self.columns.dtype[other] == i32.code else "n.cast(vw.i32)"
            return message, f"write x ** {n} for an integer power, or cast n: n.cast({dtype})"
        return message, f"cast one operand: value.cast({dtype})"

    def _assigned(self, row: int) -> tuple[str, str]:
        variable = self.operand(row, 0)
        return (
            f"variable {self.report.local(variable)} is {self.report.dtype(variable)}, "
            f"assigned {self.found(row, 1)}",
            f"assign value.cast({spelling(self.columns.dtype[variable])})",
        )

    def _shift(self, row: int) -> tuple[str, str]:
        name = self.report.op(row)
        return (
            f"the count of {name} is {self.found(row, 1)}, the value is {self.name(row, 0)}",
            "cast the count: count.cast(vw.u32)",
        )

    def _select(self, row: int) -> tuple[str, str]:
        one, other = self.operand(row, 1), self.operand(row, 2)
        return (
            f"select chooses between {self.report.typed(one)} and {self.report.typed(other)}",
            f"cast one of the two: value.cast({spelling(self.columns.dtype[one])})",
        )

    def _bitcast(self, row: int) -> tuple[str, str]:
        return (
            f"bitcast from {self.found(row, 0)} to {self.report.dtype(row)}",
            "bitcast between numeric types of one width, or convert the value: value.cast(...)",
        )

    def check_memory(self) -> None:
        """Element types: what is stored, and what atomics can work on."""
        for position in (1, 2):
            of = self.of[position]
            bad = _ELEMENT[position][self.op] & (of != self.element) & (of != 0)
            self.report.rows(
                "E207",
                np.flatnonzero(bad),
                lambda row, position=position: self._element(row, position),  # type: ignore[misc]
            )
        atomic = _ATOMIC[self.op] & ((_ATOMIC_TYPES[self.op] >> self.element) & 1 == 0)
        self.report.rows("E212", np.flatnonzero(atomic), self._atomic)

    def _element(self, row: int, position: int) -> tuple[str, str]:
        code = int(self.element[row])
        verb = "store to" if self.op[row] == Op.STORE else f"{self.report.op(row)} on"
        return (
            f"{verb} {DTYPE_NAMES[code]} buffer {self.report.buffer(row)} "
            f"of {self.found(row, position)}",
            f"cast the value: value.cast({spelling(code)})",
        )

    def _atomic(self, row: int) -> tuple[str, str]:
        code = int(self.element[row])
        fix = "declare the buffer as u32 or i32 (u64, i64 where the device has them)"
        if code == f32.code:
            fix += ", or use b.atomic_add"
        return (
            f"{self.report.op(row)} on buffer {self.report.buffer(row)} "
            f"of {DTYPE_NAMES[code]} elements",
            fix,
        )

    def check_results(self) -> None:
        """The type that each row says it yields."""
        first, second, _ = self.of
        known = np.zeros(len(self.op), np.bool_)
        expected: Codes = np.zeros(len(self.op), np.uint8)

        def expect(mask: Mask, codes: Codes | Ints | int) -> None:
            nonlocal known
            known |= mask
            np.copyto(expected, codes, where=mask, casting="unsafe")

        expect(_RESULT["void"][self.op], 0)
        expect(_RESULT["same"][self.op] & (first != 0), first)
        expect(_RESULT["bool"][self.op], _BOOL_CODE)
        expect(_RESULT["u32"][self.op], _U32_CODE)
        expect(_RESULT["element"][self.op], self.element)
        expect(self.op == Op.PARAM, self.param)
        expect((self.op == Op.SELECT) & (second != 0), second)
        declared = self.columns.dtype
        bad = np.where(known, declared != expected, declared == 0)
        variables = self.op == Op.VAR
        self.report.rows("E208", np.flatnonzero(bad & variables), self._first_value)
        self.report.rows(
            "E206",
            np.flatnonzero(bad & ~variables),
            lambda row: (
                f"{self.report.op(row)} in row {row} is of {self.report.dtype(row)}, not of "
                + (DTYPE_NAMES.get(int(expected[row]), "no value") if known[row] else "a type"),
                "the bytes are damaged: build the program again",
            ),
        )

    def _first_value(self, row: int) -> tuple[str, str]:
        return (
            f"variable {self.report.local(row)} is {self.report.dtype(row)}, "
            f"its first value is {self.found(row, 0)}",
            f"start it with value.cast({spelling(self.columns.dtype[row])})",
        )

    def check_literals(self) -> None:
        """Bit patterns that are wider than the literal's type."""
        widths = _by_constant(self.columns, "literal", _literal_widths(self.report.program))
        literal = self.op == Op.LITERAL
        bad = literal & (self.columns.dtype != 0) & (widths > _WIDTH[self.columns.dtype])
        self.report.rows(
            "E202",
            np.flatnonzero(bad),
            lambda row: (
                f"a literal's bits do not fit {self.report.dtype(row)}",
                f"write it as {spelling(self.columns.dtype[row])}(value)",
            ),
        )


def _literal_widths(program: Program) -> list[int]:
    return [min(bits.bit_length(), _UNFIT) if bits >= 0 else _UNFIT for bits in program.literals]


def _by_constant(columns: Columns, kind: str, values: list[int]) -> Ints:
    """For rows with this kind of constant what it refers to; 0 for others."""
    table = np.array([*values, 0], np.int64)
    rows = ops_where(const=kind)[columns.op]
    found: Ints = table[np.where(rows, columns.const, len(values))]
    return found
