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
var<workgroup> b2: array<atomic<u32>, 64>;
@group(0) @binding(2) var<storage, read_write> trap_words: array<atomic<u32>, 4>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;
var<private> nwg: vec3<u32>;
var<private> alive: bool = true;
var<private> trapped: bool;
var<private> trap_site: u32;
var<private> trap_address: u32;

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

fn store1(i: u32, v: u32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

fn load2(at: u32) -> u32 {
  let i = select(0u, at, at < 64u);
  return select(0u, atomicLoad(&b2[i]), at < 64u);
}

fn store2(i: u32, v: u32) {
  if (i >= 64u) { return; }
  atomicStore(&b2[i], v);
}

fn atomicadd2(i: u32, v: u32) -> u32 {
  if (i >= 64u) { return 0u; }
  return atomicAdd(&b2[i], v);
}

fn lane_index() -> u32 {
  return gid.x;
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let groups = vec3<u32>((d.extent_x - 1u) / 64u + 1u, 1u, 1u);
  let at = wg * vec3<u32>(64u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 64u) { return; }
  for (var k = local_index; k < 64u; k += 64u) { atomicStore(&b2[k], 0u); }
  workgroupBarrier();
  gid = at;
  lid = local;
  nwg = groups;
  let nwg = groups;
  let v2 = load0(gid.x);
  var k5: u32 = 0u;
  loop {
    if (!(k5 < v2 && alive)) { break; }
    let v5 = k5;
    let v7 = v5 == 7u;
    if (v7) {
      if (alive) {
        trapped = true; trap_site = 9u; trap_address = gid.x;
        alive = false;
      }
    }
    continuing { k5 = k5 + 1u; }
  }
  let v12 = lid.x == 0u;
  if (v12) {
    alive = false;
  }
  if (alive) { store2(lid.x, v2); }
  storageBarrier();
  workgroupBarrier();
  let v19 = 63u - lid.x;
  var v20: u32;
  if (alive) { v20 = atomicadd2(v19, 1u); }
  storageBarrier();
  workgroupBarrier();
  let v22 = load2(lid.x);
  let v23 = v22 + v20;
  if (alive) { store1(gid.x, v23); }
  if (trapped) { h_trap(trap_site, trap_address, lane_index()); }
}
