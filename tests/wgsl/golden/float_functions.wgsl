struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  len0: u32,
  len1: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<f32>;
@group(0) @binding(1) var<storage, read_write> b1: array<f32>;
var<private> gid: vec3<u32>;

fn h_is_nan_f32(a: f32) -> bool {
  return (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u;
}

fn h_is_inf_f32(a: f32) -> bool {
  return (bitcast<u32>(a) & 0x7fffffffu) == 0x7f800000u;
}

fn h_is_finite_f32(a: f32) -> bool {
  return (bitcast<u32>(a) & 0x7fffffffu) < 0x7f800000u;
}

fn h_opaque_f32(a: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(a) + d.zero);
}

fn h_sign_f32(a: f32) -> f32 {
  if (h_is_nan_f32(a)) { return a; }
  // A driver may turn the choice between 0 and -1 into the negative of a bool: -0.
  let zero = bitcast<f32>(d.zero);
  return select(select(zero, -1.0f, a < 0.0f), 1.0f, a > 0.0f);
}

fn h_minimum_f32(a: f32, b: f32) -> f32 {
  if (h_is_nan_f32(a)) { return a; }
  if (h_is_nan_f32(b)) { return b; }
  return select(b, a, a <= b);
}

fn h_maximum_f32(a: f32, b: f32) -> f32 {
  if (h_is_nan_f32(a)) { return a; }
  if (h_is_nan_f32(b)) { return b; }
  return select(b, a, a >= b);
}

fn h_fmin_f32(a: f32, b: f32) -> f32 {
  if (h_is_nan_f32(a)) { return b; }
  if (h_is_nan_f32(b)) { return a; }
  return select(b, a, a <= b);
}

fn h_fmax_f32(a: f32, b: f32) -> f32 {
  if (h_is_nan_f32(a)) { return b; }
  if (h_is_nan_f32(b)) { return a; }
  return select(b, a, a >= b);
}

fn h_fmod_f32(x: f32, y: f32) -> f32 {
  let sign = bitcast<u32>(x) & 0x80000000u;
  let a = bitcast<u32>(x) & 0x7fffffffu;
  let b = bitcast<u32>(y) & 0x7fffffffu;
  if (a >= 0x7f800000u || b > 0x7f800000u || b == 0u) { return bitcast<f32>(0x7fc00000u | d.zero); }
  if (a < b) { return x; }
  var ea = a >> 23u;
  var ma = a & 0x7fffffu;
  if (ea == 0u) {
    let shift = countLeadingZeros(ma | 1u) - 8u;
    ma = ma << u32(shift);
    ea = 1u - shift;
  } else {
    ma = ma | 0x800000u;
  }
  var eb = b >> 23u;
  var mb = b & 0x7fffffu;
  if (eb == 0u) {
    let shift = countLeadingZeros(mb) - 8u;
    mb = mb << u32(shift);
    eb = 1u - shift;
  } else {
    mb = mb | 0x800000u;
  }
  var left = ea - eb;
  ma = ma % mb;
  loop {
    if (left == 0u || ma == 0u) { break; }
    let n = min(left, 8u);
    ma = (ma << u32(n)) % mb;
    left = left - n;
  }
  if (ma == 0u) { return bitcast<f32>(sign | d.zero); }
  let shift = countLeadingZeros(ma) - 8u;
  ma = ma << u32(shift);
  let e = bitcast<i32>(eb - shift);
  if (e <= 0i) { return bitcast<f32>(sign | (ma >> u32(1i - e))); }
  return bitcast<f32>(sign | (bitcast<u32>(e) << 23u) | (ma & 0x7fffffu));
}

fn h_grown_f32(size: u32) -> f32 {
  return select(bitcast<f32>(size) * 1.8446744e19f, f32(size) * 2.5849394e-26f, size < 0x800000u);
}

fn h_mod_f32(a: f32, b: f32) -> f32 {
  let r = h_fmod_f32(a, b);
  if (h_is_nan_f32(r)) { return r; }
  let b_sign = bitcast<u32>(b) & 0x80000000u;
  let size = bitcast<u32>(r) & 0x7fffffffu;
  if (size == 0u) { return bitcast<f32>(b_sign | d.zero); }
  if ((bitcast<u32>(r) & 0x80000000u) == b_sign) { return r; }
  let b_size = bitcast<u32>(b) & 0x7fffffffu;
  let small = (h_grown_f32(b_size) - h_grown_f32(size)) * 5.421011e-20f;
  let rest = select(bitcast<f32>(b_size) - bitcast<f32>(size), small, b_size < 0xd800000u);
  return bitcast<f32>(bitcast<u32>(rest) | b_sign);
}

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
  var result = product.x;
  if (n < 0i) {
    let q = h_div_f32(1.0f, product.x);
    let p = h_product_f32(q, product.x);
    result = q + q * ((h_opaque_f32(1.0f - p.x) - p.y) - q * product.y);
    scale = 0i - scale;
  }
  scale = clamp(scale, -250i, 250i);
  return bitcast<f32>(bitcast<u32>(h_scale_f32(result, scale)) | sign);
}

