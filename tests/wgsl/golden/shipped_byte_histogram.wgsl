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
var<workgroup> b2: array<atomic<u32>, 256>;
var<private> lid: vec3<u32>;
var<private> wid: vec3<u32>;

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, (b0[i / 4u] >> ((i % 4u) * 8u)) & 255u, at < d.len0);
}

fn atomicadd1(i: u32, v: u32) -> u32 {
  if (i >= 256u) { return 0u; }
  return atomicAdd(&b1[i], v);
}

fn load2(at: u32) -> u32 {
  let i = select(0u, at, at < 256u);
  return select(0u, atomicLoad(&b2[i]), at < 256u);
}

fn atomicadd2(i: u32, v: u32) -> u32 {
  if (i >= 256u) { return 0u; }
  return atomicAdd(&b2[i], v);
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  for (var k = local_index; k < 256u; k += 256u) { atomicStore(&b2[k], 0u); }
  workgroupBarrier();
  lid = local;
  wid = wg;
  let v3 = wid.x * 8192u;
  let v6 = d.len0 - v3;
  var k11: u32 = 0u;
  loop {
    if (!(k11 < 32u)) { break; }
    let v11 = k11;
    let v13 = v11 * 256u;
    let v14 = v13 + lid.x;
    let v15 = v14 < v6;
    if (v15) {
      let v17 = v3 + v14;
      let v18 = load0(v17);
      let v19 = v18;
      let v20 = atomicadd2(v19, 1u);
    }
    continuing { k11 = k11 + 1u; }
  }
  storageBarrier();
  workgroupBarrier();
  let v24 = load2(lid.x);
  let v26 = v24 != 0u;
  if (v26) {
    let v28 = atomicadd1(lid.x, v24);
  }
}
