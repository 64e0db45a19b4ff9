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

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> b1: array<atomic<u32>>;
var<private> gid: vec3<u32>;

fn h_rem_u32(a: u32, b: u32) -> u32 {
  return select(a % max(b, 1u), 0u, b == 0u);
}

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, b0[i], at < d.len0);
}

fn store1(i: u32, v: u32) {
  if (i >= 16u) { return; }
  atomicStore(&b1[i], v);
}

fn atomicadd1(i: u32, v: u32) -> u32 {
  if (i >= 16u) { return 0u; }
  return atomicAdd(&b1[i], v);
}

fn atomicsub1(i: u32, v: u32) -> u32 {
  if (i >= 16u) { return 0u; }
  return atomicSub(&b1[i], v);
}

fn atomicand1(i: u32, v: u32) -> u32 {
  if (i >= 16u) { return 0u; }
  return atomicAnd(&b1[i], v);
}

fn atomicor1(i: u32, v: u32) -> u32 {
  if (i >= 16u) { return 0u; }
  return atomicOr(&b1[i], v);
}

fn atomicxor1(i: u32, v: u32) -> u32 {
  if (i >= 16u) { return 0u; }
  return atomicXor(&b1[i], v);
}

fn atomicmin1(i: u32, v: u32) -> u32 {
  if (i >= 16u) { return 0u; }
  return atomicMin(&b1[i], v);
}

fn atomicmax1(i: u32, v: u32) -> u32 {
  if (i >= 16u) { return 0u; }
  return atomicMax(&b1[i], v);
}

fn atomicexchange1(i: u32, v: u32) -> u32 {
  if (i >= 16u) { return 0u; }
  return atomicExchange(&b1[i], v);
}

fn atomiccompareexchange1(i: u32, e: u32, v: u32) -> u32 {
  if (i >= 16u) { return 0u; }
  var old = e;
  loop {
    let r = atomicCompareExchangeWeak(&b1[i], e, v);
    old = r.old_value;
    if (r.exchanged || old != e) { break; }
  }
  return old;
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  let v1 = load0(gid.x);
  let v3 = h_rem_u32(v1, 16u);
  let v5 = atomicadd1(v3, 1u);
  let v6 = atomicsub1(v3, 1u);
  let v7 = atomicand1(v3, 1u);
  let v8 = atomicor1(v3, 1u);
  let v9 = atomicxor1(v3, 1u);
  let v10 = atomicmin1(v3, 1u);
  let v11 = atomicmax1(v3, 1u);
  let v12 = atomicexchange1(v3, 1u);
  let v15 = atomiccompareexchange1(0u, 3u, v1);
  let v16 = v15 == 3u;
  if (v16) {
    store1(1u, v15);
  }
}
