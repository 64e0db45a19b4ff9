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
var<workgroup> b1: array<u32, 32>;
@group(0) @binding(1) var<storage, read_write> trap_words: array<atomic<u32>, 4>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;
var<private> nwg: vec3<u32>;
var<private> alive: bool = true;
var<private> trapped: bool;
var<private> trap_site: u32;
var<private> trap_address: u32;
var<private> iterations: u32;

fn h_div_u32(a: u32, b: u32) -> u32 {
  return select(a / max(b, 1u), ~0u, b == 0u);
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

fn load1(at: u32) -> u32 {
  let i = select(0u, at, at < 32u);
  return select(0u, b1[i], at < 32u);
}

fn store1(i: u32, v: u32) {
  if (i >= 32u) { return; }
  b1[i] = v;
}

fn lane_index() -> u32 {
  return gid.x;
}

@compute @workgroup_size(32, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let groups = vec3<u32>((d.extent_x - 1u) / 32u + 1u, 1u, 1u);
  let at = wg * vec3<u32>(32u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 32u) { return; }
  for (var k = local_index; k < 32u; k += 32u) { b1[k] = 0u; }
  workgroupBarrier();
  gid = at;
  lid = local;
  nwg = groups;
  let nwg = groups;
  var rounds: u32;
  let v2 = load0(gid.x);
  var v3: u32 = v2;
  var k7: u32 = 0u;
  var done7 = false;
  loop {
    if (!(k7 < d.p0)) { done7 = true; break; }
    if (d.zero != 0u) { break; }
    if (rounds >= 1000u) { break; }
    rounds = rounds + 1u;
    if (alive && iterations > 1000u - rounds) {
      trapped = true; trap_site = 7u; trap_address = 0u;
      alive = false;
    }
    let v7 = k7;
    var done8 = false;
    loop {
      let v9 = v3;
      let v11 = v9 > 9u;
      if (!(v11 && alive)) { done8 = true; break; }
      if (d.zero != 0u) { break; }
      if (iterations >= 1000u - rounds) { break; }
      iterations = iterations + 1u;
      let v13 = v3;
      let v15 = h_div_u32(v13, 2u);
      v3 = v15;
    }
    if (alive && !done8) {
      trapped = true; trap_site = 8u; trap_address = 0u;
      alive = false;
    }
    let v18 = v3;
    if (alive) { store1(lid.x, v18); }
    storageBarrier();
    workgroupBarrier();
    let v22 = 31u - lid.x;
    let v23 = load1(v22);
    let v24 = v3;
    let v25 = v24 + v23;
    v3 = v25;
    storageBarrier();
    workgroupBarrier();
    continuing { k7 = k7 + 1u; }
  }
  if (alive && !done7) {
    trapped = true; trap_site = 7u; trap_address = 0u;
    alive = false;
  }
  let v29 = v3;
  if (alive) { store0(gid.x, v29); }
  if (trapped) { h_trap(trap_site, trap_address, lane_index()); }
}
