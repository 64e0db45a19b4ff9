struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<u32>;
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

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < 1u);
  return select(0u, b0[i], at < 1u);
}

fn lane_index() -> u32 {
  return gid.x;
}

@compute @workgroup_size(1, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(1u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 1u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  let v1 = load0(0u);
  let v2 = v1 != 0u;
  if (v2) {
    let v5 = 4294967295u - v1;
    h_trap(7u, v5, lane_index());
    return;
  }
}
