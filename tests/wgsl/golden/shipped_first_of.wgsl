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
  let v3 = wid.x * 4096u;
  let v6 = d.len0 - v3;
  var v9: u32 = 0u;
  var k12: u32 = 0u;
  loop {
    if (!(k12 < 16u)) { break; }
    let v12 = k12;
    let v14 = v12 * 256u;
    let v15 = v14 + lid.x;
    let v16 = v15 >= v6;
    if (v16) {
      break;
    }
    let v20 = v3 + v15;
    let v21 = load0(v20);
    let v23 = v21 >= 128u;
    if (v23) {
      let v26 = 4294967295u - v20;
      v9 = v26;
      break;
    }
    continuing { k12 = k12 + 1u; }
  }
  let v31 = v9;
  let v32 = v31 != 0u;
  if (v32) {
    let v34 = v9;
    let v35 = atomicmax2(0u, v34);
  }
  storageBarrier();
  workgroupBarrier();
  let v38 = lid.x == 0u;
  let v39 = load2(0u);
  let v40 = v39 != 0u;
  let v41 = v38 & v40;
  if (v41) {
    let v43 = load2(0u);
    let v44 = atomicmax1(0u, v43);
  }
}
