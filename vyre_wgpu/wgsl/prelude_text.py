"""The WGSL texts behind `prelude.HELPERS`: name to (definition, helpers it calls), by group.

``$T`` and the like are the spelling of the type. A ``//cut`` line holds the condition under which
a loop was left before it was done, which only a driver that ends loops early can bring about.
"""

from __future__ import annotations

__all__ = ["FIXED", "FLOAT", "SIGNED", "UNSIGNED"]

Entries = dict[str, tuple[str, tuple[str, ...]]]

UNSIGNED: Entries = {
    # By zero all bits one, remainder 0.
    "h_div_$T": (
        """
fn h_div_$T(a: $T, b: $T) -> $T {
  return select(a / max(b, 1$s), ~0$s, b == 0$s);
}""",
        (),
    ),
    "h_rem_$T": (
        """
fn h_rem_$T(a: $T, b: $T) -> $T {
  return select(a % max(b, 1$s), 0$s, b == 0$s);
}""",
        (),
    ),
    "h_trips_$T": (
        """
fn h_trips_$T(start: $T, stop: $T, step: $T) -> $T {
  if (step == 0$s || start >= stop) { return 0$s; }
  return (stop - start - 1$s) / step + 1$s;
}""",
        (),
    ),
}

SIGNED: Entries = {
    # Toward zero; MIN / -1 wraps to MIN.
    "h_trunc_div_$T": (
        """
fn h_trunc_div_$T(a: $T, b: $T) -> $T {
  if (b == 0$s) { return -1$s; }
  if (b == -1$s) { return 0$s - a; }
  return a / b;
}""",
        (),
    ),
    "h_rem_$T": (
        """
fn h_rem_$T(a: $T, b: $T) -> $T {
  if (b == 0$s || b == -1$s) { return 0$s; }
  return a - (a / b) * b;
}""",
        (),
    ),
    "h_floor_div_$T": (
        """
fn h_floor_div_$T(a: $T, b: $T) -> $T {
  let q = h_trunc_div_$T(a, b);
  let r = h_rem_$T(a, b);
  return select(q, q - 1$s, r != 0$s && (r ^ b) < $zero);
}""",
        ("h_trunc_div_$T", "h_rem_$T"),
    ),
    "h_mod_$T": (
        """
fn h_mod_$T(a: $T, b: $T) -> $T {
  let r = h_rem_$T(a, b);
  return select(r, r + b, r != 0$s && (r ^ b) < $zero);
}""",
        ("h_rem_$T",),
    ),
    # Trip counts of half-open loops, in unsigned arithmetic that cannot overflow.
    "h_trips_$T": (
        """
fn h_trips_$T(start: $T, stop: $T, step: $T) -> $U {
  let a = bitcast<$U>(start);
  let b = bitcast<$U>(stop);
  let s = bitcast<$U>(step);
  if (step > $zero && start < stop) { return (b - a - 1$us) / s + 1$us; }
  if (step < $zero && start > stop) { return (a - b - 1$us) / (0$us - s) + 1$us; }
  return 0$us;
}""",
        (),
    ),
    "h_mul_high_$T": (
        """
fn h_mul_high_$T(a: $T, b: $T) -> $T {
  let high = h_mul_high_$U(bitcast<$U>(a), bitcast<$U>(b));
  let fix = select(0$us, bitcast<$U>(b), a < $zero) + select(0$us, bitcast<$U>(a), b < $zero);
  return bitcast<$T>(high - fix);
}""",
        ("h_mul_high_$U",),
    ),
}

