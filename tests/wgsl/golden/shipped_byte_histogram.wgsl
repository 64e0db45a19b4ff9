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
  let wid = wg;
  let v3 = wid.x * 8192u;
  let v5 = d.len0 - v3;
  var k9: u32 = 0u;
  loop {
    if (!(k9 < 32u)) { break; }
    let v9 = k9;
    let v11 = v9 * 256u;
    let v12 = v11 + lid.x;
    let v13 = v12 < v5;
    if (v13) {
      let v15 = v3 + v12;
      let v16 = load0(v15);
      let v17 = v16;
      let v18 = atomicadd2(v17, 1u);
    }
    continuing { k9 = k9 + 1u; }
  }
  storageBarrier();
  workgroupBarrier();
  let v22 = load2(lid.x);
  let v23 = v22 != 0u;
  if (v23) {
    let v25 = atomicadd1(lid.x, v22);
  }
}
