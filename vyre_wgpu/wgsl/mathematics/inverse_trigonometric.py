"""asin, acos, atan and atan2 for f32.

Polynomials are minimax fits. Beyond 1/2, asin and acos use sqrt((1 - x) / 2) as fdlibm does (Sun
Microsystems, 1993): the root as a sum of two floats, whose first has 12 bits.
"""

from __future__ import annotations

from .polynomial import Entries, with_polynomials

__all__ = ["ENTRIES"]

# (asin(s) - s) / s^3 of s^2, abs(s) <= 1/2; error 2^-28 of asin(s).
_ASIN = (0.16666752, 0.07495307, 0.045469638, 0.024181534, 0.042165037)
# (atan(a) - a) / a^3 of a^2, a in [0, 1]; error 2^-28 of atan(a).
_ATAN = (
    -0.333333, 0.19998531, -0.14264052, 0.109511726, -0.08400458, 0.057906043, -0.031126289,
    0.010886868, -0.0017874144,
)  # fmt: skip

ENTRIES: Entries = {
    # asin(s) - s, of s and s^2.
    "h_asin_tail_f32": (
        with_polynomials(
            """
fn h_asin_tail_f32(s: f32, z: f32) -> f32 {
  return (s * z) * $P;
}""",
            P=("z", _ASIN),
        ),
        (),
    ),
    # asin(sqrt(z)) of z in [0, 1/4] as a sum of two floats.
    "h_asin_root_f32": (
        """
fn h_asin_root_f32(z: f32) -> vec2<f32> {
  let s = h_root_pair_f32(z);
  return vec2<f32>(s.x, s.y + h_asin_tail_f32(s.x + s.y, z));
}""",
        ("h_root_pair_f32", "h_asin_tail_f32"),
    ),
    "h_asin_f32": (
        """
fn h_asin_f32(x: f32) -> f32 {
  let a = abs(x);
  let p = h_asin_root_f32(select((1.0f - a) * 0.5f, 0.0f, !(a > 0.5f && a <= 1.0f)));
  let big = (1.5707964f - 2.0f * p.x) - (2.0f * p.y + 4.371139e-8f);
  let small = x + h_asin_tail_f32(x, x * x);
  let signed = bitcast<f32>(bitcast<u32>(big) | (bitcast<u32>(x) & 0x80000000u));
  let y = select(select(small, signed, a > 0.5f), x, a < 1e-4f);
  return select(bitcast<f32>(0x7fc00000u | d.zero), y, bitcast<u32>(a) <= 0x3f800000u);
}""",
        ("h_asin_root_f32", "h_asin_tail_f32"),
    ),
    "h_acos_f32": (
        """
fn h_acos_f32(x: f32) -> f32 {
  let a = abs(x);
  let p = h_asin_root_f32(select((1.0f - a) * 0.5f, 0.0f, !(a > 0.5f && a <= 1.0f)));
  let right = 2.0f * (p.x + p.y);
  let left = (3.1415927f - 2.0f * p.x) - (2.0f * p.y + 8.742278e-8f);
  let middle = 1.5707964f - (x + (h_asin_tail_f32(x, x * x) + 4.371139e-8f));
  let y = select(middle, select(left, right, x > 0.0f), a > 0.5f);
  return select(bitcast<f32>(0x7fc00000u | d.zero), y, bitcast<u32>(a) <= 0x3f800000u);
}""",
        ("h_asin_root_f32", "h_asin_tail_f32"),
    ),
    # atan on [0, 1].
    "h_atan_unit_f32": (
        with_polynomials(
            """
fn h_atan_unit_f32(a: f32) -> f32 {
  let z = a * a;
  return a + (a * z) * $P;
}""",
            P=("z", _ATAN),
        ),
        (),
    ),
    "h_atan_f32": (
        """
fn h_atan_f32(x: f32) -> f32 {
  let a = abs(x);
  let big = a > 1.0f;
  let p = h_atan_unit_f32(select(a, h_div_f32(1.0f, a), big));
  let y = select(p, 1.5707964f - (p + 4.371139e-8f), big);
  let signed = bitcast<f32>(bitcast<u32>(y) | (bitcast<u32>(x) & 0x80000000u));
  return h_keep_nan_f32(x, select(signed, x, a < 1e-4f));
}""",
        ("h_atan_unit_f32", "h_div_f32", "h_keep_nan_f32"),
    ),
    # The table of C99 Annex F.9.1.4.
    "h_atan2_f32": (
        """
fn h_atan2_f32(y: f32, x: f32) -> f32 {
  let y_size = bitcast<u32>(y) & 0x7fffffffu;
  let x_size = bitcast<u32>(x) & 0x7fffffffu;
  let most = bitcast<f32>(max(x_size, y_size));
  let least = bitcast<f32>(min(x_size, y_size));
  let equal = x_size == y_size;
  let small = select(1.0f, 1.8446744e19f, most < 1e-12f);
  let scale = select(small, 5.421011e-20f, most > 1.8446744e19f);
  let above = select(least * scale, 1.0f, equal);
  let below = select(most * scale, 1.0f, equal);
  // Both are zeros, or subnormals that the device takes for zeros.
  let nothing = below == 0.0f || (equal && x_size == 0u);
  let q = h_quotient_f32(above, select(below, 1.0f, nothing));
  let octant = h_atan_unit_f32(select(q, bitcast<f32>(d.zero), nothing));
  let quadrant = select(octant, 1.5707964f - (octant + 4.371139e-8f), y_size > x_size);
  let left = bitcast<u32>(x) >= 0x80000000u;
  let half = select(quadrant, 3.1415927f - (quadrant + 8.742278e-8f), left);
  let signed = bitcast<f32>(bitcast<u32>(half) | (bitcast<u32>(y) & 0x80000000u));
  let no_number = max(x_size, y_size) > 0x7f800000u;
  return select(signed, bitcast<f32>(0x7fc00000u | d.zero), no_number);
}""",
        ("h_atan_unit_f32", "h_quotient_f32"),
    ),
}