FLOAT: Entries = {
    # Classes by bit pattern, so that no fast-math can remove the tests.
    "h_is_nan_$T": (
        """
fn h_is_nan_$T(a: $T) -> bool {
  return (bitcast<$U>(a) & $magnitude) > $inf;
}""",
        (),
    ),
    "h_is_inf_$T": (
        """
fn h_is_inf_$T(a: $T) -> bool {
  return (bitcast<$U>(a) & $magnitude) == $inf;
}""",
        (),
    ),
    "h_is_finite_$T": (
        """
fn h_is_finite_$T(a: $T) -> bool {
  return (bitcast<$U>(a) & $magnitude) < $inf;
}""",
        (),
    ),
    "h_opaque_$T": (
        """
fn h_opaque_$T(a: $T) -> $T {
  return bitcast<$T>(bitcast<$U>(a) + $zero);
}""",
        (),
    ),
    "h_sign_$T": (
        """
fn h_sign_$T(a: $T) -> $T {
  if (h_is_nan_$T(a)) { return a; }
  // A driver may turn the choice between 0 and -1 into the negative of a bool: -0.
  let zero = bitcast<$T>($zero);
  return select(select(zero, -1.0$s, a < 0.0$s), 1.0$s, a > 0.0$s);
}""",
        ("h_is_nan_$T",),
    ),
    "h_minimum_$T": (
        """
fn h_minimum_$T(a: $T, b: $T) -> $T {
  if (h_is_nan_$T(a)) { return a; }
  if (h_is_nan_$T(b)) { return b; }
  return select(b, a, a <= b);
}""",
        ("h_is_nan_$T",),
    ),
    "h_maximum_$T": (
        """
fn h_maximum_$T(a: $T, b: $T) -> $T {
  if (h_is_nan_$T(a)) { return a; }
  if (h_is_nan_$T(b)) { return b; }
  return select(b, a, a >= b);
}""",
        ("h_is_nan_$T",),
    ),
    "h_fmin_$T": (
        """
fn h_fmin_$T(a: $T, b: $T) -> $T {
  if (h_is_nan_$T(a)) { return b; }
  if (h_is_nan_$T(b)) { return a; }
  return select(b, a, a <= b);
}""",
        ("h_is_nan_$T",),
    ),
    "h_fmax_$T": (
        """
fn h_fmax_$T(a: $T, b: $T) -> $T {
  if (h_is_nan_$T(a)) { return b; }
  if (h_is_nan_$T(b)) { return a; }
  return select(b, a, a >= b);
}""",
        ("h_is_nan_$T",),
    ),
    # C's fmod: long division of the significands, several quotient bits a step, so exact.
    "h_fmod_$T": (
        """
fn h_fmod_$T(x: $T, y: $T) -> $T {
  let sign = bitcast<$U>(x) & $sign;
  let a = bitcast<$U>(x) & $magnitude;
  let b = bitcast<$U>(y) & $magnitude;
  if (a >= $inf || b > $inf || b == 0$us) { return bitcast<$T>($nan | $zero); }
  if (a < b) { return x; }
  var ea = a >> $shift;
  var ma = a & $mantissa;
  if (ea == 0$us) {
    let shift = $clz(ma | 1$us) - $spare;
    ma = ma << u32(shift);
    ea = 1$us - shift;
  } else {
    ma = ma | $hidden;
  }
  var eb = b >> $shift;
  var mb = b & $mantissa;
  if (eb == 0$us) {
    let shift = $clz(mb) - $spare;
    mb = mb << u32(shift);
    eb = 1$us - shift;
  } else {
    mb = mb | $hidden;
  }
  var left = ea - eb;
  ma = ma % mb;
  loop {
    if (left == 0$us || ma == 0$us) { break; }
    let n = min(left, $step);
    ma = (ma << u32(n)) % mb;
    left = left - n;
  }
  //cut left != 0$us && ma != 0$us
  if (ma == 0$us) { return bitcast<$T>(sign | $zero); }
  let shift = $clz(ma) - $spare;
  ma = ma << u32(shift);
  let e = bitcast<$S>(eb - shift);
  if (e <= 0$ss) { return bitcast<$T>(sign | (ma >> u32(1$ss - e))); }
  return bitcast<$T>(sign | (bitcast<$U>(e) << $shift) | (ma & $mantissa));
}""",
        ("$clz",),
    ),
    # 2^64 times a magnitude given by its bits. A subnormal is taken as an integer: as a float a
    # device may flush it.
    "h_grown_$T": (
        """
fn h_grown_$T(size: $U) -> $T {
  return select(bitcast<$T>(size) * $grow, $T(size) * $unit, size < $hidden);
}""",
        (),
    ),
    # Python's modulo: the divisor's sign, also of a zero result.
    "h_mod_$T": (
        """
fn h_mod_$T(a: $T, b: $T) -> $T {
  let r = h_fmod_$T(a, b);
  if (h_is_nan_$T(r)) { return r; }
  let b_sign = bitcast<$U>(b) & $sign;
  let size = bitcast<$U>(r) & $magnitude;
  if (size == 0$us) { return bitcast<$T>(b_sign | $zero); }
  if ((bitcast<$U>(r) & $sign) == b_sign) { return r; }
  let b_size = bitcast<$U>(b) & $magnitude;
  let small = (h_grown_$T(b_size) - h_grown_$T(size)) * $shrink;
  let rest = select(bitcast<$T>(b_size) - bitcast<$T>(size), small, b_size < $low);
  return bitcast<$T>(bitcast<$U>(rest) | b_sign);
}""",
        ("h_fmod_$T", "h_is_nan_$T", "h_grown_$T"),
    ),
    # Integer powers by squaring; a^0 is 1, of NaN too.
    "h_powi_$T": (
        """
fn h_powi_$T(a: $T, n: i32) -> $T {
  var left = bitcast<u32>(select(n, 0i - n, n < 0i));
  var square = a;
  var product = 1.0$s;
  loop {
    if (left == 0u) { break; }
    if ((left & 1u) != 0u) { product = product * square; }
    square = square * square;
    left = left >> 1u;
  }
  //cut left != 0u
  if (n < 0i) { return h_div_$T(1.0$s, product); }
  return product;
}""",
        ("h_div_$T",),
    ),
}

