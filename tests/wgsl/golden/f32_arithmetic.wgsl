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

fn h_f32_to_u32(a: f32) -> u32 {
  if (h_is_nan_f32(a) || a < 1.0f) { return 0u; }
  if (a >= 4294967296.0f) { return 0xffffffffu; }
  return u32(a);
}

fn h_f32_to_i32(a: f32) -> i32 {
  if (h_is_nan_f32(a)) { return 0i; }
  if (a >= 2147483648.0f) { return 2147483647i; }
  if (a < -2147483648.0f) { return -2147483647i - 1i; }
  return i32(a);
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
  let v3 = gid.x + 1u;
  let v4 = load0(v3);
  let v5 = floor(v1);
  store1(gid.x, v5);
  let v7 = ceil(v1);
  store1(gid.x, v7);
  let v9 = trunc(v1);
  store1(gid.x, v9);
  let v11 = round(v1);
  store1(gid.x, v11);
  let v13 = abs(v1);
  store1(gid.x, v13);
  let v15 = h_sign_f32(v1);
  store1(gid.x, v15);
  let v17 = sqrt(v1);
  store1(gid.x, v17);
  let v19 = h_minimum_f32(v1, v4);
  store1(gid.x, v19);
  let v21 = h_maximum_f32(v1, v4);
  store1(gid.x, v21);
  let v23 = h_fmin_f32(v1, v4);
  store1(gid.x, v23);
  let v25 = h_fmax_f32(v1, v4);
  store1(gid.x, v25);
  let v28 = fma(v1, v4, 1.0f);
  store1(gid.x, v28);
  let v30 = h_is_nan_f32(v1);
  let v31 = -v4;
  let v32 = select(v31, bitcast<f32>(0x3f800000u | d.zero), v30);
  store1(gid.x, v32);
  let v34 = h_is_inf_f32(v1);
  let v35 = select(v31, bitcast<f32>(0x3f800000u | d.zero), v34);
  store1(gid.x, v35);
  let v37 = h_is_finite_f32(v1);
  let v38 = select(v31, bitcast<f32>(0x3f800000u | d.zero), v37);
  store1(gid.x, v38);
  let v40 = clamp(h_f32_to_i32(v1), -128i, 127i);
  let v41 = f32(v40);
  store1(gid.x, v41);
  let v43 = min(h_f32_to_u32(v1), 255u);
  let v44 = f32(v43);
  store1(gid.x, v44);
  let v46 = clamp(h_f32_to_i32(v1), -32768i, 32767i);
  let v47 = f32(v46);
  store1(gid.x, v47);
  let v49 = min(h_f32_to_u32(v1), 65535u);
  let v50 = f32(v49);
  store1(gid.x, v50);
  let v52 = h_f32_to_i32(v1);
  let v53 = f32(v52);
  store1(gid.x, v53);
  let v55 = h_f32_to_u32(v1);
  let v56 = f32(v55);
  store1(gid.x, v56);
  let v58 = bitcast<u32>(v1);
  let v60 = v58 ^ 2147483648u;
  let v61 = bitcast<f32>(v60);
  store1(gid.x, v61);
}
