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
var<workgroup> b2: array<u32, 64>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, b0[i], at < d.len0);
}

fn store1(i: u32, v: u32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

fn load2(at: u32) -> u32 {
  let i = select(0u, at, at < 64u);
  return select(0u, b2[i], at < 64u);
}

fn store2(i: u32, v: u32) {
  if (i >= 64u) { return; }
  b2[i] = v;
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(64u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 64u) { return; }
  for (var k = local_index; k < 64u; k += 64u) { b2[k] = 0u; }
  workgroupBarrier();
  gid = at;
  lid = local;
  let v2 = load0(gid.x);
  store2(lid.x, v2);
  storageBarrier();
  workgroupBarrier();
  let v6 = 63u - lid.x;
  let v7 = load2(v6);
  store1(gid.x, v7);
}
