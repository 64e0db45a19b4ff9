"""Helper functions of the shader: each gives an operation its defined result on every driver.

A helper is in a module only if the program uses it. Names start with ``h_``, which no mangled name
does. `HELPERS` maps a name to its text and the helpers it calls; helpers that exist for several
types come from one text, with the type's spelling filled in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from string import Template

from . import mathematics
from .descriptor import UNKNOWN_SITE
from .helpers import conversions, floats, integers, lanes

__all__ = ["HELPERS", "Helper", "with_dependencies"]


@dataclass(frozen=True, slots=True)
class Helper:
    """A WGSL function.

    Attributes:
        text: its definition.
        calls: names of the helpers it calls.
        guarded: its definition where the driver may end its loop early, if it has one.
    """

    text: str
    calls: tuple[str, ...] = ()
    guarded: str = ""


# Spelling of each register type: type, type of its bits, literal suffix, width.
_UNSIGNED = ({"T": "u32", "s": "u", "w": "32"}, {"T": "u64", "s": "lu", "w": "64"})
_SIGNED = (
    {"T": "i32", "U": "u32", "s": "i", "us": "u", "zero": "0i"},
    # llvmpipe compares a widened i64 with a constant wrongly: the zero is hidden from it.
    {"T": "i64", "U": "u64", "s": "li", "us": "lu", "zero": "bitcast<i64>(u64(d.zero))"},
)
_FLOATS = (
    {
        "T": "f32",
        "U": "u32",
        "s": "f",
        "us": "u",
        "sign": "0x80000000u",
        "magnitude": "0x7fffffffu",
        "inf": "0x7f800000u",
        "nan": "0x7fc00000u",
        "zero": "d.zero",
        "mantissa": "0x7fffffu",
        "hidden": "0x800000u",
        "low": "0xd800000u",  # 2^-100
        "grow": "1.8446744e19f",
        "unit": "2.5849394e-26f",  # the smallest subnormal, grown
        "shrink": "5.421011e-20f",
        "shift": "23u",
        "spare": "8u",  # leading zeros of a significand
        "clz": "countLeadingZeros",
        "step": "8u",
        "S": "i32",
        "ss": "i",
    },
    {
        "T": "f64",
        "U": "u64",
        "s": "lf",
        "us": "lu",
        "sign": "0x8000000000000000lu",
        "magnitude": "0x7ffffffffffffffflu",
        "inf": "0x7ff0000000000000lu",
        "nan": "0x7ff8000000000000lu",
        "zero": "u64(d.zero)",
        "mantissa": "0xffffffffffffflu",
        "hidden": "0x10000000000000lu",
        "low": "0x7b0000000000000lu",  # 2^-900
        "grow": "18446744073709551616.0lf",
        "unit": "9.113902524445497e-305lf",
        "shrink": "5.421010862427522e-20lf",
        "shift": "52u",
        "spare": "11lu",
        "clz": "h_clz_u64",
        "step": "11lu",
        "S": "i64",
        "ss": "li",
    },
)

_SUBGROUP = ({"M": "Min"}, {"M": "Max"})


def _templates() -> Iterator[tuple[str, Helper]]:
    for spelling in _UNSIGNED:
        yield from _fill(integers.UNSIGNED, spelling)
    for spelling in _SIGNED:
        yield from _fill(integers.SIGNED, spelling)
    for spelling in _FLOATS:
        yield from _fill(floats.FLOAT, spelling)
    for entries in (floats.FIXED, conversions.FIXED, integers.FIXED):
        yield from _fill(entries, {})
    for spelling in _SUBGROUP:
        yield from _fill(lanes.SUBGROUP, spelling)
    yield from _fill(lanes.FIXED, {})
    yield from _fill(mathematics.ENTRIES, {})


def _fill(
    entries: Mapping[str, tuple[str, tuple[str, ...]]], spelling: dict[str, str]
) -> Iterator[tuple[str, Helper]]:
    """The helpers of one group for one type.

    A line that starts with ``//cut`` is what a guarded helper does behind its loop: the condition
    under which the loop was left too early.
    """
    for name, (body, calls) in entries.items():
        filled = Template(body).substitute(spelling).strip("\n")
        plain = [line for line in filled.splitlines() if "//cut" not in line]
        guarded = [_cut(line) for line in filled.splitlines()] if "//cut" in filled else []
        called = [Template(call).substitute(spelling) for call in calls]
        wide = [call for call in called if call != "countLeadingZeros"]
        yield (
            Template(name).substitute(spelling),
            Helper("\n".join(plain), tuple(wide), "\n".join(guarded)),
        )


def _cut(line: str) -> str:
    mark, _, condition = line.partition("//cut ")
    if not condition:
        return line
    return f"{mark}if ({condition}) {{ h_trap({UNKNOWN_SITE}u, 0u, lane_index()); }}"


HELPERS: dict[str, Helper] = dict(_templates())


def with_dependencies(names: Iterable[str]) -> list[str]:
    """The helpers named and all they call, in a stable order."""
    wanted: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in wanted:
            wanted.add(name)
            pending.extend(HELPERS[name].calls)
    return [name for name in HELPERS if name in wanted]
