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
var<workgroup> b2: array<f32, 256>;
var<private> lid: vec3<u32>;
var<private> wid: vec3<u32>;

fn load0(at: u32) -> f32 {
  let i = select(0u, at, at < d.len0);
  return select(bitcast<f32>(d.zero), b0[i], at < d.len0);
}

fn store1(i: u32, v: f32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

fn load2(at: u32) -> f32 {
  let i = select(0u, at, at < 256u);
  return select(bitcast<f32>(d.zero), b2[i], at < 256u);
}

fn store2(i: u32, v: f32) {
  if (i >= 256u) { return; }
  b2[i] = v;
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  for (var k = local_index; k < 256u; k += 256u) { b2[k] = bitcast<f32>(d.zero); }
  workgroupBarrier();
  lid = local;
  wid = wg;
  let wid = wg;
  let v3 = wid.x * 4096u;
  let v5 = d.len0 - v3;
  var v7: f32 = bitcast<f32>(d.zero);
  var k11: u32 = 0u;
  loop {
    if (!(k11 < 16u)) { break; }
    let v11 = k11;
    let v13 = v11 * 256u;
    let v14 = v13 + lid.x;
    let v15 = v14 >= v5;
    if (v15) {
      break;
    }
    let v19 = v7;
    let v20 = v3 + v14;
    let v21 = load0(v20);
    let v22 = v19 + v21;
    v7 = v22;
    continuing { k11 = k11 + 1u; }
  }
  let v25 = v7;
  store2(lid.x, v25);
  var k28: u32 = 1u;
  loop {
    if (!(k28 < 9u)) { break; }
    let v28 = k28;
    let v30 = 256u >> (v28 & 31u);
    storageBarrier();
    workgroupBarrier();
    let v32 = lid.x < v30;
    if (v32) {
      let v34 = load2(lid.x);
      let v35 = lid.x + v30;
      let v36 = load2(v35);
      let v37 = v34 + v36;
      store2(lid.x, v37);
    }
    continuing { k28 = k28 + 1u; }
  }
  let v41 = lid.x == 0u;
  if (v41) {
    let v43 = load2(0u);
    store1(wid.x, v43);
  }
}
