"""pow and powi for f32.

As in fdlibm's powf (Sun Microsystems, 1993): log2 of the base and its product with the exponent are
sums of two floats. Factors are cut to 12 bits where their product has to be exact, so contraction
does no harm. The logarithm is 2 atanh(f / (2 + f)) of a base 2^e (1 + f).
"""

from __future__ import annotations

from .polynomial import Entries, with_polynomials

__all__ = ["ENTRIES"]

# (atanh(s) / s - 1) / s^2 of s^2, abs(s) <= 0.1716; error 2^-35.
_ATANH = (0.3333333, 0.20000486, 0.14249396, 0.12139423)

ENTRIES: Entries = {
    # The leading 12 bits of the significand.
    "h_top_f32": (
        """
fn h_top_f32(a: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
}""",
        (),
    ),
    # log2 of a positive finite number as a sum of two floats, the first of 12 bits.
    "h_log2_pair_f32": (
        with_polynomials(
            """
fn h_log2_pair_f32(a: f32) -> vec2<f32> {
  let p = h_log_reduce_f32(a);
  let below = 2.0f + p.x;
  let below_top = h_top_f32(below);
  let below_low = p.x - h_opaque_f32(below_top - 2.0f);
  let s = h_div_f32(p.x, below);
  let top = h_top_f32(s);
  let low = h_div_f32(h_opaque_f32(p.x - top * below_top) - top * below_low, below);
  let better = top + low;
  let z = better * better;
  let tail = low + (better * z) * $P;
  let sum = h_top_f32(top + tail);
  let rest = tail - h_opaque_f32(sum - top);
  let high = sum * 2.884765625f;
  let rest2 = sum * 0.0006244568f + rest * 2.88539f;
  let first = h_top_f32(p.y + (high + rest2));
  return vec2<f32>(first, rest2 - h_opaque_f32(h_opaque_f32(first - p.y) - high));
}""",
            P=("z", _ATANH),
        ),
        ("h_log_reduce_f32", "h_top_f32", "h_opaque_f32", "h_div_f32"),
    ),
    # a^(y + low) for a positive finite a; low is tiny beside y.
    "h_pow_positive_f32": (
        """
fn h_pow_positive_f32(a: f32, exponent: f32, low: f32) -> f32 {
  let y = select(select(exponent, 1e18f, exponent > 1e18f), -1e18f, exponent < -1e18f);
  let t = h_log2_pair_f32(a);
  let y_top = h_top_f32(y);
  let high = y_top * t.x;
  let rest = (h_opaque_f32(y - y_top) * t.x + y * t.y) + low * (t.x + t.y);
  let outside = abs(high) > 200.0f;
  let limit = select(-200.0f, 200.0f, high > 0.0f);
  return h_exp2_sum_f32(select(high, limit, outside), select(rest, 0.0f, outside), 1.0f);
}""",
        ("h_log2_pair_f32", "h_top_f32", "h_opaque_f32", "h_exp2_sum_f32"),
    ),
    # The table of C99 Annex F.9.4.4.
    "h_pow_f32": (
        """
fn h_pow_f32(x: f32, y: f32) -> f32 {
  let x_bits = bitcast<u32>(x);
  let x_size = x_bits & 0x7fffffffu;
  let y_size = bitcast<u32>(y) & 0x7fffffffu;
  let edge = x_size == 0u || x_size >= 0x7f800000u;
  // Chosen as bits: as a float a device may flush a subnormal.
  let base = bitcast<f32>(select(x_size, 0x3f800000u, edge));
  let power = h_pow_positive_f32(base, y, 0.0f);
  let up = (x_size == 0u) == (bitcast<u32>(y) >= 0x80000000u);
  let size = select(power, bitcast<f32>(select(0u, 0x7f800000u, up)), edge);
  let small = y_size < 0x4b800000u;
  let n = i32(select(0.0f, y, small));
  let odd = small && (n & 1i) == 1i && f32(n) == y;
  let whole = !small || f32(n) == y;
  let sign = select(0u, x_bits & 0x80000000u, odd);
  let signed = bitcast<f32>(bitcast<u32>(size) | sign);
  let no_number = (x_bits > 0x80000000u && !edge && !whole) || x_size > 0x7f800000u ||
      y_size > 0x7f800000u;
  let result = select(signed, bitcast<f32>(0x7fc00000u | d.zero), no_number);
  return select(result, 1.0f, x_bits == 0x3f800000u || y_size == 0u);
}""",
        ("h_pow_positive_f32",),
    ),
    # The exact product of two floats as a sum of two, for factors of moderate size. The parts of 12
    # bits have exact products, and the rounded product is opaque, so that no driver contracts it.
    "h_product_f32": (
        """
fn h_product_f32(a: f32, b: f32) -> vec2<f32> {
  let p = h_opaque_f32(a * b);
  let a_top = h_top_f32(a);
  let b_top = h_top_f32(b);
  let a_low = h_opaque_f32(a - a_top);
  let b_low = h_opaque_f32(b - b_top);
  let e1 = h_opaque_f32(a_top * b_top - p);
  let e2 = h_opaque_f32(e1 + a_top * b_low);
  let e3 = h_opaque_f32(e2 + a_low * b_top);
  return vec2<f32>(p, h_opaque_f32(e3 + a_low * b_low));
}""",
        ("h_top_f32", "h_opaque_f32"),
    ),
    # (a.x + a.y) (b.x + b.y), normalised. The sum is opaque: Mesa turns (a + b) - a into b.
    "h_multiply_pairs_f32": (
        """
fn h_multiply_pairs_f32(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let p = h_product_f32(a.x, b.x);
  let low = p.y + (a.x * b.y + a.y * b.x);
  let sum = h_opaque_f32(p.x + low);
  return vec2<f32>(sum, h_opaque_f32(low - h_opaque_f32(sum - p.x)));
}""",
        ("h_product_f32", "h_opaque_f32"),
    ),
    # Binary powering of the significand in [1, 2) as a sum of two floats, its exponent apart, so
    # that nothing overflows on the way: a^n is nearly always correctly rounded while abs(n) < 2^16.
    # Beyond, where only numbers close to 1 have a finite power, errors would add up, and pow's
    # logarithm takes over. a^0 is 1, of NaN too.
    "h_powi_f32": (
        """
fn h_powi_f32(a: f32, n: i32) -> f32 {
  if (n == 1i) { return a; }
  if (n == 2i) { return a * a; }
  if (n == 3i) { return a * a * a; }
  let bits = bitcast<u32>(a);
  let size = bits & 0x7fffffffu;
  let sign = select(0u, bits & 0x80000000u, (n & 1i) == 1i);
  if (n == 0i) { return 1.0f; }
  if (size > 0x7f800000u) { return a; }
  if (size == 0u || size == 0x7f800000u) {
    let up = (size == 0u) == (n < 0i);
    return bitcast<f32>(sign | (select(0u, 0x7f800000u, up) + d.zero));
  }
  let count = bitcast<u32>(select(n, 0i - n, n < 0i));
  if (count >= 65536u) {
    let high = f32(n & ~0xffi);
    let power = h_pow_positive_f32(abs(a), high, f32(n & 0xffi));
    return bitcast<f32>(bitcast<u32>(power) | sign);
  }
  let whole = select(size, bitcast<u32>(f32(size)), size < 0x800000u);
  var exponent = bitcast<i32>(whole >> 23u) - select(127i, 276i, size < 0x800000u);
  var square = vec2<f32>(bitcast<f32>((whole & 0x7fffffu) | 0x3f800000u), 0.0f);
  var product = vec2<f32>(1.0f, 0.0f);
  var scale = 0i;
  var left = count;
  loop {
    if (left == 0u) { break; }
    if ((left & 1u) == 1u) {
      product = h_multiply_pairs_f32(product, square);
      scale = scale + exponent;
      if (product.x >= 2.0f) {
        product = product * 0.5f;
        scale = scale + 1i;
      }
    }
    square = h_multiply_pairs_f32(square, square);
    exponent = exponent + exponent;
    if (square.x >= 2.0f) {
      square = square * 0.5f;
      exponent = exponent + 1i;
    }
    left = left >> 1u;
  }
  //cut left != 0u
  var result = product.x;
  if (n < 0i) {
    let q = h_div_f32(1.0f, product.x);
    let p = h_product_f32(q, product.x);
    result = q + q * ((h_opaque_f32(1.0f - p.x) - p.y) - q * product.y);
    scale = 0i - scale;
  }
  scale = clamp(scale, -250i, 250i);
  return bitcast<f32>(bitcast<u32>(h_scale_f32(result, scale)) | sign);
}""",
        (
            "h_pow_positive_f32",
            "h_multiply_pairs_f32",
            "h_product_f32",
            "h_opaque_f32",
            "h_div_f32",
            "h_scale_f32",
        ),
    ),
}
