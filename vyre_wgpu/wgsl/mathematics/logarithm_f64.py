"""log and its kin for f64, and the inverse hyperbolic functions.

x = 2^k m with m between sqrt(1/2) and sqrt(2), and log m = 2 atanh(f / (2 + f)) with f = m - 1, by
a polynomial of our own fit in s^2 (the scheme of P. T. P. Tang, Table-driven implementation of the
logarithm function, ACM TOMS 16, 1990, without a table). Where a logarithm is multiplied further
(other bases, powers, the gamma function) s and the leading terms are pairs: about 2^-64.
"""

from __future__ import annotations

from .polynomial import Entries
from .polynomial_f64 import with_polynomials

__all__ = ["ENTRIES"]

# (2 atanh(s) - 2 s) / s^3 in s^2 for |s| <= 0.1716.
_R = (
    0.6666666666666666,
    0.400000000000009,
    0.2857142857078817,
    0.22222222395207486,
    0.18181795267569884,
    0.1538625992668246,
    0.1326823260723225,
    0.1309226769119501,
)
# ((atanh(s) - s) / s^3 - 1/3) / s^2 in s^2.
_S = (
    0.2,
    0.14285714285714693,
    0.11111111110821123,
    0.09090909169239439,
    0.0769229731671256,
    0.06667411278636637,
    0.058528794588431104,
    0.058640806326212776,
)

