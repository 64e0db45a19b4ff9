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
var<private> gid: vec3<u32>;

fn h_trips_u32(start: u32, stop: u32, step: u32) -> u32 {
  if (step == 0u || start >= stop) { return 0u; }
  return (stop - start - 1u) / step + 1u;
}

fn h_trips_i32(start: i32, stop: i32, step: i32) -> u32 {
  let a = bitcast<u32>(start);
  let b = bitcast<u32>(stop);
  let s = bitcast<u32>(step);
  if (step > 0i && start < stop) { return (b - a - 1u) / s + 1u; }
  if (step < 0i && start > stop) { return (a - b - 1u) / (0u - s) + 1u; }
  return 0u;
}

fn load0(at: u32) -> f32 {
  let i = select(0u, at, at < d.len0);
  return select(bitcast<f32>(d.zero), b0[i], at < d.len0);
}

fn store1(i: u32, v: f32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  var v2: f32 = bitcast<f32>(d.zero);
  var k6: u32 = 0u;
  loop {
    if (!(k6 < 10u)) { break; }
    let v6 = k6;
    let v7 = load0(v6);
    let v8 = v2;
    let v9 = v8 + v7;
    v2 = v9;
    continuing { k6 = k6 + 1u; }
  }
  var k14: i32 = 10i;
  var t14: u32 = h_trips_i32(10i, -1i, -1i);
  loop {
    if (!(t14 > 0u)) { break; }
    let v14 = k14;
    let v16 = v14 == 5i;
    if (v16) {
      continue;
    }
    let v20 = v2;
    let v22 = v20 > 100.0f;
    if (v22) {
      break;
    }
    let v26 = f32((v14 | bitcast<i32>(d.zero)));
    let v27 = v2;
    let v28 = v27 + v26;
    v2 = v28;
    continuing { k14 = k14 + -1i; t14 = t14 - 1u; }
  }
  var k32: u32 = 0u;
  loop {
    if (!(k32 < d.len0)) { break; }
    let v32 = k32;
    let v33 = v2;
    let v35 = v33 + 1.0f;
    v2 = v35;
    continuing { k32 = k32 + 1u; }
  }
  var k41: u32 = 1u;
  var t41: u32 = h_trips_u32(1u, 255u, 2u);
  loop {
    if (!(t41 > 0u)) { break; }
    let v41 = k41;
    continuing { k41 = k41 + 2u; t41 = t41 - 1u; }
  }
  let v43 = v2;
  store1(gid.x, v43);
}
