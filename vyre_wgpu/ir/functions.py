"""Free functions on kernel values: NumPy's name has NumPy's meaning.

Each takes at least one kernel value (or a typed literal beside one); plain numbers among the
arguments become literals of its type. Floats follow the operation table of the documentation.
"""

from __future__ import annotations

from collections.abc import Callable

from .composed import ceil_div_rows, round_div_rows, wide_product_rows
from .handles import BufferHandle
from .ops import OPS, Op
from .recorder import Recorder
from .size_values import SizeValue
from .sizes import SizeOp
from .types import DType, TypedLiteral, bool_, i32
from .values import (
    Operand,
    Value,
    integer_power,
    is_integer,
    operand_row,
    refuse_rounded_exponent,
)

__all__ = [
    "abs_",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitcast",
    "cast",
    "cbrt",
    "ceil",
    "ceil_div",
    "clz",
    "cos",
    "cosh",
    "ctz",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "gamma",
    "hypot",
    "is_finite",
    "is_inf",
    "is_nan",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "maximum",
    "minimum",
    "mul_high",
    "mul_wide",
    "popcount",
    "power",
    "powi",
    "rem",
    "reverse_bits",
    "rotl",
    "rotr",
    "round_",
    "round_div",
    "rsqrt",
    "select",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "trunc_div",
]


def _first_value(name: str, *args: object) -> Value:
    for arg in args:
        if isinstance(arg, Value):
            return arg
    for arg in args:
        if isinstance(arg, BufferHandle):
            raise TypeError(
                f"vw.{name} takes a kernel value, not buffer {arg.name!r}: write {arg.name}[index] "
                "for an element"
            )
    raise TypeError(
        f"vw.{name} takes a kernel value, not only {', '.join(map(repr, args))}; "
        "compute constants with Python's math module"
    )


def _literal_dtype(first: Value, *args: object) -> DType:
    """The type that plain numbers take: a typed literal's if the only value is of no help."""
    return next((a.dtype for a in args if isinstance(a, (Value, TypedLiteral))), first.dtype)


def _unary(op: Op, name: str = "") -> Callable[[Value], Value]:
    info = OPS[op]
    name = name or info.name

    def function(x: Value) -> Value:
        return _first_value(name, x)._unary(op)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}(x)``: {info.meaning}. For {_class_text(op)} operands."
    return function


def _binary(op: Op, name: str = "") -> Callable[[Operand, Operand], Value]:
    info = OPS[op]
    name = name or info.name

    def function(a: Operand, b: Operand) -> Value:
        recorder = _first_value(name, a, b)._recorder
        dtype = _literal_dtype(_first_value(name, a, b), a, b)
        second = i32 if op is Op.POWI else dtype
        row = recorder.operation(
            op, operand_row(recorder, a, dtype), operand_row(recorder, b, second)
        )
        return Value(recorder, row, recorder.dtype_of(row))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}(a, b)``: {info.meaning}. For {_class_text(op)} operands."
    return function


_CLASS_TEXTS: dict[str, str] = {
    "num": "integer and float",
    "int": "integer",
    "float": "float",
    "bits": "integer and bool",
}


def _class_text(op: Op) -> str:
    return _CLASS_TEXTS[OPS[op].operands[0]]


abs_ = _unary(Op.ABS, "abs")
sign = _unary(Op.SIGN)
floor = _unary(Op.FLOOR)
ceil = _unary(Op.CEIL)
trunc = _unary(Op.TRUNC)
round_ = _unary(Op.ROUND, "round")
sqrt = _unary(Op.SQRT)
rsqrt = _unary(Op.RSQRT)
cbrt = _unary(Op.CBRT)
exp = _unary(Op.EXP)
exp2 = _unary(Op.EXP2)
expm1 = _unary(Op.EXPM1)
log = _unary(Op.LOG)
log2 = _unary(Op.LOG2)
log10 = _unary(Op.LOG10)
log1p = _unary(Op.LOG1P)
sin = _unary(Op.SIN)
cos = _unary(Op.COS)
tan = _unary(Op.TAN)
asin = _unary(Op.ASIN)
acos = _unary(Op.ACOS)
atan = _unary(Op.ATAN)
sinh = _unary(Op.SINH)
cosh = _unary(Op.COSH)
tanh = _unary(Op.TANH)
asinh = _unary(Op.ASINH)
acosh = _unary(Op.ACOSH)
atanh = _unary(Op.ATANH)
erf = _unary(Op.ERF)
erfc = _unary(Op.ERFC)
lgamma = _unary(Op.LGAMMA)
gamma = _unary(Op.GAMMA)
sigmoid = _unary(Op.SIGMOID)
is_nan = _unary(Op.IS_NAN)
is_inf = _unary(Op.IS_INF)
is_finite = _unary(Op.IS_FINITE)
clz = _unary(Op.CLZ)
ctz = _unary(Op.CTZ)
popcount = _unary(Op.POPCOUNT)
reverse_bits = _unary(Op.REVERSE_BITS)

trunc_div = _binary(Op.TRUNC_DIV)
rem = _binary(Op.REM)
fmod = _binary(Op.FMOD)
rotl = _binary(Op.ROTL)
rotr = _binary(Op.ROTR)
mul_high = _binary(Op.MUL_HIGH)
fmin = _binary(Op.FMIN)
fmax = _binary(Op.FMAX)
_float_power = _binary(Op.POW, "power")
powi = _binary(Op.POWI)
atan2 = _binary(Op.ATAN2)
hypot = _binary(Op.HYPOT)
_minimum = _binary(Op.MINIMUM)
_maximum = _binary(Op.MAXIMUM)


