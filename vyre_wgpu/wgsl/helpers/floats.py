"""Float arithmetic as WGSL: classes by bit pattern, signs, choices, remainders, rounding."""

from __future__ import annotations

from . import Entries

__all__ = ["FIXED", "FLOAT"]

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
}
