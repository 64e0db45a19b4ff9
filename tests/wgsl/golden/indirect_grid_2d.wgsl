struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  len0: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read_write> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> trap_words: array<atomic<u32>, 4>;
var<private> gid: vec3<u32>;
var<private> nwg: vec3<u32>;
var<private> wid: vec3<u32>;

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

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, b0[i], at < d.len0);
}

fn store0(i: u32, v: u32) {
  if (i >= d.len0) { return; }
  b0[i] = v;
}

fn lane_index() -> u32 {
  return gid.x + (nwg.x * 8u) * gid.y;
}

@compute @workgroup_size(8, 8, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32, @builtin(num_workgroups) groups: vec3<u32>) {
  let wg = launched;
  let at = wg * vec3<u32>(8u, 8u, 1u) + local;
  if (launched.z != 0u) { return; }
  gid = at;
  wid = wg;
  nwg = groups;
  let wid = wg;
  let nwg = groups;
  let v2 = gid.y * 8u;
  let v4 = v2 + gid.x;
  let v5 = load0(v4);
  let v7 = v5 == 0u;
  if (v7) {
    h_trap(9u, v4, lane_index());
    return;
  }
  let v11 = load0(v4);
  let v13 = v11 + wid.y;
  store0(v4, v13);
}
