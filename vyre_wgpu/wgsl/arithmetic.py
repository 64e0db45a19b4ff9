"""Pure operations as WGSL expressions: a table from (operation, kind of type) to text.

Each entry gives the operation exactly the result of the operation table, on registers of 32 bits
(`spelling.normalize` brings narrower integers back into range). Entries name helpers of `prelude`
where a plain operator would differ.
"""

from __future__ import annotations

import re

from ..errors import UnsupportedFeatureError
from ..ir.ops import INFO, Op
from ..ir.types import DType
from . import mathematics
from .spelling import OPAQUE_ZERO, normalize, register_type, suffix, zero

__all__ = ["expression", "helpers_in", "shift_count"]

Kind = str
"""``b`` bool, ``u`` unsigned, ``i`` signed, ``f`` float."""

_KINDS = {"bool": "b", "uint": "u", "int": "i", "float": "f"}

# {a} {b} {c}: operands. {T}: register type, {U}: its unsigned twin, {s}: suffix of its literals.
# {w}: width, {m}: mask of the width, {p}: 32 - width; all for the 32-bit register.
_TEMPLATES: dict[tuple[int, Kind], str] = {
    (Op.NEG, "u"): "0{s} - {a}",
    (Op.NEG, "i"): "0{s} - {a}",
    (Op.NEG, "f"): "-{a}",
    (Op.ABS, "u"): "{a}",
    (Op.ABS, "i"): "abs({a})",
    (Op.ABS, "f"): "abs({a})",
    (Op.NOT, "b"): "!{a}",
    (Op.NOT, "u"): "~{a}",
    (Op.NOT, "i"): "~{a}",
    (Op.SIGN, "u"): "min({a}, 1{s})",
    (Op.SIGN, "i"): "clamp({a}, -1{s}, 1{s})",
    (Op.SIGN, "f"): "h_sign_{T}({a})",
    (Op.FLOOR, "f"): "floor({a})",
    (Op.CEIL, "f"): "ceil({a})",
    (Op.TRUNC, "f"): "trunc({a})",
    (Op.ROUND, "f"): "round({a})",
    (Op.SQRT, "f"): "sqrt({a})",
    (Op.IS_NAN, "f"): "h_is_nan_{T}({a})",
    (Op.IS_INF, "f"): "h_is_inf_{T}({a})",
    (Op.IS_FINITE, "f"): "h_is_finite_{T}({a})",
    (Op.CLZ, "u"): "countLeadingZeros({a}) - {p}u",
    (Op.CLZ, "i"): "countLeadingZeros({a} & bitcast<i32>({m}u)) - {p}i",
    (Op.CTZ, "u"): "min(countTrailingZeros({a}), {w}u)",
    (Op.CTZ, "i"): "min(countTrailingZeros({a}), {w}i)",
    (Op.POPCOUNT, "u"): "countOneBits({a})",
    (Op.POPCOUNT, "i"): "countOneBits({a} & bitcast<i32>({m}u))",
    (Op.REVERSE_BITS, "u"): "reverseBits({a}) >> {p}u",
    (Op.REVERSE_BITS, "i"): "reverseBits({a}) >> {p}u",
    (Op.ADD, "u"): "{a} + {b}",
    (Op.ADD, "i"): "{a} + {b}",
    (Op.ADD, "f"): "{a} + {b}",
    (Op.SUB, "u"): "{a} - {b}",
    (Op.SUB, "i"): "{a} - {b}",
    (Op.SUB, "f"): "{a} - {b}",
    (Op.MUL, "u"): "{a} * {b}",
    (Op.MUL, "i"): "{a} * {b}",
    (Op.MUL, "f"): "{a} * {b}",
    (Op.DIV, "f"): "h_div_{T}({a}, {b})",
    (Op.FLOOR_DIV, "u"): "h_div_{T}({a}, {b})",
    (Op.FLOOR_DIV, "i"): "h_floor_div_{T}({a}, {b})",
    (Op.TRUNC_DIV, "u"): "h_div_{T}({a}, {b})",
    (Op.TRUNC_DIV, "i"): "h_trunc_div_{T}({a}, {b})",
    (Op.MOD, "u"): "h_rem_{T}({a}, {b})",
    (Op.MOD, "i"): "h_mod_{T}({a}, {b})",
    (Op.MOD, "f"): "h_mod_{T}({a}, {b})",
    (Op.REM, "u"): "h_rem_{T}({a}, {b})",
    (Op.REM, "i"): "h_rem_{T}({a}, {b})",
    (Op.FMOD, "f"): "h_fmod_{T}({a}, {b})",
    (Op.AND, "b"): "{a} & {b}",
    (Op.AND, "u"): "{a} & {b}",
    (Op.AND, "i"): "{a} & {b}",
    (Op.OR, "b"): "{a} | {b}",
    (Op.OR, "u"): "{a} | {b}",
    (Op.OR, "i"): "{a} | {b}",
    (Op.XOR, "b"): "{a} != {b}",
    (Op.XOR, "u"): "{a} ^ {b}",
    (Op.XOR, "i"): "{a} ^ {b}",
    # The shift count arrives as a masked u32: see shift_count.
    (Op.SHL, "u"): "{a} << {b}",
    (Op.SHL, "i"): "{a} << {b}",
    (Op.SHR, "u"): "{a} >> {b}",
    (Op.SHR, "i"): "{a} >> {b}",
    (Op.ROTL, "u"): "h_rotl_{T}({a}, {b}, {w}u)",
    (Op.ROTL, "i"): "bitcast<{T}>(h_rotl_{U}(bitcast<{U}>({a}), {b}, {w}u))",
    (Op.ROTR, "u"): "h_rotl_{T}({a}, {w}u - {b}, {w}u)",
    (Op.ROTR, "i"): "bitcast<{T}>(h_rotl_{U}(bitcast<{U}>({a}), {w}u - {b}, {w}u))",
    (Op.POWI, "f"): "h_powi_{T}({a}, {b})",
    (Op.MINIMUM, "u"): "min({a}, {b})",
    (Op.MINIMUM, "i"): "min({a}, {b})",
    (Op.MINIMUM, "f"): "h_minimum_{T}({a}, {b})",
    (Op.MAXIMUM, "u"): "max({a}, {b})",
    (Op.MAXIMUM, "i"): "max({a}, {b})",
    (Op.MAXIMUM, "f"): "h_maximum_{T}({a}, {b})",
    (Op.FMIN, "u"): "min({a}, {b})",
    (Op.FMIN, "i"): "min({a}, {b})",
    (Op.FMIN, "f"): "h_fmin_{T}({a}, {b})",
    (Op.FMAX, "u"): "max({a}, {b})",
    (Op.FMAX, "i"): "max({a}, {b})",
    (Op.FMAX, "f"): "h_fmax_{T}({a}, {b})",
    (Op.FMA, "f"): "fma({a}, {b}, {c})",
    (Op.EQ, "b"): "{a} == {b}",
    (Op.EQ, "u"): "{a} == {b}",
    (Op.EQ, "i"): "{a} == {b}",
    (Op.EQ, "f"): "{a} == {b}",
    (Op.NE, "b"): "{a} != {b}",
    (Op.NE, "u"): "{a} != {b}",
    (Op.NE, "i"): "{a} != {b}",
    # Drivers turn != into an ordered comparison, which is false on NaN.
    (Op.NE, "f"): "!({a} == {b})",
    (Op.LT, "u"): "{a} < {b}",
    (Op.LT, "i"): "{a} < {b}",
    (Op.LT, "f"): "{a} < {b}",
    (Op.LE, "u"): "{a} <= {b}",
    (Op.LE, "i"): "{a} <= {b}",
    (Op.LE, "f"): "{a} <= {b}",
    (Op.GT, "u"): "{a} > {b}",
    (Op.GT, "i"): "{a} > {b}",
    (Op.GT, "f"): "{a} > {b}",
    (Op.GE, "u"): "{a} >= {b}",
    (Op.GE, "i"): "{a} >= {b}",
    (Op.GE, "f"): "{a} >= {b}",
}