fn h_div_f32(a: f32, b: f32) -> f32 {
  let s = select(1.0f, 0.25f, (bitcast<u32>(b) & 0x7fffffffu) > 0x7e800000u);
  return (a / (b * s)) * s;
}

fn h_mul_high_u32(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let low = al * bl;
  let mid1 = ah * bl + (low >> 16u);
  let mid2 = al * bh + (mid1 & 0xffffu);
  return ah * bh + (mid1 >> 16u) + (mid2 >> 16u);
}

fn h_scale_f32(m: f32, k: i32) -> f32 {
  let half = k >> 1u;
  let scaled = h_opaque_f32(m * bitcast<f32>((half + 127i) << 23u));
  return scaled * bitcast<f32>((k - half + 127i) << 23u);
}

fn h_keep_nan_f32(x: f32, y: f32) -> f32 {
  let no_number = (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
  return select(y, bitcast<f32>(0x7fc00000u | d.zero), no_number);
}

fn h_nearest_f32(a: f32) -> i32 {
  return bitcast<i32>(a + 12582912.0f) - 0x4b400000i;
}

fn h_exp_sum_f32(argument: f32, low: f32, shift: i32, factor: f32) -> f32 {
  let x = select(select(argument, 100.0f, argument > 100.0f), -110.0f, argument < -110.0f);
  let k = h_nearest_f32(x * 1.442695f);
  let n = f32(k);
  let r = (h_opaque_f32(x - n * 0.693359375f) + n * 0.00021219444f) + low;
  let e = factor + factor * (r + (r * r) * ((((0.0013821768f * r + 0.008368857f) * r + 0.04166826f) * r + 0.1666652f) * r + 0.49999994f));
  return h_keep_nan_f32(argument, h_scale_f32(e, k + shift));
}

fn h_exp_f32(x: f32) -> f32 {
  return h_exp_sum_f32(x, 0.0f, 0i, 1.0f);
}

fn h_exp2_sum_f32(x: f32, low: f32, factor: f32) -> f32 {
  let k = h_nearest_f32(h_opaque_f32(x + low));
  let r = h_opaque_f32(x - f32(k)) + low;
  return h_scale_f32(factor * (1.0f + r * (((((0.000153275f * r + 0.0013391242f) * r + 0.009618505f) * r + 0.055503592f) * r + 0.24022648f) * r + 0.6931472f)), k);
}

fn h_exp2_f32(x: f32) -> f32 {
  let within = select(select(x, 150.0f, x > 150.0f), -160.0f, x < -160.0f);
  return h_keep_nan_f32(x, h_exp2_sum_f32(within, 0.0f, 1.0f));
}

fn h_expm1_f32(argument: f32) -> f32 {
  let x = select(select(argument, 100.0f, argument > 100.0f), -20.0f, argument < -20.0f);
  let k = h_nearest_f32(x * 1.442695f);
  let n = f32(k);
  let r = h_opaque_f32(x - n * 0.693359375f) + n * 0.00021219444f;
  let p = r + (r * r) * (((((0.00019764433f * r + 0.0013932388f) * r + 0.008333543f) * r + 0.041666493f) * r + 0.16666666f) * r + 0.5f);
  let rest = h_opaque_f32(1.0f - bitcast<f32>((127i - min(k, 40i)) << 23u));
  let y = h_keep_nan_f32(argument, h_scale_f32(p + rest, k));
  return select(y, argument, abs(argument) < 1e-8f);
}

fn h_sigmoid_f32(x: f32) -> f32 {
  let e = h_exp_f32(-abs(x));
  let below = 1.0f + e;
  let inverse = h_div_f32(1.0f, below);
  let y = select(1.0f, e, x < 0.0f) * inverse;
  return y + y * (1.0f - inverse * below);
}

fn h_log_reduce_f32(x: f32) -> vec2<f32> {
  let raw = bitcast<u32>(x);
  let subnormal = raw < 0x800000u;
  let bits = select(raw, bitcast<u32>(f32(raw)), subnormal);
  let e = bitcast<i32>(bits - 0x3f3504f3u) >> 23u;
  let m = bitcast<f32>(bits - (bitcast<u32>(e) << 23u));
  return vec2<f32>(h_opaque_f32(m - 1.0f), f32(e - select(0i, 149i, subnormal)));
}

fn h_log_tail_f32(f: f32) -> f32 {
  let z = f * f;
  return (f * z) * ((((((((0.06749539f * f - 0.11670183f) * f + 0.11883471f) * f - 0.12406208f) * f + 0.14220363f) * f - 0.1666799f) * f + 0.20002072f) * f - 0.2500001f) * f + 0.33333313f) - 0.5f * z;
}

fn h_log_edges_f32(x: f32, y: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let outside = bitcast<f32>(select(0x7fc00000u, 0x7f800000u, bits == 0x7f800000u));
  let zero = (bits & 0x7fffffffu) == 0u;
  return select(select(y, outside, bits >= 0x7f800000u), bitcast<f32>(0xff800000u | d.zero), zero);
}

fn h_log_f32(x: f32) -> f32 {
  let p = h_log_reduce_f32(x);
  let low = h_log_tail_f32(p.x) - p.y * 0.00021219444f;
  return h_log_edges_f32(x, p.y * 0.693359375f + (p.x + low));
}

fn h_log2_f32(x: f32) -> f32 {
  let p = h_log_reduce_f32(x);
  let tail = h_log_tail_f32(p.x);
  let low = p.x * 0.005195041f + tail * 1.442695f;
  return h_log_edges_f32(x, p.y + (p.x * 1.4375f + low));
}

fn h_log10_f32(x: f32) -> f32 {
  let p = h_log_reduce_f32(x);
  let tail = h_log_tail_f32(p.x);
  let low = p.y * 4.605039e-6f + (p.x * 0.00070073194f + tail * 0.43429448f);
  return h_log_edges_f32(x, p.y * 0.301025390625f + (p.x * 0.43359375f + low));
}

fn h_log1p_sum_f32(x: f32, shift: f32) -> f32 {
  let u = 1.0f + x;
  let p = h_log_reduce_f32(u);
  let e = i32(min(p.y, 30.0f));
  let s = bitcast<f32>((127i - e) << 23u);
  let f = select(x * s + h_opaque_f32(s - 1.0f), p.x, e > 25i);
  let n = p.y + shift;
  return n * 0.693359375f + (f + (h_log_tail_f32(f) - n * 0.00021219444f));
}

fn h_log1p_f32(x: f32) -> f32 {
  let y = h_log_edges_f32(1.0f + x, h_log1p_sum_f32(x, 0.0f));
  return select(y, x, abs(x) < 1e-8f);
}

fn h_top_f32(a: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
}

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
  let tail = low + (better * z) * (((0.12139423f * z + 0.14249396f) * z + 0.20000486f) * z + 0.3333333f);
  let sum = h_top_f32(top + tail);
  let rest = tail - h_opaque_f32(sum - top);
  let high = sum * 2.884765625f;
  let rest2 = sum * 0.0006244568f + rest * 2.88539f;
  let first = h_top_f32(p.y + (high + rest2));
  return vec2<f32>(first, rest2 - h_opaque_f32(h_opaque_f32(first - p.y) - high));
}

