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
@group(0) @binding(1) var<storage, read_write> b1: array<u32>;
var<workgroup> b2: array<f32, 256>;
var<workgroup> b3: array<u32, 256>;
var<private> lid: vec3<u32>;
var<private> wid: vec3<u32>;

fn h_is_nan_f32(a: f32) -> bool {
  return (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u;
}

fn h_opaque_f32(a: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(a) + d.zero);
}

fn load0(at: u32) -> f32 {
  let i = select(0u, at, at < d.len0);
  return select(bitcast<f32>(d.zero), b0[i], at < d.len0);
}

fn store1(i: u32, v: u32) {
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

fn load3(at: u32) -> u32 {
  let i = select(0u, at, at < 256u);
  return select(0u, b3[i], at < 256u);
}

fn store3(i: u32, v: u32) {
  if (i >= 256u) { return; }
  b3[i] = v;
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  for (var k = local_index; k < 256u; k += 256u) { b2[k] = bitcast<f32>(d.zero); }
  for (var k = local_index; k < 256u; k += 256u) { b3[k] = 0u; }
  workgroupBarrier();
  lid = local;
  wid = wg;
  let wid = wg;
  let v3 = wid.x * 4096u;
  let v5 = d.len0 - v3;
  var v6: u32 = v3;
  let v7 = v6;
  let v8 = load0(v7);
  var v9: f32 = v8;
  var k13: u32 = 0u;
  loop {
    if (!(k13 < 16u)) { break; }
    let v13 = k13;
    let v15 = v13 * 256u;
    let v16 = v15 + lid.x;
    let v17 = v16 >= v5;
    if (v17) {
      break;
    }
    let v21 = v3 + v16;
    let v22 = load0(v21);
    let v23 = v9;
    let v24 = v22 > h_opaque_f32(v23);
    let v25 = h_is_nan_f32(v22);
    let v26 = h_is_nan_f32(v23);
    let v27 = !v26;
    let v28 = v25 & v27;
    let v29 = v24 | v28;
    if (v29) {
      v9 = v22;
      v6 = v21;
    }
    continuing { k13 = k13 + 1u; }
  }
  let v35 = v9;
  store2(lid.x, v35);
  let v37 = v6;
  store3(lid.x, v37);
  var k40: u32 = 1u;
  loop {
    if (!(k40 < 9u)) { break; }
    let v40 = k40;
    let v42 = 256u >> (v40 & 31u);
    storageBarrier();
    workgroupBarrier();
    let v44 = lid.x < v42;
    if (v44) {
      let v46 = load2(lid.x);
      let v47 = lid.x + v42;
      let v48 = load2(v47);
      let v49 = load3(lid.x);
      let v50 = load3(v47);
      let v51 = v46 > h_opaque_f32(v48);
      let v52 = h_is_nan_f32(v46);
      let v53 = h_is_nan_f32(v48);
      let v54 = !v53;
      let v55 = v52 & v54;
      let v56 = v51 | v55;
      let v57 = !v56;
      let v58 = v48 > h_opaque_f32(v46);
      let v59 = !v52;
      let v60 = v53 & v59;
      let v61 = v58 | v60;
      let v62 = !v61;
      let v63 = v57 & v62;
      let v64 = v50 < v49;
      let v65 = v63 & v64;
      let v66 = v61 | v65;
      if (v66) {
        store2(lid.x, v48);
        store3(lid.x, v50);
      }
    }
    continuing { k40 = k40 + 1u; }
  }
  let v73 = lid.x == 0u;
  if (v73) {
    let v75 = load3(0u);
    store1(wid.x, v75);
  }
}
