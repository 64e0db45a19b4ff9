"""erf and erfc for f32.

As Cody does (Rational Chebyshev approximations for the error function, 1969), x erf's range is cut
at 1, and erfc's tail is exp(-x^2) times a function without exponential behaviour; the latter as of
Shepherd and Laframboise (1981), a polynomial in (x - 2) / (x + 2). Both are minimax fits.
"""

from __future__ import annotations

from .polynomial import Entries, with_polynomials

__all__ = ["ENTRIES"]

# erf(x) / x - 1 of x^2 on [0, 1]; error 2^-29.
_ERF = (
    0.12837917, -0.37612626, 0.11283579, -0.026853347, 0.0051871627, -0.00079978653, 7.806981e-05,
)  # fmt: skip
# -log(erfc(x)) on [1, 4]; error 2^-29 of 1.
_MINUS_LOG_ERFC = (
    0.00035370892, 1.12704, 0.6382258, 0.103037156, -0.021805152, 0.002939547, -0.00018556567,
)  # fmt: skip
# (1 + 2x) exp(x^2) erfc(x) of (x - 2) / (x + 2), x in [0.81, 10.1]; error 2^-27.
_ERFC = (
    1.2769784, -0.092763826, -0.1660296, 0.16405056, -0.05423312, -0.008011188, 0.00879122,
    0.0010877324, -0.0015220889,
)  # fmt: skip

ENTRIES: Entries = {
    # erf(x) - x on [-1, 1].
    "h_erf_tail_f32": (
        with_polynomials(
            """
fn h_erf_tail_f32(x: f32) -> f32 {
  let z = x * x;
  return x * $P;
}""",
            P=("z", _ERF),
        ),
        (),
    ),
    "h_erf_f32": (
        with_polynomials(
            """
fn h_erf_f32(x: f32) -> f32 {
  let a = abs(x);
  let b = select(a, 4.0f, a > 4.0f);
  let big = 1.0f - h_exp_sum_f32(-$P, 0.0f, 0i, 1.0f);
  let signed = bitcast<f32>(bitcast<u32>(big) | (bitcast<u32>(x) & 0x80000000u));
  let small = select(x + h_erf_tail_f32(x), x * 1.1283792f, a < 1e-6f);
  let y = select(small, signed, a > 1.0f);
  // A subnormal is a number of units of 2^-149, which no device flushes as an integer.
  let units = bitcast<u32>(x) & 0x7fffffffu;
  let most = u32(round(f32(units) * 1.1283792f)) | (bitcast<u32>(x) & 0x80000000u);
  return h_keep_nan_f32(x, select(y, bitcast<f32>(most), units < 0x800000u));
}""",
            P=("b", _MINUS_LOG_ERFC),
        ),
        ("h_exp_sum_f32", "h_erf_tail_f32", "h_keep_nan_f32"),
    ),
    # The square is a sum of two floats; what 1 / (1 + 2x) lacks goes into the exponent.
    "h_erfc_f32": (
        with_polynomials(
            """
fn h_erfc_f32(x: f32) -> f32 {
  let a = abs(x);
  let b = select(a, 11.0f, a > 11.0f);
  let q = h_div_f32(b - 2.0f, b + 2.0f);
  let below = 1.0f + 2.0f * b;
  let r = h_div_f32(1.0f, below);
  let top = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
  let low = h_opaque_f32(1.0f - r * below) - h_opaque_f32(b - top) * (b + top);
  let tail = h_exp_sum_f32(-(top * top), low, 0i, $P * r);
  let middle = 1.0f - (x + h_erf_tail_f32(x));
  let y = select(select(tail, 2.0f - tail, x < 0.0f), middle, a < 0.8125f);
  return h_keep_nan_f32(x, y);
}""",
            P=("q", _ERFC),
        ),
        ("h_exp_sum_f32", "h_erf_tail_f32", "h_div_f32", "h_opaque_f32", "h_keep_nan_f32"),
    ),
}