fn h_pow_positive_f32(a: f32, exponent: f32, low: f32) -> f32 {
  let y = select(select(exponent, 1e18f, exponent > 1e18f), -1e18f, exponent < -1e18f);
  let t = h_log2_pair_f32(a);
  let y_top = h_top_f32(y);
  let high = y_top * t.x;
  let rest = (h_opaque_f32(y - y_top) * t.x + y * t.y) + low * (t.x + t.y);
  let outside = abs(high) > 200.0f;
  let limit = select(-200.0f, 200.0f, high > 0.0f);
  return h_exp2_sum_f32(select(high, limit, outside), select(rest, 0.0f, outside), 1.0f);
}

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
}

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
}

fn h_multiply_pairs_f32(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let p = h_product_f32(a.x, b.x);
  let low = p.y + (a.x * b.y + a.y * b.x);
  let sum = h_opaque_f32(p.x + low);
  return vec2<f32>(sum, h_opaque_f32(low - h_opaque_f32(sum - p.x)));
}

fn h_quotient_f32(a: f32, b: f32) -> f32 {
  let q = h_div_f32(a, b);
  let q_top = bitcast<f32>(bitcast<u32>(q) & 0xfffff000u);
  let b_top = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
  let b_low = h_opaque_f32(b - b_top);
  let q_low = h_opaque_f32(q - q_top);
  let left = h_opaque_f32(h_opaque_f32(a - q_top * b_top) - q_top * b_low) - q_low * b;
  let least = min(abs(a), min(abs(b), abs(q)));
  let moderate = least > 1e-30f && abs(b) < 3e38f && abs(q) < 3e38f;
  return q + select(0.0f, h_div_f32(left, b), moderate);
}

fn h_root_pair_f32(a: f32) -> vec2<f32> {
  let s = sqrt(a);
  let top = bitcast<f32>(bitcast<u32>(s) & 0xfffff000u);
  return vec2<f32>(top, h_div_f32(a - top * top, select(s + top, 1.0f, s == 0.0f)));
}

fn h_rsqrt_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let subnormal = bits < 0x800000u;
  let a = select(x, f32(bits) * 2.0f, subnormal);
  let y = h_div_f32(1.0f, sqrt(select(a, 1.0f, bits - 1u >= 0x7f7fffffu)));
  let better = y + (0.5f * y) * (1.0f - h_opaque_f32(a * y) * y);
  let scaled = select(better, better * 3.7778932e22f, subnormal);
  let edge = select(0x7fc00000u, 0u, bits == 0x7f800000u);
  let zero = (bits & 0x7fffffffu) == 0u;
  let outside = bitcast<f32>(select(edge, 0x7f800000u | bits, zero));
  return select(scaled, outside, bits - 1u >= 0x7f7fffffu);
}

