struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read_write> b0: array<u32>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;
var<private> nwg: vec3<u32>;
var<private> wid: vec3<u32>;

fn store0(i: u32, v: u32) {
  if (i >= 64u) { return; }
  b0[i] = v;
}

@compute @workgroup_size(4, 2, 2)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let groups = vec3<u32>((d.extent_x - 1u) / 4u + 1u, (d.extent_y - 1u) / 2u + 1u, (d.extent_z - 1u) / 2u + 1u);
  var wg = launched;
  if (d.row != 0u) {
    let linear = launched.x + launched.y * d.row;
    wg = vec3<u32>(linear % groups.x, (linear / groups.x) % groups.y, linear / (groups.x * groups.y));
  }
  let at = wg * vec3<u32>(4u, 2u, 2u) + local;
  if (wg.z >= groups.z) { return; }
  if (at.x >= d.extent_x || at.y >= d.extent_y || at.z >= d.extent_z) { return; }
  gid = at;
  lid = local;
  wid = wg;
  nwg = groups;
  let wid = wg;
  let nwg = groups;
  let v2 = lid.x + gid.x;
  let v4 = wid.x + v2;
  let v6 = nwg.x + v4;
  let v8 = gid.y + v6;
  let v10 = lid.y + v8;
  let v12 = wid.y + v10;
  let v14 = nwg.y + v12;
  let v16 = gid.z + v14;
  let v18 = lid.z + v16;
  let v20 = wid.z + v18;
  let v22 = nwg.z + v20;
  store0(gid.x, v22);
}
