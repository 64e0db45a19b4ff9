struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  p0: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read_write> b0: array<u32>;
var<workgroup> b1: array<u32, 64>;
@group(0) @binding(1) var<storage, read_write> trap_words: array<atomic<u32>, 4>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;
var<private> nwg: vec3<u32>;
var<private> alive: bool = true;
var<private> trapped: bool;
var<private> trap_site: u32;
var<private> trap_address: u32;
var<private> first_lane: bool;
var<workgroup> any_alive: u32;

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

fn store0(i: u32, v: u32) {
  if (i >= 64u) { return; }
  b0[i] = v;
}

fn load1(at: u32) -> u32 {
  let i = select(0u, at, at < 64u);
  return select(0u, b1[i], at < 64u);
}

fn store1(i: u32, v: u32) {
  if (i >= 64u) { return; }
  b1[i] = v;
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
  for (var k = local_index; k < 64u; k += 64u) { b1[k] = 0u; }
  workgroupBarrier();
  gid = at;
  lid = local;
  nwg = groups;
  first_lane = local_index == 0u;
  let nwg = groups;
  let v3 = d.p0 == 0u;
  if (v3) {
    if (alive) {
      trapped = true; trap_site = 5u; trap_address = lid.x;
      alive = false;
    }
  }
  let v8 = h_div_u32(10u, d.p0);
  if (first_lane) { any_alive = 0u; }
  workgroupBarrier();
  if (alive) { any_alive = 1u; }
  let some_alive10 = workgroupUniformLoad(&any_alive) != 0u;
  var k10: u32 = 0u;
  loop {
    if (!(some_alive10 && k10 < v8)) { break; }
    let v10 = k10;
    let v11 = load1(lid.x);
    let v12 = v11 + 1u;
    if (alive) { store1(lid.x, v12); }
    storageBarrier();
    workgroupBarrier();
    continuing { k10 = k10 + 1u; }
  }
  let v17 = 63u - lid.x;
  let v18 = load1(v17);
  if (alive) { store0(lid.x, v18); }
  if (trapped) { h_trap(trap_site, trap_address, lane_index()); }
}
