struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  len0: u32,
  len1: u32,
  p0: u32,
  p0_high: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<f64>;
@group(0) @binding(1) var<storage, read_write> b1: array<f64>;
var<private> gid: vec3<u32>;

fn h_is_nan_f64(a: f64) -> bool {
  return (bitcast<u64>(a) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu;
}

fn h_opaque_f64(a: f64) -> f64 {
  return bitcast<f64>(bitcast<u64>(a) + u64(d.zero));
}

fn h_maximum_f64(a: f64, b: f64) -> f64 {
  if (h_is_nan_f64(a)) { return a; }
  if (h_is_nan_f64(b)) { return b; }
  return select(b, a, a >= b);
}

fn h_div_f64(a: f64, b: f64) -> f64 {
  return a / b;
}

fn h_round_f64(a: f64) -> f64 {
  let size = abs(a);
  if (!(size < 4503599627370496.0lf)) { return a; }
  let whole = h_opaque_f64(size + 4503599627370496.0lf) - 4503599627370496.0lf;
  return bitcast<f64>(bitcast<u64>(whole) | (bitcast<u64>(a) & 0x8000000000000000lu));
}

fn h_f64_to_u32(a: f64) -> u32 {
  if (h_is_nan_f64(a) || a < 1.0lf) { return 0u; }
  if (a >= 4294967296.0lf) { return 0xffffffffu; }
  return u32(a);
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
  let v3 = bitcast<f64>(u64(d.p0) | (u64(d.p0_high) << 32u)) * v1;
  let v5 = gid.x + 1u;
  let v6 = load0(v5);
  let v7 = v3 + v6;
  store1(gid.x, v7);
  let v9 = h_div_f64(h_opaque_f64(v1), bitcast<f64>(u64(d.p0) | (u64(d.p0_high) << 32u)));
  let v11 = v9 - 0.1lf;
  store1(gid.x, v11);
  let v13 = floor(v1);
  let v14 = h_round_f64(v1);
  let v15 = v13 + v14;
  let v16 = h_maximum_f64(v1, bitcast<f64>(u64(d.p0) | (u64(d.p0_high) << 32u)));
  let v17 = v15 + v16;
  let v18 = fma(v1, v1, bitcast<f64>(u64(d.p0) | (u64(d.p0_high) << 32u)));
  let v19 = v17 + v18;
  store1(gid.x, v19);
  let v21 = f32(v1);
  let v22 = f64(v21);
  let v23 = h_f64_to_u32(v1);
  let v24 = f64(v23);
  let v25 = v22 + v24;
  store1(gid.x, v25);
  let v27 = h_is_nan_f64(v1);
  let v28 = !(bitcast<f64>(u64(d.p0) | (u64(d.p0_high) << 32u)) == v1);
  let v29 = v27 | v28;
  let v30 = -bitcast<f64>(u64(d.p0) | (u64(d.p0_high) << 32u));
  let v31 = select(v30, v1, v29);
  store1(gid.x, v31);
}
