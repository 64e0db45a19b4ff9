struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  len0: u32,
  p0: u32,
  p1: u32,
  p2: f32,
  p3: f32,
  p4: f32,
  p5: f32,
  p6: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read_write> b0: array<u32>;
var<private> gid: vec3<u32>;

fn h_opaque_f32(a: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(a) + d.zero);
}

fn store0(i: u32, v: u32) {
  if (i >= d.len0) { return; }
  b0[i] = v;
}

@compute @workgroup_size(16, 16, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let groups = vec3<u32>((d.extent_x - 1u) / 16u + 1u, (d.extent_y - 1u) / 16u + 1u, (d.extent_z - 1u) / 1u + 1u);
  var wg = launched;
  if (d.row != 0u) {
    let linear = launched.x + launched.y * d.row;
    wg = vec3<u32>(linear % groups.x, (linear / groups.x) % groups.y, linear / (groups.x * groups.y));
  }
  let at = wg * vec3<u32>(16u, 16u, 1u) + local;
  if (wg.z >= groups.z) { return; }
  if (at.x >= d.extent_x || at.y >= d.extent_y) { return; }
  gid = at;
  let v2 = f32(gid.x);
  let v4 = v2 * d.p4;
  let v6 = d.p2 + v4;
  let v7 = f32(gid.y);
  let v9 = v7 * d.p5;
  let v11 = d.p3 + v9;
  var v13: f32 = bitcast<f32>(d.zero);
  var v14: f32 = bitcast<f32>(d.zero);
  var v16: u32 = d.p6;
  var k19: u32 = 0u;
  loop {
    if (!(k19 < d.p6)) { break; }
    let v19 = k19;
    let v20 = v13;
    let v21 = v13;
    let v22 = v20 * v21;
    let v23 = v14;
    let v24 = v14;
    let v25 = v23 * v24;
    let v26 = v22 + v25;
    let v28 = v26 > 4.0f;
    if (v28) {
      v16 = v19;
      break;
    }
    let v33 = v13;
    let v35 = 2.0f * v33;
    let v36 = v14;
    let v37 = v35 * v36;
    let v38 = v37 + v11;
    v14 = v38;
    let v40 = v22 - h_opaque_f32(v25);
    let v41 = v40 + v6;
    v13 = v41;
    continuing { k19 = k19 + 1u; }
  }
  let v45 = gid.y * d.p0;
  let v46 = v45 + gid.x;
  let v47 = v16;
  store0(v46, v47);
}