FIXED: Entries = {
    # A driver may divide by multiplying with the reciprocal, which it flushes to zero for a divisor
    # above 2^126 (seen on an NVIDIA H200): such a divisor is scaled, and the quotient with it.
    "h_div_f32": (
        """
fn h_div_f32(a: f32, b: f32) -> f32 {
  let s = select(1.0f, 0.25f, (bitcast<u32>(b) & 0x7fffffffu) > 0x7e800000u);
  return (a / (b * s)) * s;
}""",
        (),
    ),
    "h_div_f64": (
        """
fn h_div_f64(a: f64, b: f64) -> f64 {
  return a / b;
}""",
        (),
    ),
    # llvmpipe truncates where it should round, and loses the sign of -0.
    "h_trunc_f64": (
        """
fn h_trunc_f64(a: f64) -> f64 {
  let whole = floor(abs(a));
  return bitcast<f64>(bitcast<u64>(whole) | (bitcast<u64>(a) & 0x8000000000000000lu));
}""",
        (),
    ),
    # Adding 2^52 leaves no room for a fraction, so the addition itself rounds, halves to even.
    "h_round_f64": (
        """
fn h_round_f64(a: f64) -> f64 {
  let size = abs(a);
  if (!(size < 4503599627370496.0lf)) { return a; }
  let whole = h_opaque_f64(size + 4503599627370496.0lf) - 4503599627370496.0lf;
  return bitcast<f64>(bitcast<u64>(whole) | (bitcast<u64>(a) & 0x8000000000000000lu));
}""",
        ("h_opaque_f64",),
    ),
    # Float to integer: truncate, saturate, NaN gives 0. The value is in range before it is cast.
    "h_f32_to_u32": (
        """
fn h_f32_to_u32(a: f32) -> u32 {
  if (h_is_nan_f32(a) || a < 1.0f) { return 0u; }
  if (a >= 4294967296.0f) { return 0xffffffffu; }
  return u32(a);
}""",
        ("h_is_nan_f32",),
    ),
    "h_f32_to_i32": (
        """
fn h_f32_to_i32(a: f32) -> i32 {
  if (h_is_nan_f32(a)) { return 0i; }
  if (a >= 2147483648.0f) { return 2147483647i; }
  if (a < -2147483648.0f) { return -2147483647i - 1i; }
  return i32(a);
}""",
        ("h_is_nan_f32",),
    ),
    "h_f32_to_u64": (
        """
fn h_f32_to_u64(a: f32) -> u64 {
  if (h_is_nan_f32(a) || a < 1.0f) { return 0lu; }
  if (a >= 18446744073709551616.0f) { return ~0lu; }
  return u64(a);
}""",
        ("h_is_nan_f32",),
    ),
    "h_f32_to_i64": (
        """
fn h_f32_to_i64(a: f32) -> i64 {
  if (h_is_nan_f32(a)) { return 0li; }
  if (a >= 9223372036854775808.0f) { return 9223372036854775807li; }
  if (a < -9223372036854775808.0f) { return -9223372036854775807li - 1li; }
  return i64(a);
}""",
        ("h_is_nan_f32",),
    ),
    "h_f64_to_u32": (
        """
fn h_f64_to_u32(a: f64) -> u32 {
  if (h_is_nan_f64(a) || a < 1.0lf) { return 0u; }
  if (a >= 4294967296.0lf) { return 0xffffffffu; }
  return u32(a);
}""",
        ("h_is_nan_f64",),
    ),
    "h_f64_to_i32": (
        """
fn h_f64_to_i32(a: f64) -> i32 {
  if (h_is_nan_f64(a)) { return 0i; }
  if (a >= 2147483648.0lf) { return 2147483647i; }
  if (a <= -2147483648.0lf) { return -2147483647i - 1i; }
  return i32(a);
}""",
        ("h_is_nan_f64",),
    ),
    "h_f64_to_u64": (
        """
fn h_f64_to_u64(a: f64) -> u64 {
  if (h_is_nan_f64(a) || a < 1.0lf) { return 0lu; }
  if (a >= 18446744073709551616.0lf) { return ~0lu; }
  return u64(a);
}""",
        ("h_is_nan_f64",),
    ),
    "h_f64_to_i64": (
        """
fn h_f64_to_i64(a: f64) -> i64 {
  if (h_is_nan_f64(a)) { return 0li; }
  if (a >= 9223372036854775808.0lf) { return 9223372036854775807li; }
  if (a < -9223372036854775808.0lf) { return -9223372036854775807li - 1li; }
  return i64(a);
}""",
        ("h_is_nan_f64",),
    ),
    # f16 lives in f32 registers; results are rounded to the nearest f16, ties to even. Drivers'
    # own conversions and f16 arithmetic do not round alike.
    "h_f16_bits": (
        """
fn h_f16_bits(a: f32) -> u32 {
  let bits = bitcast<u32>(a);
  let sign = (bits >> 16u) & 0x8000u;
  let m = bits & 0x7fffffffu;
  if (m > 0x7f800000u) { return sign | 0x7e00u; }
  if (m >= 0x477ff000u) { return sign | 0x7c00u; }
  if (m >= 0x38800000u) {
    return sign | ((m + 0xfffu + ((m >> 13u) & 1u) - 0x38000000u) >> 13u);
  }
  if (m < 0x33000000u) { return sign; }
  let significand = (m & 0x7fffffu) | 0x800000u;
  let shift = 126u - (m >> 23u);
  let q = significand >> shift;
  let rest = significand & ((1u << shift) - 1u);
  let half = 1u << (shift - 1u);
  return sign | (q + select(0u, 1u, rest > half || (rest == half && (q & 1u) == 1u)));
}""",
        (),
    ),
    "h_round_f16": (
        """
fn h_round_f16(a: f32) -> f32 {
  return h_from_f16(h_f16_bits(a));
}""",
        ("h_f16_bits", "h_from_f16"),
    ),
    "h_from_f16": (
        """
fn h_from_f16(bits: u32) -> f32 {
  let sign = (bits & 0x8000u) << 16u;
  let m = bits & 0x7fffu;
  if (m >= 0x7c00u) { return bitcast<f32>(sign | 0x7f800000u | ((m & 0x3ffu) << 13u)); }
  if (m >= 0x400u) { return bitcast<f32>(sign | ((m << 13u) + 0x38000000u)); }
  // Subnormal: a multiple of 2^-24, normal in f32.
  return bitcast<f32>(sign | bitcast<u32>(f32(m) * 5.9604644775390625e-8f));
}""",
        (),
    ),
    # f64 to f16 in two steps: the first rounds to odd, so that the second sees what was cut off.
    "h_f64_to_f16": (
        """
fn h_f64_to_f16(a: f64) -> f32 {
  let near = f32(a);
  var bits = bitcast<u32>(near);
  if (h_is_finite_f64(a) && (bits & 0x7fffffffu) != 0x7f800000u && f64(near) != a) {
    if (abs(f64(near)) > abs(a)) { bits = bits - 1u; }
    bits = bits | 1u;
  }
  return h_round_f16(bitcast<f32>(bits));
}""",
        ("h_is_finite_f64", "h_round_f16"),
    ),
    "h_rotl_u32": (
        """
fn h_rotl_u32(a: u32, s: u32, width: u32) -> u32 {
  let n = s & (width - 1u);
  let mask = 0xffffffffu >> (32u - width);
  return ((a << n) | ((a & mask) >> ((width - n) & (width - 1u)))) & mask;
}""",
        (),
    ),
    "h_rotl_u64": (
        """
fn h_rotl_u64(a: u64, s: u32, width: u32) -> u64 {
  // llvmpipe drops the masks of counts that it can fold, and shifts wrongly then.
  let n = (s & 63u) | d.zero;
  return (a << n) | (a >> (((64u - n) & 63u) | d.zero));
}""",
        (),
    ),
    "h_mul_high_u32": (
        """
fn h_mul_high_u32(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let low = al * bl;
  let mid1 = ah * bl + (low >> 16u);
  let mid2 = al * bh + (mid1 & 0xffffu);
  return ah * bh + (mid1 >> 16u) + (mid2 >> 16u);
}""",
        (),
    ),
    "h_mul_high_u64": (
        """
fn h_mul_high_u64(a: u64, b: u64) -> u64 {
  let al = a & 0xfffffffflu;
  let ah = a >> 32u;
  let bl = b & 0xfffffffflu;
  let bh = b >> 32u;
  let low = al * bl;
  let mid1 = ah * bl + (low >> 32u);
  let mid2 = al * bh + (mid1 & 0xfffffffflu);
  return ah * bh + (mid1 >> 32u) + (mid2 >> 32u);
}""",
        (),
    ),
    # Bit operations of 64-bit values by halves: the builtins abort the process or are wrong.
    "h_clz_u64": (
        """
fn h_clz_u64(a: u64) -> u64 {
  let high = u32(a >> 32u);
  let low = u32(a & 0xfffffffflu);
  return u64(select(countLeadingZeros(high), 32u + countLeadingZeros(low), high == 0u));
}""",
        (),
    ),
    "h_ctz_u64": (
        """
fn h_ctz_u64(a: u64) -> u64 {
  let high = u32(a >> 32u);
  let low = u32(a & 0xfffffffflu);
  return u64(select(countTrailingZeros(low), 32u + countTrailingZeros(high), low == 0u));
}""",
        (),
    ),
    "h_popcount_u64": (
        """
fn h_popcount_u64(a: u64) -> u64 {
  return u64(countOneBits(u32(a >> 32u)) + countOneBits(u32(a & 0xfffffffflu)));
}""",
        (),
    ),
    "h_reverse_u64": (
        """
fn h_reverse_u64(a: u64) -> u64 {
  let high = reverseBits(u32(a & 0xfffffffflu));
  return (u64(high) << 32u) | u64(reverseBits(u32(a >> 32u)));
}""",
        (),
    ),
    # An index that no buffer has in place of one that does not fit u32.
    "h_index_i32": (
        """
fn h_index_i32(i: i32) -> u32 {
  return select(bitcast<u32>(i), 0xffffffffu, i < 0i);
}""",
        (),
    ),
    "h_index_i64": (
        """
fn h_index_i64(i: i64) -> u32 {
  return h_index_u64(bitcast<u64>(i));
}""",
        ("h_index_u64",),
    ),
    "h_index_u64": (
        """
fn h_index_u64(i: u64) -> u32 {
  return select(u32(i & 0xfffffffflu), 0xffffffffu, (i >> 32u) != 0lu);
}""",
        (),
    ),
    # NaN propagates, as in minimum and maximum.
    "h_subgroupMin": (
        """
fn h_subgroupMin(v: f32) -> f32 {
  let with_nan = subgroupOr(select(0u, 1u, h_is_nan_f32(v))) != 0u;
  return select(subgroupMin(v), bitcast<f32>(0x7fc00000u | d.zero), with_nan);
}""",
        ("h_is_nan_f32",),
    ),
    "h_subgroupMax": (
        """
fn h_subgroupMax(v: f32) -> f32 {
  let with_nan = subgroupOr(select(0u, 1u, h_is_nan_f32(v))) != 0u;
  return select(subgroupMax(v), bitcast<f32>(0x7fc00000u | d.zero), with_nan);
}""",
        ("h_is_nan_f32",),
    ),
    "h_ballot_word": (
        """
fn h_ballot_word(ballot: vec4<u32>, word: u32) -> u32 {
  var words = ballot;
  if (word > 3u) { return 0u; }
  return words[word];
}""",
        (),
    ),
    "h_lane_is_active": (
        """
fn h_lane_is_active(lane: u32, running: vec4<u32>) -> bool {
  return ((h_ballot_word(running, lane >> 5u) >> (lane & 31u)) & 1u) != 0u;
}""",
        ("h_ballot_word",),
    ),
    # The lane whose compare-exchange takes the flag writes the other trap words.
    "h_trap": (
        """
fn h_trap(site: u32, address: u32, lane: u32) {
  loop {
    let r = atomicCompareExchangeWeak(&trap_words[0], 0u, 1u);
    if (r.exchanged) {
      atomicStore(&trap_words[1], address);
      atomicStore(&trap_words[2], site);
      atomicStore(&trap_words[3], lane);
      break;
    }
    if (r.old_value != 0u) { break; }
  }
}""",
        (),
    ),
}
