"""exp, exp2, expm1 and sigmoid for f32.

Reduction as of Cody and Waite (Software Manual for the Elementary Functions, 1980): k is the
integer nearest to x / ln 2, and the first part of ln 2 is short, so that its product with k is
exact, whether or not the driver contracts. Polynomials are minimax fits (Lawson's iteration), the
coefficients rounded to f32 one after the other.
"""

from __future__ import annotations

from .polynomial import Entries, with_polynomials

__all__ = ["ENTRIES"]

# (exp(r) - 1 - r) / r^2 on abs(r) <= ln(2) / 2; error 2^-28 of exp(r).
_EXP = (0.49999994, 0.1666652, 0.04166826, 0.008368857, 0.0013821768)
# (2^r - 1) / r on abs(r) <= 1/2; error 2^-28 of 2^r.
_EXP2 = (0.6931472, 0.24022648, 0.055503592, 0.009618505, 0.0013391242, 0.000153275)
# (exp(r) - 1 - r) / r^2, with an error of 2^-31 of expm1(r).
_EXPM1 = (0.5, 0.16666666, 0.041666493, 0.008333543, 0.0013932388, 0.00019764433)

ENTRIES: Entries = {
    # m * 2^k for a result that may be subnormal or infinite: two factors, each a normal number.
    "h_scale_f32": (
        """
fn h_scale_f32(m: f32, k: i32) -> f32 {
  let half = k >> 1u;
  let scaled = h_opaque_f32(m * bitcast<f32>((half + 127i) << 23u));
  return scaled * bitcast<f32>((k - half + 127i) << 23u);
}""",
        ("h_opaque_f32",),
    ),
    # y, but NaN where x is NaN: a driver may make minima of the selections that limit x.
    "h_keep_nan_f32": (
        """
fn h_keep_nan_f32(x: f32, y: f32) -> f32 {
  let no_number = (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
  return select(y, bitcast<f32>(0x7fc00000u | d.zero), no_number);
}""",
        (),
    ),
    # The integer nearest to a, abs(a) < 2^22: the sum's low bits hold it.
    "h_nearest_f32": (
        """
fn h_nearest_f32(a: f32) -> i32 {
  return bitcast<i32>(a + 12582912.0f) - 0x4b400000i;
}""",
        (),
    ),
    # factor * exp(x + low) * 2^shift, low tiny beside x.
    "h_exp_sum_f32": (
        with_polynomials(
            """
fn h_exp_sum_f32(argument: f32, low: f32, shift: i32, factor: f32) -> f32 {
  let x = select(select(argument, 100.0f, argument > 100.0f), -110.0f, argument < -110.0f);
  let k = h_nearest_f32(x * 1.442695f);
  let n = f32(k);
  let r = (h_opaque_f32(x - n * 0.693359375f) + n * 0.00021219444f) + low;
  let e = factor + factor * (r + (r * r) * $P);
  return h_keep_nan_f32(argument, h_scale_f32(e, k + shift));
}""",
            P=("r", _EXP),
        ),
        ("h_nearest_f32", "h_opaque_f32", "h_scale_f32", "h_keep_nan_f32"),
    ),
    "h_exp_f32": (
        """
fn h_exp_f32(x: f32) -> f32 {
  return h_exp_sum_f32(x, 0.0f, 0i, 1.0f);
}""",
        ("h_exp_sum_f32",),
    ),
    # factor * 2^(x + low), abs(x + low) <= 250. The sum is opaque: Mesa adds constants first, and
    # would round the low part by itself.
    "h_exp2_sum_f32": (
        with_polynomials(
            """
fn h_exp2_sum_f32(x: f32, low: f32, factor: f32) -> f32 {
  let k = h_nearest_f32(h_opaque_f32(x + low));
  let r = h_opaque_f32(x - f32(k)) + low;
  return h_scale_f32(factor * (1.0f + r * $P), k);
}""",
            P=("r", _EXP2),
        ),
        ("h_nearest_f32", "h_opaque_f32", "h_scale_f32"),
    ),
    "h_exp2_f32": (
        """
fn h_exp2_f32(x: f32) -> f32 {
  let within = select(select(x, 150.0f, x > 150.0f), -160.0f, x < -160.0f);
  return h_keep_nan_f32(x, h_exp2_sum_f32(within, 0.0f, 1.0f));
}""",
        ("h_exp2_sum_f32", "h_keep_nan_f32"),
    ),
    # 2^k (expm1(r) + (1 - 2^-k)): no digits are lost, since the parentheses are exact.
    "h_expm1_f32": (
        with_polynomials(
            """
fn h_expm1_f32(argument: f32) -> f32 {
  let x = select(select(argument, 100.0f, argument > 100.0f), -20.0f, argument < -20.0f);
  let k = h_nearest_f32(x * 1.442695f);
  let n = f32(k);
  let r = h_opaque_f32(x - n * 0.693359375f) + n * 0.00021219444f;
  let p = r + (r * r) * $P;
  let rest = h_opaque_f32(1.0f - bitcast<f32>((127i - min(k, 40i)) << 23u));
  let y = h_keep_nan_f32(argument, h_scale_f32(p + rest, k));
  return select(y, argument, abs(argument) < 1e-8f);
}""",
            P=("r", _EXPM1),
        ),
        ("h_nearest_f32", "h_opaque_f32", "h_scale_f32", "h_keep_nan_f32"),
    ),
    # 1 / (1 + exp(-x)), and exp(x) times that of -x left of 0; the quotient with a Newton step.
    "h_sigmoid_f32": (
        """
fn h_sigmoid_f32(x: f32) -> f32 {
  let e = h_exp_f32(-abs(x));
  let below = 1.0f + e;
  let inverse = h_div_f32(1.0f, below);
  let y = select(1.0f, e, x < 0.0f) * inverse;
  return y + y * (1.0f - inverse * below);
}""",
        ("h_exp_f32", "h_div_f32"),
    ),
}
