"""From float to integer, and between f16 and the other floats, as WGSL."""

from __future__ import annotations

from . import Entries

__all__ = ["FIXED"]

FIXED: Entries = {
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
}
