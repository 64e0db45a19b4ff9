"""Helper functions of the shader: each gives an operation its defined result on every driver.

A helper is in a module only if the program uses it. Names start with ``h_``, which no mangled name
does. `HELPERS` maps a name to its text and the helpers it calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .descriptor import UNKNOWN_SITE

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


# C's fmod: long division of the significands, eight quotient bits a step, so exact.
_FMOD_HEAD = """\
fn h_fmod(x: f32, y: f32) -> f32 {
  let sign = bitcast<u32>(x) & 0x80000000u;
  let a = bitcast<u32>(x) & 0x7fffffffu;
  let b = bitcast<u32>(y) & 0x7fffffffu;
  if (a >= 0x7f800000u || b > 0x7f800000u || b == 0u) {
    return bitcast<f32>(0x7fc00000u | d.zero);
  }
  if (a < b) { return x; }
  var ea = a >> 23u;
  var ma = a & 0x7fffffu;
  if (ea == 0u) {
    let shift = countLeadingZeros(ma | 1u) - 8u;
    ma = ma << shift;
    ea = 1u - shift;
  } else {
    ma = ma | 0x800000u;
  }
  var eb = b >> 23u;
  var mb = b & 0x7fffffu;
  if (eb == 0u) {
    let shift = countLeadingZeros(mb) - 8u;
    mb = mb << shift;
    eb = 1u - shift;
  } else {
    mb = mb | 0x800000u;
  }
  var left = ea - eb;
  ma = ma % mb;
  loop {
    if (left == 0u || ma == 0u) { break; }
    let n = min(left, 8u);
    ma = (ma << n) % mb;
    left = left - n;
  }
"""
_FMOD_CUT = f"  if (left != 0u && ma != 0u) {{ h_trap({UNKNOWN_SITE}u, 0u, lane_index()); }}\n"
_FMOD_TAIL = """\
  if (ma == 0u) { return bitcast<f32>(sign | d.zero); }
  let shift = countLeadingZeros(ma) - 8u;
  ma = ma << shift;
  let e = bitcast<i32>(eb - shift);
  if (e <= 0i) {
    return bitcast<f32>(sign | (ma >> u32(1i - e)));
  }
  return bitcast<f32>(sign | (bitcast<u32>(e) << 23u) | (ma & 0x7fffffu));
}"""

_POWI_HEAD = """\
fn h_powi(a: f32, n: i32) -> f32 {
  var left = bitcast<u32>(select(n, 0i - n, n < 0i));
  var square = a;
  var product = 1.0f;
  loop {
    if (left == 0u) { break; }
    if ((left & 1u) != 0u) { product = product * square; }
    square = square * square;
    left = left >> 1u;
  }
"""
_POWI_CUT = f"  if (left != 0u) {{ h_trap({UNKNOWN_SITE}u, 0u, lane_index()); }}\n"
_POWI_TAIL = """\
  if (n < 0i) { return h_div_f32(1.0f, product); }
  return product;
}"""

HELPERS: dict[str, Helper] = {
    # Unsigned division: by zero all bits one, remainder 0.
    "h_div_u32": Helper(
        """\
fn h_div_u32(a: u32, b: u32) -> u32 {
  return select(a / max(b, 1u), 0xffffffffu, b == 0u);
}"""
    ),
    "h_rem_u32": Helper(
        """\
fn h_rem_u32(a: u32, b: u32) -> u32 {
  return select(a % max(b, 1u), 0u, b == 0u);
}"""
    ),
    # Signed division toward zero; MIN / -1 wraps to MIN. The divisor is made harmless first, since
    # the two operands of select are both evaluated.
    "h_trunc_div_i32": Helper(
        """\
fn h_trunc_div_i32(a: i32, b: i32) -> i32 {
  if (b == 0i) { return -1i; }
  if (b == -1i) { return 0i - a; }
  return a / b;
}"""
    ),
    "h_rem_i32": Helper(
        """\