_Z = f"bitcast<i64>(u64({OPAQUE_ZERO}))"

# What 64-bit types need instead.
_WIDE_TEMPLATES: dict[tuple[int, Kind], str] = {
    (Op.CLZ, "u"): "h_clz_u64({a})",
    (Op.CLZ, "i"): "bitcast<i64>(h_clz_u64(bitcast<u64>({a})))",
    (Op.CTZ, "u"): "h_ctz_u64({a})",
    (Op.CTZ, "i"): "bitcast<i64>(h_ctz_u64(bitcast<u64>({a})))",
    (Op.POPCOUNT, "u"): "h_popcount_u64({a})",
    (Op.POPCOUNT, "i"): "bitcast<i64>(h_popcount_u64(bitcast<u64>({a})))",
    (Op.REVERSE_BITS, "u"): "h_reverse_u64({a})",
    (Op.REVERSE_BITS, "i"): "bitcast<i64>(h_reverse_u64(bitcast<u64>({a})))",
    (Op.SIGN, "i"): f"clamp({{a}}, (-1li | {_Z}), (1li | {_Z}))",
    (Op.TRUNC, "f"): "h_trunc_f64({a})",
    (Op.ROUND, "f"): "h_round_f64({a})",
}

# Results that may leave the range of an 8- or 16-bit type.
_NEEDS_NORMALIZE: frozenset[int] = frozenset(
    {
        Op.NEG,
        Op.ABS,
        Op.NOT,
        Op.ADD,
        Op.SUB,
        Op.MUL,
        Op.FLOOR_DIV,
        Op.TRUNC_DIV,
        Op.MOD,
        Op.SHL,
        Op.ROTL,
        Op.ROTR,
        Op.DIV,
        Op.SQRT,
        Op.FMA,
        Op.POWI,
    }
)

_HELPER = re.compile(r"\bh_\w+")


