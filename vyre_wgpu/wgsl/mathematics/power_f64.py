"""Powers and roots for f64.

pow is e^(y log x) with the logarithm and the product as pairs; roots are corrected by one step of
Newton's from a remainder that is computed exactly (W. Kahan's scheme for the cube root).
"""

from __future__ import annotations

from .polynomial import Entries

__all__ = ["ENTRIES"]

ENTRIES: Entries = {
    "h_is_odd_f64": (
        """
fn h_is_odd_f64(size: f64) -> bool {
  if (!(floor(size) == size && size < 9007199254740992.0lf)) { return false; }
  let half = size * 0.5lf;
  return !(floor(half) == half);
}""",
        (),
    ),
    # The pair y log x, cut to the range in which the exponential is neither 0 nor infinite.
    "h_pow_exponent_f64": (
        """
fn h_pow_exponent_f64(size: f64, y: f64) -> vec2<f64> {
  let factor = min(max(y, -3.0e19lf), 3.0e19lf);
  let e = h_pair_product_f64(h_log_pair_f64(size), vec2<f64>(factor, 0.0lf));
  if (e.x > 720.0lf) { return vec2<f64>(720.0lf, 0.0lf); }
  if (e.x < -760.0lf) { return vec2<f64>(-760.0lf, 0.0lf); }
  return e;
}""",
        ("h_pair_product_f64", "h_log_pair_f64"),
    ),
    # C99 F.9.4.4 where x is 0 or infinite, or y infinite; size is |x|.
    "h_pow_edge_f64": (
        """
fn h_pow_edge_f64(size: f64, y: f64) -> f64 {
  if (size == 1.0lf) { return 1.0lf; }
  return select(0.0lf, h_infinity_f64(), (size > 1.0lf) == (y > 0.0lf));
}""",
        ("h_infinity_f64",),
    ),
    "h_pow_f64": (
        """
fn h_pow_f64(x: f64, y: f64) -> f64 {
  if (y == 0.0lf || x == 1.0lf) { return 1.0lf; }
  if (h_is_nan_f64(x)) { return x; }
  if (h_is_nan_f64(y)) { return y; }
  let size = abs(x);
  let y_size = abs(y);
  let is_negative = (bitcast<u64>(x) >> 63u) != 0lu;
  let sign = select(1.0lf, -1.0lf, is_negative && h_is_odd_f64(y_size));
  if (size == 0.0lf || !h_is_finite_f64(x) || !h_is_finite_f64(y)) {
    return sign * h_pow_edge_f64(size, y);
  }
  if (is_negative && !(floor(y_size) == y_size)) { return h_no_number_f64(); }
  let e = h_pow_exponent_f64(size, y);
  let k = h_exp_steps_f64(e.x);
  return h_scale_f64(sign * h_exp_significand_f64(e, k).x, i32(k));
}""",
        (
            "h_is_nan_f64",
            "h_is_odd_f64",
            "h_is_finite_f64",
            "h_pow_edge_f64",
            "h_no_number_f64",
            "h_pow_exponent_f64",
            "h_exp_steps_f64",
            "h_exp_significand_f64",
            "h_scale_f64",
        ),
    ),
    # Every i32 is a double; by squaring, the error would grow with the exponent.
    "h_powi_f64": (
        """
fn h_powi_f64(a: f64, n: i32) -> f64 {
  if (n == 1i) { return a; }
  if (n == 2i) { return a * a; }
  return h_pow_f64(a, f64(n));
}""",
        ("h_pow_f64",),
    ),
    # One Newton step from 1 / sqrt(x), with x and the result scaled so that squares are normal.
    "h_rsqrt_f64": (
        """
fn h_rsqrt_f64(x: f64) -> f64 {
  if ((bitcast<u64>(x) << 1u) == 0lu) { return h_with_sign_f64(h_infinity_f64(), x); }
  if (bitcast<u64>(x) >= 0x7ff0000000000000lu) {
    if (h_is_nan_f64(x)) { return x; }
    return select(0.0lf, h_no_number_f64(), (bitcast<u64>(x) >> 63u) != 0lu);
  }
  let p = h_split_f64(x);
  let half = floor(p.y * 0.5lf);
  let m = select(p.x, 2.0lf * p.x, p.y - 2.0lf * half > 0.5lf);
  let y = h_opaque_f64(1.0lf / sqrt(m));
  let square = h_two_product_f64(y, y);
  let one = h_two_product_f64(m, square.x);
  let rest = (h_opaque_f64(1.0lf - one.x) - one.y) - m * square.y;
  return h_scale_f64(y + h_opaque_f64(0.5lf * y * rest), -i32(half));
}""",
        (
            "h_with_sign_f64",
            "h_infinity_f64",
            "h_is_nan_f64",
            "h_no_number_f64",
            "h_split_f64",
            "h_opaque_f64",
            "h_two_product_f64",
            "h_scale_f64",
        ),
    ),
    # x = 2^(3j) m with 1 <= m < 8; a parabola, two steps of Halley's, then the remainder of a root
    # of 26 bits, whose square is exact.
    "h_cbrt_f64": (
        """
fn h_cbrt_f64(x: f64) -> f64 {
  if ((bitcast<u64>(x) << 1u) == 0lu || !h_is_finite_f64(x)) { return x; }
  let p = h_split_f64(bitcast<f64>(bitcast<u64>(x) & 0x7ffffffffffffffflu));
  let k = bitcast<u32>(i32(p.y) + 3072i);
  let j = k / 3u;
  let m = p.x * h_power_of_two_f64(bitcast<i32>(k - 3u * j));
  var t = 0.7361445783132530lf + (0.2906626506024096lf - 0.016807228915662652lf * m) * m;
  var cube = t * t * t;
  t = t * (cube + 2.0lf * m) / (2.0lf * cube + m);
  cube = t * t * t;
  t = h_head_f64(t * (cube + 2.0lf * m) / (2.0lf * cube + m));
  let r = m / (t * t);
  let root = t + t * ((r - t) / (2.0lf * t + r));
  return h_with_sign_f64(h_scale_f64(root, bitcast<i32>(j) - 1024i), x);
}""",
        (
            "h_is_finite_f64",
            "h_split_f64",
            "h_power_of_two_f64",
            "h_head_f64",
            "h_with_sign_f64",
            "h_scale_f64",
        ),
    ),
    "h_hypot_f64": (
        """
fn h_hypot_f64(x: f64, y: f64) -> f64 {
  if (h_is_inf_f64(x) || h_is_inf_f64(y)) { return h_infinity_f64(); }
  if (h_is_nan_f64(x)) { return x; }
  if (h_is_nan_f64(y)) { return y; }
  let a = max(abs(x), abs(y));
  let b = min(abs(x), abs(y));
  if (b <= a * 5.551115123125783e-17lf) { return a + b; }
  let is_large = a > 1.0e150lf;
  let is_small = a < 1.0e-130lf;
  // 2^600 or 2^-600 where a square would leave the range.
  let step = select(select(0i, 600i, a < 1.0e-130lf), -600i, a > 1.0e150lf);
  let scale = h_power_of_two_f64(step);
  let aa = h_two_product_f64(a * scale, a * scale);
  let bb = h_two_product_f64(b * scale, b * scale);
  let sum = h_fast_sum_f64(aa.x, bb.x);
  let root = h_pair_sqrt_f64(vec2<f64>(sum.x, sum.y + (aa.y + bb.y)));
  return root.x * h_power_of_two_f64(-step);
}""",
        (
            "h_is_inf_f64",
            "h_infinity_f64",
            "h_is_nan_f64",
            "h_power_of_two_f64",
            "h_two_product_f64",
            "h_fast_sum_f64",
            "h_pair_sqrt_f64",
        ),
    ),
}
