"""gamma and lgamma for f64.

Below 8 by the recurrence from 1 / gamma(1 + u) = 1 + u (C + u r(u)), a polynomial of our own fit
(C is Euler's constant; the reciprocal is entire: J. W. Wrench, Concerning two series for the gamma
function, Math. Comp. 22, 1968); from 8 on by Stirling's series; negative arguments by Euler's
reflection gamma(-y) = -pi / (y sin(pi y) gamma(y)). All of it in pairs, so that the logarithms of
large and of cancelling factors lose little.
"""

from __future__ import annotations

from .polynomial import Entries
from .polynomial_f64 import with_polynomials

__all__ = ["ENTRIES"]

# ((1 / gamma(1 + u) - 1) / u - C) / u for -1/4 <= u <= 3/4.
_R = (
    -0.6558780715202539,
    -0.04200263503409524,
    0.16653861138229062,
    -0.04219773455554305,
    -0.009621971527794605,
    0.007218943246430377,
    -0.0011651675944507024,
    -0.0002152416626394363,
    0.0001280503039520202,
    -2.0135054138675835e-05,
    -1.2502420252161569e-06,
    1.1338488935669046e-06,
    -2.0887469972321819e-07,
    1.0883156287164288e-08,
    1.5005318634597106e-09,
)
# x (log gamma(x) - Stirling's leading terms) in 1 / x^2 for x >= 8.
_STIRLING = (
    0.08333333333333333,
    -0.002777777777773988,
    0.0007936507897524059,
    -0.0005952365845057049,
    0.0008414700852503147,
    -0.001890382993887715,
    0.005065905360156132,
)

# gamma(1 + u) = u gamma(u) while u >= 3/4, else a factor of 1. Written out: a driver's limit on
# iterations does not count it, and it compiles faster than branches.
_STEP = """
  more = u >= 0.75lf;
  top = h_pair_product_f64(top, vec2<f64>(select(1.0lf, u, more), 0.0lf));
  u = select(u, u - 1.0lf, more);"""

