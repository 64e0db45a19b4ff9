"""sin, cos and tan for f32.

Up to 2^12 multiples of pi/2 the argument is reduced as of Cody and Waite, with three parts of pi/2
of 12 bits, whose products with the multiple are exact, and a rest; beyond, as of Payne and Hanek
(Radian Reduction for Trigonometric Functions, 1983), in integers. The polynomials on
[-pi/4, pi/4] are minimax fits.
"""

from __future__ import annotations

from .polynomial import Entries, with_polynomials

__all__ = ["ENTRIES"]

# (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4, of r^2.
_SIN = (-0.16666654, 0.008332106, -0.00019507871)
_COS = (0.041666646, -0.0013887308, 2.4432107e-05)
# (tan(r) - r) / r^3 of r^2; error 2^-29 of tan(r).
_TAN = (
    0.3333335, 0.1333267, 0.05405997, 0.021279417, 0.01084762, 7.005701e-05, 0.0043876837,
)  # fmt: skip
# (sin(pi x) / x - pi) / x^2 of x^2.
_SINPI = (-5.167711, 2.5500863, -0.59833133, 0.077719055)

ENTRIES: Entries = {
    # Words of 2/pi as a binary fraction, behind 32 zero bits.
    "h_two_over_pi_u32": (
        """
fn h_two_over_pi_u32(i: u32) -> u32 {
  switch i {
    case 1u: { return 0xa2f9836eu; }
    case 2u: { return 0x4e441529u; }
    case 3u: { return 0xfc2757d1u; }
    case 4u: { return 0xf534ddc0u; }
    case 5u: { return 0xdb629599u; }
    case 6u: { return 0x3c439041u; }
    case 7u: { return 0xfe5163abu; }
    default: { return 0u; }
  }
}""",
        (),
    ),
    # (r, q): x = q pi/2 + r modulo 2 pi, for finite x of at least 2^12. With x = m 2^e, those bits
    # of 2/pi count whose products with x are below 4; 96 of them, times m, give 64 bits behind
    # q, of which at most about 30 are zeros.
    "h_trig_reduce_huge_f32": (
        """
fn h_trig_reduce_huge_f32(x: f32) -> vec2<f32> {
  let bits = bitcast<u32>(x);
  let m = (bits & 0x7fffffu) | 0x800000u;
  let start = ((bits >> 23u) & 0xffu) - 120u;
  let i = start >> 5u;
  let left = start & 31u;
  let w0 = h_two_over_pi_u32(i);
  let w1 = h_two_over_pi_u32(i + 1u);
  let w2 = h_two_over_pi_u32(i + 2u);
  let w3 = h_two_over_pi_u32(i + 3u);
  let a0 = (w0 << left) | ((w1 >> 1u) >> (31u - left));
  let a1 = (w1 << left) | ((w2 >> 1u) >> (31u - left));
  let a2 = (w2 << left) | ((w3 >> 1u) >> (31u - left));
  let middle = m * a1;
  var low = middle + h_mul_high_u32(m, a2);
  var high = m * a0 + h_mul_high_u32(m, a1) + select(0u, 1u, low < middle);
  var q = high >> 30u;
  high = (high << 2u) | (low >> 30u);
  low = low << 2u;
  let above = high >= 0x80000000u;
  if (above) {
    q = q + 1u;
    low = ~low + 1u;
    high = ~high + select(0u, 1u, low == 0u);
  }
  if (high == 0u) {
    high = low;
    low = 0u;
  }
  let zeros = countLeadingZeros(high);
  let top = (high << zeros) | ((low >> 1u) >> (31u - zeros));
  // Times pi/2, whose first part has 12 bits as the first part of the fraction.
  let first = f32(top & 0xfff00000u);
  let rest = f32(top & 0xfffffu);
  let r = first * 3.6561687e-10f + (first * 1.12649703e-13f + rest * 3.6572953e-10f);
  let size = r * bitcast<f32>((127u - zeros) << 23u);
  let negative = above != (bits >= 0x80000000u);
  q = select(q, 4u - q, bits >= 0x80000000u) & 3u;
  return vec2<f32>(select(size, -size, negative), f32(q));
}""",
        ("h_two_over_pi_u32", "h_mul_high_u32"),
    ),
    # (r, q) for any finite x; r and q are open for others.
    "h_trig_reduce_f32": (
        """
fn h_trig_reduce_f32(x: f32) -> vec2<f32> {
  if (abs(x) >= 6400.0f) { return h_trig_reduce_huge_f32(x); }
  let k = h_nearest_f32(x * 0.63661975f);
  let n = f32(k);
  let r1 = h_opaque_f32(x - n * 1.5703125f);
  let r2 = h_opaque_f32(r1 - n * 0.0004837513f);
  let r3 = h_opaque_f32(r2 - n * 7.5495336e-08f);
  return vec2<f32>(r3 - n * 2.563344e-12f, f32(k & 3i));
}""",
        ("h_nearest_f32", "h_opaque_f32", "h_trig_reduce_huge_f32"),
    ),
    "h_sin_reduced_f32": (
        with_polynomials(
            """
fn h_sin_reduced_f32(r: f32) -> f32 {
  let z = r * r;
  return r + (r * z) * $P;
}""",
            P=("z", _SIN),
        ),
        (),
    ),
    "h_cos_reduced_f32": (
        with_polynomials(
            """
fn h_cos_reduced_f32(r: f32) -> f32 {
  let z = r * r;
  return 1.0f + (z * z * $P - 0.5f * z);
}""",
            P=("z", _COS),
        ),
        (),
    ),
    # NaN for infinities and NaN, else y.
    "h_trig_edges_f32": (
        """
fn h_trig_edges_f32(x: f32, y: f32) -> f32 {
  let outside = (bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u;
  return select(y, bitcast<f32>(0x7fc00000u | d.zero), outside);
}""",
        (),
    ),
    "h_sin_f32": (
        """
fn h_sin_f32(x: f32) -> f32 {
  let p = h_trig_reduce_f32(x);
  let q = u32(p.y);
  let y = select(h_sin_reduced_f32(p.x), h_cos_reduced_f32(p.x), (q & 1u) == 1u);
  let signed = bitcast<f32>(bitcast<u32>(y) ^ ((q & 2u) << 30u));
  return select(h_trig_edges_f32(x, signed), x, abs(x) < 1e-4f);
}""",
        ("h_trig_reduce_f32", "h_sin_reduced_f32", "h_cos_reduced_f32", "h_trig_edges_f32"),
    ),
    "h_cos_f32": (
        """
fn h_cos_f32(x: f32) -> f32 {
  let p = h_trig_reduce_f32(x);
  let q = u32(p.y);
  let y = select(h_cos_reduced_f32(p.x), h_sin_reduced_f32(p.x), (q & 1u) == 1u);
  let signed = bitcast<f32>(bitcast<u32>(y) ^ (((q + 1u) & 2u) << 30u));
  return h_trig_edges_f32(x, signed);
}""",
        ("h_trig_reduce_f32", "h_sin_reduced_f32", "h_cos_reduced_f32", "h_trig_edges_f32"),
    ),
    # tan(r), or -1 / tan(r) in odd quadrants, the quotient with a Newton step.
    "h_tan_f32": (
        with_polynomials(
            """
fn h_tan_f32(x: f32) -> f32 {
  let p = h_trig_reduce_f32(x);
  let r = p.x;
  let z = r * r;
  let t = r + (r * z) * $P;
  let odd = p.y == 1.0f || p.y == 3.0f;
  let below = select(1.0f, t, odd);
  let inverse = h_div_f32(1.0f, below);
  let better = inverse + inverse * (1.0f - inverse * below);
  let y = select(t, -better, odd);
  return select(h_trig_edges_f32(x, y), x, abs(x) < 1e-4f);
}""",
            P=("z", _TAN),
        ),
        ("h_trig_reduce_f32", "h_trig_edges_f32", "h_div_f32"),
    ),
    # sin(pi x) for abs(x) <= 1/2, relatively exact near 0.
    "h_sinpi_reduced_f32": (
        with_polynomials(
            """
fn h_sinpi_reduced_f32(x: f32) -> f32 {
  let z = x * x;
  return x * 3.1415927f + x * (z * $P - 8.742278e-8f);
}""",
            P=("z", _SINPI),
        ),
        (),
    ),
}