fn h_cbrt_f32(x: f32) -> f32 {
  let size = bitcast<u32>(x) & 0x7fffffffu;
  let subnormal = size < 0x800000u;
  let bits = select(size, bitcast<u32>(f32(size) * 2.0f), subnormal);
  // Exponents around 0, so that cubes neither overflow nor underflow: bits = 2^(3k) a.
  let k = bits / 0x1800000u;
  let a = bitcast<f32>(bits - (k - 42u) * 0x1800000u);
  var t = bitcast<f32>(bitcast<u32>(a) / 3u + 709958130u);
  let c = t * t * t;
  t = t + t * h_div_f32(a - c, (c + c) + a);
  let e = t * t * t;
  t = t + t * h_div_f32(a - e, (e + e) + a);
  let exponent = bitcast<i32>(k << 23u) - select(42i << 23u, 92i << 23u, subnormal);
  let root = bitcast<u32>(t) + bitcast<u32>(exponent);
  let signed = bitcast<f32>(root | (bitcast<u32>(x) & 0x80000000u));
  return select(signed, x, size == 0u || size >= 0x7f800000u);
}

fn h_hypot_f32(x: f32, y: f32) -> f32 {
  let a = max(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(y) & 0x7fffffffu);
  let b = min(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(y) & 0x7fffffffu);
  let large = a >= 0x5e800000u;
  let small = a < 0x29800000u;
  let down = select(select(1.0f, 1.2676506e30f, small), 8.4703295e-22f, large);
  let up = select(select(1.0f, 7.888609e-31f, small), 1.1805916e21f, large);
  let p = bitcast<f32>(a) * down;
  let q = bitcast<f32>(b) * down;
  let root = h_root_pair_f32(p * p + q * q);
  let h = (root.x + root.y) * up;
  let infinite = a == 0x7f800000u || b == 0x7f800000u;
  let edge = bitcast<f32>(select(0x7fc00000u, 0x7f800000u, infinite));
  return select(h, edge, a >= 0x7f800000u);
}

fn h_two_over_pi_u32(i: u32) -> u32 {
  switch i {
    case 1u: { return 0xa2f9836eu; }
    case 2u: { return 0x4e441529u; }
    case 3u: { return 0xfc2757d1u; }
    case 4u: { return 0xf534ddc0u; }
    case 5u: { return 0xdb629599u; }
    case 6u: { return 0x3c439041u; }
    case 7u: { return 0xfe5163abu; }
    default: { return 0u; }
  }
}

fn h_trig_reduce_huge_f32(x: f32) -> vec2<f32> {
  let bits = bitcast<u32>(x);
  let m = (bits & 0x7fffffu) | 0x800000u;
  let start = ((bits >> 23u) & 0xffu) - 120u;
  let i = start >> 5u;
  let left = start & 31u;
  let w0 = h_two_over_pi_u32(i);
  let w1 = h_two_over_pi_u32(i + 1u);
  let w2 = h_two_over_pi_u32(i + 2u);
  let w3 = h_two_over_pi_u32(i + 3u);
  let a0 = (w0 << left) | ((w1 >> 1u) >> (31u - left));
  let a1 = (w1 << left) | ((w2 >> 1u) >> (31u - left));
  let a2 = (w2 << left) | ((w3 >> 1u) >> (31u - left));
  let middle = m * a1;
  var low = middle + h_mul_high_u32(m, a2);
  var high = m * a0 + h_mul_high_u32(m, a1) + select(0u, 1u, low < middle);
  var q = high >> 30u;
  high = (high << 2u) | (low >> 30u);
  low = low << 2u;
  let above = high >= 0x80000000u;
  if (above) {
    q = q + 1u;
    low = ~low + 1u;
    high = ~high + select(0u, 1u, low == 0u);
  }
  if (high == 0u) {
    high = low;
    low = 0u;
  }
  let zeros = countLeadingZeros(high);
  let top = (high << zeros) | ((low >> 1u) >> (31u - zeros));
  // Times pi/2, whose first part has 12 bits as the first part of the fraction.
  let first = f32(top & 0xfff00000u);
  let rest = f32(top & 0xfffffu);
  let r = first * 3.6561687e-10f + (first * 1.12649703e-13f + rest * 3.6572953e-10f);
  let size = r * bitcast<f32>((127u - zeros) << 23u);
  let negative = above != (bits >= 0x80000000u);
  q = select(q, 4u - q, bits >= 0x80000000u) & 3u;
  return vec2<f32>(select(size, -size, negative), f32(q));
}

fn h_trig_reduce_f32(x: f32) -> vec2<f32> {
  if (abs(x) >= 6400.0f) { return h_trig_reduce_huge_f32(x); }
  let k = h_nearest_f32(x * 0.63661975f);
  let n = f32(k);
  let r1 = h_opaque_f32(x - n * 1.5703125f);
  let r2 = h_opaque_f32(r1 - n * 0.0004837513f);
  let r3 = h_opaque_f32(r2 - n * 7.5495336e-08f);
  return vec2<f32>(r3 - n * 2.563344e-12f, f32(k & 3i));
}

fn h_sin_reduced_f32(r: f32) -> f32 {
  let z = r * r;
  return r + (r * z) * ((-0.00019507871f * z + 0.008332106f) * z - 0.16666654f);
}

