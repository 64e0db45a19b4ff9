struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  len0: u32,
  len2: u32,
  len3: u32,
  len4: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> b1: array<u32>;
@group(0) @binding(2) var<storage, read_write> b2: array<u32>;
@group(0) @binding(3) var<storage, read_write> b3: array<u32>;
@group(0) @binding(4) var<storage, read_write> b4: array<u32>;
@group(0) @binding(5) var<storage, read_write> b5: array<u32>;
@group(0) @binding(6) var<storage, read_write> b6: array<u32>;
var<workgroup> b7: array<u32, 64>;
var<private> b8: array<u32, 4>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, b0[i], at < d.len0);
}

fn load1(at: u32) -> u32 {
  let i = select(0u, at, at < 16u);
  return select(0u, b1[i], at < 16u);
}

fn store1(i: u32, v: u32) {
  if (i >= 16u) { return; }
  b1[i] = v;
}

fn store2(i: u32, v: u32) {
  if (i >= d.len2) { return; }
  b2[i] = v;
}

fn store3(i: u32, v: u32) {
  if (i >= d.len3) { return; }
  b3[i] = v;
}

fn store4(i: u32, v: u32) {
  if (i >= d.len4) { return; }
  b4[i] = v;
}

fn store5(i: u32, v: u32) {
  if (i >= 8u) { return; }
  b5[i] = v;
}

fn store6(i: u32, v: u32) {
  if (i >= 2u) { return; }
  b6[i] = v;
}

fn load7(at: u32) -> u32 {
  let i = select(0u, at, at < 64u);
  return select(0u, b7[i], at < 64u);
}

fn store7(i: u32, v: u32) {
  if (i >= 64u) { return; }
  b7[i] = v;
}

fn store8(i: u32, v: u32) {
  if (i >= 4u) { return; }
  b8[i] = v;
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(64u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 64u) { return; }
  for (var k = local_index; k < 64u; k += 64u) { b7[k] = 0u; }
  workgroupBarrier();
  if (at.x >= d.extent_x) { return; }
  gid = at;
  lid = local;
  let v2 = load0(gid.x);
  store1(gid.x, v2);
  store2(gid.x, v2);
  store3(gid.x, v2);
  store4(gid.x, v2);
  store5(gid.x, v2);
  store6(gid.x, v2);
  let v9 = load1(gid.x);
  store7(lid.x, v9);
  let v11 = load7(lid.x);
  store8(0u, v11);
}