ENTRIES: Entries = {
    # A positive finite number as (m, k) with m around 1.
    "h_log_parts_f64": (
        """
fn h_log_parts_f64(x: f64) -> vec2<f64> {
  let p = h_split_f64(x);
  return select(p, vec2<f64>(p.x * 0.5lf, p.y + 1.0lf), p.x > 1.4142135623730951lf);
}""",
        ("h_split_f64",),
    ),
    # log(1 + f) + k ln 2 + c: the small c corrects f.
    "h_log_sum_f64": (
        with_polynomials(
            """
fn h_log_sum_f64(less_one: f64, k: f64, c: f64) -> f64 {
  let f = h_opaque_f64(less_one);
  let s = f / (2.0lf + f);
  let z = s * s;
  let half = 0.5lf * f * f;
  let low = k * 5.497923018708371e-14lf + c;
  return k * 0.6931471805598903lf - ((half - (s * (half + z * $P) + low)) - f);
}""",
            P=("z", _R),
        ),
        ("h_opaque_f64",),
    ),
    "h_log_f64": (
        """
fn h_log_f64(x: f64) -> f64 {
  if (!(x > 0.0lf && h_is_finite_f64(x))) { return h_log_edge_f64(x); }
  let p = h_log_parts_f64(x);
  return h_log_sum_f64(p.x - 1.0lf, p.y, 0.0lf);
}""",
        ("h_is_finite_f64", "h_log_edge_f64", "h_log_parts_f64", "h_log_sum_f64"),
    ),
    # Zeros, infinities, NaN and negative numbers.
    "h_log_edge_f64": (
        """
fn h_log_edge_f64(x: f64) -> f64 {
  if (x == 0.0lf) { return -h_infinity_f64(); }
  return select(x, h_no_number_f64(), x < 0.0lf);
}""",
        ("h_infinity_f64", "h_no_number_f64"),
    ),
    # log(1 + w) for w > -1, finite: what 1 + w loses is made up for by its derivative.
    "h_log1p_pair_f64": (
        """
fn h_log1p_pair_f64(w: vec2<f64>) -> f64 {
  let u = h_two_sum_f64(1.0lf, w.x);
  let p = h_log_parts_f64(u.x);
  return h_log_sum_f64(p.x - 1.0lf, p.y, (u.y + w.y) / u.x);
}""",
        ("h_two_sum_f64", "h_log_parts_f64", "h_log_sum_f64"),
    ),
    "h_log1p_f64": (
        """
fn h_log1p_f64(x: f64) -> f64 {
  if (!(x > -1.0lf && h_is_finite_f64(x))) {
    if (h_is_nan_f64(x)) { return x; }
    return h_log_edge_f64(1.0lf + x);
  }
  if (abs(x) < 5.551115123125783e-17lf) { return x; }
  return h_log1p_pair_f64(vec2<f64>(x, 0.0lf));
}""",
        ("h_is_finite_f64", "h_is_nan_f64", "h_log_edge_f64", "h_log1p_pair_f64"),
    ),
    # The logarithm of a positive finite number as a pair.
    "h_log_pair_f64": (
        with_polynomials(
            """
fn h_log_pair_f64(x: f64) -> vec2<f64> {
  let m = h_log_parts_f64(x);
  let f = h_opaque_f64(m.x - 1.0lf);
  let s = h_pair_quotient_f64(vec2<f64>(f, 0.0lf), h_fast_sum_f64(2.0lf, f));
  let z = h_pair_product_f64(s, s);
  let square = z.x;
  let t = h_fast_sum_f64(0.3333333333333333lf, square * $P);
  let cube = h_pair_product_f64(s, z);
  let rest = h_pair_product_f64(cube, vec2<f64>(t.x, t.y + 1.850371707708594e-17lf));
  let a = h_fast_sum_f64(s.x, rest.x);
  let b = h_two_sum_f64(m.y * 0.6931471805598903lf, 2.0lf * a.x);
  let low = 2.0lf * ((a.y + s.y) + rest.y) + m.y * 5.497923018708371e-14lf;
  return h_fast_sum_f64(b.x, b.y + low);
}""",
            P=("square", _S),
        ),
        (
            "h_log_parts_f64",
            "h_opaque_f64",
            "h_pair_quotient_f64",
            "h_fast_sum_f64",
            "h_two_sum_f64",
            "h_pair_product_f64",
        ),
    ),
    "h_log2_f64": (
        """
fn h_log2_f64(x: f64) -> f64 {
  if (!(x > 0.0lf && h_is_finite_f64(x))) { return h_log_edge_f64(x); }
  let scale = vec2<f64>(1.4426950408889634lf, 2.0355273740931033e-17lf);
  return h_pair_product_f64(h_log_pair_f64(x), scale).x;
}""",
        ("h_is_finite_f64", "h_log_edge_f64", "h_pair_product_f64", "h_log_pair_f64"),
    ),
    "h_log10_f64": (
        """
fn h_log10_f64(x: f64) -> f64 {
  if (!(x > 0.0lf && h_is_finite_f64(x))) { return h_log_edge_f64(x); }
  let scale = vec2<f64>(0.4342944819032518lf, 1.098319650216765e-17lf);
  return h_pair_product_f64(h_log_pair_f64(x), scale).x;
}""",
        ("h_is_finite_f64", "h_log_edge_f64", "h_pair_product_f64", "h_log_pair_f64"),
    ),
    # log(2 a) for a large a, whose double may be out of range.
    "h_log_twice_f64": (
        """
fn h_log_twice_f64(a: f64) -> f64 {
  let p = h_log_parts_f64(a);
  return h_log_sum_f64(p.x - 1.0lf, p.y + 1.0lf, 0.0lf);
}""",
        ("h_log_parts_f64", "h_log_sum_f64"),
    ),
    # log1p(a + a^2 / (1 + sqrt(1 + a^2))).
    "h_asinh_f64": (
        """
fn h_asinh_f64(x: f64) -> f64 {
  let a = abs(x);
  if (!h_is_finite_f64(x) || a < 1.0e-9lf) { return x; }
  if (a > 268435456.0lf) { return h_with_sign_f64(h_log_twice_f64(a), x); }
  let square = a * a;
  let w = h_two_sum_f64(a, square / (1.0lf + sqrt(1.0lf + square)));
  return h_with_sign_f64(h_log1p_pair_f64(w), x);
}""",
        (
            "h_is_finite_f64",
            "h_with_sign_f64",
            "h_log_twice_f64",
            "h_two_sum_f64",
            "h_log1p_pair_f64",
        ),
    ),
    # log1p(t + sqrt(t (x + 1))) with t = x - 1.
    "h_acosh_f64": (
        """
fn h_acosh_f64(x: f64) -> f64 {
  if (!(x > 1.0lf && h_is_finite_f64(x))) {
    if (x == 1.0lf) { return 0.0lf; }
    return select(x, h_no_number_f64(), x < 1.0lf);
  }
  if (x > 268435456.0lf) { return h_log_twice_f64(x); }
  let t = x - 1.0lf;
  let square = h_pair_product_f64(vec2<f64>(t, 0.0lf), h_two_sum_f64(x, 1.0lf));
  return h_log1p_pair_f64(h_pair_plus_f64(h_pair_sqrt_f64(square), t));
}""",
        (
            "h_is_finite_f64",
            "h_no_number_f64",
            "h_log_twice_f64",
            "h_pair_product_f64",
            "h_two_sum_f64",
            "h_log1p_pair_f64",
            "h_pair_plus_f64",
            "h_pair_sqrt_f64",
        ),
    ),
    # log1p(2 a / (1 - a)) / 2.
    "h_atanh_f64": (
        """
fn h_atanh_f64(x: f64) -> f64 {
  let a = abs(x);
  if (h_is_nan_f64(x) || a < 1.0e-9lf) { return x; }
  if (a >= 1.0lf) {
    return select(h_with_sign_f64(h_infinity_f64(), x), h_no_number_f64(), a > 1.0lf);
  }
  let q = h_pair_quotient_f64(vec2<f64>(2.0lf * a, 0.0lf), h_two_sum_f64(1.0lf, -a));
  return h_with_sign_f64(0.5lf * h_log1p_pair_f64(q), x);
}""",
        (
            "h_is_nan_f64",
            "h_with_sign_f64",
            "h_infinity_f64",
            "h_no_number_f64",
            "h_pair_quotient_f64",
            "h_two_sum_f64",
            "h_log1p_pair_f64",
        ),
    ),
}