fn h_rem_i32(a: i32, b: i32) -> i32 {
  if (b == 0i || b == -1i) { return 0i; }
  return a - (a / b) * b;
}"""
    ),
    "h_floor_div_i32": Helper(
        """\
fn h_floor_div_i32(a: i32, b: i32) -> i32 {
  let q = h_trunc_div_i32(a, b);
  let r = h_rem_i32(a, b);
  return select(q, q - 1i, r != 0i && (r ^ b) < 0i);
}""",
        ("h_trunc_div_i32", "h_rem_i32"),
    ),
    "h_mod_i32": Helper(
        """\
fn h_mod_i32(a: i32, b: i32) -> i32 {
  let r = h_rem_i32(a, b);
  return select(r, r + b, r != 0i && (r ^ b) < 0i);
}""",
        ("h_rem_i32",),
    ),
    "h_rotl_u32": Helper(
        """\
fn h_rotl_u32(a: u32, s: u32, width: u32) -> u32 {
  let n = s & (width - 1u);
  let mask = 0xffffffffu >> (32u - width);
  return ((a << n) | ((a & mask) >> ((width - n) & (width - 1u)))) & mask;
}"""
    ),
    "h_mul_high_u32": Helper(
        """\
fn h_mul_high_u32(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let low = al * bl;
  let mid1 = ah * bl + (low >> 16u);
  let mid2 = al * bh + (mid1 & 0xffffu);
  return ah * bh + (mid1 >> 16u) + (mid2 >> 16u);
}"""
    ),
    "h_mul_high_i32": Helper(
        """\
fn h_mul_high_i32(a: i32, b: i32) -> i32 {
  let high = h_mul_high_u32(bitcast<u32>(a), bitcast<u32>(b));
  let fix = select(0u, bitcast<u32>(b), a < 0i) + select(0u, bitcast<u32>(a), b < 0i);
  return bitcast<i32>(high - fix);
}""",
        ("h_mul_high_u32",),
    ),
    # Trip counts of half-open loops, in unsigned arithmetic that cannot overflow.
    "h_trips_u32": Helper(
        """\
fn h_trips_u32(start: u32, stop: u32, step: u32) -> u32 {
  if (step == 0u || start >= stop) { return 0u; }
  return (stop - start - 1u) / step + 1u;
}"""
    ),
    "h_trips_i32": Helper(
        """\
fn h_trips_i32(start: i32, stop: i32, step: i32) -> u32 {
  let a = bitcast<u32>(start);
  let b = bitcast<u32>(stop);
  let s = bitcast<u32>(step);
  if (step > 0i && start < stop) { return (b - a - 1u) / s + 1u; }
  if (step < 0i && start > stop) { return (a - b - 1u) / (0u - s) + 1u; }
  return 0u;
}"""
    ),
    # Floats: classes by bit pattern, so that no fast-math can remove the tests.
    "h_is_nan": Helper(
        """\
fn h_is_nan(a: f32) -> bool {
  return (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u;
}"""
    ),
    # A driver may divide by multiplying with the reciprocal, which it flushes to zero for a divisor
    # above 2^126 (seen on an NVIDIA H200): such a divisor is scaled, and the quotient with it.
    "h_div_f32": Helper(
        """\
fn h_div_f32(a: f32, b: f32) -> f32 {
  let s = select(1.0f, 0.25f, (bitcast<u32>(b) & 0x7fffffffu) > 0x7e800000u);
  return (a / (b * s)) * s;
}"""
    ),
    "h_opaque": Helper(
        """\
fn h_opaque(a: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(a) ^ d.zero);
}"""
    ),
    "h_sign": Helper(
        """\
fn h_sign(a: f32) -> f32 {
  if (h_is_nan(a)) { return a; }
  // A driver may turn the choice between 0 and -1 into the negative of a bool: -0.
  let zero = bitcast<f32>(d.zero);
  return select(select(zero, -1.0f, a < 0.0f), 1.0f, a > 0.0f);
}""",
        ("h_is_nan",),
    ),
    "h_minimum": Helper(
        """\
