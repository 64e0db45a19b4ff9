struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  len0: u32,
  len1: u32,
  len2: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read> b1: array<u32>;
@group(0) @binding(2) var<storage, read_write> b2: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> trap_words: array<atomic<u32>, 4>;
var<private> gid: vec3<u32>;

fn h_rem_u32(a: u32, b: u32) -> u32 {
  return select(a % max(b, 1u), 0u, b == 0u);
}

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
  return select(0u, (b0[i / 4u] >> ((i % 4u) * 8u)) & 255u, at < d.len0);
}

fn load1(at: u32) -> u32 {
  let i = select(0u, at, at < d.len1);
  return select(0u, (b1[i / 4u] >> ((i % 4u) * 8u)) & 255u, at < d.len1);
}

fn store2(i: u32, v: u32) {
  if (i >= d.len2) { return; }
  let w = i / 4u;
  let s = (i % 4u) * 8u;
  let bits = (v) << s;
  let keep = ~(255u << s);
  var old = atomicLoad(&b2[w]);
  loop {
    let seen = old;
    let r = atomicCompareExchangeWeak(&b2[w], seen, (seen & keep) | bits);
    old = r.old_value;
    if (r.exchanged) { break; }
  }
}

fn lane_index() -> u32 {
  return gid.x;
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  let v3 = d.len1 == 0u;
  if (v3) {
    h_trap(5u, 0u, lane_index());
    return;
  }
  let v7 = load0(gid.x);
  let v8 = h_rem_u32(gid.x, d.len1);
  let v9 = load1(v8);
  let v10 = v7 ^ v9;
  store2(gid.x, v10);
}