fn h_cos_reduced_f32(r: f32) -> f32 {
  let z = r * r;
  return 1.0f + (z * z * ((2.4432107e-05f * z - 0.0013887308f) * z + 0.041666646f) - 0.5f * z);
}

fn h_trig_edges_f32(x: f32, y: f32) -> f32 {
  let outside = (bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u;
  return select(y, bitcast<f32>(0x7fc00000u | d.zero), outside);
}

fn h_sin_f32(x: f32) -> f32 {
  let p = h_trig_reduce_f32(x);
  let q = u32(p.y);
  let y = select(h_sin_reduced_f32(p.x), h_cos_reduced_f32(p.x), (q & 1u) == 1u);
  let signed = bitcast<f32>(bitcast<u32>(y) ^ ((q & 2u) << 30u));
  return select(h_trig_edges_f32(x, signed), x, abs(x) < 1e-4f);
}

fn h_cos_f32(x: f32) -> f32 {
  let p = h_trig_reduce_f32(x);
  let q = u32(p.y);
  let y = select(h_cos_reduced_f32(p.x), h_sin_reduced_f32(p.x), (q & 1u) == 1u);
  let signed = bitcast<f32>(bitcast<u32>(y) ^ (((q + 1u) & 2u) << 30u));
  return h_trig_edges_f32(x, signed);
}

fn h_tan_f32(x: f32) -> f32 {
  let p = h_trig_reduce_f32(x);
  let r = p.x;
  let z = r * r;
  let t = r + (r * z) * ((((((0.0043876837f * z + 7.005701e-05f) * z + 0.01084762f) * z + 0.021279417f) * z + 0.05405997f) * z + 0.1333267f) * z + 0.3333335f);
  let odd = p.y == 1.0f || p.y == 3.0f;
  let below = select(1.0f, t, odd);
  let inverse = h_div_f32(1.0f, below);
  let better = inverse + inverse * (1.0f - inverse * below);
  let y = select(t, -better, odd);
  return select(h_trig_edges_f32(x, y), x, abs(x) < 1e-4f);
}

fn h_sinpi_reduced_f32(x: f32) -> f32 {
  let z = x * x;
  return x * 3.1415927f + x * (z * (((0.077719055f * z - 0.59833133f) * z + 2.5500863f) * z - 5.167711f) - 8.742278e-8f);
}

fn h_asin_tail_f32(s: f32, z: f32) -> f32 {
  return (s * z) * ((((0.042165037f * z + 0.024181534f) * z + 0.045469638f) * z + 0.07495307f) * z + 0.16666752f);
}

fn h_asin_root_f32(z: f32) -> vec2<f32> {
  let s = h_root_pair_f32(z);
  return vec2<f32>(s.x, s.y + h_asin_tail_f32(s.x + s.y, z));
}

fn h_asin_f32(x: f32) -> f32 {
  let a = abs(x);
  let p = h_asin_root_f32(select((1.0f - a) * 0.5f, 0.0f, !(a > 0.5f && a <= 1.0f)));
  let big = (1.5707964f - 2.0f * p.x) - (2.0f * p.y + 4.371139e-8f);
  let small = x + h_asin_tail_f32(x, x * x);
  let signed = bitcast<f32>(bitcast<u32>(big) | (bitcast<u32>(x) & 0x80000000u));
  let y = select(select(small, signed, a > 0.5f), x, a < 1e-4f);
  return select(bitcast<f32>(0x7fc00000u | d.zero), y, bitcast<u32>(a) <= 0x3f800000u);
}

fn h_acos_f32(x: f32) -> f32 {
  let a = abs(x);
  let p = h_asin_root_f32(select((1.0f - a) * 0.5f, 0.0f, !(a > 0.5f && a <= 1.0f)));
  let right = 2.0f * (p.x + p.y);
  let left = (3.1415927f - 2.0f * p.x) - (2.0f * p.y + 8.742278e-8f);
  let middle = 1.5707964f - (x + (h_asin_tail_f32(x, x * x) + 4.371139e-8f));
  let y = select(middle, select(left, right, x > 0.0f), a > 0.5f);
  return select(bitcast<f32>(0x7fc00000u | d.zero), y, bitcast<u32>(a) <= 0x3f800000u);
}

fn h_atan_unit_f32(a: f32) -> f32 {
  let z = a * a;
  return a + (a * z) * ((((((((-0.0017874144f * z + 0.010886868f) * z - 0.031126289f) * z + 0.057906043f) * z - 0.08400458f) * z + 0.109511726f) * z - 0.14264052f) * z + 0.19998531f) * z - 0.333333f);
}

fn h_atan_f32(x: f32) -> f32 {
  let a = abs(x);
  let big = a > 1.0f;
  let p = h_atan_unit_f32(select(a, h_div_f32(1.0f, a), big));
  let y = select(p, 1.5707964f - (p + 4.371139e-8f), big);
  let signed = bitcast<f32>(bitcast<u32>(y) | (bitcast<u32>(x) & 0x80000000u));
  return h_keep_nan_f32(x, select(signed, x, a < 1e-4f));
}

fn h_atan2_f32(y: f32, x: f32) -> f32 {
  let y_size = bitcast<u32>(y) & 0x7fffffffu;
  let x_size = bitcast<u32>(x) & 0x7fffffffu;
  let most = bitcast<f32>(max(x_size, y_size));
  let least = bitcast<f32>(min(x_size, y_size));
  let equal = x_size == y_size;
  let small = select(1.0f, 1.8446744e19f, most < 1e-12f);
  let scale = select(small, 5.421011e-20f, most > 1.8446744e19f);
  let above = select(least * scale, 1.0f, equal);
  let below = select(most * scale, 1.0f, equal);
  // Both are zeros, or subnormals that the device takes for zeros.
  let nothing = below == 0.0f || (equal && x_size == 0u);
  let q = h_quotient_f32(above, select(below, 1.0f, nothing));
  let octant = h_atan_unit_f32(select(q, bitcast<f32>(d.zero), nothing));
  let quadrant = select(octant, 1.5707964f - (octant + 4.371139e-8f), y_size > x_size);
  let left = bitcast<u32>(x) >= 0x80000000u;
  let half = select(quadrant, 3.1415927f - (quadrant + 8.742278e-8f), left);
  let signed = bitcast<f32>(bitcast<u32>(half) | (bitcast<u32>(y) & 0x80000000u));
  let no_number = max(x_size, y_size) > 0x7f800000u;
  return select(signed, bitcast<f32>(0x7fc00000u | d.zero), no_number);
}

fn h_sinh_f32(x: f32) -> f32 {
  let a = abs(x);
  let z = x * x;
  let small = x + (x * z) * (((2.7823212e-06f * z + 0.00019842887f) * z + 0.0083333105f) * z + 0.16666667f);
  let e = h_exp_sum_f32(a, 0.0f, -1i, 1.0f);
  let big = e - h_div_f32(0.25f, e);
  let signed = bitcast<f32>(bitcast<u32>(big) | (bitcast<u32>(x) & 0x80000000u));
  return select(select(signed, small, a <= 1.0f), x, a < 1e-4f);
}

fn h_cosh_f32(x: f32) -> f32 {
  let e = h_exp_sum_f32(abs(x), 0.0f, -1i, 1.0f);
  return e + h_div_f32(0.25f, e);
}

fn h_tanh_f32(x: f32) -> f32 {
  let a = abs(x);
  let z = x * x;
  let small = x + (x * z) * ((((-0.006169614f * z + 0.021000376f) * z - 0.053835757f) * z + 0.13332437f) * z - 0.33333313f);
  let e = h_exp_sum_f32(select(a + a, 40.0f, a > 20.0f), 0.0f, 0i, 1.0f);
  let big = 1.0f - h_div_f32(2.0f, e + 1.0f);
  let signed = bitcast<f32>(bitcast<u32>(big) | (bitcast<u32>(x) & 0x80000000u));
  return h_keep_nan_f32(x, select(select(signed, small, a <= 0.55f), x, a < 1e-4f));
}

fn h_asinh_f32(x: f32) -> f32 {
  let a = abs(x);
  let big = a > 1.0737418e9f;
  let b = select(a, 1.0f, big);
  let z = b * b;
  let w = b + h_div_f32(z, 1.0f + sqrt(1.0f + z));
  let y = h_log1p_sum_f32(select(w, a, big), select(0.0f, 1.0f, big));
  let signed = bitcast<f32>(bitcast<u32>(y) | (bitcast<u32>(x) & 0x80000000u));
  let outside = (bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u;
  return select(signed, x, a < 1e-4f || outside);
}

fn h_acosh_f32(x: f32) -> f32 {
  let big = x > 1.0737418e9f;
  let t = select(x - 1.0f, 1.0f, big);
  let root = h_root_pair_f32(max(t * (t + 2.0f), 0.0f));
  let w = t + (root.x + root.y);
  let y = h_log1p_sum_f32(select(w, x, big), select(0.0f, 1.0f, big));
  let bits = bitcast<u32>(x);
  let inside = bits >= 0x3f800000u && bits <= 0x7f800000u;
  return select(bitcast<f32>(0x7fc00000u | d.zero), select(y, x, bits == 0x7f800000u), inside);
}

fn h_atanh_f32(x: f32) -> f32 {
  let a = abs(x);
  let below = bitcast<u32>(a) < 0x3f800000u;
  let inside = select(0.0f, a, below);
  let small = a < 0.5f;
  let twice = inside + inside;
  let q = h_div_f32(select(twice, twice * inside, small), 1.0f - inside);
  let y = 0.5f * h_log1p_sum_f32(select(q, twice + q, small), 0.0f);
  let edge = bitcast<f32>(select(0x7fc00000u, 0x7f800000u, bitcast<u32>(a) == 0x3f800000u));
  let size = select(edge, y, below);
  let signed = bitcast<f32>(bitcast<u32>(size) | (bitcast<u32>(x) & 0x80000000u));
  return select(signed, x, a < 1e-4f);
}

fn h_erf_tail_f32(x: f32) -> f32 {
  let z = x * x;
  return x * ((((((7.806981e-05f * z - 0.00079978653f) * z + 0.0051871627f) * z - 0.026853347f) * z + 0.11283579f) * z - 0.37612626f) * z + 0.12837917f);
}

fn h_erf_f32(x: f32) -> f32 {
  let a = abs(x);
  let b = select(a, 4.0f, a > 4.0f);
  let big = 1.0f - h_exp_sum_f32(-((((((-0.00018556567f * b + 0.002939547f) * b - 0.021805152f) * b + 0.103037156f) * b + 0.6382258f) * b + 1.12704f) * b + 0.00035370892f), 0.0f, 0i, 1.0f);
  let signed = bitcast<f32>(bitcast<u32>(big) | (bitcast<u32>(x) & 0x80000000u));
  let small = select(x + h_erf_tail_f32(x), x * 1.1283792f, a < 1e-6f);
  let y = select(small, signed, a > 1.0f);
  // A subnormal is a number of units of 2^-149, which no device flushes as an integer.
  let units = bitcast<u32>(x) & 0x7fffffffu;
  let most = u32(round(f32(units) * 1.1283792f)) | (bitcast<u32>(x) & 0x80000000u);
  return h_keep_nan_f32(x, select(y, bitcast<f32>(most), units < 0x800000u));
}

fn h_erfc_f32(x: f32) -> f32 {
  let a = abs(x);
  let b = select(a, 11.0f, a > 11.0f);
  let q = h_div_f32(b - 2.0f, b + 2.0f);
  let below = 1.0f + 2.0f * b;
  let r = h_div_f32(1.0f, below);
  let top = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
  let low = h_opaque_f32(1.0f - r * below) - h_opaque_f32(b - top) * (b + top);
  let tail = h_exp_sum_f32(-(top * top), low, 0i, ((((((((-0.0015220889f * q + 0.0010877324f) * q + 0.00879122f) * q - 0.008011188f) * q - 0.05423312f) * q + 0.16405056f) * q - 0.1660296f) * q - 0.092763826f) * q + 1.2769784f) * r);
  let middle = 1.0f - (x + h_erf_tail_f32(x));
  let y = select(select(tail, 2.0f - tail, x < 0.0f), middle, a < 0.8125f);
  return h_keep_nan_f32(x, y);
}

fn h_stirling_f32(x: f32) -> f32 {
  let u = h_div_f32(1.0f, x);
  let z = u * u;
  return u * (-0.002762651f * z + 0.083333276f);
}

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
}

fn h_gamma_recurrence_f32(x: f32) -> f32 {
  let n = floor(x) - 2.0f;
  var up = 1.0f;
  up = up * select(1.0f, x - 1.0f, n >= 1.0f);
  up = up * select(1.0f, x - 2.0f, n >= 2.0f);
  up = up * select(1.0f, x - 3.0f, n >= 3.0f);
  up = up * select(1.0f, x - 4.0f, n >= 4.0f);
  up = up * select(1.0f, x - 5.0f, n >= 5.0f);
  var down = 1.0f;
  down = down * select(1.0f, x, n <= -1.0f);
  down = down * select(1.0f, x + 1.0f, n <= -2.0f);
  down = down * select(1.0f, x + 2.0f, n <= -3.0f);
  down = down * select(1.0f, x + 3.0f, n <= -4.0f);
  down = down * select(1.0f, x + 4.0f, n <= -5.0f);
  down = down * select(1.0f, x + 5.0f, n <= -6.0f);
  down = down * select(1.0f, x + 6.0f, n <= -7.0f);
  down = down * select(1.0f, x + 7.0f, n <= -8.0f);
  down = down * select(1.0f, x + 8.0f, n <= -9.0f);
  down = down * select(1.0f, x + 9.0f, n <= -10.0f);
  let f = (x - n) - 2.5f;
  return h_quotient_f32(up * ((((((((-0.0003238686f * f + 0.0017325785f) * f + 0.010993744f) * f + 0.028316496f) * f + 0.10956932f) * f + 0.25387514f) * f + 0.6545643f) * f + 0.93473446f) * f + 1.3293403f), down);
}

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
}

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
}

