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
from .spelling import normalize, register_type

__all__ = ["expression", "helpers_in", "shift_count"]

Kind = str
"""``b`` bool, ``u`` unsigned, ``i`` signed, ``f`` float."""

_KINDS = {"bool": "b", "uint": "u", "int": "i", "float": "f"}

# {a} {b} {c}: operands. {w}: width, {m}: mask of the width, {p}: 32 - width.
_TEMPLATES: dict[tuple[int, Kind], str] = {
    (Op.NEG, "u"): "0u - {a}",
    (Op.NEG, "i"): "0i - {a}",
    (Op.NEG, "f"): "-{a}",
    (Op.ABS, "u"): "{a}",
    (Op.ABS, "i"): "abs({a})",
    (Op.ABS, "f"): "abs({a})",
    (Op.NOT, "b"): "!{a}",
    (Op.NOT, "u"): "~{a}",
    (Op.NOT, "i"): "~{a}",
    (Op.SIGN, "u"): "min({a}, 1u)",
    (Op.SIGN, "i"): "clamp({a}, -1i, 1i)",
    (Op.SIGN, "f"): "h_sign({a})",
    (Op.FLOOR, "f"): "floor({a})",
    (Op.CEIL, "f"): "ceil({a})",
    (Op.TRUNC, "f"): "trunc({a})",
    (Op.ROUND, "f"): "round({a})",
    (Op.SQRT, "f"): "sqrt({a})",
    (Op.IS_NAN, "f"): "h_is_nan({a})",
    (Op.IS_INF, "f"): "(bitcast<u32>({a}) & 0x7fffffffu) == 0x7f800000u",
    (Op.IS_FINITE, "f"): "(bitcast<u32>({a}) & 0x7fffffffu) < 0x7f800000u",
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
    (Op.DIV, "f"): "h_div_f32({a}, {b})",
    (Op.FLOOR_DIV, "u"): "h_div_u32({a}, {b})",
    (Op.FLOOR_DIV, "i"): "h_floor_div_i32({a}, {b})",
    (Op.TRUNC_DIV, "u"): "h_div_u32({a}, {b})",
    (Op.TRUNC_DIV, "i"): "h_trunc_div_i32({a}, {b})",
    (Op.MOD, "u"): "h_rem_u32({a}, {b})",
    (Op.MOD, "i"): "h_mod_i32({a}, {b})",
    (Op.MOD, "f"): "h_mod_f32({a}, {b})",
    (Op.REM, "u"): "h_rem_u32({a}, {b})",
    (Op.REM, "i"): "h_rem_i32({a}, {b})",
    (Op.FMOD, "f"): "h_fmod({a}, {b})",
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
    (Op.ROTL, "u"): "h_rotl_u32({a}, {b}, {w}u)",
    (Op.ROTL, "i"): "bitcast<i32>(h_rotl_u32(bitcast<u32>({a}), {b}, {w}u))",
    (Op.ROTR, "u"): "h_rotl_u32({a}, 0u - {b}, {w}u)",
    (Op.ROTR, "i"): "bitcast<i32>(h_rotl_u32(bitcast<u32>({a}), 0u - {b}, {w}u))",
    (Op.POWI, "f"): "h_powi({a}, {b})",
    (Op.MINIMUM, "u"): "min({a}, {b})",
    (Op.MINIMUM, "i"): "min({a}, {b})",
    (Op.MINIMUM, "f"): "h_minimum({a}, {b})",
    (Op.MAXIMUM, "u"): "max({a}, {b})",
    (Op.MAXIMUM, "i"): "max({a}, {b})",
    (Op.MAXIMUM, "f"): "h_maximum({a}, {b})",
    (Op.FMIN, "u"): "min({a}, {b})",
    (Op.FMIN, "i"): "min({a}, {b})",
    (Op.FMIN, "f"): "h_fmin({a}, {b})",
    (Op.FMAX, "u"): "max({a}, {b})",
    (Op.FMAX, "i"): "max({a}, {b})",
    (Op.FMAX, "f"): "h_fmax({a}, {b})",
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

# Results that may leave the range of an 8- or 16-bit type.
_NEEDS_NORMALIZE = frozenset(
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
    register_type(dtype)
    if op == Op.SELECT:
        return f"select({operands[2]}, {operands[1]}, {operands[0]})"
    if op == Op.CAST:
        return _cast(operands[0], dtype, result)
    if op == Op.BITCAST:
        return _bitcast(operands[0], dtype, result)
    if op == Op.MUL_HIGH:
        return _mul_high(operands[0], operands[1], dtype)
    template = _TEMPLATES.get((op, _KINDS[dtype.kind]))
    if template is None:
        raise UnsupportedFeatureError(
            f"operation {INFO[op].name} on {dtype} is not lowered to WGSL by this release",
            fix="write it with operations that it lowers: the table of operations in the "
            "documentation has a column for that",
        )
    a, b, c = [*operands, "", "", ""][:3]
    bits = dtype.bits
    text = template.format(
        a=a, b=b, c=c, w=bits, p=32 - bits, m=(1 << bits) - 1 if dtype.is_integer else 0
    )
    return normalize(result, text) if op in _NEEDS_NORMALIZE else text


def shift_count(dtype: DType, count: str, count_dtype: DType) -> str:
    """A shift or rotate count as u32, masked with width - 1."""
    unsigned = f"bitcast<u32>({count})" if count_dtype.is_signed else count
    return f"({unsigned} & {dtype.bits - 1}u)"


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
            return f"!({a} == 0.0f)"  # true for NaN
        return f"{a} != 0{'i' if source.is_signed else 'u'}"
    into = register_type(target)
    if source.kind == "bool":
        one, none = {"f32": ("1.0f", "0.0f"), "i32": ("1i", "0i"), "u32": ("1u", "0u")}[into]
        return f"select({none}, {one}, {a})"
    if target.is_float:
        return f"f32({a})"
    if source.is_float:
        return _saturate(f"h_f32_to_{into}({a})", target)
    if register_type(source) != into:
        a = f"bitcast<{into}>({a})"
    fits = source.min >= target.min and source.max <= target.max
    return a if fits else normalize(target, a)


def _saturate(a: str, target: DType) -> str:
    if target.bits == 32:
        return a
    if target.is_signed:
        return f"clamp({a}, {target.min}i, {target.max}i)"
    return f"min({a}, {target.max}u)"


def _bitcast(a: str, source: DType, target: DType) -> str:
    if source is target:
        return a
    into = register_type(target)
    same = register_type(source) == into
    return normalize(target, a if same else f"bitcast<{into}>({a})")
