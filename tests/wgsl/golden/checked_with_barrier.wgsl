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

@group(0) @binding(0) var<storage, read> b0: array<i32>;
@group(0) @binding(1) var<storage, read_write> b1: array<i32>;
@group(0) @binding(2) var<storage, read_write> b2: array<atomic<u32>>;
var<workgroup> b3: array<i32, 64>;
@group(0) @binding(3) var<storage, read_write> trap_words: array<atomic<u32>, 4>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;
var<private> nwg: vec3<u32>;
var<private> alive: bool = true;
var<private> trapped: bool;
var<private> trap_site: u32;
var<private> trap_address: u32;

fn h_trunc_div_i32(a: i32, b: i32) -> i32 {
  if (b == 0i) { return -1i; }
  if (b == -1i) { return 0i - a; }
  return a / b;
}

fn h_rem_i32(a: i32, b: i32) -> i32 {
  if (b == 0i || b == -1i) { return 0i; }
  return a - (a / b) * b;
}

fn h_floor_div_i32(a: i32, b: i32) -> i32 {
  let q = h_trunc_div_i32(a, b);
  let r = h_rem_i32(a, b);
  return select(q, q - 1i, r != 0i && (r ^ b) < 0i);
}

fn h_index_i32(i: i32) -> u32 {
  return select(bitcast<u32>(i), 0xffffffffu, i < 0i);
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

fn load0(at: u32) -> i32 {
  let i = select(0u, at, at < d.len0);
  return select(0i, b0[i], at < d.len0);
}

fn store1(i: u32, v: i32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

fn atomicadd2(i: u32, v: u32) -> u32 {
  if (i >= 8u) { return 0u; }
  return atomicAdd(&b2[i], v);
}

fn load3(at: u32) -> i32 {
  let i = select(0u, at, at < 64u);
  return select(0i, b3[i], at < 64u);
}

fn store3(i: u32, v: i32) {
  if (i >= 64u) { return; }
  b3[i] = v;
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
  for (var k = local_index; k < 64u; k += 64u) { b3[k] = 0i; }
  workgroupBarrier();
  gid = at;
  lid = local;
  nwg = groups;
  let nwg = groups;
  if (alive && gid.x >= d.len0) {
    trapped = true; trap_site = 1u; trap_address = gid.x;
    alive = false;
  }
  let v1 = load0(gid.x);
  if (alive && lid.x >= 64u) {
    trapped = true; trap_site = 3u; trap_address = lid.x;
    alive = false;
  }
  if (alive) { store3(lid.x, v1); }
  storageBarrier();
  workgroupBarrier();
  if (alive && h_index_i32(v1) >= 8u) {
    trapped = true; trap_site = 6u; trap_address = bitcast<u32>(v1);
    alive = false;
  }
  var v6: u32;
  if (alive) { v6 = atomicadd2(h_index_i32(v1), 1u); }
  if (alive && h_index_i32(v1) >= 64u) {
    trapped = true; trap_site = 7u; trap_address = bitcast<u32>(v1);
    alive = false;
  }
  let v7 = load3(h_index_i32(v1));
  let v9 = v1 + 1i;
  if (alive && h_index_i32(v9) >= d.len0) {
    trapped = true; trap_site = 10u; trap_address = bitcast<u32>(v9);
    alive = false;
  }
  let v10 = load0(h_index_i32(v9));
  if (alive && v10 == 0i) {
    trapped = true; trap_site = 11u; trap_address = 0u;
    alive = false;
  }
  let v11 = h_floor_div_i32(v7, v10);
  if (alive && gid.x >= d.len1) {
    trapped = true; trap_site = 12u; trap_address = gid.x;
    alive = false;
  }
  if (alive) { store1(gid.x, v11); }
  if (trapped) { h_trap(trap_site, trap_address, lane_index()); }
}
