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

@group(0) @binding(0) var<storage, read> b0: array<f32>;
@group(0) @binding(1) var<storage, read_write> b1: array<f32>;

fn h_opaque_f32(a: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(a) + d.zero);
}

fn load0(at: u32) -> f32 {
  let i = select(0u, at, at < d.len0);
  return select(bitcast<f32>(d.zero), b0[i], at < d.len0);
}

fn store1(i: u32, v: f32) {
  if (i >= 1u) { return; }
  b1[i] = v;
}

@compute @workgroup_size(32, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(32u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 32u) { return; }
  if (at.x >= d.extent_x) { return; }
  var v1: f32 = bitcast<f32>(d.zero);
  var v2: f32 = bitcast<f32>(d.zero);
  var k6: u32 = 0u;
  loop {
    if (!(k6 < d.len0)) { break; }
    let v6 = k6;
    let v7 = load0(v6);
    let v8 = v2;
    let v9 = h_opaque_f32(v7 - h_opaque_f32(v8));
    let v10 = v1;
    let v11 = h_opaque_f32(v10 + v9);
    let v12 = v1;
    let v13 = h_opaque_f32(v11 - h_opaque_f32(v12));
    let v14 = h_opaque_f32(v13 - h_opaque_f32(v9));
    v2 = v14;
    v1 = v11;
    continuing { k6 = k6 + 1u; }
  }
  let v18 = v1;
  let v19 = h_opaque_f32(sqrt(v18));
  let v21 = h_opaque_f32(v19) / 2.0f;
  store1(0u, v21);
}
