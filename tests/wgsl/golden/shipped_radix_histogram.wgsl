struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  len0: u32,
  len1: u32,
  p0: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> b1: array<u32>;
var<workgroup> b2: array<atomic<u32>, 256>;
var<private> lid: vec3<u32>;
var<private> wid: vec3<u32>;

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

fn store1(i: u32, v: u32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
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
  let v3 = wid.x * 4096u;
  let v5 = d.len0 - v3;
  var k9: u32 = 0u;
  loop {
    if (!(k9 < 16u)) { break; }
    let v9 = k9;
    let v11 = v9 * 256u;
    let v12 = v11 + lid.x;
    let v13 = v12 >= v5;
    if (v13) {
      break;
    }
    let v17 = v3 + v12;
    let v18 = load0(v17);
    let v20 = v18 >> (d.p0 & 31u);
    let v22 = v20 & 255u;
    let v23 = atomicadd2(v22, 1u);
    continuing { k9 = k9 + 1u; }
  }
  storageBarrier();
  workgroupBarrier();
  let v26 = load2(lid.x);
  let v27 = h_rem_u32(d.len0, 4096u);
  let v28 = v27 != 0u;
  let v29 = h_div_u32(d.len0, 4096u);
  let v30 = select(0u, 1u, v28);
  let v31 = v29 + v30;
  let v32 = lid.x * v31;
  let v33 = v32 + wid.x;
  store1(v33, v26);
}
