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
  p1: i32,
  p2: u32,
  p3: i32,
  p4: u32,
  p5: u32,
  p6: f32,
}
@group(0) @binding(2) var<uniform> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<f32>;
@group(0) @binding(1) var<storage, read_write> b1: array<f32>;
var<private> gid: vec3<u32>;

fn h_from_f16(bits: u32) -> f32 {
  let sign = (bits & 0x8000u) << 16u;
  let m = bits & 0x7fffu;
  if (m >= 0x7c00u) { return bitcast<f32>(sign | 0x7f800000u | ((m & 0x3ffu) << 13u)); }
  if (m >= 0x400u) { return bitcast<f32>(sign | ((m << 13u) + 0x38000000u)); }
  // Subnormal: a multiple of 2^-24, normal in f32.
  return bitcast<f32>(sign | bitcast<u32>(f32(m) * 5.9604644775390625e-8f));
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
  let v3 = select(bitcast<f32>(d.zero), 1.0f, (d.p0 != 0u));
  let v4 = v1 + v3;
  let v6 = f32(d.p1);
  let v7 = v4 + v6;
  let v9 = f32(d.p2);
  let v10 = v7 + v9;
  let v12 = f32(d.p3);
  let v13 = v10 + v12;
  let v15 = f32(d.p4);
  let v16 = v13 + v15;
  let v18 = h_from_f16(d.p5);
  let v19 = v16 + v18;
  let v21 = v19 + d.p6;
  store1(gid.x, v21);
}
