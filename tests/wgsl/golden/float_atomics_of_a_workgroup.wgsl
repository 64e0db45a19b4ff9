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

@group(0) @binding(0) var<storage, read> b0: array<f32>;
@group(0) @binding(1) var<storage, read_write> b1: array<f32>;
var<workgroup> b2: array<atomic<u32>, 2>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;

fn h_rem_u32(a: u32, b: u32) -> u32 {
  return select(a % max(b, 1u), 0u, b == 0u);
}

fn load0(at: u32) -> f32 {
  let i = select(0u, at, at < d.len0);
  return select(bitcast<f32>(d.zero), b0[i], at < d.len0);
}

fn store1(i: u32, v: f32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

fn load2(at: u32) -> f32 {
  let i = select(0u, at, at < 2u);
  return select(bitcast<f32>(d.zero), bitcast<f32>(atomicLoad(&b2[i])), at < 2u);
}

fn store2(i: u32, v: f32) {
  if (i >= 2u) { return; }
  atomicStore(&b2[i], bitcast<u32>(v));
}

fn atomicadd2(i: u32, v: f32) -> f32 {
  if (i >= 2u) { return bitcast<f32>(d.zero); }
  var old = atomicLoad(&b2[i]);
  loop {
    let seen = old;
    let sum = bitcast<u32>(bitcast<f32>(seen) + v);
    let r = atomicCompareExchangeWeak(&b2[i], seen, sum);
    old = r.old_value;
    if (r.exchanged) { break; }
  }
  return bitcast<f32>(old);
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(64u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 64u) { return; }
  for (var k = local_index; k < 2u; k += 64u) { atomicStore(&b2[k], 0u); }
  workgroupBarrier();
  gid = at;
  lid = local;
  store2(lid.x, bitcast<f32>(0x3f800000u | d.zero));
  storageBarrier();
  workgroupBarrier();
  let v6 = h_rem_u32(lid.x, 2u);
  let v7 = load0(gid.x);
  let v8 = atomicadd2(v6, v7);
  storageBarrier();
  workgroupBarrier();
  let v10 = load2(v6);
  store1(gid.x, v10);
}
