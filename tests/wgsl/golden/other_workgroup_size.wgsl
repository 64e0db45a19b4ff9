struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  len0: u32,
  p0: u32,
  p1: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read_write> b0: array<u32>;
var<private> gid: vec3<u32>;

fn store0(i: u32, v: u32) {
  if (i >= d.len0) { return; }
  b0[i] = v;
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
  if (at.x >= d.extent_x || at.y >= d.extent_y) { return; }
  gid = at;
  let v2 = gid.x ^ gid.y;
  let v4 = gid.y * d.p0;
  let v5 = v4 + gid.x;
  store0(v5, v2);
}
