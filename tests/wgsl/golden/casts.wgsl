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

@group(0) @binding(0) var<storage, read> b0: array<f64>;
@group(0) @binding(1) var<storage, read_write> b1: array<f64>;
var<private> gid: vec3<u32>;

fn h_is_nan_f64(a: f64) -> bool {
  return (bitcast<u64>(a) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu;
}

fn h_is_finite_f64(a: f64) -> bool {
  return (bitcast<u64>(a) & 0x7ffffffffffffffflu) < 0x7ff0000000000000lu;
}

fn h_f64_to_u32(a: f64) -> u32 {
  if (h_is_nan_f64(a) || a < 1.0lf) { return 0u; }
  if (a >= 4294967296.0lf) { return 0xffffffffu; }
  return u32(a);
}

fn h_f64_to_i32(a: f64) -> i32 {
  if (h_is_nan_f64(a)) { return 0i; }
  if (a >= 2147483648.0lf) { return 2147483647i; }
  if (a <= -2147483648.0lf) { return -2147483647i - 1i; }
  return i32(a);
}

fn h_f64_to_u64(a: f64) -> u64 {
  if (h_is_nan_f64(a) || a < 1.0lf) { return 0lu; }
  if (a >= 18446744073709551616.0lf) { return ~0lu; }
  return u64(a);
}

fn h_f64_to_i64(a: f64) -> i64 {
  if (h_is_nan_f64(a)) { return 0li; }
  if (a >= 9223372036854775808.0lf) { return 9223372036854775807li; }
  if (a < -9223372036854775808.0lf) { return -9223372036854775807li - 1li; }
  return i64(a);
}

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
}

fn h_round_f16(a: f32) -> f32 {
  return h_from_f16(h_f16_bits(a));
}

fn h_from_f16(bits: u32) -> f32 {
  let sign = (bits & 0x8000u) << 16u;
  let m = bits & 0x7fffu;
  if (m >= 0x7c00u) { return bitcast<f32>(sign | 0x7f800000u | ((m & 0x3ffu) << 13u)); }
  if (m >= 0x400u) { return bitcast<f32>(sign | ((m << 13u) + 0x38000000u)); }
  // Subnormal: a multiple of 2^-24, normal in f32.
  return bitcast<f32>(sign | bitcast<u32>(f32(m) * 5.9604644775390625e-8f));
}

fn h_f64_to_f16(a: f64) -> f32 {
  let near = f32(a);
  var bits = bitcast<u32>(near);
  if (h_is_finite_f64(a) && (bits & 0x7fffffffu) != 0x7f800000u && f64(near) != a) {
    if (abs(f64(near)) > abs(a)) { bits = bits - 1u; }
    bits = bits | 1u;
  }
  return h_round_f16(bitcast<f32>(bits));
}

fn load0(at: u32) -> f64 {
  let i = select(0u, at, at < d.len0);
  return select(bitcast<f64>(u64(d.zero)), b0[i], at < d.len0);
}

fn store1(i: u32, v: f64) {
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
  let v2 = !(v1 == 0.0lf);
  let v3 = select(bitcast<f64>(u64(d.zero)), 1.0lf, v2);
  store1(gid.x, v3);
  let v5 = clamp(h_f64_to_i32(v1), -128i, 127i);
  let v6 = f64(v5);
  store1(gid.x, v6);
  let v8 = min(h_f64_to_u32(v1), 255u);
  let v9 = f64(v8);
  store1(gid.x, v9);
  let v11 = clamp(h_f64_to_i32(v1), -32768i, 32767i);
  let v12 = f64(v11);
  store1(gid.x, v12);
  let v14 = min(h_f64_to_u32(v1), 65535u);
  let v15 = f64(v14);
  store1(gid.x, v15);
  let v17 = h_f64_to_i32(v1);
  let v18 = f64(v17);
  store1(gid.x, v18);
  let v20 = h_f64_to_u32(v1);
  let v21 = f64(v20);
  store1(gid.x, v21);
  let v23 = h_f64_to_i64(v1);
  let v24 = f64(v23);
  store1(gid.x, v24);
  let v26 = h_f64_to_u64(v1);
  let v27 = f64(v26);
  store1(gid.x, v27);
  let v29 = h_f64_to_f16(v1);
  let v30 = f64(v29);
  store1(gid.x, v30);
  let v32 = f32(v1);
  let v33 = f64(v32);
  store1(gid.x, v33);
  let v35 = v1;
  let v36 = v35;
  store1(gid.x, v36);
  let v38 = bitcast<u64>(v1);
  let v39 = bitcast<f64>(v38);
  store1(gid.x, v39);
  let v41 = (((bitcast<i32>(h_f16_bits(v29))) << 16u) >> 16u);
  let v42 = f64(v41);
  store1(gid.x, v42);
}
