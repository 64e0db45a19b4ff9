struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  len0: u32,
  len1: u32,
  p0: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> b1: array<u32>;
var<workgroup> b2: array<u32, 32>;
@group(0) @binding(2) var<storage, read_write> trap_words: array<atomic<u32>, 4>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;
var<private> nwg: vec3<u32>;
var<private> alive: bool = true;
var<private> trapped: bool;
var<private> trap_site: u32;
var<private> trap_address: u32;

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

fn store1(i: u32, v: u32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

fn load2(at: u32) -> u32 {
  let i = select(0u, at, at < 32u);
  return select(0u, b2[i], at < 32u);
}

fn store2(i: u32, v: u32) {
  if (i >= 32u) { return; }
  b2[i] = v;
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
  for (var k = local_index; k < 32u; k += 32u) { b2[k] = 0u; }
  workgroupBarrier();
  gid = at;
  lid = local;
  nwg = groups;
  let nwg = groups;
  let v2 = load0(gid.x);
  var v3: u32 = v2;
  var k7: u32 = 0u;
  loop {
    if (!(k7 < d.p0)) { break; }
    let v7 = k7;
    let v8 = v3;
    if (alive) { store2(lid.x, v8); }
    storageBarrier();
    workgroupBarrier();
    let v11 = lid.x + v7;
    let v13 = h_rem_u32(v11, 32u);
    let v14 = load2(v13);
    let v15 = v3;
    let v16 = v15 + v14;
    v3 = v16;
    storageBarrier();
    workgroupBarrier();
    let v19 = v3;
    let v20 = v19 == 0u;
    if (v20) {
      if (alive) {
        trapped = true; trap_site = 22u; trap_address = lid.x;
        alive = false;
      }
    }
    let v25 = v7 > 5u;
    if (v25) {
      break;
    }
    continuing { k7 = k7 + 1u; }
  }
  let v30 = v3;
  let v32 = v30 > 100u;
  if (v32) {
    alive = false;
  }
  storageBarrier();
  workgroupBarrier();
  let v38 = 31u - lid.x;
  let v39 = load2(v38);
  let v40 = v3;
  let v41 = v39 + v40;
  if (alive) { store1(gid.x, v41); }
  if (trapped) { h_trap(trap_site, trap_address, lane_index()); }
}
