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
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;

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

fn load0(i: u32) -> i32 {
  return b0[i];
}

fn store1(i: u32, v: i32) {
  b1[i] = v;
}

fn atomicadd2(i: u32, v: u32) -> u32 {
  return atomicAdd(&b2[i], v);
}

fn load3(i: u32) -> i32 {
  return b3[i];
}

fn store3(i: u32, v: i32) {
  b3[i] = v;
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(64u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 64u) { return; }
  for (var k = local_index; k < 64u; k += 64u) { b3[k] = 0i; }
  workgroupBarrier();
  gid = at;
  lid = local;
  let v1 = load0(gid.x);
  store3(lid.x, v1);
  storageBarrier();
  workgroupBarrier();
  let v6 = atomicadd2(h_index_i32(v1), 1u);
  let v7 = load3(h_index_i32(v1));
  let v9 = v1 + 1i;
  let v10 = load0(h_index_i32(v9));
  let v11 = h_floor_div_i32(v7, v10);
  store1(gid.x, v11);
}
