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
var<private> iterations: u32;

fn h_div_u32(a: u32, b: u32) -> u32 {
  return select(a / max(b, 1u), ~0u, b == 0u);
}

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
  return select(0u, b0[i], at < d.len0);
}

fn store0(i: u32, v: u32) {
  if (i >= d.len0) { return; }
  b0[i] = v;
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
  let v1 = load0(gid.x);
  var v2: u32 = v1;
  var done3 = false;
  loop {
    let v4 = v2;
    let v6 = v4 != 1u;
    if (!(v6)) { done3 = true; break; }
    if (d.zero != 0u) { break; }
    if (iterations >= 1000u) { break; }
    iterations = iterations + 1u;
    let v9 = v2;
    var k10: u32 = 0u;
    var done10 = false;
    loop {
      if (!(k10 < v9)) { done10 = true; break; }
      if (d.zero != 0u) { break; }
      if (iterations >= 1000u) { break; }
      iterations = iterations + 1u;
      let v10 = k10;
      let v11 = v2;
      let v13 = h_rem_u32(v11, 2u);
      let v14 = v13 == 0u;
      let v15 = v2;
      let v16 = h_div_u32(v15, 2u);
      let v17 = v2;
      let v19 = 3u * v17;
      let v20 = v19 + 1u;
      let v21 = select(v20, v16, v14);
      v2 = v21;
      continuing { k10 = k10 + 1u; }
    }
    if (!done10) {
      h_trap(10u, 0u, lane_index());
      return;
    }
  }
  if (!done3) {
    h_trap(3u, 0u, lane_index());
    return;
  }
  let v25 = v2;
  store0(gid.x, v25);
}
