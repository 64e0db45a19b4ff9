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
var<workgroup> b2: array<atomic<u32>, 1>;
var<private> lid: vec3<u32>;
var<private> wid: vec3<u32>;

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, (b0[i / 4u] >> ((i % 4u) * 8u)) & 255u, at < d.len0);
}

fn atomicmax1(i: u32, v: u32) -> u32 {
  if (i >= 1u) { return 0u; }
  return atomicMax(&b1[i], v);
}

fn load2(at: u32) -> u32 {
  let i = select(0u, at, at < 1u);
  return select(0u, atomicLoad(&b2[i]), at < 1u);
}

fn atomicmax2(i: u32, v: u32) -> u32 {
  if (i >= 1u) { return 0u; }
  return atomicMax(&b2[i], v);
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  for (var k = local_index; k < 1u; k += 256u) { atomicStore(&b2[k], 0u); }
  workgroupBarrier();
  lid = local;
  wid = wg;
  let wid = wg;
  let v3 = wid.x * 4096u;
  let v5 = d.len0 - v3;
  var v7: u32 = 0u;
  var k10: u32 = 0u;
  loop {
    if (!(k10 < 16u)) { break; }
    let v10 = k10;
    let v12 = v10 * 256u;
    let v13 = v12 + lid.x;
    let v14 = v13 >= v5;
    if (v14) {
      break;
    }
    let v18 = v3 + v13;
    let v19 = load0(v18);
    let v21 = v19 >= 128u;
    if (v21) {
      let v24 = 4294967295u - v18;
      v7 = v24;
      break;
    }
    continuing { k10 = k10 + 1u; }
  }
  let v29 = v7;
  let v30 = v29 != 0u;
  if (v30) {
    let v32 = v7;
    let v33 = atomicmax2(0u, v32);
  }
  storageBarrier();
  workgroupBarrier();
  let v36 = lid.x == 0u;
  let v37 = load2(0u);
  let v38 = v37 != 0u;
  let v39 = v36 & v38;
  if (v39) {
    let v41 = load2(0u);
    let v42 = atomicmax1(0u, v41);
  }
}
