"""exp and its kin for f64.

The exponent is reduced by multiples of ln 2 in two parts (W. J. Cody and W. Waite, Software Manual
for the Elementary Functions, 1980); e^r - 1 on the rest is r + r^2 q(r) with a polynomial of our
own fit, carried as a pair, so that sums and quotients of exponentials lose nothing.
"""

from __future__ import annotations

from .polynomial import Entries
from .polynomial_f64 import with_polynomials

__all__ = ["ENTRIES"]

# (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2; relative to 1, the error of r^2 q is 2^-61.
_Q = (
    0.5,
    0.16666666666666666,
    0.04166666666666668,
    0.008333333333333333,
    0.0013888888888879004,
    0.00019841269841263252,
    2.480158733663095e-05,
    2.7557319247344507e-06,
    2.755726307730941e-07,
    2.5052070959803662e-08,
    2.091821231913398e-09,
    1.6086677666787362e-10,
)
# (sinh x - x) / x^3 in x^2 for |x| <= 1.
_SINH = (
    0.16666666666666666,
    0.008333333333333333,
    0.00019841269841269773,
    2.755731922404034e-06,
    2.505210836405804e-08,
    1.6059048396350562e-10,
    7.646625361656657e-13,
    2.8445264169895285e-15,
)

ENTRIES: Entries = {
    "h_exp_steps_f64": (
        """
fn h_exp_steps_f64(x: f64) -> f64 {
  return floor(x * 1.4426950408889634lf + 0.5lf);
}""",
        (),
    ),
    # x - k ln 2 for |k| < 2048. The first part of ln 2 has 42 bits: its product is exact.
    "h_exp_rest_f64": (
        """
fn h_exp_rest_f64(x: vec2<f64>, k: f64) -> vec2<f64> {
  return h_two_sum_f64(x.x - k * 0.6931471805598903lf, x.y - k * 5.497923018708371e-14lf);
}""",
        ("h_two_sum_f64",),
    ),
    "h_expm1_rest_f64": (
        with_polynomials(
            """
fn h_expm1_rest_f64(r: vec2<f64>) -> vec2<f64> {
  let x = r.x;
  return h_fast_sum_f64(x, (r.y + x * r.y) + x * x * $P);
}""",
            P=("x", _Q),
        ),
        ("h_fast_sum_f64",),
    ),
    # e^x / 2^k as a pair between 0.7 and 1.5.
    "h_exp_significand_f64": (
        """
fn h_exp_significand_f64(x: vec2<f64>, k: f64) -> vec2<f64> {
  let e = h_expm1_rest_f64(h_exp_rest_f64(x, k));
  let s = h_fast_sum_f64(1.0lf, e.x);
  return h_fast_sum_f64(s.x, s.y + e.y);
}""",
        ("h_expm1_rest_f64", "h_exp_rest_f64", "h_fast_sum_f64"),
    ),
    "h_exp_f64": (
        """
fn h_exp_f64(x: f64) -> f64 {
  if (h_is_nan_f64(x)) { return x; }
  let a = min(max(x, -750.0lf), 720.0lf);
  let k = h_exp_steps_f64(a);
  let e = h_expm1_rest_f64(h_exp_rest_f64(vec2<f64>(a, 0.0lf), k));
  return h_scale_f64(1.0lf + e.x, i32(k));
}""",
        ("h_is_nan_f64", "h_exp_steps_f64", "h_expm1_rest_f64", "h_exp_rest_f64", "h_scale_f64"),
    ),
    "h_exp2_f64": (
        """
fn h_exp2_f64(x: f64) -> f64 {
  if (h_is_nan_f64(x)) { return x; }
  let a = min(max(x, -1100.0lf), 1030.0lf);
  let k = floor(a + 0.5lf);
  let e = h_expm1_rest_f64(vec2<f64>(h_opaque_f64(a - k) * 0.6931471805599453lf, 0.0lf));
  return h_scale_f64(1.0lf + e.x, i32(k));
}""",
        ("h_is_nan_f64", "h_opaque_f64", "h_expm1_rest_f64", "h_scale_f64"),
    ),
    # e^x - 1 = 2^k ((1 - 2^-k) + (e^r - 1)) as a pair, without the factor 2^k; -60 < x < 720.
    "h_expm1_pair_f64": (
        """
fn h_expm1_pair_f64(x: f64, k: f64) -> vec2<f64> {
  let e = h_expm1_rest_f64(h_exp_rest_f64(vec2<f64>(x, 0.0lf), k));
  let whole = 1.0lf - h_power_of_two_f64(-min(i32(k), 60i));
  let s = h_two_sum_f64(whole, e.x);
  return h_fast_sum_f64(s.x, s.y + e.y);
}""",
        (
            "h_expm1_rest_f64",
            "h_exp_rest_f64",
            "h_power_of_two_f64",
            "h_two_sum_f64",
            "h_fast_sum_f64",
        ),
    ),
    "h_expm1_f64": (
        """
fn h_expm1_f64(x: f64) -> f64 {
  if (h_is_nan_f64(x) || abs(x) < 5.551115123125783e-17lf) { return x; }
  let a = min(max(x, -45.0lf), 720.0lf);
  let k = h_exp_steps_f64(a);
  let e = h_expm1_pair_f64(a, k);
  // The factor 2^k of the exact 2^60 and more that e may hold for negative k, in one step.
  if (k < 0.0lf) { return e.x * h_power_of_two_f64(i32(k)); }
  return h_scale_f64(e.x, i32(k));
}""",
        (
            "h_is_nan_f64",
            "h_exp_steps_f64",
            "h_expm1_pair_f64",
            "h_power_of_two_f64",
            "h_scale_f64",
        ),
    ),
    # Odd polynomial up to 1; (e^x - e^-x) / 2 above, where little cancels.
    "h_sinh_f64": (
        with_polynomials(
            """
fn h_sinh_f64(x: f64) -> f64 {
  if (h_is_nan_f64(x)) { return x; }
  let size = min(abs(x), 720.0lf);
  if (size <= 1.0lf) {
    let z = x * x;
    return x + x * (z * $P);
  }
  let k = h_exp_steps_f64(size);
  let e = h_exp_significand_f64(vec2<f64>(size, 0.0lf), k);
  let inverse = h_power_of_two_f64(-2i * min(i32(k), 60i)) / e.x;
  return h_with_sign_f64(h_scale_f64((e.x - inverse) + e.y, i32(k) - 1i), x);
}""",
            P=("z", _SINH),
        ),
        (
            "h_is_nan_f64",
            "h_exp_steps_f64",
            "h_exp_significand_f64",
            "h_power_of_two_f64",
            "h_with_sign_f64",
            "h_scale_f64",
        ),
    ),
    "h_cosh_f64": (
        """
fn h_cosh_f64(x: f64) -> f64 {
  if (h_is_nan_f64(x)) { return x; }
  let size = min(abs(x), 720.0lf);
  let k = h_exp_steps_f64(size);
  let e = h_exp_significand_f64(vec2<f64>(size, 0.0lf), k);
  let inverse = h_power_of_two_f64(-2i * min(i32(k), 60i)) / e.x;
  return h_scale_f64((e.x + inverse) + e.y, i32(k) - 1i);
}""",
        (
            "h_is_nan_f64",
            "h_exp_steps_f64",
            "h_exp_significand_f64",
            "h_power_of_two_f64",
            "h_scale_f64",
        ),
    ),
    # -t / (2 + t) with t = e^(-2|x|) - 1.
    "h_tanh_f64": (
        """
fn h_tanh_f64(x: f64) -> f64 {
  if (h_is_nan_f64(x) || abs(x) < 1.0e-9lf) { return x; }
  let a = -2.0lf * min(abs(x), 20.0lf);
  let k = h_exp_steps_f64(a);
  let power = h_power_of_two_f64(i32(k));
  let t = h_expm1_pair_f64(a, k) * power;
  let q = h_pair_quotient_f64(t, h_pair_plus_f64(t, 2.0lf));
  return h_with_sign_f64(q.x, x);
}""",
        (
            "h_is_nan_f64",
            "h_exp_steps_f64",
            "h_power_of_two_f64",
            "h_expm1_pair_f64",
            "h_pair_quotient_f64",
            "h_pair_plus_f64",
            "h_with_sign_f64",
        ),
    ),
    # 1 / (1 + e) or e / (1 + e) with e = e^-|x|, so that no small result comes from 1 - 1.
    "h_sigmoid_f64": (
        """
fn h_sigmoid_f64(x: f64) -> f64 {
  if (h_is_nan_f64(x)) { return x; }
  let a = -min(abs(x), 760.0lf);
  let k = h_exp_steps_f64(a);
  let e = h_exp_significand_f64(vec2<f64>(a, 0.0lf), k);
  let power = h_power_of_two_f64(max(i32(k), -200i));
  let whole = h_pair_plus_f64(e * power, 1.0lf);
  let above = x >= 0.0lf;
  let q = h_pair_quotient_f64(select(e, vec2<f64>(1.0lf, 0.0lf), above), whole);
  return h_scale_f64(q.x, select(i32(k), 0i, above));
}""",
        (
            "h_is_nan_f64",
            "h_exp_steps_f64",
            "h_exp_significand_f64",
            "h_power_of_two_f64",
            "h_pair_plus_f64",
            "h_pair_quotient_f64",
            "h_scale_f64",
        ),
    ),
}