fn h_minimum(a: f32, b: f32) -> f32 {
  if (h_is_nan(a)) { return a; }
  if (h_is_nan(b)) { return b; }
  return select(b, a, a <= b);
}""",
        ("h_is_nan",),
    ),
    "h_maximum": Helper(
        """\
fn h_maximum(a: f32, b: f32) -> f32 {
  if (h_is_nan(a)) { return a; }
  if (h_is_nan(b)) { return b; }
  return select(b, a, a >= b);
}""",
        ("h_is_nan",),
    ),
    "h_fmin": Helper(
        """\
fn h_fmin(a: f32, b: f32) -> f32 {
  if (h_is_nan(a)) { return b; }
  if (h_is_nan(b)) { return a; }
  return select(b, a, a <= b);
}""",
        ("h_is_nan",),
    ),
    "h_fmax": Helper(
        """\
fn h_fmax(a: f32, b: f32) -> f32 {
  if (h_is_nan(a)) { return b; }
  if (h_is_nan(b)) { return a; }
  return select(b, a, a >= b);
}""",
        ("h_is_nan",),
    ),
    "h_fmod": Helper(_FMOD_HEAD + _FMOD_TAIL, guarded=_FMOD_HEAD + _FMOD_CUT + _FMOD_TAIL),
    # Integer powers by squaring; a^0 is 1, of NaN too.
    "h_powi": Helper(
        _POWI_HEAD + _POWI_TAIL, ("h_div_f32",), guarded=_POWI_HEAD + _POWI_CUT + _POWI_TAIL
    ),
    # Python's modulo: the divisor's sign, also of a zero result.
    "h_mod_f32": Helper(
        """\
fn h_mod_f32(a: f32, b: f32) -> f32 {
  let r = h_fmod(a, b);
  if (h_is_nan(r)) { return r; }
  let b_sign = bitcast<u32>(b) & 0x80000000u;
  if ((bitcast<u32>(r) & 0x7fffffffu) == 0u) { return bitcast<f32>(b_sign | d.zero); }
  if ((bitcast<u32>(r) & 0x80000000u) != b_sign) { return r + b; }
  return r;
}""",
        ("h_fmod", "h_is_nan"),
    ),
    # Float to integer: truncate, saturate, NaN gives 0. The value is in range before it is cast.
    "h_f32_to_u32": Helper(
        """\
fn h_f32_to_u32(a: f32) -> u32 {
  if (h_is_nan(a) || a < 1.0f) { return 0u; }
  if (a >= 4294967296.0f) { return 0xffffffffu; }
  return u32(a);
}""",
        ("h_is_nan",),
    ),
    "h_f32_to_i32": Helper(
        """\
fn h_f32_to_i32(a: f32) -> i32 {
  if (h_is_nan(a)) { return 0i; }
  if (a >= 2147483648.0f) { return 2147483647i; }
  if (a < -2147483648.0f) { return -2147483647i - 1i; }
  return i32(a);
}""",
        ("h_is_nan",),
    ),
    # A negative index becomes one that is out of bounds of every buffer.
    "h_index": Helper(
        """\
fn h_index(i: i32) -> u32 {
  return select(bitcast<u32>(i), 0xffffffffu, i < 0i);
}"""
    ),
    # The lane whose compare-exchange takes the flag writes the other trap words.
    "h_trap": Helper(
        """\
fn h_trap(site: u32, address: u32, lane: u32) {
  loop {
    let r = atomicCompareExchangeWeak(&trap_words[0], 0u, 1u);
    if (r.exchanged) {
      atomicStore(&trap_words[1], address);
      atomicStore(&trap_words[2], site);
      atomicStore(&trap_words[3], lane);
      break;
    }
    if (r.old_value != 0u) { break; }
  }
}"""
    ),
}


def with_dependencies(names: Iterable[str]) -> list[str]:
    """The helpers named and all they call, callees first, in a stable order."""
    wanted: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in wanted:
            wanted.add(name)
            pending.extend(HELPERS[name].calls)
    return [name for name in HELPERS if name in wanted]
