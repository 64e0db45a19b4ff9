"""Size expressions: element counts and extents, evaluated on the host at dispatch.

A `SizeExpr` is a small flat table (operands refer to earlier nodes), so shared subexpressions stay
shared and depth costs nothing. Values are Python integers: nothing overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from ..errors import InputError

__all__ = [
    "MAX_ELEMENTS",
    "SizeExpr",
    "SizeNode",
    "SizeOp",
    "canonical_nodes",
    "constant_size",
    "length_size",
]

MAX_ELEMENTS = (1 << 32) - 1
"""Most elements a buffer, and most lanes an extent, may have."""

_MAX_INTERMEDIATE_BITS = 256


class SizeOp(IntEnum):
    """Node kinds; the numbers are part of the serialised form."""

    CONST = 1
    LENGTH = 2
    PARAM = 3
    ADD = 4
    SUB = 5
    MUL = 6
    FLOOR_DIV = 7
    CEIL_DIV = 8
    MOD = 9
    MIN = 10
    MAX = 11


SIZE_LEAVES = (SizeOp.CONST, SizeOp.LENGTH, SizeOp.PARAM)

SizeNode = tuple[SizeOp, int, int]
"""``(op, a, b)``. Leaves hold their value, buffer or param index in ``a``; others node indices."""

_SYMBOLS: dict[SizeOp, str] = {
    SizeOp.ADD: "+",
    SizeOp.SUB: "-",
    SizeOp.MUL: "*",
    SizeOp.FLOOR_DIV: "//",
    SizeOp.MOD: "%",
}

_FUNCTIONS: dict[SizeOp, Callable[[int, int], int]] = {
    SizeOp.ADD: lambda a, b: a + b,
    SizeOp.SUB: lambda a, b: a - b,
    SizeOp.MUL: lambda a, b: a * b,
    SizeOp.FLOOR_DIV: lambda a, b: a // b,
    SizeOp.CEIL_DIV: lambda a, b: -(-a // b),
    SizeOp.MOD: lambda a, b: a % b,
    SizeOp.MIN: min,
    SizeOp.MAX: max,
}


@dataclass(frozen=True, slots=True)
class SizeExpr:
    """An element count as an expression; the last node is the result.

    Attributes:
        nodes: the table; every operand of a node is an earlier node.
    """

    nodes: tuple[SizeNode, ...]

    @property
    def constant(self) -> int | None:
        """The value, if the whole expression is one literal."""
        op, value, _ = self.nodes[-1]
        return value if op is SizeOp.CONST else None

    @property
    def single_length(self) -> int | None:
        """The buffer index, if the whole expression is the length of one buffer."""
        op, buffer, _ = self.nodes[-1]
        return buffer if op is SizeOp.LENGTH else None

    def leaves(self, op: SizeOp) -> set[int]:
        """Indices of the buffers (``SizeOp.LENGTH``) or params (``SizeOp.PARAM``) it reads."""
        return {a for kind, a, _ in self.nodes if kind is op}

    def evaluate(
        self,
        lengths: Mapping[int, int] | Sequence[int],
        params: Mapping[int, int] | Sequence[int],
        describe: Callable[[], str] = lambda: "size expression",
    ) -> int:
        """The value for given buffer lengths and integer params.

        Args:
            lengths: elements of each buffer, by index.
            params: value of each param, by index.
            describe: names the expression in messages; called only for an error.

        Raises:
            InputError: negative, above `MAX_ELEMENTS`, a division by zero, or an intermediate value
                beyond 256 bits.
        """
        values: list[int] = []
        for op, a, b in self.nodes:
            if op is SizeOp.CONST:
                value = a
            elif op is SizeOp.LENGTH:
                value = lengths[a]
            elif op is SizeOp.PARAM:
                value = params[a]
            else:
                x, y = values[a], values[b]
                if y == 0 and op in (SizeOp.FLOOR_DIV, SizeOp.CEIL_DIV, SizeOp.MOD):
                    raise InputError(
                        f"{describe()} divides by zero",
                        fix="pass a value that makes the divisor non-zero",
                    )
                value = _FUNCTIONS[op](x, y)
                if value.bit_length() > _MAX_INTERMEDIATE_BITS:
                    raise InputError(
                        f"{describe()} exceeds {_MAX_INTERMEDIATE_BITS} bits on the way",
                        fix="pass smaller values",
                    )
            values.append(value)
        result = values[-1]
        if not 0 <= result <= MAX_ELEMENTS:
            raise InputError(
                f"{describe()} is {result}, not a count from 0 to {MAX_ELEMENTS}",
                fix="pass arrays and params that give a count in that range",
            )
        return result

    def format(self, buffers: Sequence[str], params: Sequence[str]) -> str:
        """The expression as Python-like text, shared parts as ``t0 = ...`` bindings.

        Args:
            buffers: name of each buffer, by index.
            params: name of each param, by index.
        """
        uses = [0] * len(self.nodes)
        for op, a, b in self.nodes:
            if op not in SIZE_LEAVES:
                uses[a] += 1
                uses[b] += 1
        texts: list[str] = []
        bindings: list[str] = []
        last = len(self.nodes) - 1
        for index, (op, a, b) in enumerate(self.nodes):
            if op is SizeOp.CONST:
                text = str(a)
            elif op is SizeOp.LENGTH:
                text = f"{buffers[a]}.length"
            elif op is SizeOp.PARAM:
                text = params[a]
            else:
                if op in _SYMBOLS:
                    text = f"{texts[a]} {_SYMBOLS[op]} {texts[b]}"
                    text = text if index == last else f"({text})"
                else:
                    text = f"{op.name.lower()}({texts[a]}, {texts[b]})"
                if index != last and (uses[index] > 1 or len(text) > 60):
                    bindings.append(f"t{len(bindings)} = {text}")
                    text = f"t{len(bindings) - 1}"
            texts.append(text)
        return "; ".join([*bindings, texts[-1]])


def constant_size(value: int) -> SizeExpr:
    """The size expression of one integer literal."""
    return SizeExpr(((SizeOp.CONST, value, 0),))


def length_size(buffer: int) -> SizeExpr:
    """The size expression ``length of buffer``."""
    return SizeExpr(((SizeOp.LENGTH, buffer, 0),))


def canonical_nodes(nodes: Sequence[SizeNode], last: int) -> tuple[SizeNode, ...]:
    """The nodes that one depends on, itself last: post-order, equal ones once.

    So an expression has one table, whatever else was written before or between its parts.
    """
    renumbered: dict[int, int] = {}
    result: dict[SizeNode, int] = {}
    stack = [last]
    while stack:
        op, a, b = nodes[stack[-1]]
        if op in SIZE_LEAVES:
            node = (op, a, 0)
        elif a in renumbered and b in renumbered:
            node = (op, renumbered[a], renumbered[b])
        else:
            stack.append(b if a in renumbered else a)
            continue
        renumbered[stack.pop()] = result.setdefault(node, len(result))
    return tuple(result)