def minimum(a: Operand, b: Operand) -> Value:
    """The smaller of two; NaN propagates. Of two sizes it is a size too."""
    size = _size_pair(SizeOp.MIN, a, b)
    return _minimum(a, b) if size is None else size


def maximum(a: Operand, b: Operand) -> Value:
    """The larger of two; NaN propagates. Of two sizes it is a size too."""
    size = _size_pair(SizeOp.MAX, a, b)
    return _maximum(a, b) if size is None else size


def ceil_div(a: Operand, b: Operand) -> Value:
    """The quotient rounded toward plus infinity, for integers and sizes.

    In a kernel all bits of the result are one where ``b`` is 0, and ``MIN / -1`` is MIN.
    """
    size = _size_pair(SizeOp.CEIL_DIV, a, b)
    if size is not None:
        return size
    recorder, dtype = _context("ceil_div", a, b)
    row = ceil_div_rows(recorder, operand_row(recorder, a, dtype), operand_row(recorder, b, dtype))
    return Value(recorder, row, recorder.dtype_of(row))


def round_div(a: Operand, b: Operand) -> Value:
    """The quotient of integers rounded to the nearest integer, ties to the even one.

    ``a`` and ``b`` are of one integer type. By zero all bits of the result are one, and
    ``MIN / -1`` is MIN, as for every integer division.
    """
    recorder, dtype = _context("round_div", a, b)
    if not dtype.is_integer:
        recorder.problem(
            "E213", f"round_div takes an integer, found {dtype}", "write vw.round(a / b)"
        )
        return Value(recorder, recorder.placeholder(dtype), dtype)
    row = round_div_rows(recorder, operand_row(recorder, a, dtype), operand_row(recorder, b, dtype))
    return Value(recorder, row, recorder.dtype_of(row))


def mul_wide(a: Operand, b: Operand) -> tuple[Value, Value]:
    """The exact product of two integers as ``(low, high)``: ``low + high * 2**bits``.

    ``a`` and ``b`` are of one integer type. ``low`` is the lower half as the unsigned type of that
    width, ``high`` the upper half, `mul_high`, of the type itself. So u32 and i32 have 64-bit
    products on devices without 64-bit integers.
    """
    recorder, dtype = _context("mul_wide", a, b)
    low, high = wide_product_rows(
        recorder, operand_row(recorder, a, dtype), operand_row(recorder, b, dtype)
    )
    return Value(recorder, low, recorder.dtype_of(low)), Value(
        recorder, high, recorder.dtype_of(high)
    )


def power(a: Operand, b: Operand) -> Value:
    """``a`` to the power ``b``, as ``a ** b``.

    Floats: as C99 Annex F, within 8 ULP; an exponent that is an integer literal takes the type, and
    is refused if that would round it. Integers: wraps modulo 2^n; the exponent is a number of at
    least 0 or a value of any unsigned type; ``0 ** 0`` is 1.
    """
    if is_integer(a) and is_integer(b):
        recorder, dtype = _context("power", a, b)
        return integer_power(recorder, a, b, dtype)
    recorder, dtype = _context("power", a, b)
    refuse_rounded_exponent(recorder, b, dtype)
    return _float_power(a, b)


def select(condition: Operand, when_true: Operand, when_false: Operand) -> Value:
    """``when_true`` where the bool ``condition`` holds, else ``when_false``; both are evaluated.

    Raises:
        TypeError: both choices are plain numbers: give one a type, ``vw.f32(1)``.
    """
    first = _first_value("select", condition, when_true, when_false)
    recorder = first._recorder
    typed = [a for a in (when_true, when_false) if isinstance(a, (Value, TypedLiteral))]
    if not typed:
        raise TypeError("two literals need a type: write vw.select(cond, vw.f32(1), 0)")
    dtype = typed[0].dtype
    rows = (
        operand_row(recorder, condition, bool_),
        operand_row(recorder, when_true, dtype),
        operand_row(recorder, when_false, dtype),
    )
    row = recorder.pure(Op.SELECT, recorder.dtype[rows[1]], *rows)
    return Value(recorder, row, recorder.dtype_of(row))


def fma(a: Operand, b: Operand, c: Operand) -> Value:
    """``a * b + c``, rounded once or twice as the driver likes."""
    recorder, dtype = _context("fma", a, b, c)
    row = recorder.operation(Op.FMA, *(operand_row(recorder, x, dtype) for x in (a, b, c)))
    return Value(recorder, row, recorder.dtype_of(row))


def cast(value: Value, dtype: DType) -> Value:
    """A value converted to another type: integers truncate, floats saturate, NaN gives 0."""
    return _first_value("cast", value).cast(dtype)


def bitcast(value: Value, dtype: DType) -> Value:
    """The same bits as another type of equal width."""
    return _first_value("bitcast", value).bitcast(dtype)


def _context(name: str, *args: object) -> tuple[Recorder, DType]:
    first = _first_value(name, *args)
    return first._recorder, _literal_dtype(first, *args)


def _size_pair(op: SizeOp, a: object, b: object) -> SizeValue | None:
    if isinstance(a, SizeValue):
        return a._size(op, b)
    if isinstance(b, SizeValue):
        return b._size(op, a, reflected=True)
    return None
