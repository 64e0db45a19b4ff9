"""The text of every row's value: names, leaves, and pure operations as expressions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from ..errors import UnsupportedFeatureError
from ..ir.ops import INFO, Op
from ..ir.program import Program
from ..ir.types import DType, dtype_from_code
from .arithmetic import expression, shift_count
from .known import may_be_known
from .numbering import may_be_equal
from .spelling import hidden, literal, normalize, register_type, suffix

__all__ = ["Values"]

_SHIFTS: frozenset[int] = frozenset({Op.SHL, Op.SHR, Op.ROTL, Op.ROTR})
_CASTS: frozenset[int] = frozenset({Op.CAST, Op.BITCAST})
_COMPARISONS = frozenset({Op.EQ, Op.NE, Op.LT, Op.LE, Op.GT, Op.GE})
_HIDES_EQUAL: frozenset[int] = frozenset({Op.SUB, Op.DIV, *_COMPARISONS})
_ORDERED: frozenset[int] = frozenset(
    {Op.LT, Op.LE, Op.GT, Op.GE, Op.MINIMUM, Op.MAXIMUM, Op.FMIN, Op.FMAX}
)
# Exponents whose powers are written out: each multiplication adds half a ULP, and a reciprocal of
# a product that left the range would be wrong.
_SHORT_POWERS = range(-1, 9)
_HIDES_ZERO: frozenset[int] = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.FMA})
_ROUND_NOTHING: frozenset[int] = frozenset(
    {Op.NEG, Op.ABS, Op.SIGN, Op.FLOOR, Op.CEIL, Op.TRUNC, Op.ROUND, Op.SELECT, Op.BITCAST}
    | {Op.MINIMUM, Op.MAXIMUM, Op.FMIN, Op.FMAX}
)
_ID_NAMES: dict[int, str] = {
    Op.GLOBAL_ID: "gid",
    Op.LOCAL_ID: "lid",
    Op.WORKGROUP_ID: "wid",
    Op.NUM_WORKGROUPS: "nwg",
    Op.SUBGROUP_SIZE: "subgroup_lanes",
    Op.SUBGROUP_LANE: "subgroup_lane",
}


class Values:
    """What stands in the shader for each row that has a value.

    Args:
        program: the program.
        shared: rows whose value is used in other functions than their own.
        lengths: text of each buffer's length.
        params: text of each param's value.
        reorders_floats: whether results of float operations are hidden from those that take them.
    """

    def __init__(
        self,
        program: Program,
        shared: frozenset[int],
        lengths: Mapping[int, str],
        params: Mapping[int, str],
        *,
        reorders_floats: bool = False,
    ) -> None:
        self._program = program
        self._table = program.table
        self._shared = shared
        self._lengths = lengths
        self._params = params
        self._numbers = may_be_equal(program)
        self._known = may_be_known(program)
        self._hidden = _taken_by_others(program) if reorders_floats else bytes(len(program.table))
        self.ids: set[str] = set()

    def dtype(self, row: int) -> DType:
        """The type of a row's value."""
        return dtype_from_code(self._table.dtype[row])

    def name(self, row: int) -> str:
        """The variable of a row's value."""
        return f"{'s' if row in self._shared else 'v'}{row}"

    def text(self, row: int, *, opaque: bool = False) -> str:
        """The value of a row as an operand."""
        table = self._table
        op = table.op[row]
        if op == Op.LET:
            return self.text(self._table.value_of(row), opaque=opaque)
        const = table.const[row]
        if op == Op.LITERAL:
            return literal(self.dtype(row), self._program.literals[const], opaque=opaque)
        if op == Op.PARAM:
            return self._params[const]
        if op == Op.LENGTH:
            text = self._lengths[const]
            return f"({text} | d.zero)" if opaque and text[0].isdigit() else text
        if op in _ID_NAMES:
            name = _ID_NAMES[op]
            self.ids.add(name)
            return f"{name}.{'xyz'[const]}" if const >= 0 else name
        return self.name(row)

    def kept(self, row: int) -> str:
        """The value of a row as what a variable, an element or an arm of a select is given.

        Literal floats are hidden: a driver carries them on to operations that it folds wrongly.
        """
        return self.text(row, opaque=self.dtype(row).is_float)

    def pure(self, row: int, op: int, line: Callable[[str], None]) -> str:
        """A pure operation as an expression; steps that need a name go to ``line`` first."""
        text = self._pure(row, op, line)
        return f"h_opaque_{register_type(self.dtype(row))}({text})" if self._hidden[row] else text

    def _pure(self, row: int, op: int, line: Callable[[str], None]) -> str:
        rows = self._table.operands(row)
        # With only literals a compiler would evaluate the operation itself, and refuse some.
        constant = all(self._is_constant(r) for r in rows)
        texts = [self.text(r, opaque=constant and i == 0) for i, r in enumerate(rows)]
        dtype = self.dtype(rows[1] if op == Op.SELECT else rows[0])
        if op == Op.SELECT:
            texts[1:] = map(self.kept, rows[1:])
        elif op in _CASTS and self._known[rows[0]] and self.dtype(row).is_float and not constant:
            texts[0] = hidden(dtype, texts[0])
        elif op in _SHIFTS:
            # llvmpipe shifts 64-bit values wrongly by a constant whose mask it dropped.
            count = self.literal_value(rows[1])
            texts[1] = (
                shift_count(dtype, texts[1], self.dtype(rows[1]))
                if count is None
                else f"{int(count) & (dtype.bits - 1)}u"
            )
        elif op == Op.POWI and self.literal_value(rows[1]) in _SHORT_POWERS:
            return _power(row, texts[0], int(self.literal_value(rows[1]) or 0), dtype, line)
        elif op in _ORDERED and dtype.bits == 64 and not dtype.is_float:
            # llvmpipe compares a widened i64 with a constant wrongly.
            texts = [
                self.text(r, opaque=True) if self._is_constant(r) else self.text(r) for r in rows
            ]
        elif dtype.is_float:
            self._hide(op, rows, texts)
            if op == Op.DIV and self._is_plain_literal(rows[1], up_to=2.0**126):
                return normalize(dtype, f"{texts[0]} / {texts[1]}")
        try:
            return expression(op, dtype, self.dtype(row), texts)
        except UnsupportedFeatureError as error:
            source = self._program.debug.source(row)
            where = f" at {source[0]}:{source[1]}" if source else ""
            raise UnsupportedFeatureError(
                f"program {self._program.name!r}: {error.message}{where}", fix=error.fix
            ) from None

    def _is_constant(self, row: int) -> bool:
        op = self._table.op[self._table.value_of(row)]
        return op == Op.LITERAL or (op == Op.LENGTH and self.text(row)[0].isdigit())

    def _hide(self, op: int, rows: tuple[int, ...], texts: list[str]) -> None:
        """Hides from the driver what it would fold wrongly: zero factors and equal operands."""
        if op in _HIDES_ZERO:
            for i, row in enumerate(rows):
                if self.literal_value(row) == 0:
                    texts[i] = self.text(row, opaque=True)
        # A finite non-zero literal folds rightly with anything that a driver can prove equal to it.
        if op == Op.DIV and not self._is_plain_literal(rows[0]):
            # A dividend that a driver knows to be zero makes it 0, whatever the divisor is.
            # It then differs from the divisor too: hiding both alike would make them equal again.
            texts[0] = f"h_opaque_{register_type(self.dtype(rows[0]))}({texts[0]})"
        elif op in _HIDES_EQUAL and not any(self._is_plain_literal(r) for r in rows):
            a, b = (self._numbers[self._table.value_of(r)] for r in rows)
            if a == b or 0 in (a, b):
                register = register_type(self.dtype(rows[0]))
                texts[1] = f"h_opaque_{register}({texts[1]})"

    def _is_plain_literal(self, row: int, up_to: float = sys.float_info.max) -> bool:
        """Whether a row is a literal, not zero, of at most the magnitude given."""
        value = self.literal_value(row)
        return value is not None and 0 < abs(value) <= up_to

    def literal_value(self, row: int) -> float | None:
        """The number that a row stands for, if it is a literal."""
        return self._program.literal_value(row)

    def length(self, buffer: int) -> str:
        """The number of elements of a buffer."""
        return self._lengths[buffer]

    def index(self, row: int) -> str:
        """An element index as u32: one that does not fit is out of bounds of every buffer."""
        text, dtype = self.text(row), self.dtype(row)
        if dtype.is_signed or dtype.bits == 64:
            return f"h_index_{register_type(dtype)}({text})"
        return text

    def word(self, row: int) -> str:
        """An integer as the u32 of a trap's address: its bits, the low half of 64."""
        text, dtype = self.text(row), self.dtype(row)
        if dtype.bits == 64:
            text = f"bitcast<u64>({text})" if dtype.is_signed else text
            return f"u32({text} & 0xfffffffflu)"
        return f"bitcast<u32>({text})" if dtype.is_signed else text


