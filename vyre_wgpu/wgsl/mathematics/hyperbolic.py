"""sinh, cosh, tanh and their inverses for f32.

Near 0 minimax polynomials; else exp and log1p, with the formulas of fdlibm (Sun Microsystems,
1993).
"""

from __future__ import annotations

from .polynomial import Entries, with_polynomials

__all__ = ["ENTRIES"]

# (sinh(x) - x) / x^3 of x^2 on [-1, 1], (tanh(x) - x) / x^3 on abs(x) <= 0.55.
_SINH = (0.16666667, 0.0083333105, 0.00019842887, 2.7823212e-06)
_TANH = (-0.33333313, 0.13332437, -0.053835757, 0.021000376, -0.006169614)

ENTRIES: Entries = {
    # exp(x) / 2 is in the range for longer than exp(x).
    "h_sinh_f32": (
        with_polynomials(
            """
fn h_sinh_f32(x: f32) -> f32 {
  let a = abs(x);
  let z = x * x;
  let small = x + (x * z) * $P;
  let e = h_exp_sum_f32(a, 0.0f, -1i, 1.0f);
  let big = e - h_div_f32(0.25f, e);
  let signed = bitcast<f32>(bitcast<u32>(big) | (bitcast<u32>(x) & 0x80000000u));
  return select(select(signed, small, a <= 1.0f), x, a < 1e-4f);
}""",
            P=("z", _SINH),
        ),
        ("h_exp_sum_f32", "h_div_f32"),
    ),
    "h_cosh_f32": (
        """
fn h_cosh_f32(x: f32) -> f32 {
  let e = h_exp_sum_f32(abs(x), 0.0f, -1i, 1.0f);
  return e + h_div_f32(0.25f, e);
}""",
        ("h_exp_sum_f32", "h_div_f32"),
    ),
    "h_tanh_f32": (
        with_polynomials(
            """
fn h_tanh_f32(x: f32) -> f32 {
  let a = abs(x);
  let z = x * x;
  let small = x + (x * z) * $P;
  let e = h_exp_sum_f32(select(a + a, 40.0f, a > 20.0f), 0.0f, 0i, 1.0f);
  let big = 1.0f - h_div_f32(2.0f, e + 1.0f);
  let signed = bitcast<f32>(bitcast<u32>(big) | (bitcast<u32>(x) & 0x80000000u));
  return h_keep_nan_f32(x, select(select(signed, small, a <= 0.55f), x, a < 1e-4f));
}""",
            P=("z", _TANH),
        ),
        ("h_exp_sum_f32", "h_div_f32", "h_keep_nan_f32"),
    ),
    # log1p(a + a^2 / (1 + sqrt(1 + a^2))); beyond 2^30, log(2a).
    "h_asinh_f32": (
        """
fn h_asinh_f32(x: f32) -> f32 {
  let a = abs(x);
  let big = a > 1.0737418e9f;
  let b = select(a, 1.0f, big);
  let z = b * b;
  let w = b + h_div_f32(z, 1.0f + sqrt(1.0f + z));
  let y = h_log1p_sum_f32(select(w, a, big), select(0.0f, 1.0f, big));
  let signed = bitcast<f32>(bitcast<u32>(y) | (bitcast<u32>(x) & 0x80000000u));
  let outside = (bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u;
  return select(signed, x, a < 1e-4f || outside);
}""",
        ("h_log1p_sum_f32", "h_div_f32"),
    ),
    # log1p(t + sqrt(2t + t^2)) of t = x - 1, which is exact where it matters.
    "h_acosh_f32": (
        """
fn h_acosh_f32(x: f32) -> f32 {
  let big = x > 1.0737418e9f;
  let t = select(x - 1.0f, 1.0f, big);
  let root = h_root_pair_f32(max(t * (t + 2.0f), 0.0f));
  let w = t + (root.x + root.y);
  let y = h_log1p_sum_f32(select(w, x, big), select(0.0f, 1.0f, big));
  let bits = bitcast<u32>(x);
  let inside = bits >= 0x3f800000u && bits <= 0x7f800000u;
  return select(bitcast<f32>(0x7fc00000u | d.zero), select(y, x, bits == 0x7f800000u), inside);
}""",
        ("h_log1p_sum_f32", "h_root_pair_f32"),
    ),
    # log1p(2a / (1 - a)) / 2, the quotient as 2a + 2a a / (1 - a) below 1/2.
    "h_atanh_f32": (
        """
fn h_atanh_f32(x: f32) -> f32 {
  let a = abs(x);
  let below = bitcast<u32>(a) < 0x3f800000u;
  let inside = select(0.0f, a, below);
  let small = a < 0.5f;
  let twice = inside + inside;
  let q = h_div_f32(select(twice, twice * inside, small), 1.0f - inside);
  let y = 0.5f * h_log1p_sum_f32(select(q, twice + q, small), 0.0f);
  let edge = bitcast<f32>(select(0x7fc00000u, 0x7f800000u, bitcast<u32>(a) == 0x3f800000u));
  let size = select(edge, y, below);
  let signed = bitcast<f32>(bitcast<u32>(size) | (bitcast<u32>(x) & 0x80000000u));
  return select(signed, x, a < 1e-4f);
}""",
        ("h_log1p_sum_f32", "h_div_f32"),
    ),
}
