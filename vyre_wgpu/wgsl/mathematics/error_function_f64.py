"""erf and erfc for f64.

Up to 1 an odd polynomial; above, erfc from (1 + 2x) e^(x^2) erfc x as a polynomial in
(x - 4) / (x + 4) (M. M. Shepherd and J. G. Laframboise, Chebyshev approximation of
(1 + 2x) exp(x^2) erfc x in 0 <= x < infinity, Math. Comp. 36, 1981), with fits of our own and the
square in the exponent as a pair.
"""

from __future__ import annotations

from .polynomial import Entries
from .polynomial_f64 import with_polynomials

__all__ = ["ENTRIES"]

# (erf(x) / x - 2 / sqrt(pi)) / x^2 in x^2 for |x| <= 1.
_ERF = (
    -0.37612638903183754,
    0.11283791670955125,
    -0.026866170645131082,
    0.005223977625438469,
    -0.0008548327023024696,
    0.0001205533295270044,
    -1.4925649082364785e-05,
    1.6462076794793434e-06,
    -1.6365085592632062e-07,
    1.4796618901290416e-08,
    -1.219035624032117e-09,
    8.800680090460203e-11,
    -4.374621450325064e-12,
)
# ((1 + 2x) e^(x^2) erfc x - its value at 4) / t in t = (x - 4) / (x + 4) for 0.49 < x < 28.
_ERFC = (
    -0.1396211168405625,
    0.01537965210262004,
    0.06809705425469159,
    -0.10103906603632463,
    0.09373283499839369,
    -0.06633036581167014,
    0.03716751553670159,
    -0.016197734065442507,
    0.005031969985146077,
    -0.0007577732260131614,
    -0.00019925673053188418,
    0.00015062135677396975,
    -2.4399119984840275e-05,
    -1.1220991685838737e-05,
    5.709648278069725e-06,
    2.9165616181519235e-07,
    -8.256176124083019e-07,
    7.739655110070957e-08,
    1.1069661128104689e-07,
    -1.9922854200681606e-08,
    -1.4823037515491971e-08,
    2.4692089517312564e-09,
    1.564345223351727e-09,
)

ENTRIES: Entries = {
    "h_erf_rest_f64": (
        with_polynomials(
            """
fn h_erf_rest_f64(x: f64) -> f64 {
  let z = x * x;
  return x * (0.1283791670955126lf + z * $P);
}""",
            P=("z", _ERF),
        ),
        (),
    ),
    # erfc for 0.5 <= a <= 28.
    "h_erfc_tail_f64": (
        with_polynomials(
            """
fn h_erfc_tail_f64(a: f64) -> f64 {
  let t = (a - 4.0lf) / (a + 4.0lf);
  let f = h_fast_sum_f64(1.2329951186255526lf, t * $P - 4.625318921008717e-17lf);
  let square = -h_two_product_f64(a, a);
  let k = h_exp_steps_f64(square.x);
  let top = h_pair_product_f64(h_exp_significand_f64(square, k), f);
  let q = h_pair_quotient_f64(top, h_fast_sum_f64(2.0lf * a, 1.0lf));
  let power = i32(k) + select(0i, -5i, a > 8.0lf);
  return h_scale_f64(q.x * select(1.0lf, 32.0lf, a > 8.0lf), power);
}""",
            P=("t", _ERFC),
        ),
        (
            "h_fast_sum_f64",
            "h_two_product_f64",
            "h_exp_steps_f64",
            "h_pair_product_f64",
            "h_exp_significand_f64",
            "h_pair_quotient_f64",
            "h_scale_f64",
        ),
    ),
    "h_erf_f64": (
        """
fn h_erf_f64(x: f64) -> f64 {
  if (h_is_nan_f64(x)) { return x; }
  let a = abs(x);
  if (a < 1.0e-9lf) { return x * 1.1283791670955126lf; }
  if (a <= 1.0lf) { return x + h_erf_rest_f64(x); }
  return h_with_sign_f64(1.0lf - h_erfc_tail_f64(min(a, 7.0lf)), x);
}""",
        ("h_is_nan_f64", "h_erf_rest_f64", "h_with_sign_f64", "h_erfc_tail_f64"),
    ),
    "h_erfc_f64": (
        """
fn h_erfc_f64(x: f64) -> f64 {
  if (h_is_nan_f64(x)) { return x; }
  let a = abs(x);
  if (a <= 0.5lf) {
    let s = h_fast_sum_f64(1.0lf, -x);
    return s.x + (s.y - h_erf_rest_f64(x));
  }
  let tail = h_erfc_tail_f64(min(a, 28.0lf));
  return select(tail, 2.0lf - tail, x < 0.0lf);
}""",
        ("h_is_nan_f64", "h_fast_sum_f64", "h_erf_rest_f64", "h_erfc_tail_f64"),
    ),
}