ENTRIES: Entries = {
    # u r(u), so that 1 / gamma(1 + u) = 1 + u (C + u r(u)).
    "h_gamma_rest_f64": (
        with_polynomials(
            """
fn h_gamma_rest_f64(u: f64) -> f64 {
  return u * $P;
}""",
            P=("u", _R),
        ),
        (),
    ),
    # 1 / gamma(1 + u) - 1.
    "h_gamma_inverse_f64": (
        """
fn h_gamma_inverse_f64(u: f64) -> vec2<f64> {
  let s = h_fast_sum_f64(0.5772156649015329lf, h_gamma_rest_f64(u));
  return h_pair_product_f64(vec2<f64>(s.x, s.y - 4.942915152430645e-18lf), vec2<f64>(u, 0.0lf));
}""",
        ("h_fast_sum_f64", "h_gamma_rest_f64", "h_pair_product_f64"),
    ),
    # gamma(x) for 0 < x < 8 as a quotient: x - j is exact wherever it is used.
    "h_gamma_small_f64": (
        """
struct h_fraction_f64 { top: vec2<f64>, bottom: vec2<f64> }
fn h_gamma_small_f64(x: f64) -> h_fraction_f64 {
  let is_tiny = x < 0.75lf;
  var u = select(x - 1.0lf, x, is_tiny);
  var more = u >= 0.75lf;
  var top = vec2<f64>(select(1.0lf, u, more), 0.0lf);
  u = select(u, u - 1.0lf, more);
  STEPS
  let inverse = h_pair_plus_f64(h_gamma_inverse_f64(u), 1.0lf);
  let bottom = h_pair_product_f64(inverse, vec2<f64>(select(1.0lf, x, is_tiny), 0.0lf));
  return h_fraction_f64(top, bottom);
}""".replace("STEPS", (_STEP * 6).strip()),
        ("h_pair_product_f64", "h_pair_plus_f64", "h_gamma_inverse_f64"),
    ),
    # log gamma(x) for 8 <= x < 2^60: (x - 1/2) (log x - 1) + log(2 pi) / 2 - 1/2 + series / x.
    "h_stirling_f64": (
        with_polynomials(
            """
fn h_stirling_f64(x: f64, log: vec2<f64>) -> vec2<f64> {
  let w = 1.0lf / x;
  let z = w * w;
  let main = h_pair_product_f64(h_pair_plus_f64(log, -1.0lf), h_two_sum_f64(x, -0.5lf));
  let rest = h_fast_sum_f64(0.4189385332046727lf, w * $P);
  let s = h_fast_sum_f64(main.x, rest.x);
  return h_fast_sum_f64(s.x, s.y + (main.y + (rest.y + 1.6728209650585413e-17lf)));
}""",
            P=("z", _STIRLING),
        ),
        (
            "h_pair_product_f64",
            "h_pair_plus_f64",
            "h_two_sum_f64",
            "h_fast_sum_f64",
        ),
    ),
    # sin(pi y) for y >= 0; 0 where y is an integer.
    "h_sin_pi_f64": (
        """
fn h_sin_pi_f64(y: f64) -> vec2<f64> {
  let n = floor(y + 0.5lf);
  let r = y - n;
  let size = abs(r);
  let is_far = size > 0.25lf;
  let turn = vec2<f64>(select(size, 0.5lf - size, is_far), 0.0lf);
  let angle = h_pair_product_f64(turn, vec2<f64>(3.141592653589793lf, 1.2246467991473532e-16lf));
  let value = select(h_sin_rest_f64(angle), h_cos_rest_f64(angle), is_far);
  return select(value, -value, h_is_odd_f64(n) != (r < 0.0lf));
}""",
        ("h_pair_product_f64", "h_sin_rest_f64", "h_cos_rest_f64", "h_is_odd_f64"),
    ),
    # -pi / (y sin(pi y)).
    "h_reflection_f64": (
        """
fn h_reflection_f64(y: f64) -> vec2<f64> {
  let sine = h_pair_product_f64(h_sin_pi_f64(y), vec2<f64>(y, 0.0lf));
  return h_pair_quotient_f64(vec2<f64>(-3.141592653589793lf, -1.2246467991473532e-16lf), sine);
}""",
        ("h_pair_product_f64", "h_sin_pi_f64", "h_pair_quotient_f64"),
    ),
    "h_gamma_f64": (
        """
fn h_gamma_f64(x: f64) -> f64 {
  if (h_is_nan_f64(x)) { return x; }
  let y = abs(x);
  if (y < 8.0e-19lf) { return select(1.0lf / x, h_with_sign_f64(h_infinity_f64(), x), y == 0.0lf); }
  let is_negative = x < 0.0lf;
  if (is_negative && floor(x) == x) { return h_no_number_f64(); }
  var factor = vec2<f64>(1.0lf, 0.0lf);
  if (is_negative) { factor = h_reflection_f64(y); }
  if (y < 8.0lf) {
    let g = h_gamma_small_f64(y);
    let top = select(g.top, h_pair_product_f64(factor, g.bottom), is_negative);
    return h_pair_quotient_f64(top, select(g.bottom, g.top, is_negative)).x;
  }
  let size = min(y, 200.5lf);
  let log = h_stirling_f64(size, h_log_pair_f64(size));
  let e = select(log, -log, is_negative);
  let k = h_exp_steps_f64(e.x);
  // y sin(pi y) may be small or large: the factor is brought near 1 first.
  let part = h_split_f64(abs(factor.x));
  let near = factor * h_power_of_two_f64(-i32(part.y));
  let value = h_pair_product_f64(h_exp_significand_f64(e, k), near);
  return h_scale_f64(value.x, i32(k) + i32(part.y));
}""",
        (
            "h_is_nan_f64",
            "h_with_sign_f64",
            "h_infinity_f64",
            "h_no_number_f64",
            "h_gamma_small_f64",
            "h_pair_quotient_f64",
            "h_pair_product_f64",
            "h_reflection_f64",
            "h_stirling_f64",
            "h_log_pair_f64",
            "h_exp_steps_f64",
            "h_exp_significand_f64",
            "h_split_f64",
            "h_power_of_two_f64",
            "h_scale_f64",
        ),
    ),
    # The logarithm of a pair of either sign.
    "h_log_of_pair_f64": (
        """
fn h_log_of_pair_f64(a: vec2<f64>) -> vec2<f64> {
  return h_pair_plus_f64(h_log_pair_f64(abs(a.x)), a.y / a.x);
}""",
        ("h_pair_plus_f64", "h_log_pair_f64"),
    ),
    # For 3/4 <= x < 11/4, accurate around the zeros at 1 and 2:
    # -log(1 / gamma(1 + u)), and log((1 + u) gamma(1 + u)) = log1p(u (1 - C - u r) / (1 + ...)).
    "h_lgamma_middle_f64": (
        """
fn h_lgamma_middle_f64(x: f64) -> f64 {
  let is_low = x < 1.75lf;
  let u = x - select(2.0lf, 1.0lf, is_low);
  let inverse = h_gamma_inverse_f64(u);
  let s = h_two_sum_f64(0.42278433509846713lf, -h_gamma_rest_f64(u));
  let top = h_pair_product_f64(vec2<f64>(s.x, s.y + 4.942915152430645e-18lf), vec2<f64>(u, 0.0lf));
  let other = h_pair_quotient_f64(top, h_pair_plus_f64(inverse, 1.0lf));
  let log = h_log1p_pair_f64(select(other, inverse, is_low));
  return select(log, -log, is_low);
}""",
        (
            "h_gamma_inverse_f64",
            "h_log1p_pair_f64",
            "h_two_sum_f64",
            "h_gamma_rest_f64",
            "h_pair_product_f64",
            "h_pair_quotient_f64",
            "h_pair_plus_f64",
        ),
    ),
    "h_lgamma_f64": (
        """
fn h_lgamma_f64(x: f64) -> f64 {
  if (h_is_nan_f64(x)) { return x; }
  let y = abs(x);
  let is_negative = x < 0.0lf;
  if (h_is_inf_f64(x) || (x <= 0.0lf && floor(x) == x)) { return h_infinity_f64(); }
  if (x == 1.0lf || x == 2.0lf) { return 0.0lf; }
  if (x >= 0.75lf && x < 2.75lf) { return h_lgamma_middle_f64(x); }
  let is_tiny = y < 8.0e-19lf;
  let is_small = y < 8.0lf;
  var factor = vec2<f64>(1.0lf, 0.0lf);
  if (is_negative) { factor = h_reflection_f64(y); }
  // The logarithm of gamma itself, of 1 / gamma where x is tiny, or of a large argument.
  var a = vec2<f64>(y, 0.0lf);
  if (is_small && !is_tiny) {
    let g = h_gamma_small_f64(y);
    let top = select(g.top, h_pair_product_f64(factor, g.bottom), is_negative);
    a = h_pair_quotient_f64(top, select(g.bottom, g.top, is_negative));
  }
  let log = h_log_of_pair_f64(a);
  if (is_small) { return select(log.x, -log.x, is_tiny); }
  if (y >= 1.0e17lf) { return y * (log.x - 1.0lf); }
  let s = h_stirling_f64(y, log);
  if (!is_negative) { return s.x; }
  let f = h_log_of_pair_f64(factor);
  let sum = h_two_sum_f64(f.x, -s.x);
  return sum.x + (sum.y + (f.y - s.y));
}""",
        (
            "h_is_nan_f64",
            "h_is_inf_f64",
            "h_infinity_f64",
            "h_lgamma_middle_f64",
            "h_reflection_f64",
            "h_gamma_small_f64",
            "h_pair_product_f64",
            "h_pair_quotient_f64",
            "h_log_of_pair_f64",
            "h_stirling_f64",
            "h_two_sum_f64",
        ),
    ),
}
