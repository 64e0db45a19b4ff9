"""asin, acos, atan, atan2 for f64.

The arguments are reduced by identities: atan by the differences from atan 1/2, 1, 3/2 and pi/2,
asin and acos through asin sqrt((1 - x) / 2) above one half, with the root split so that its square
is exact (the scheme of fdlibm). The polynomials are our own fits.
"""

from __future__ import annotations

from .polynomial import Entries
from .polynomial_f64 import with_polynomials

__all__ = ["ENTRIES"]

# (asin x - x) / x^3 in x^2 for |x| <= 1/2.
_ASIN = (
    0.16666666666666669,
    0.07499999999998389,
    0.04464285714644605,
    0.0303819441312372,
    0.022372173243832207,
    0.017352385393480947,
    0.013971325328728771,
    0.011478047472510145,
    0.010330370295404406,
    0.005424230839804001,
    0.017493569476248205,
    -0.014999855783811349,
    0.02886097438799853,
)
# (atan x - x) / x^3 in x^2 for |x| <= 7/16.
_ATAN = (
    -0.3333333333333333,
    0.19999999999999396,
    -0.14285714285563722,
    0.11111111096375935,
    -0.09090908343618065,
    0.07692285244753419,
    -0.06666236937569926,
    0.05876895143839666,
    -0.05216341449011075,
    0.04490877963207276,
    -0.033096333197367975,
    0.014741635505769141,
)