def expression(op: int, dtype: DType, result: DType, operands: list[str]) -> str:
    """The WGSL text of a pure operation.

    Args:
        op: the operation; not a leaf, cast or let.
        dtype: type of operand 0 (of operand 1 for select).
        result: type of the result.
        operands: text of each operand: names, literals or parenthesised.

    Raises:
        UnsupportedFeatureError: this release does not lower the operation for the type.
    """
    if op == Op.SELECT:
        return f"select({operands[2]}, {operands[1]}, {operands[0]})"
    if op == Op.CAST:
        return _cast(operands[0], dtype, result)
    if op == Op.BITCAST:
        return _bitcast(operands[0], dtype, result)
    if op == Op.MUL_HIGH:
        return _mul_high(operands[0], operands[1], dtype)
    key = (op, _KINDS[dtype.kind])
    template = _TEMPLATES.get(key)
    if dtype.bits == 64:
        template = _WIDE_TEMPLATES.get(key, template)
    if template is None:
        name = f"h_{INFO[op].name}_{register_type(dtype)}"
        if name in mathematics.ENTRIES:
            return normalize(result, f"{name}({', '.join(operands)})")
        raise UnsupportedFeatureError(
            f"operation {INFO[op].name} on {dtype} is not lowered to WGSL by this release",
            fix="write it with operations that it lowers: the table of operations in the "
            "documentation has a column for that",
        )
    a, b, c = [*operands, "", "", ""][:3]
    bits = dtype.bits
    register = register_type(dtype)
    text = template.format(
        a=a,
        b=b,
        c=c,
        T=register,
        U=register.replace("i", "u"),
        s="" if dtype.kind == "bool" else suffix(dtype),
        w=bits,
        p=max(32 - bits, 0),
        m=(1 << bits) - 1 if dtype.is_integer else 0,
    )
    return normalize(result, text) if op in _NEEDS_NORMALIZE else text


def shift_count(dtype: DType, count: str, count_dtype: DType) -> str:
    """A shift or rotate count as u32, masked with width - 1."""
    mask = dtype.bits - 1
    if count_dtype.bits == 64:
        unsigned = f"bitcast<u64>({count})" if count_dtype.is_signed else count
        text = f"u32({unsigned} & {mask}lu)"
    else:
        unsigned = f"bitcast<u32>({count})" if count_dtype.is_signed else count
        text = f"({unsigned} & {mask}u)"
    # llvmpipe drops the mask from a count that it can fold, and shifts 64-bit values wrongly then.
    return f"({text} | {OPAQUE_ZERO})" if dtype.bits == 64 else text


def helpers_in(text: str) -> set[str]:
    """The names of the prelude helpers that a text calls."""
    return set(_HELPER.findall(text))


def _mul_high(a: str, b: str, dtype: DType) -> str:
    if dtype.bits < 32:
        return f"({a} * {b}) >> {dtype.bits}u"
    return f"h_mul_high_{register_type(dtype)}({a}, {b})"


def _cast(a: str, source: DType, target: DType) -> str:
    if source is target:
        return a
    if target.kind == "bool":
        if source.is_float:
            return f"!({a} == 0.0{suffix(source)})"  # true for NaN
        return f"{a} != 0{suffix(source)}"
    into = register_type(target)
    if source.kind == "bool":
        one = "1.0" if target.is_float else "1"
        return f"select({zero(target)}, {one}{suffix(target)}, {a})"
    if target.is_float:
        return _to_float(a, source, target)
    if source.is_float:
        return _saturate(f"h_{register_type(source)}_to_{into}({a})", target)
    widened = _to_integer(a, register_type(source), into)
    fits = source.min >= target.min and source.max <= target.max
    return widened if fits else normalize(target, widened)


def _to_float(a: str, source: DType, target: DType) -> str:
    if target.name == "f16":
        if source.name == "f64":
            return f"h_f64_to_f16({a})"
        return f"h_round_f16({a if source.name == 'f32' else f'f32({a})'})"
    into = register_type(target)
    return a if register_type(source) == into else f"{into}({a})"


def _to_integer(a: str, source: str, into: str) -> str:
    """Between integer registers: the width changes within a signedness, then the signedness."""
    if source == into:
        return a
    same_sign = f"{source[0]}{into[1:]}"
    if same_sign != source:
        a = f"{same_sign}({a})"
    return a if same_sign == into else f"bitcast<{into}>({a})"


def _saturate(a: str, target: DType) -> str:
    if target.bits >= 32:
        return a
    if target.is_signed:
        return f"clamp({a}, {target.min}i, {target.max}i)"
    return f"min({a}, {target.max}u)"


def _bitcast(a: str, source: DType, target: DType) -> str:
    if source is target:
        return a
    if source.name == "f16":
        bits = f"h_f16_bits({a})"
        return bits if target.kind == "uint" else normalize(target, f"bitcast<i32>({bits})")
    if target.name == "f16":
        return f"h_from_f16({a if source.kind == 'uint' else f'bitcast<u32>({a}) & 0xffffu'})"
    into = register_type(target)
    same = register_type(source) == into
    return normalize(target, a if same else f"bitcast<{into}>({a})")