fn h_lgamma_right_f32(x: f32) -> f32 {
  let n = select(0.0f, floor(x) - 2.0f, x >= 3.0f);
  var up = 1.0f;
  up = up * select(1.0f, x - 1.0f, n >= 1.0f);
  up = up * select(1.0f, x - 2.0f, n >= 2.0f);
  up = up * select(1.0f, x - 3.0f, n >= 3.0f);
  up = up * select(1.0f, x - 4.0f, n >= 4.0f);
  up = up * select(1.0f, x - 5.0f, n >= 5.0f);
  let left = select(x, abs(x + x * x), x < 0.5f);
  let argument = select(select(up, left, x < 1.3f), x, x >= 8.0f);
  let f = select(select(x - n - 2.0f, x - 1.0f, x < 1.3f), x, x < 0.5f);
  let logarithm = h_log_f32(argument);
  let near = f * (((((((((((-4.487577e-06f * f - 2.1496917e-05f) * f + 0.0001279621f) * f - 0.00026938962f) * f + 0.0005020887f) * f - 0.0011667889f) * f + 0.0028902541f) * f - 0.007391494f) * f + 0.020580994f) * f - 0.06735181f) * f + 0.32246703f) * f + 0.42278433f) + select(-logarithm, logarithm, x >= 3.0f);
  let far = (x - 0.5f) * (logarithm - 1.0f) + (h_stirling_f32(max(x, 8.0f)) + 0.41893853f);
  return select(near, far, x >= 8.0f);
}

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
}

