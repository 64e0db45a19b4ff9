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

@group(0) @binding(0) var<storage, read> b0: array<u64>;
@group(0) @binding(1) var<storage, read_write> b1: array<atomic<u64>>;
@group(0) @binding(2) var<storage, read_write> b2: array<atomic<i64>>;
var<private> gid: vec3<u32>;

fn h_rem_u32(a: u32, b: u32) -> u32 {
  return select(a % max(b, 1u), 0u, b == 0u);
}

fn load0(at: u32) -> u64 {
  let i = select(0u, at, at < d.len0);
  return select(0lu, b0[i], at < d.len0);
}

fn load1(at: u32) -> u64 {
  let i = select(0u, at, at < 4u);
  return select(0lu, atomicLoad(&b1[i]), at < 4u);
}

fn store1(i: u32, v: u64) {
  if (i >= 4u) { return; }
  atomicStore(&b1[i], v);
}

fn atomicadd1(i: u32, v: u64) -> u64 {
  if (i >= 4u) { return 0lu; }
  return atomicAdd(&b1[i], v);
}

fn atomicand1(i: u32, v: u64) -> u64 {
  if (i >= 4u) { return 0lu; }
  return atomicAnd(&b1[i], v);
}

fn atomicmax1(i: u32, v: u64) -> u64 {
  if (i >= 4u) { return 0lu; }
  return atomicMax(&b1[i], v);
}

fn atomicexchange1(i: u32, v: u64) -> u64 {
  if (i >= 4u) { return 0lu; }
  return atomicExchange(&b1[i], v);
}

fn atomiccompareexchange1(i: u32, e: u64, v: u64) -> u64 {
  if (i >= 4u) { return 0lu; }
  var old = e;
  loop {
    let r = atomicCompareExchangeWeak(&b1[i], e, v);
    old = r.old_value;
    if (r.exchanged || old != e) { break; }
  }
  return old;
}

fn atomicmin2(i: u32, v: i64) -> i64 {
  if (i >= 1u) { return 0li; }
  return atomicMin(&b2[i], v);
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  let v1 = load0(gid.x);
  let v3 = h_rem_u32(gid.x, 4u);
  let v4 = atomicadd1(v3, v1);
  let v5 = atomicand1(v3, v1);
  let v6 = atomicmax1(v3, v1);
  let v7 = atomicexchange1(v3, v1);
  let v10 = atomiccompareexchange1(0u, 3lu, v1);
  let v11 = bitcast<i64>(v1);
  let v12 = atomicmin2(0u, v11);
  let v14 = load1(2u);
  let v16 = v14 + 1lu;
  store1(1u, v16);
}
