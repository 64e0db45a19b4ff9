"""sin, cos, tan for f64.

Arguments below 10^6 are reduced by multiples of pi/2 in four parts (Cody and Waite); the others
by the bits of 2/pi that matter for them (M. Payne and R. Hanek, Radian reduction for trigonometric
functions, SIGNUM Newsletter 18, 1983). Both give the rest as a pair. The polynomials are our own
fits for |x| <= pi/4.
"""

from __future__ import annotations

from .polynomial import Entries
from .polynomial_f64 import with_polynomials

__all__ = ["ENTRIES"]

# ((sin x - x) / x^3 + 1/6) / x^2 and (cos x - 1 + x^2 / 2) / x^4 in x^2.
_SIN = (
    0.008333333333333333,
    -0.0001984126984126887,
    2.755731922218767e-06,
    -2.5052107165813535e-08,
    1.6058669839996923e-10,
    -7.594273214416658e-13,
)
_COS = (
    0.041666666666666664,
    -0.0013888888888887241,
    2.480158729853226e-05,
    -2.7557317151858866e-07,
    2.0876121534608454e-09,
    -1.1380868171449914e-11,
)

# 64 zeros and 2/pi to 1,216 bits behind the binary point, 32 to a word.
_TWO_OVER_PI = (
    "0000000000000000"
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea"
    "09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b"
    "1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f7"
    "8a5292ea6bfb5fb11f8d5d0856033046fc7b6bab"
)


def _seven_words() -> str:
    """Seven words of the table from word i <= 33 on, in eight, by selections.

    Halves of what is left are chosen by the bits of i from above: an array of constants would be
    filled anew in each call, and drivers would index it in memory.
    """
    words = [f"0x{_TWO_OVER_PI[k : k + 8]}u" for k in range(0, len(_TWO_OVER_PI), 8)]
    names = [f"vec4<u32>({', '.join(words[k : k + 4])})" for k in range(0, len(words), 4)]
    names.append("vec4<u32>()")
    lines = []
    for step, left in ((8, 10), (4, 6), (2, 4), (1, 3)):
        chosen = []
        for k in range(left):
            if k + step < len(names):
                lines.append(f"let s{step}_{k} = select({names[k]}, {names[k + step]}, b{step});")
                chosen.append(f"s{step}_{k}")
            else:
                chosen.append(names[k])
        names = chosen
    return "\n  ".join(lines)


