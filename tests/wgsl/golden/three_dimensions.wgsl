struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  len0: u32,
  p0: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read_write> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> trap_words: array<atomic<u32>, 4>;
var<private> gid: vec3<u32>;

fn h_trap(site: u32, address: u32, lane: u32) {
  loop {
    let r = atomicCompareExchangeWeak(&trap_words[0], 0u, 1u);
    if (r.exchanged) {
      atomicStore(&trap_words[1], address);
      atomicStore(&trap_words[2], site);
      atomicStore(&trap_words[3], lane);
      break;
    }
    if (r.old_value != 0u) { break; }
  }
}

fn store0(i: u32, v: u32) {
  if (i >= d.len0) { return; }
  b0[i] = v;
}

fn lane_index() -> u32 {
  return gid.x + d.extent_x * (gid.y + d.extent_y * gid.z);
}

@compute @workgroup_size(4, 4, 4)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let groups = vec3<u32>((d.extent_x - 1u) / 4u + 1u, (d.extent_y - 1u) / 4u + 1u, (d.extent_z - 1u) / 4u + 1u);
  var wg = launched;
  if (d.row != 0u) {
    let linear = launched.x + launched.y * d.row;
    wg = vec3<u32>(linear % groups.x, (linear / groups.x) % groups.y, linear / (groups.x * groups.y));
  }
  let at = wg * vec3<u32>(4u, 4u, 4u) + local;
  if (wg.z >= groups.z) { return; }
  if (at.x >= d.extent_x || at.y >= d.extent_y || at.z >= d.extent_z) { return; }
  gid = at;
  let v3 = gid.x + gid.y;
  let v4 = v3 + gid.z;
  let v6 = v4 == 9u;
  if (v6) {
    h_trap(8u, gid.y, lane_index());
    return;
  }
  let v11 = gid.z * d.p0;
  let v12 = v11 + gid.y;
  let v13 = v12 * d.p0;
  let v14 = v13 + gid.x;
  store0(v14, gid.x);
}
