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
var<workgroup> b1: array<u32, 32>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;
var<private> alive: bool = true;
var<private> first_lane: bool;
var<workgroup> any_alive: u32;

fn h_div_u32(a: u32, b: u32) -> u32 {
  return select(a / max(b, 1u), ~0u, b == 0u);
}

fn h_rem_u32(a: u32, b: u32) -> u32 {
  return select(a % max(b, 1u), 0u, b == 0u);
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

@compute @workgroup_size(32, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(32u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 32u) { return; }
  for (var k = local_index; k < 32u; k += 32u) { b1[k] = 0u; }
  workgroupBarrier();
  gid = at;
  lid = local;
  first_lane = local_index == 0u;
  loop {
    if (first_lane) { any_alive = 0u; }
    workgroupBarrier();
    if (alive) { any_alive = 1u; }
    if (workgroupUniformLoad(&any_alive) == 0u) { break; }
    if (!(true)) { break; }
    let v5 = load0(gid.x);
    if (alive) { store1(lid.x, v5); }
    storageBarrier();
    workgroupBarrier();
    let v9 = lid.x + 1u;
    let v11 = h_rem_u32(v9, 32u);
    let v12 = load1(v11);
    let v14 = h_div_u32(v12, 2u);
    if (alive) { store0(gid.x, v14); }
    storageBarrier();
    workgroupBarrier();
    let v17 = load0(gid.x);
    let v19 = v17 == 0u;
    if (v19) {
      alive = false;
    }
  }
}