ENTRIES: Entries = {
    # x = r + n pi/2 with |r| <= pi/4 or a little more, n modulo 4.
    "h_quadrant_f64": (
        """
struct h_angle_f64 { r: vec2<f64>, n: u32 }
fn h_quadrant_f64(size: f64) -> h_angle_f64 {
  if (size >= 1.0e6lf) { return h_far_quadrant_f64(size); }
  let n = floor(size * 0.6366197723675814lf + 0.5lf);
  let a = h_two_sum_f64(size - n * 1.5707963267341256lf, -(n * 6.077100506303966e-11lf));
  let b = h_two_sum_f64(a.x, -(n * 2.0222662487111665e-21lf));
  let low = (a.y + b.y) - n * 8.4784276603689e-32lf;
  return h_angle_f64(h_fast_sum_f64(b.x, low), u32(n) & 3u);
}""",
        ("h_far_quadrant_f64", "h_two_sum_f64", "h_fast_sum_f64"),
    ),
    # 192 bits of 2/pi from the first on whose product with the significand is not a multiple of 4.
    "h_far_quadrant_f64": (
        """
fn h_far_quadrant_f64(size: f64) -> h_angle_f64 {
  let bits = bitcast<u64>(size);
  let first = u32(bits >> 52u) - 1013u;
  let significand = (bits & 0xffffffffffffflu) | 0x10000000000000lu;
  let words = h_two_over_pi_f64(first >> 5u);
  // Hidden: llvmpipe shifts 64-bit values wrongly by some counts that it can fold.
  let left = (first & 31u) | d.zero;
  let w0 = h_window_f64(words.a.x, words.a.y, words.a.z, left);
  let w1 = h_window_f64(words.a.z, words.a.w, words.b.x, left);
  let w2 = h_window_f64(words.b.x, words.b.y, words.b.z, left);
  let p2 = significand * w2;
  let m1 = significand * w1;
  let p1 = m1 + h_mul_high_u64(significand, w2);
  let carry = select(0lu, 1lu, p1 < m1);
  let p0 = significand * w0 + h_mul_high_u64(significand, w1) + carry;
  // p0 has the quadrant in its upper two bits; a fraction of a half and more counts down from 1.
  let f0 = (p0 << 2u) | (p1 >> 62u);
  let f1 = (p1 << 2u) | (p2 >> 62u);
  let f2 = p2 << 2u;
  let is_above = (f0 >> 63u) != 0lu;
  let flip = select(0lu, ~0lu, is_above);
  let a = f0 ^ flip;
  let b = f1 ^ flip;
  let c = f2 ^ flip;
  let high = f64(u32(a >> 32u)) * 2.3283064365386963e-10lf;
  let s = h_two_sum_f64(high, f64(u32(a & 0xfffffffflu)) * 5.421010862427522e-20lf);
  let t = h_two_sum_f64(f64(u32(b >> 32u)) * 1.262177448353619e-29lf,
    f64(u32(b & 0xfffffffflu)) * 2.938735877055719e-39lf);
  let low = s.y + (t.x + (t.y + f64(u32(c >> 32u)) * 6.842277657836021e-49lf));
  let turn = h_fast_sum_f64(s.x, low);
  let r = h_pair_product_f64(turn, vec2<f64>(1.5707963267948966lf, 6.123233995736766e-17lf));
  let n = u32(p0 >> 62u) + select(0u, 1u, is_above);
  return h_angle_f64(select(r, -r, is_above), n & 3u);
}""",
        (
            "h_two_over_pi_f64",
            "h_window_f64",
            "h_mul_high_u64",
            "h_two_sum_f64",
            "h_fast_sum_f64",
            "h_pair_product_f64",
        ),
    ),
    "h_two_over_pi_f64": (
        """
struct h_words_f64 { a: vec4<u32>, b: vec4<u32> }
fn h_two_over_pi_f64(i: u32) -> h_words_f64 {
  let b8 = (i & 32u) != 0u;
  let b4 = (i & 16u) != 0u;
  let b2 = (i & 8u) != 0u;
  let b1 = (i & 4u) != 0u;
  SELECTIONS
  let is_by_two = (i & 2u) != 0u;
  let c = select(s1_0, vec4<u32>(s1_0.zw, s1_1.xy), is_by_two);
  let d = select(s1_1, vec4<u32>(s1_1.zw, s1_2.xy), is_by_two);
  let is_by_one = (i & 1u) != 0u;
  return h_words_f64(
    select(c, vec4<u32>(c.yzw, d.x), is_by_one), select(d, d.yzww, is_by_one));
}""".replace("SELECTIONS", _seven_words()),
        (),
    ),
    # 64 bits of three words, from a bit of the first on.
    "h_window_f64": (
        """
fn h_window_f64(a: u32, b: u32, c: u32, left: u32) -> u64 {
  let head = (u64(a) << 32u) | u64(b);
  return (head << left) | ((u64(c) << left) >> 32u);
}""",
        (),
    ),
    "h_sin_rest_f64": (
        with_polynomials(
            """
fn h_sin_rest_f64(r: vec2<f64>) -> vec2<f64> {
  let x = r.x;
  let z = x * x;
  let tail = r.y * (1.0lf - 0.5lf * z) + x * z * (z * $P - 0.16666666666666666lf);
  return h_fast_sum_f64(x, tail);
}""",
            P=("z", _SIN),
        ),
        ("h_fast_sum_f64",),
    ),
    "h_cos_rest_f64": (
        with_polynomials(
            """
fn h_cos_rest_f64(r: vec2<f64>) -> vec2<f64> {
  let z = r.x * r.x;
  let w = h_fast_sum_f64(1.0lf, -0.5lf * z);
  return h_fast_sum_f64(w.x, w.y + (z * z * $P - r.x * r.y));
}""",
            P=("z", _COS),
        ),
        ("h_fast_sum_f64",),
    ),
    "h_sin_f64": (
        """
fn h_sin_f64(x: f64) -> f64 {
  if (!h_is_finite_f64(x)) { return h_no_number_f64(); }
  let size = abs(x);
  if (size < 1.0e-9lf) { return x; }
  let q = h_quadrant_f64(size);
  let value = select(h_sin_rest_f64(q.r).x, h_cos_rest_f64(q.r).x, (q.n & 1u) != 0u);
  return select(value, -value, (q.n >= 2u) != (x < 0.0lf));
}""",
        (
            "h_is_finite_f64",
            "h_no_number_f64",
            "h_quadrant_f64",
            "h_sin_rest_f64",
            "h_cos_rest_f64",
        ),
    ),
    "h_cos_f64": (
        """
fn h_cos_f64(x: f64) -> f64 {
  if (!h_is_finite_f64(x)) { return h_no_number_f64(); }
  let q = h_quadrant_f64(abs(x));
  let value = select(h_cos_rest_f64(q.r).x, h_sin_rest_f64(q.r).x, (q.n & 1u) != 0u);
  return select(value, -value, ((q.n + 1u) & 2u) != 0u);
}""",
        (
            "h_is_finite_f64",
            "h_no_number_f64",
            "h_quadrant_f64",
            "h_sin_rest_f64",
            "h_cos_rest_f64",
        ),
    ),
    "h_tan_f64": (
        """
fn h_tan_f64(x: f64) -> f64 {
  if (!h_is_finite_f64(x)) { return h_no_number_f64(); }
  let size = abs(x);
  if (size < 1.0e-9lf) { return x; }
  let q = h_quadrant_f64(size);
  let sine = h_sin_rest_f64(q.r);
  let cosine = h_cos_rest_f64(q.r);
  let is_odd = (q.n & 1u) != 0u;
  let top = select(sine, -cosine, is_odd);
  let value = h_pair_quotient_f64(top, select(cosine, sine, is_odd)).x;
  return select(value, -value, x < 0.0lf);
}""",
        (
            "h_is_finite_f64",
            "h_no_number_f64",
            "h_quadrant_f64",
            "h_sin_rest_f64",
            "h_cos_rest_f64",
            "h_pair_quotient_f64",
        ),
    ),
}
