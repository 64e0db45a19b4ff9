"""gamma and lgamma for f32.

The recurrence leads arguments below 8 into [2, 3], where polynomials (minimax fits) give gamma and
lgamma(2 + f) / f; beyond 8 Stirling's series serves, for gamma in base 2 with pow's logarithm as a
sum of two floats. Negative arguments go through the reflection formula, with sin(pi x) of the exact
distance from the nearest integer.
"""

from __future__ import annotations

from .polynomial import Entries, with_polynomials

__all__ = ["ENTRIES"]

# gamma(2.5 + f), abs(f) <= 1/2.
_GAMMA = (
    1.3293403, 0.93473446, 0.6545643, 0.25387514, 0.10956932, 0.028316496, 0.010993744,
    0.0017325785, -0.0003238686,
)  # fmt: skip
# lgamma(2 + f) / f on [-0.7, 1]; error 2^-29 but for the first coefficient's.
_LGAMMA = (
    0.42278433, 0.32246703, -0.06735181, 0.020580994, -0.007391494, 0.0028902541, -0.0011667889,
    0.0005020887, -0.00026938962, 0.0001279621, -2.1496917e-05, -4.487577e-06,
)  # fmt: skip
# (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2) x of 1 / x^2, x >= 8.
_STIRLING = (0.083333276, -0.002762651)

# Factors of the recurrence, each where the distance n to [2, 3] asks for it. No loops: a shader
# compiler that unrolls them takes seconds.
_UP = "\n".join(f"  up = up * select(1.0f, x - {k}.0f, n >= {k}.0f);" for k in range(1, 6))
_DOWN = "\n".join(
    f"  down = down * select(1.0f, {f'x + {k}.0f' if k else 'x'}, n <= {-1 - k}.0f);"
    for k in range(10)
)

ENTRIES: Entries = {
    # What Stirling's formula lacks, for x >= 8.
    "h_stirling_f32": (
        with_polynomials(
            """
fn h_stirling_f32(x: f32) -> f32 {
  let u = h_div_f32(1.0f, x);
  let z = u * u;
  return u * $P;
}""",
            P=("z", _STIRLING),
        ),
        ("h_div_f32",),
    ),
    # factor * gamma(a)^(+-1), a in [8, 50]. log2(e) = 1477/1024 + 0.0003122284.
    "h_gamma_stirling_f32": (
        """
fn h_gamma_stirling_f32(a: f32, inverse: bool, factor: f32) -> f32 {
  let t = h_log2_pair_f32(a);
  let y = a - 0.5f;
  let y_top = h_top_f32(y);
  let a_top = h_top_f32(a);
  let high = y_top * t.x - a_top * 1.4423828f;
  let less = a_top * 0.0003122284f + h_opaque_f32(a - a_top) * 1.442695f;
  let more = 1.3257481f + h_stirling_f32(a) * 1.442695f;
  let low = (h_opaque_f32(y - y_top) * t.x + y * t.y) + (more - less);
  return h_exp2_sum_f32(select(high, -high, inverse), select(low, -low, inverse), factor);
}""",
        ("h_log2_pair_f32", "h_top_f32", "h_opaque_f32", "h_stirling_f32", "h_exp2_sum_f32"),
    ),
    # gamma for abs(x) < 8: y = x - n in [2, 3], and the factors between x and y.
    "h_gamma_recurrence_f32": (
        with_polynomials(
            """
fn h_gamma_recurrence_f32(x: f32) -> f32 {
  let n = floor(x) - 2.0f;
  var up = 1.0f;
$UP
  var down = 1.0f;
$DOWN
  let f = (x - n) - 2.5f;
  return h_quotient_f32(up * $P, down);
}""".replace("$UP", _UP).replace("$DOWN", _DOWN),
            P=("f", _GAMMA),
        ),
        ("h_quotient_f32",),
    ),
    # gamma(-a) = -pi / (a sin(pi a) gamma(a)), where a's distance from an integer gives the sine.
    "h_gamma_far_f32": (
        """
fn h_gamma_far_f32(x: f32) -> f32 {
  let a = abs(x);
  let within = select(a, 50.0f, a > 50.0f);
  let limited = select(a, 8388608.0f, a > 8388608.0f);
  let nearest = round(limited);
  let sine = h_sinpi_reduced_f32(limited - nearest);
  let odd = (i32(nearest) & 1i) == 1i;
  let below = select(within * sine, 1.0f, sine == 0.0f);
  let factor = h_quotient_f32(select(-3.1415927f, 3.1415927f, odd), below);
  return h_gamma_stirling_f32(within, x < 0.0f, select(factor, 1.0f, x > 0.0f));
}""",
        ("h_gamma_stirling_f32", "h_sinpi_reduced_f32", "h_quotient_f32"),
    ),
    "h_gamma_f32": (
        """
fn h_gamma_f32(x: f32) -> f32 {
  var y = 0.0f;
  if (abs(x) < 8.0f) {
    y = h_gamma_recurrence_f32(x);
  } else {
    y = h_gamma_far_f32(x);
  }
  let bits = bitcast<u32>(x);
  let size = bits & 0x7fffffffu;
  let pole = size >= 0x800000u && x < 0.0f && x == floor(x);
  let edge = select(select(0x7fc00000u, 0x7f800000u, x > 0.0f), bits | 0x7f800000u, size == 0u);
  return select(bitcast<f32>(edge), y, size < 0x7f800000u && !pole);
}""",
        ("h_gamma_recurrence_f32", "h_gamma_far_f32"),
    ),
    # lgamma for x > -1/2.
    "h_lgamma_right_f32": (
        with_polynomials(
            """
fn h_lgamma_right_f32(x: f32) -> f32 {
  let n = select(0.0f, floor(x) - 2.0f, x >= 3.0f);
  var up = 1.0f;
$UP
  let left = select(x, abs(x + x * x), x < 0.5f);
  let argument = select(select(up, left, x < 1.3f), x, x >= 8.0f);
  let f = select(select(x - n - 2.0f, x - 1.0f, x < 1.3f), x, x < 0.5f);
  let logarithm = h_log_f32(argument);
  let near = f * $P + select(-logarithm, logarithm, x >= 3.0f);
  let far = (x - 0.5f) * (logarithm - 1.0f) + (h_stirling_f32(max(x, 8.0f)) + 0.41893853f);
  return select(near, far, x >= 8.0f);
}""".replace("$UP", _UP),
            P=("f", _LGAMMA),
        ),
        ("h_log_f32", "h_stirling_f32"),
    ),
    "h_lgamma_f32": (
        """
fn h_lgamma_f32(x: f32) -> f32 {
  let size = bitcast<u32>(x) & 0x7fffffffu;
  var y = h_lgamma_right_f32(select(x, -x, x <= -0.5f));
  if (x <= -0.5f) {
    let sine = abs(h_sinpi_reduced_f32(x - round(x)));
    y = h_log_f32(h_div_f32(3.1415927f, abs(x) * sine)) - y;
  }
  let pole = size == 0x7f800000u || (x <= 0.0f && x == floor(x));
  let edge = bitcast<f32>(select(0x7fc00000u, 0x7f800000u, pole));
  return select(y, edge, pole || size > 0x7f800000u);
}""",
        ("h_lgamma_right_f32", "h_log_f32", "h_sinpi_reduced_f32", "h_div_f32"),
    ),
}
