"""rsqrt, cbrt and hypot for f32; sqrt is the builtin, which WGSL bounds to 2.5 ULP."""

from __future__ import annotations

from .polynomial import Entries

__all__ = ["ENTRIES"]

ENTRIES: Entries = {
    # 1 / sqrt(x) and a Newton step. A subnormal is taken as an integer, times 2^-149, doubled.
    "h_rsqrt_f32": (
        """
fn h_rsqrt_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let subnormal = bits < 0x800000u;
  let a = select(x, f32(bits) * 2.0f, subnormal);
  let y = h_div_f32(1.0f, sqrt(select(a, 1.0f, bits - 1u >= 0x7f7fffffu)));
  let better = y + (0.5f * y) * (1.0f - h_opaque_f32(a * y) * y);
  let scaled = select(better, better * 3.7778932e22f, subnormal);
  let edge = select(0x7fc00000u, 0u, bits == 0x7f800000u);
  let zero = (bits & 0x7fffffffu) == 0u;
  let outside = bitcast<f32>(select(edge, 0x7f800000u | bits, zero));
  return select(scaled, outside, bits - 1u >= 0x7f7fffffu);
}""",
        ("h_div_f32", "h_opaque_f32"),
    ),
    # Kahan's start: the exponent, and with it the whole word, is divided by 3. Two of Halley's
    # steps t (t^3 + 2a) / (2t^3 + a) follow, written as corrections.
    "h_cbrt_f32": (
        """
fn h_cbrt_f32(x: f32) -> f32 {
  let size = bitcast<u32>(x) & 0x7fffffffu;
  let subnormal = size < 0x800000u;
  let bits = select(size, bitcast<u32>(f32(size) * 2.0f), subnormal);
  // Exponents around 0, so that cubes neither overflow nor underflow: bits = 2^(3k) a.
  let k = bits / 0x1800000u;
  let a = bitcast<f32>(bits - (k - 42u) * 0x1800000u);
  var t = bitcast<f32>(bitcast<u32>(a) / 3u + 709958130u);
  let c = t * t * t;
  t = t + t * h_div_f32(a - c, (c + c) + a);
  let e = t * t * t;
  t = t + t * h_div_f32(a - e, (e + e) + a);
  let exponent = bitcast<i32>(k << 23u) - select(42i << 23u, 92i << 23u, subnormal);
  let root = bitcast<u32>(t) + bitcast<u32>(exponent);
  let signed = bitcast<f32>(root | (bitcast<u32>(x) & 0x80000000u));
  return select(signed, x, size == 0u || size >= 0x7f800000u);
}""",
        ("h_div_f32",),
    ),
    # The operands are scaled by a power of two where their squares would leave the range.
    "h_hypot_f32": (
        """
fn h_hypot_f32(x: f32, y: f32) -> f32 {
  let a = max(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(y) & 0x7fffffffu);
  let b = min(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(y) & 0x7fffffffu);
  let large = a >= 0x5e800000u;
  let small = a < 0x29800000u;
  let down = select(select(1.0f, 1.2676506e30f, small), 8.4703295e-22f, large);
  let up = select(select(1.0f, 7.888609e-31f, small), 1.1805916e21f, large);
  let p = bitcast<f32>(a) * down;
  let q = bitcast<f32>(b) * down;
  let root = h_root_pair_f32(p * p + q * q);
  let h = (root.x + root.y) * up;
  let infinite = a == 0x7f800000u || b == 0x7f800000u;
  let edge = bitcast<f32>(select(0x7fc00000u, 0x7f800000u, infinite));
  return select(h, edge, a >= 0x7f800000u);
}""",
        ("h_root_pair_f32",),
    ),
}