ENTRIES: Entries = {
    # asin(x) / x - 1 from x^2.
    "h_asin_rest_f64": (
        with_polynomials(
            """
fn h_asin_rest_f64(z: f64) -> f64 {
  return z * $P;
}""",
            P=("z", _ASIN),
        ),
        (),
    ),
    # asin sqrt(z) for z <= 1/4 as a pair.
    "h_asin_root_f64": (
        """
fn h_asin_root_f64(z: f64) -> vec2<f64> {
  let s = sqrt(z);
  let head = h_head_f64(s);
  let low = select((z - head * head) / (s + head), 0.0lf, z == 0.0lf);
  return h_fast_sum_f64(head, low + s * h_asin_rest_f64(z));
}""",
        ("h_head_f64", "h_fast_sum_f64", "h_asin_rest_f64"),
    ),
    "h_asin_f64": (
        """
fn h_asin_f64(x: f64) -> f64 {
  let a = abs(x);
  if (h_is_nan_f64(x)) { return x; }
  if (a > 1.0lf) { return h_no_number_f64(); }
  if (a <= 0.5lf) { return x + x * h_asin_rest_f64(x * x); }
  let p = h_asin_root_f64(0.5lf - 0.5lf * a);
  let s = h_fast_sum_f64(1.5707963267948966lf, -2.0lf * p.x);
  return h_with_sign_f64(s.x + (s.y + (6.123233995736766e-17lf - 2.0lf * p.y)), x);
}""",
        (
            "h_is_nan_f64",
            "h_no_number_f64",
            "h_asin_rest_f64",
            "h_asin_root_f64",
            "h_fast_sum_f64",
            "h_with_sign_f64",
        ),
    ),
    "h_acos_f64": (
        """
fn h_acos_f64(x: f64) -> f64 {
  let a = abs(x);
  if (h_is_nan_f64(x)) { return x; }
  if (a > 1.0lf) { return h_no_number_f64(); }
  if (a <= 0.5lf) {
    let s = h_fast_sum_f64(1.5707963267948966lf, -x);
    return s.x + (s.y + (6.123233995736766e-17lf - x * h_asin_rest_f64(x * x)));
  }
  let p = h_asin_root_f64(0.5lf - 0.5lf * a);
  if (x > 0.0lf) { return 2.0lf * p.x; }
  let s = h_fast_sum_f64(3.141592653589793lf, -2.0lf * p.x);
  return s.x + (s.y + (1.2246467991473532e-16lf - 2.0lf * p.y));
}""",
        (
            "h_is_nan_f64",
            "h_no_number_f64",
            "h_asin_rest_f64",
            "h_asin_root_f64",
            "h_fast_sum_f64",
        ),
    ),
    # The arctangent of a non-negative number, infinity included, as a pair.
    "h_atan_pair_f64": (
        with_polynomials(
            """
fn h_atan_pair_f64(a: f64) -> vec2<f64> {
  var top = a;
  var bottom = 1.0lf;
  var base = vec2<f64>(0.0lf, 0.0lf);
  if (a >= 2.4375lf) {
    top = -1.0lf;
    bottom = a;
    base = vec2<f64>(1.5707963267948966lf, 6.123233995736766e-17lf);
  } else if (a >= 1.1875lf) {
    top = a - 1.5lf;
    bottom = 1.0lf + 1.5lf * a;
    base = vec2<f64>(0.982793723247329lf, 1.3903311031230998e-17lf);
  } else if (a >= 0.6875lf) {
    top = a - 1.0lf;
    bottom = 1.0lf + a;
    base = vec2<f64>(0.7853981633974483lf, 3.061616997868383e-17lf);
  } else if (a >= 0.4375lf) {
    top = a - 0.5lf;
    bottom = 1.0lf + 0.5lf * a;
    base = vec2<f64>(0.4636476090008061lf, 2.2698777452961687e-17lf);
  }
  let x = top / bottom;
  let z = x * x;
  let s = h_two_sum_f64(base.x, x);
  return h_fast_sum_f64(s.x, s.y + (base.y + x * (z * $P)));
}""",
            P=("z", _ATAN),
        ),
        ("h_two_sum_f64", "h_fast_sum_f64"),
    ),
    "h_atan_f64": (
        """
fn h_atan_f64(x: f64) -> f64 {
  if (h_is_nan_f64(x)) { return x; }
  return h_with_sign_f64(h_atan_pair_f64(abs(x)).x, x);
}""",
        ("h_is_nan_f64", "h_with_sign_f64", "h_atan_pair_f64"),
    ),
    # a / b, 0 for 0 / 0 and 1 for infinities; corrected where the correction can be computed. Both
    # are scaled first: some drivers divide by way of the reciprocal, which may leave the range.
    "h_tangent_f64": (
        """
fn h_tangent_f64(a: f64, b: f64) -> f64 {
  if (a == b) { return select(1.0lf, 0.0lf, a == 0.0lf); }
  let size = max(a, b);
  let scale = h_power_of_two_f64(
    select(select(0i, 600i, size < 1.0e-100lf), -600i, size > 1.0e200lf));
  let top = vec2<f64>(a * scale, 0.0lf);
  let bottom = vec2<f64>(b * scale, 0.0lf);
  let q = top.x / bottom.x;
  if (q > 1.0e-200lf && q < 1.0e200lf) { return h_pair_quotient_f64(top, bottom).x; }
  return q;
}""",
        ("h_power_of_two_f64", "h_pair_quotient_f64"),
    ),
    "h_atan2_f64": (
        """
fn h_atan2_f64(y: f64, x: f64) -> f64 {
  if (h_is_nan_f64(x)) { return x; }
  if (h_is_nan_f64(y)) { return y; }
  let a = abs(y);
  let b = abs(x);
  var p = h_atan_pair_f64(h_tangent_f64(a, b));
  if ((bitcast<u64>(x) >> 63u) != 0lu) {
    p = h_pair_plus_f64(-p, 3.141592653589793lf);
    p.x = p.x + (p.y + 1.2246467991473532e-16lf);
  }
  return h_with_sign_f64(p.x, y);
}""",
        (
            "h_is_nan_f64",
            "h_atan_pair_f64",
            "h_tangent_f64",
            "h_pair_plus_f64",
            "h_with_sign_f64",
        ),
    ),
}