fn load0(at: u32) -> f32 {
  let i = select(0u, at, at < d.len0);
  return select(bitcast<f32>(d.zero), b0[i], at < d.len0);
}

fn store1(i: u32, v: f32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  let v1 = load0(gid.x);
  let v2 = abs(v1);
  store1(gid.x, v2);
  let v4 = h_sign_f32(v1);
  store1(gid.x, v4);
  let v6 = floor(v1);
  store1(gid.x, v6);
  let v8 = ceil(v1);
  store1(gid.x, v8);
  let v10 = trunc(v1);
  store1(gid.x, v10);
  let v12 = round(v1);
  store1(gid.x, v12);
  let v14 = sqrt(v1);
  store1(gid.x, v14);
  let v16 = h_rsqrt_f32(v1);
  store1(gid.x, v16);
  let v18 = h_cbrt_f32(v1);
  store1(gid.x, v18);
  let v20 = h_exp_f32(v1);
  store1(gid.x, v20);
  let v22 = h_exp2_f32(v1);
  store1(gid.x, v22);
  let v24 = h_expm1_f32(v1);
  store1(gid.x, v24);
  let v26 = h_log_f32(v1);
  store1(gid.x, v26);
  let v28 = h_log2_f32(v1);
  store1(gid.x, v28);
  let v30 = h_log10_f32(v1);
  store1(gid.x, v30);
  let v32 = h_log1p_f32(v1);
  store1(gid.x, v32);
  let v34 = h_sin_f32(v1);
  store1(gid.x, v34);
  let v36 = h_cos_f32(v1);
  store1(gid.x, v36);
  let v38 = h_tan_f32(v1);
  store1(gid.x, v38);
  let v40 = h_asin_f32(v1);
  store1(gid.x, v40);
  let v42 = h_acos_f32(v1);
  store1(gid.x, v42);
  let v44 = h_atan_f32(v1);
  store1(gid.x, v44);
  let v46 = h_sinh_f32(v1);
  store1(gid.x, v46);
  let v48 = h_cosh_f32(v1);
  store1(gid.x, v48);
  let v50 = h_tanh_f32(v1);
  store1(gid.x, v50);
  let v52 = h_asinh_f32(v1);
  store1(gid.x, v52);
  let v54 = h_acosh_f32(v1);
  store1(gid.x, v54);
  let v56 = h_atanh_f32(v1);
  store1(gid.x, v56);
  let v58 = h_erf_f32(v1);
  store1(gid.x, v58);
  let v60 = h_erfc_f32(v1);
  store1(gid.x, v60);
  let v62 = h_lgamma_f32(v1);
  store1(gid.x, v62);
  let v64 = h_gamma_f32(v1);
  store1(gid.x, v64);
  let v66 = h_sigmoid_f32(v1);
  store1(gid.x, v66);
  let v69 = h_fmod_f32(v1, 2.0f);
  store1(gid.x, v69);
  let v71 = h_fmin_f32(v1, 2.0f);
  store1(gid.x, v71);
  let v73 = h_fmax_f32(v1, 2.0f);
  store1(gid.x, v73);
  let v75 = h_minimum_f32(v1, 2.0f);
  store1(gid.x, v75);
  let v77 = h_maximum_f32(v1, 2.0f);
  store1(gid.x, v77);
  let v79 = h_pow_f32(v1, 2.0f);
  store1(gid.x, v79);
  let v81 = h_atan2_f32(v1, 2.0f);
  store1(gid.x, v81);
  let v83 = h_hypot_f32(v1, 2.0f);
  store1(gid.x, v83);
  let q86_0 = v1 * v1;
  let p86_1 = v1 * q86_0;
  let v86 = p86_1;
  let v88 = h_powi_f32(v1, -2i);
  let v89 = v86 + v88;
  let v91 = h_pow_f32(v1, 0.5f);
  let v92 = v89 + v91;
  store1(gid.x, v92);
  let v95 = fma(v1, v1, 1.0f);
  store1(gid.x, v95);
  let v98 = h_opaque_f32(v1) / 3.0f;
  let v99 = h_mod_f32(v98, 2.0f);
  let v100 = -v1;
  let v101 = v99 - v100;
  store1(gid.x, v101);
  let v103 = h_is_nan_f32(v1);
  let v104 = select(v1, bitcast<f32>(0x3f800000u | d.zero), v103);
  store1(gid.x, v104);
  let v106 = h_is_inf_f32(v1);
  let v107 = select(v1, bitcast<f32>(0x3f800000u | d.zero), v106);
  store1(gid.x, v107);
  let v109 = h_is_finite_f32(v1);
  let v110 = select(v1, bitcast<f32>(0x3f800000u | d.zero), v109);
  store1(gid.x, v110);
}
