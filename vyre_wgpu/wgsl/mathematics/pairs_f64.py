"""Sums of two doubles, for f64 functions that need more than 53 bits on the way.

A pair (high, low) stands for high + low, where low is at most half an ULP of high. The methods are
Knuth's and Dekker's (T. J. Dekker, A floating-point technique for extending the available
precision, Numer. Math. 18, 1971), made safe for shader compilers:

- a compiler may turn ``(a + b) - a`` into ``b``, and reorders sums of sums (Mesa does both), so
  operands and results of such sums go through ``h_opaque_f64``;
- a compiler may contract ``a * b + c``, and ``fma`` need not be fused, so factors are split by
  masking bits: the partial products are exact, and contraction cannot change an exact product.
"""

from __future__ import annotations

from .polynomial import Entries

__all__ = ["ENTRIES"]

ENTRIES: Entries = {
    # Dekker's sum for |a| >= |b|.
    "h_fast_sum_f64": (
        """
fn h_fast_sum_f64(a: f64, b: f64) -> vec2<f64> {
  let large = h_opaque_f64(a);
  let small = h_opaque_f64(b);
  let s = h_opaque_f64(large + small);
  return vec2<f64>(s, h_opaque_f64(small - h_opaque_f64(s - large)));
}""",
        ("h_opaque_f64",),
    ),
    # Knuth's sum for any order of magnitude.
    "h_two_sum_f64": (
        """
fn h_two_sum_f64(a: f64, b: f64) -> vec2<f64> {
  let one = h_opaque_f64(a);
  let other = h_opaque_f64(b);
  let s = h_opaque_f64(one + other);
  let part = h_opaque_f64(s - one);
  let lost = h_opaque_f64(one - h_opaque_f64(s - part));
  return vec2<f64>(s, h_opaque_f64(lost + h_opaque_f64(other - part)));
}""",
        ("h_opaque_f64",),
    ),
    # The upper 26 bits of a significand.
    "h_head_f64": (
        """
fn h_head_f64(a: f64) -> f64 {
  return bitcast<f64>(bitcast<u64>(a) & 0xfffffffff8000000lu);
}""",
        (),
    ),
    "h_two_product_f64": (
        """
fn h_two_product_f64(a: f64, b: f64) -> vec2<f64> {
  let p = h_opaque_f64(a * b);
  let ah = h_head_f64(a);
  let al = h_opaque_f64(a - ah);
  let bh = h_head_f64(b);
  let bl = h_opaque_f64(b - bh);
  let e1 = h_opaque_f64(ah * bh - p);
  let e2 = h_opaque_f64(e1 + ah * bl);
  let e3 = h_opaque_f64(e2 + al * bh);
  return vec2<f64>(p, h_opaque_f64(e3 + al * bl));
}""",
        ("h_opaque_f64", "h_head_f64"),
    ),
    "h_pair_plus_f64": (
        """
fn h_pair_plus_f64(a: vec2<f64>, b: f64) -> vec2<f64> {
  let s = h_two_sum_f64(a.x, b);
  return h_fast_sum_f64(s.x, s.y + a.y);
}""",
        ("h_two_sum_f64", "h_fast_sum_f64"),
    ),
    "h_pair_product_f64": (
        """
fn h_pair_product_f64(a: vec2<f64>, b: vec2<f64>) -> vec2<f64> {
  let p = h_two_product_f64(a.x, b.x);
  return h_fast_sum_f64(p.x, p.y + (a.x * b.y + a.y * b.x));
}""",
        ("h_two_product_f64", "h_fast_sum_f64"),
    ),
    # One Newton step from the quotient of the high parts, whose own rounding then hardly matters.
    "h_pair_quotient_f64": (
        """
fn h_pair_quotient_f64(a: vec2<f64>, b: vec2<f64>) -> vec2<f64> {
  let q = h_opaque_f64(a.x / b.x);
  let p = h_two_product_f64(q, b.x);
  let rest = (h_opaque_f64(a.x - p.x) - p.y) + (a.y - q * b.y);
  return h_fast_sum_f64(q, rest / b.x);
}""",
        ("h_opaque_f64", "h_two_product_f64", "h_fast_sum_f64"),
    ),
    # For a > 0.
    "h_pair_sqrt_f64": (
        """
fn h_pair_sqrt_f64(a: vec2<f64>) -> vec2<f64> {
  let s = h_opaque_f64(sqrt(a.x));
  let p = h_two_product_f64(s, s);
  return h_fast_sum_f64(s, ((h_opaque_f64(a.x - p.x) - p.y) + a.y) / (2.0lf * s));
}""",
        ("h_opaque_f64", "h_two_product_f64", "h_fast_sum_f64"),
    ),
    # 2^k for -1022 <= k <= 1023.
    "h_power_of_two_f64": (
        """
fn h_power_of_two_f64(k: i32) -> f64 {
  return bitcast<f64>(u64(bitcast<u32>(k + 1023i)) << 52u);
}""",
        (),
    ),
    # a * 2^k for 0.25 < |a| < 8 and |k| <= 2000: rounded once where the result is subnormal.
    "h_scale_f64": (
        """
fn h_scale_f64(a: f64, k: i32) -> f64 {
  let half = k >> 1u;
  return h_opaque_f64(a * h_power_of_two_f64(half)) * h_power_of_two_f64(k - half);
}""",
        ("h_power_of_two_f64", "h_opaque_f64"),
    ),
    # A positive finite number as (m, k), a = m 2^k and 1 <= m < 2. A subnormal is taken as an
    # integer, times 2^-1074.
    "h_split_f64": (
        """
fn h_split_f64(a: f64) -> vec2<f64> {
  let raw = bitcast<u64>(a);
  let small = raw < 0x10000000000000lu;
  let units = f64(u32(raw >> 32u)) * 4294967296.0lf + f64(u32(raw & 0xfffffffflu));
  let bits = select(raw, bitcast<u64>(units), small);
  let k = i32(u32(bits >> 52u)) - select(1023i, 2097i, small);
  return vec2<f64>(bitcast<f64>((bits & 0xffffffffffffflu) | 0x3ff0000000000000lu), f64(k));
}""",
        (),
    ),
    "h_with_sign_f64": (
        """
fn h_with_sign_f64(size: f64, sign: f64) -> f64 {
  let bits = bitcast<u64>(sign) & 0x8000000000000000lu;
  return bitcast<f64>((bitcast<u64>(size) & 0x7ffffffffffffffflu) | bits);
}""",
        (),
    ),
    "h_infinity_f64": (
        """
fn h_infinity_f64() -> f64 {
  return bitcast<f64>(0x7ff0000000000000lu | u64(d.zero));
}""",
        (),
    ),
    "h_no_number_f64": (
        """
fn h_no_number_f64() -> f64 {
  return bitcast<f64>(0x7ff8000000000000lu | u64(d.zero));
}""",
        (),
    ),
}
