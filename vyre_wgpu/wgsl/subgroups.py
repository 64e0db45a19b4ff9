"""Subgroup operations as WGSL expressions.

Lanes that have ended take no part. Without barriers they have left the shader; with barriers they
run on (see `emit`), and contribute what changes nothing.
"""

from __future__ import annotations

from ..ir.ops import Op
from ..ir.types import DType
from .spelling import literal, normalize, zero

__all__ = ["subgroup_expression"]

_BUILTINS: dict[int, str] = {
    Op.SUBGROUP_ADD: "subgroupAdd",
    Op.SUBGROUP_MUL: "subgroupMul",
    Op.SUBGROUP_MIN: "subgroupMin",
    Op.SUBGROUP_MAX: "subgroupMax",
    Op.SUBGROUP_AND: "subgroupAnd",
    Op.SUBGROUP_OR: "subgroupOr",
    Op.SUBGROUP_XOR: "subgroupXor",
}


def subgroup_expression(op: int, dtype: DType, operands: list[str], *, predicated: bool) -> str:
    """The text of a subgroup operation.

    Args:
        op: the operation.
        dtype: type of its first operand, of at most 32 bits.
        operands: text of each operand.
        predicated: lanes that have ended are still running, with ``alive`` false.
    """
    value = operands[0]
    if op == Op.SUBGROUP_BALLOT:
        condition = f"{value} && alive" if predicated else value
        return f"h_ballot_word(subgroupBallot({condition}), {operands[1]})"
    if op in (Op.SUBGROUP_BROADCAST, Op.SUBGROUP_SHUFFLE):
        active = "alive" if predicated else "true"
        lane = operands[1]
        # What a driver gives for a lane outside, or one that has ended, is its own affair.
        return (
            f"select({zero(dtype)}, subgroupShuffle({value}, {lane} & 127u), "
            f"h_lane_is_active({lane}, subgroupBallot({active})))"
        )
    if predicated:
        value = f"select({_identity(op, dtype)}, {value}, alive)"
    if dtype.is_float and op in (Op.SUBGROUP_MIN, Op.SUBGROUP_MAX):
        return f"h_{_BUILTINS[op]}({value})"  # drivers leave a NaN out
    return normalize(dtype, f"{_BUILTINS[op]}({value})")


def _identity(op: int, dtype: DType) -> str:
    """The value that changes nothing."""
    if dtype.is_float:
        values: dict[int, float] = {
            Op.SUBGROUP_ADD: -0.0,
            Op.SUBGROUP_MUL: 1.0,
            Op.SUBGROUP_MIN: float("inf"),
            Op.SUBGROUP_MAX: float("-inf"),
        }
        return literal(dtype, dtype.encode(values[op]))
    integers: dict[int, int] = {
        Op.SUBGROUP_MUL: 1,
        Op.SUBGROUP_MIN: dtype.max,
        Op.SUBGROUP_MAX: dtype.min,
        Op.SUBGROUP_AND: dtype.max if dtype.kind == "uint" else -1,
    }
    return literal(dtype, dtype.encode(integers.get(op, 0)))
