"""Quotients and roots within an ULP, from those of the device, which may be off by 2.5.

The remainder of the device's result corrects it. It is exact because its products have factors of
12 bits.
"""

from __future__ import annotations

from .polynomial import Entries

__all__ = ["ENTRIES"]

ENTRIES: Entries = {
    # a / b; where a part may be subnormal or the remainder is no number, the device's quotient.
    "h_quotient_f32": (
        """
fn h_quotient_f32(a: f32, b: f32) -> f32 {
  let q = h_div_f32(a, b);
  let q_top = bitcast<f32>(bitcast<u32>(q) & 0xfffff000u);
  let b_top = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
  let b_low = h_opaque_f32(b - b_top);
  let q_low = h_opaque_f32(q - q_top);
  let left = h_opaque_f32(h_opaque_f32(a - q_top * b_top) - q_top * b_low) - q_low * b;
  let least = min(abs(a), min(abs(b), abs(q)));
  let moderate = least > 1e-30f && abs(b) < 3e38f && abs(q) < 3e38f;
  return q + select(0.0f, h_div_f32(left, b), moderate);
}""",
        ("h_div_f32", "h_opaque_f32"),
    ),
    # sqrt(a) as a sum of two floats, the first of 12 bits, for 0 and a >= 1e-30.
    "h_root_pair_f32": (
        """
fn h_root_pair_f32(a: f32) -> vec2<f32> {
  let s = sqrt(a);
  let top = bitcast<f32>(bitcast<u32>(s) & 0xfffff000u);
  return vec2<f32>(top, h_div_f32(a - top * top, select(s + top, 1.0f, s == 0.0f)));
}""",
        ("h_div_f32",),
    ),
}
