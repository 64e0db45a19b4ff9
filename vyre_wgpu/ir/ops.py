"""The operation table: every operation of the IR as one row of data.

An `OpInfo` says how many operands an operation takes, of which classes, what it yields, whether it
is pure and how it prints. Builder, validator, serialiser, printer and backends all read this table;
the meaning of each operation is in its ``meaning`` column and nowhere else.

The numbers of `Op` are part of the serialised form: they are never changed or reused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal as Choice

__all__ = ["INFO", "OPS", "Op", "OpInfo", "OperandClass", "opcode_exists"]


class Op(IntEnum):
    """Operation codes, grouped as in the design: leaves, arithmetic, memory, control."""

    # Leaves
    LITERAL = 1
    PARAM = 2
    LENGTH = 3
    GLOBAL_ID = 4
    LOCAL_ID = 5
    WORKGROUP_ID = 6
    NUM_WORKGROUPS = 7
    SUBGROUP_SIZE = 8
    SUBGROUP_LANE = 9
    # Unary
    NEG = 16
    ABS = 17
    NOT = 18
    SIGN = 19
    FLOOR = 20
    CEIL = 21
    TRUNC = 22
    ROUND = 23
    SQRT = 24
    RSQRT = 25
    CBRT = 26
    EXP = 27
    EXP2 = 28
    EXPM1 = 29
    LOG = 30
    LOG2 = 31
    LOG10 = 32
    LOG1P = 33
    SIN = 34
    COS = 35
    TAN = 36
    ASIN = 37
    ACOS = 38
    ATAN = 39
    SINH = 40
    COSH = 41
    TANH = 42
    ASINH = 43
    ACOSH = 44
    ATANH = 45
    ERF = 46
    ERFC = 47
    LGAMMA = 48
    GAMMA = 49
    SIGMOID = 50
    IS_NAN = 51
    IS_INF = 52
    IS_FINITE = 53
    CLZ = 54
    CTZ = 55
    POPCOUNT = 56
    REVERSE_BITS = 57
    CAST = 58
    BITCAST = 59
    # Binary
    ADD = 72
    SUB = 73
    MUL = 74
    DIV = 75
    FLOOR_DIV = 76
    MOD = 77
    TRUNC_DIV = 78
    REM = 79
    FMOD = 80
    AND = 81
    OR = 82
    XOR = 83
    SHL = 84
    SHR = 85
    ROTL = 86
    ROTR = 87
    MUL_HIGH = 88
    MINIMUM = 89
    MAXIMUM = 90
    FMIN = 91
    FMAX = 92
    POW = 93
    POWI = 94
    ATAN2 = 95
    HYPOT = 96
    EQ = 97
    NE = 98
    LT = 99
    LE = 100
    GT = 101
    GE = 102
    # Ternary
    SELECT = 112
    FMA = 113
    # Memory
    LOAD = 128
    STORE = 129
    ATOMIC_ADD = 130
    ATOMIC_SUB = 131
    ATOMIC_AND = 132
    ATOMIC_OR = 133
    ATOMIC_XOR = 134
    ATOMIC_MIN = 135
    ATOMIC_MAX = 136
    ATOMIC_EXCHANGE = 137
    ATOMIC_COMPARE_EXCHANGE = 138
    # Subgroup
    SUBGROUP_ADD = 144
    SUBGROUP_MUL = 145
    SUBGROUP_MIN = 146
    SUBGROUP_MAX = 147
    SUBGROUP_AND = 148
    SUBGROUP_OR = 149
    SUBGROUP_XOR = 150
    SUBGROUP_BALLOT = 151
    SUBGROUP_BROADCAST = 152
    SUBGROUP_SHUFFLE = 153
    # Names and variables
    LET = 160
    VAR = 161
    VAR_GET = 162
    ASSIGN = 163
    # Control
    IF = 176
    ELSE = 177
    END = 178
    FOR = 179
    WHILE = 180
    DO = 181
    BREAK = 182
    CONTINUE = 183
    RETURN = 184
    BARRIER = 185
    TRAP = 186


OperandClass = Choice[
    "any",  # a value of any type
    "bool",
    "int",  # any integer type
    "float",  # any float type
    "num",  # integer or float
    "bits",  # integer or bool
    "word",  # an integer of at most 32 bits
    "same",  # the type of operand 0
    "element",  # the element type of the buffer
    "shift",  # u32 or the type of operand 0
    "u32",
    "i32",
    "var",  # a VAR row
]
Result = Choice["void", "same", "bool", "u32", "declared", "element"]
ConstKind = Choice["", "literal", "param", "buffer", "axis", "tag"]
Group = Choice["leaf", "unary", "binary", "ternary", "memory", "subgroup", "name", "control"]


@dataclass(frozen=True, slots=True)
class OpInfo:
    """One row of the operation table.

    Attributes:
        name: the operation's name in messages and in printed programs.
        group: which part of the design it belongs to.
        operands: the class of each operand; the length is the arity (at most 3).
        result: how the type of the result follows: ``declared`` is given by the row itself.
        const: what the row's constant index refers to.
        pure: no effect and the same operands give the same result wherever it stands.
        symbol: infix or prefix spelling in Python, if it has one.
        meaning: the defined result.
    """

    name: str
    group: Group
    operands: tuple[OperandClass, ...]
    result: Result
    const: ConstKind = ""
    pure: bool = False
    symbol: str = ""
    meaning: str = ""

    @property
    def arity(self) -> int:
        """Number of operands."""
        return len(self.operands)


def _leaf(name: str, const: ConstKind, result: Result, meaning: str) -> OpInfo:
    return OpInfo(name, "leaf", (), result, const, True, "", meaning)


def _unary(
    name: str, operand: OperandClass, meaning: str, result: Result = "same", symbol: str = ""
) -> OpInfo:
    return OpInfo(name, "unary", (operand,), result, "", True, symbol, meaning)


def _binary(
    name: str,
    operand: OperandClass,
    meaning: str,
    *,
    second: OperandClass = "same",
    result: Result = "same",
    symbol: str = "",
) -> OpInfo:
    return OpInfo(name, "binary", (operand, second), result, "", True, symbol, meaning)


def _function(name: str) -> OpInfo:
    return _unary(name, "float", "as C99 Annex F, within the project's stated bound")


def _atomic(name: str, meaning: str) -> OpInfo:
    text = f"{meaning}; returns the old value; out of bounds: no effect and 0"
    return OpInfo(f"atomic_{name}", "memory", ("int", "element"), "element", "buffer", meaning=text)


def _subgroup(name: str, operand: OperandClass, more: str = "") -> OpInfo:
    text = f"{name} over the active lanes of the subgroup{more}"
    return OpInfo(f"subgroup_{name}", "subgroup", (operand,), "same", meaning=text)


def _control(name: str, operands: tuple[OperandClass, ...], meaning: str) -> OpInfo:
    return OpInfo(name, "control", operands, "void", meaning=meaning)


_ANY_ORDER = "; of floats in an order, and with the roundings, that the driver chooses"

OPS: dict[Op, OpInfo] = {
    Op.LITERAL: _leaf("literal", "literal", "declared", "a constant of the row's type"),
    Op.PARAM: _leaf("param", "param", "declared", "a scalar given at dispatch"),
    Op.LENGTH: _leaf("length", "buffer", "u32", "number of elements of a buffer"),
    Op.GLOBAL_ID: _leaf("global_id", "axis", "u32", "logical index of the lane on an axis"),
    Op.LOCAL_ID: _leaf("local_id", "axis", "u32", "index of the lane in its workgroup"),
    Op.WORKGROUP_ID: _leaf("workgroup_id", "axis", "u32", "logical index of the workgroup"),
    Op.NUM_WORKGROUPS: _leaf("num_workgroups", "axis", "u32", "logical number of workgroups"),
    Op.SUBGROUP_SIZE: _leaf("subgroup_size", "", "u32", "lanes in a subgroup"),
    Op.SUBGROUP_LANE: _leaf("subgroup_lane", "", "u32", "index of the lane in its subgroup"),
    Op.NEG: _unary("neg", "num", "wraps for integers, unsigned too", symbol="-"),
    Op.ABS: _unary("abs", "num", "abs(MIN) = MIN; identity for unsigned"),
    Op.NOT: _unary("not", "bits", "complement; logic on bool", symbol="~"),
    Op.SIGN: _unary("sign", "num", "-1, 0 or 1; NaN for NaN; +0 for both zeros"),
    Op.FLOOR: _unary("floor", "float", "toward minus infinity"),
    Op.CEIL: _unary("ceil", "float", "toward plus infinity"),
    Op.TRUNC: _unary("trunc", "float", "toward zero"),
    Op.ROUND: _unary("round", "float", "to nearest, halves to even"),
    Op.SQRT: _unary("sqrt", "float", "square root within 2.5 ULP"),
    Op.RSQRT: _function("rsqrt"),
    Op.CBRT: _function("cbrt"),
    Op.EXP: _function("exp"),
    Op.EXP2: _function("exp2"),
    Op.EXPM1: _function("expm1"),
    Op.LOG: _function("log"),
    Op.LOG2: _function("log2"),
    Op.LOG10: _function("log10"),
    Op.LOG1P: _function("log1p"),
    Op.SIN: _function("sin"),
    Op.COS: _function("cos"),
    Op.TAN: _function("tan"),
    Op.ASIN: _function("asin"),
    Op.ACOS: _function("acos"),
    Op.ATAN: _function("atan"),
    Op.SINH: _function("sinh"),
    Op.COSH: _function("cosh"),
    Op.TANH: _function("tanh"),
    Op.ASINH: _function("asinh"),
    Op.ACOSH: _function("acosh"),
    Op.ATANH: _function("atanh"),
    Op.ERF: _function("erf"),
    Op.ERFC: _function("erfc"),
    Op.LGAMMA: _function("lgamma"),
    Op.GAMMA: _function("gamma"),
    Op.SIGMOID: _function("sigmoid"),
    Op.IS_NAN: _unary("is_nan", "float", "by bit pattern", "bool"),
    Op.IS_INF: _unary("is_inf", "float", "by bit pattern", "bool"),
    Op.IS_FINITE: _unary("is_finite", "float", "by bit pattern", "bool"),
    Op.CLZ: _unary("clz", "int", "leading zero bits; the width for 0"),
    Op.CTZ: _unary("ctz", "int", "trailing zero bits; the width for 0"),
    Op.POPCOUNT: _unary("popcount", "int", "number of one bits"),
    Op.REVERSE_BITS: _unary("reverse_bits", "int", "bits in reverse order"),
    Op.CAST: _unary("cast", "any", "value conversion: truncates, saturates, rounds", "declared"),
    Op.BITCAST: _unary("bitcast", "num", "same bits as another type of equal width", "declared"),
    Op.ADD: _binary("add", "num", "wraps for integers", symbol="+"),
    Op.SUB: _binary("sub", "num", "wraps for integers", symbol="-"),
    Op.MUL: _binary("mul", "num", "wraps for integers", symbol="*"),
    Op.DIV: _binary("div", "float", "quotient within 2.5 ULP", symbol="/"),
    Op.FLOOR_DIV: _binary(
        "floor_div", "int", "toward minus infinity; by 0: all bits one; MIN / -1 = MIN", symbol="//"
    ),
    Op.MOD: _binary("mod", "num", "Python's modulo; integers by 0: 0", symbol="%"),
    Op.TRUNC_DIV: _binary("trunc_div", "int", "toward zero; by 0: all bits one; MIN / -1 = MIN"),
    Op.REM: _binary("rem", "int", "remainder with the dividend's sign; by 0: 0"),
    Op.FMOD: _binary("fmod", "float", "C's exact fmod"),
    Op.AND: _binary("and", "bits", "bits, or logic on bool", symbol="&"),
    Op.OR: _binary("or", "bits", "bits, or logic on bool", symbol="|"),
    Op.XOR: _binary("xor", "bits", "bits, or logic on bool", symbol="^"),
    Op.SHL: _binary("shl", "int", "shift masked with width - 1", second="shift", symbol="<<"),
    Op.SHR: _binary(
        "shr",
        "int",
        "shift masked with width - 1; arithmetic if signed",
        second="shift",
        symbol=">>",
    ),
    Op.ROTL: _binary("rotl", "int", "rotate left, count masked with width - 1", second="shift"),
    Op.ROTR: _binary("rotr", "int", "rotate right, count masked with width - 1", second="shift"),
    Op.MUL_HIGH: _binary("mul_high", "int", "upper half of the double-width product"),
    Op.MINIMUM: _binary("minimum", "num", "the smaller; NaN propagates"),
    Op.MAXIMUM: _binary("maximum", "num", "the larger; NaN propagates"),
    Op.FMIN: _binary("fmin", "num", "the smaller; a NaN operand is ignored"),
    Op.FMAX: _binary("fmax", "num", "the larger; a NaN operand is ignored"),
    Op.POW: _binary("pow", "float", "as C99 Annex F, within 8 ULP"),
    Op.POWI: _binary("powi", "float", "integer power by multiplication", second="i32"),
    Op.ATAN2: _binary("atan2", "float", "as C99 Annex F, within the project's stated bound"),
    Op.HYPOT: _binary("hypot", "float", "as C99 Annex F, within the project's stated bound"),
    Op.EQ: _binary("eq", "any", "IEEE: false with NaN", result="bool", symbol="=="),
    Op.NE: _binary("ne", "any", "IEEE: true with NaN", result="bool", symbol="!="),
    Op.LT: _binary("lt", "num", "IEEE: false with NaN", result="bool", symbol="<"),
    Op.LE: _binary("le", "num", "IEEE: false with NaN", result="bool", symbol="<="),
    Op.GT: _binary("gt", "num", "IEEE: false with NaN", result="bool", symbol=">"),
    Op.GE: _binary("ge", "num", "IEEE: false with NaN", result="bool", symbol=">="),
    Op.SELECT: OpInfo(
        "select",
        "ternary",
        ("bool", "any", "any"),
        "declared",
        pure=True,
        meaning="the second operand where the first is true, else the third; both are evaluated",
    ),
    Op.FMA: OpInfo(
        "fma",
        "ternary",
        ("float", "same", "same"),
        "same",
        pure=True,
        meaning="a * b + c, rounded once or twice",
    ),
    Op.LOAD: OpInfo(
        "load", "memory", ("int",), "element", "buffer", meaning="the element; out of bounds: 0"
    ),
    Op.STORE: OpInfo(
        "store",
        "memory",
        ("int", "element"),
        "void",
        "buffer",
        meaning="writes the element; out of bounds: dropped",
    ),
    Op.ATOMIC_ADD: _atomic("add", "adds, wrapping"),
    Op.ATOMIC_SUB: _atomic("sub", "subtracts, wrapping"),
    Op.ATOMIC_AND: _atomic("and", "and of the bits"),
    Op.ATOMIC_OR: _atomic("or", "or of the bits"),
    Op.ATOMIC_XOR: _atomic("xor", "exclusive or of the bits"),
    Op.ATOMIC_MIN: _atomic("min", "keeps the smaller"),
    Op.ATOMIC_MAX: _atomic("max", "keeps the larger"),
    Op.ATOMIC_EXCHANGE: _atomic("exchange", "replaces the element"),
    Op.ATOMIC_COMPARE_EXCHANGE: OpInfo(
        "atomic_compare_exchange",
        "memory",
        ("int", "element", "element"),
        "element",
        "buffer",
        meaning="replaces an element that equals the expected one (strong); returns the old value",
    ),
    Op.SUBGROUP_ADD: _subgroup("add", "num", _ANY_ORDER),
    Op.SUBGROUP_MUL: _subgroup("mul", "num", _ANY_ORDER),
    Op.SUBGROUP_MIN: _subgroup("min", "num", ", as minimum: NaN propagates"),
    Op.SUBGROUP_MAX: _subgroup("max", "num", ", as maximum: NaN propagates"),
    Op.SUBGROUP_AND: _subgroup("and", "int"),
    Op.SUBGROUP_OR: _subgroup("or", "int"),
    Op.SUBGROUP_XOR: _subgroup("xor", "int"),
    Op.SUBGROUP_BALLOT: OpInfo(
        "subgroup_ballot",
        "subgroup",
        ("bool", "u32"),
        "u32",
        meaning="32 bits of the lanes whose condition holds; the second operand selects the word",
    ),
    Op.SUBGROUP_BROADCAST: OpInfo(
        "subgroup_broadcast", "subgroup", ("num", "u32"), "same", meaning="the value of one lane"
    ),
    Op.SUBGROUP_SHUFFLE: OpInfo(
        "subgroup_shuffle",
        "subgroup",
        ("num", "u32"),
        "same",
        meaning="the value of the lane named; 0 from outside the subgroup",
    ),
    Op.LET: OpInfo("let", "name", ("any",), "same", meaning="names a value"),
    Op.VAR: OpInfo("var", "name", ("any",), "same", meaning="a variable of the lane"),
    Op.VAR_GET: OpInfo("get", "name", ("var",), "same", meaning="the variable's value here"),
    Op.ASSIGN: OpInfo("assign", "name", ("var", "same"), "void", meaning="sets the variable"),
    Op.IF: _control("if", ("bool",), "opens a block run where the condition holds"),
    Op.ELSE: _control("else", (), "closes the block of an if and opens its other one"),
    Op.END: _control("end", (), "closes a block"),
    Op.FOR: OpInfo(
        "for",
        "control",
        ("int", "same", "same"),
        "same",
        meaning="start, stop, step: half-open, evaluated once, never wraps; no iteration with a "
        "step of 0; yields the index",
    ),
    Op.WHILE: _control("while", (), "opens the condition block, run before each iteration"),
    Op.DO: _control("do", ("bool",), "closes the condition block and opens the body"),
    Op.BREAK: _control("break", (), "leaves the innermost loop"),
    Op.CONTINUE: _control("continue", (), "starts the next iteration of the innermost loop"),
    Op.RETURN: _control("return", (), "the lane does nothing more"),
    Op.BARRIER: _control("barrier", (), "orders workgroup and storage memory of a workgroup"),
    Op.TRAP: OpInfo(
        "trap", "control", ("word",), "void", "tag", meaning="the dispatch raises; the lane stops"
    ),
}


INFO: Mapping[int, OpInfo] = {int(op): info for op, info in OPS.items()}
"""The same table by code, for loops over a table's bytes."""


def opcode_exists(code: int) -> bool:
    """Whether a number read from outside names an operation."""
    return code in OPS
