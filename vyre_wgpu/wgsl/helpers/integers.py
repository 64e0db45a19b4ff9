"""Integer arithmetic and bit operations as WGSL: what wraps, guards and halves of 64 bits."""

from __future__ import annotations

from . import Entries

__all__ = ["FIXED", "SIGNED", "UNSIGNED"]

UNSIGNED: Entries = {
    # By zero all bits one, remainder 0.
    "h_div_$T": (
        """
fn h_div_$T(a: $T, b: $T) -> $T {
  return select(a / max(b, 1$s), ~0$s, b == 0$s);
}""",
        (),
    ),
    "h_rem_$T": (
        """
fn h_rem_$T(a: $T, b: $T) -> $T {
  return select(a % max(b, 1$s), 0$s, b == 0$s);
}""",
        (),
    ),
    "h_trips_$T": (
        """
fn h_trips_$T(start: $T, stop: $T, step: $T) -> $T {
  if (step == 0$s || start >= stop) { return 0$s; }
  return (stop - start - 1$s) / step + 1$s;
}""",
        (),
    ),
}

SIGNED: Entries = {
    # Toward zero; MIN / -1 wraps to MIN.
    "h_trunc_div_$T": (
        """
fn h_trunc_div_$T(a: $T, b: $T) -> $T {
  if (b == 0$s) { return -1$s; }
  if (b == -1$s) { return 0$s - a; }
  return a / b;
}""",
        (),
    ),
    "h_rem_$T": (
        """
fn h_rem_$T(a: $T, b: $T) -> $T {
  if (b == 0$s || b == -1$s) { return 0$s; }
  return a - (a / b) * b;
}""",
        (),
    ),
    "h_floor_div_$T": (
        """
fn h_floor_div_$T(a: $T, b: $T) -> $T {
  let q = h_trunc_div_$T(a, b);
  let r = h_rem_$T(a, b);
  return select(q, q - 1$s, r != 0$s && (r ^ b) < $zero);
}""",
        ("h_trunc_div_$T", "h_rem_$T"),
    ),
    "h_mod_$T": (
        """
fn h_mod_$T(a: $T, b: $T) -> $T {
  let r = h_rem_$T(a, b);
  return select(r, r + b, r != 0$s && (r ^ b) < $zero);
}""",
        ("h_rem_$T",),
    ),
    # Trip counts of half-open loops, in unsigned arithmetic that cannot overflow.
    "h_trips_$T": (
        """
fn h_trips_$T(start: $T, stop: $T, step: $T) -> $U {
  let a = bitcast<$U>(start);
  let b = bitcast<$U>(stop);
  let s = bitcast<$U>(step);
  if (step > $zero && start < stop) { return (b - a - 1$us) / s + 1$us; }
  if (step < $zero && start > stop) { return (a - b - 1$us) / (0$us - s) + 1$us; }
  return 0$us;
}""",
        (),
    ),
    "h_mul_high_$T": (
        """
fn h_mul_high_$T(a: $T, b: $T) -> $T {
  let high = h_mul_high_$U(bitcast<$U>(a), bitcast<$U>(b));
  let fix = select(0$us, bitcast<$U>(b), a < $zero) + select(0$us, bitcast<$U>(a), b < $zero);
  return bitcast<$T>(high - fix);
}""",
        ("h_mul_high_$U",),
    ),
}

FIXED: Entries = {
    "h_rotl_u32": (
        """
fn h_rotl_u32(a: u32, s: u32, width: u32) -> u32 {
  let n = s & (width - 1u);
  let mask = 0xffffffffu >> (32u - width);
  return ((a << n) | ((a & mask) >> ((width - n) & (width - 1u)))) & mask;
}""",
        (),
    ),
    "h_rotl_u64": (
        """
fn h_rotl_u64(a: u64, s: u32, width: u32) -> u64 {
  // llvmpipe drops the masks of counts that it can fold, and shifts wrongly then.
  let n = (s & 63u) | d.zero;
  return (a << n) | (a >> (((64u - n) & 63u) | d.zero));
}""",
        (),
    ),
    "h_mul_high_u32": (
        """
fn h_mul_high_u32(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let low = al * bl;
  let mid1 = ah * bl + (low >> 16u);
  let mid2 = al * bh + (mid1 & 0xffffu);
  return ah * bh + (mid1 >> 16u) + (mid2 >> 16u);
}""",
        (),
    ),
    "h_mul_high_u64": (
        """
fn h_mul_high_u64(a: u64, b: u64) -> u64 {
  let al = a & 0xfffffffflu;
  let ah = a >> 32u;
  let bl = b & 0xfffffffflu;
  let bh = b >> 32u;
  let low = al * bl;
  let mid1 = ah * bl + (low >> 32u);
  let mid2 = al * bh + (mid1 & 0xfffffffflu);
  return ah * bh + (mid1 >> 32u) + (mid2 >> 32u);
}""",
        (),
    ),
    # Bit operations of 64-bit values by halves: the builtins abort the process or are wrong.
    "h_clz_u64": (
        """
fn h_clz_u64(a: u64) -> u64 {
  let high = u32(a >> 32u);
  let low = u32(a & 0xfffffffflu);
  return u64(select(countLeadingZeros(high), 32u + countLeadingZeros(low), high == 0u));
}""",
        (),
    ),
    "h_ctz_u64": (
        """
fn h_ctz_u64(a: u64) -> u64 {
  let high = u32(a >> 32u);
  let low = u32(a & 0xfffffffflu);
  return u64(select(countTrailingZeros(low), 32u + countTrailingZeros(high), low == 0u));
}""",
        (),
    ),
    "h_popcount_u64": (
        """
fn h_popcount_u64(a: u64) -> u64 {
  return u64(countOneBits(u32(a >> 32u)) + countOneBits(u32(a & 0xfffffffflu)));
}""",
        (),
    ),
    "h_reverse_u64": (
        """
fn h_reverse_u64(a: u64) -> u64 {
  let high = reverseBits(u32(a & 0xfffffffflu));
  return (u64(high) << 32u) | u64(reverseBits(u32(a >> 32u)));
}""",
        (),
    ),
    # An index that no buffer has in place of one that does not fit u32.
    "h_index_i32": (
        """
fn h_index_i32(i: i32) -> u32 {
  return select(bitcast<u32>(i), 0xffffffffu, i < 0i);
}""",
        (),
    ),
    "h_index_i64": (
        """
fn h_index_i64(i: i64) -> u32 {
  return h_index_u64(bitcast<u64>(i));
}""",
        ("h_index_u64",),
    ),
    "h_index_u64": (
        """
fn h_index_u64(i: u64) -> u32 {
  return select(u32(i & 0xfffffffflu), 0xffffffffu, (i >> 32u) != 0lu);
}""",
        (),
    ),
}