def _taken_by_others(program: Program) -> bytearray:
    """For each row, 1 if it is a rounded float that other operations may take.

    A store hands its value on to loads, where there are any of that buffer. Operations that round
    nothing (a sign, a minimum, a choice) may be taken together with others; f16 is rounded through
    its bits.
    """
    table = program.table
    taken = bytearray(len(table))
    loaded = {table.const[row] for row, op in enumerate(table.op) if op == Op.LOAD}
    for row, op in enumerate(table.op):
        if op != Op.STORE or table.const[row] in loaded:
            for operand in table.operands(row):
                taken[operand] = 1
    for row, op in enumerate(table.op):
        dtype = dtype_from_code(table.dtype[row]) if taken[row] else None
        rounds = dtype is not None and dtype.name in ("f32", "f64") and INFO[op].pure
        if not rounds or op in _ROUND_NOTHING or INFO[op].group == "leaf" or op == Op.LET:
            taken[row] = 0
    return taken


def _power(row: int, base: str, exponent: int, dtype: DType, line: Callable[[str], None]) -> str:
    """A power with a literal exponent: the multiplications, written out."""

    def step(name: str, a: str, b: str) -> str:
        if not a:
            return b
        line(f"let {name} = {a} * {b};")
        return name

    square, product, left = base, "", abs(exponent)
    for bit in range(left.bit_length()):
        if left >> bit & 1:
            product = step(f"p{row}_{bit}", product, square)
        if left >> (bit + 1):
            square = step(f"q{row}_{bit}", square, square)
    one = f"1.0{suffix(dtype)}"
    product = product or one
    if exponent < 0:
        product = f"h_div_{register_type(dtype)}({one}, {product})"
    return normalize(dtype, product)
