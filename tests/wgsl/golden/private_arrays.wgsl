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
var<private> b2: array<f32, 8>;
var<private> b3: array<u32, 4>;
var<private> gid: vec3<u32>;

fn h_rem_u32(a: u32, b: u32) -> u32 {
  return select(a % max(b, 1u), 0u, b == 0u);
}

fn h_opaque_f32(a: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(a) + d.zero);
}

fn load0(at: u32) -> f32 {
  let i = select(0u, at, at < d.len0);
  return select(bitcast<f32>(d.zero), b0[i], at < d.len0);
}

fn store1(i: u32, v: f32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

fn load2(at: u32) -> f32 {
  let i = select(0u, at, at < 8u);
  return select(bitcast<f32>(d.zero), h_opaque_f32(b2[i]), at < 8u);
}

fn store2(i: u32, v: f32) {
  if (i >= 8u) { return; }
  b2[i] = v;
}

fn load3(at: u32) -> bool {
  let i = select(0u, at, at < 4u);
  return select(false, b3[i] != 0u, at < 4u);
}

fn store3(i: u32, v: bool) {
  if (i >= 4u) { return; }
  b3[i] = select(0u, 1u, v);
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  var k4: u32 = 0u;
  loop {
    if (!(k4 < 8u)) { break; }
    let v4 = k4;
    let v5 = gid.x + v4;
    let v6 = load0(v5);
    store2(v4, v6);
    let v8 = load2(v4);
    let v10 = v8 > h_opaque_f32(0.0f);
    let v12 = h_rem_u32(v4, 4u);
    store3(v12, v10);
    continuing { k4 = k4 + 1u; }
  }
  let v16 = h_rem_u32(gid.x, 4u);
  let v17 = load3(v16);
  let v18 = h_rem_u32(gid.x, 8u);
  let v19 = load2(v18);
  let v21 = load2(7u);
  let v22 = select(v21, v19, v17);
  store1(gid.x, v22);
}
