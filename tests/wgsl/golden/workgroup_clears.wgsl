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

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> b1: array<u32>;
var<workgroup> b2: array<atomic<u32>, 100>;
var<workgroup> b3: array<u32, 37>;
var<workgroup> b4: array<f32, 1>;
var<workgroup> b5: array<u32, 16>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;

fn h_rem_u32(a: u32, b: u32) -> u32 {
  return select(a % max(b, 1u), 0u, b == 0u);
}

fn h_is_nan_f32(a: f32) -> bool {
  return (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u;
}

fn h_f32_to_u32(a: f32) -> u32 {
  if (h_is_nan_f32(a) || a < 1.0f) { return 0u; }
  if (a >= 4294967296.0f) { return 0xffffffffu; }
  return u32(a);
}

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, b0[i], at < d.len0);
}

fn store1(i: u32, v: u32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

fn load2(at: u32) -> u32 {
  let i = select(0u, at, at < 100u);
  return select(0u, atomicLoad(&b2[i]), at < 100u);
}

fn atomicadd2(i: u32, v: u32) -> u32 {
  if (i >= 100u) { return 0u; }
  return atomicAdd(&b2[i], v);
}

fn load3(at: u32) -> u32 {
  let i = select(0u, at, at < 37u);
  return select(0u, b3[i], at < 37u);
}

fn store3(i: u32, v: u32) {
  if (i >= 37u) { return; }
  b3[i] = v;
}

fn load4(at: u32) -> f32 {
  let i = select(0u, at, at < 1u);
  return select(bitcast<f32>(d.zero), b4[i], at < 1u);
}

fn store4(i: u32, v: f32) {
  if (i >= 1u) { return; }
  b4[i] = v;
}

@compute @workgroup_size(8, 4, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let groups = vec3<u32>((d.extent_x - 1u) / 8u + 1u, (d.extent_y - 1u) / 4u + 1u, (d.extent_z - 1u) / 1u + 1u);
  var wg = launched;
  if (d.row != 0u) {
    let linear = launched.x + launched.y * d.row;
    wg = vec3<u32>(linear % groups.x, (linear / groups.x) % groups.y, linear / (groups.x * groups.y));
  }
  let at = wg * vec3<u32>(8u, 4u, 1u) + local;
  if (wg.z >= groups.z) { return; }
  for (var k = local_index; k < 100u; k += 32u) { atomicStore(&b2[k], 0u); }
  for (var k = local_index; k < 37u; k += 32u) { b3[k] = 0u; }
  for (var k = local_index; k < 1u; k += 32u) { b4[k] = bitcast<f32>(d.zero); }
  workgroupBarrier();
  gid = at;
  lid = local;
  let v1 = load0(gid.x);
  let v3 = h_rem_u32(v1, 100u);
  let v5 = atomicadd2(v3, 1u);
  let v8 = lid.x == 0u;
  let v10 = lid.y == 0u;
  let v11 = v8 & v10;
  if (v11) {
    store4(0u, bitcast<f32>(0x3f000000u | d.zero));
  }
  let v16 = ((v1) & 255u);
  store3(lid.x, v16);
  storageBarrier();
  workgroupBarrier();
  let v19 = h_rem_u32(gid.x, 100u);
  let v20 = load2(v19);
  let v22 = load3(36u);
  let v23 = v22;
  let v24 = v20 + v23;
  let v25 = load4(0u);
  let v26 = h_f32_to_u32(v25);
  let v27 = v24 + v26;
  store1(gid.x, v27);
}
