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

@group(0) @binding(0) var<storage, read> b0: array<i32>;
@group(0) @binding(1) var<storage, read_write> b1: array<i32>;
var<private> gid: vec3<u32>;

fn h_rem_i32(a: i32, b: i32) -> i32 {
  if (b == 0i || b == -1i) { return 0i; }
  return a - (a / b) * b;
}

fn h_mod_i32(a: i32, b: i32) -> i32 {
  let r = h_rem_i32(a, b);
  return select(r, r + b, r != 0i && (r ^ b) < 0i);
}

fn h_trips_i32(start: i32, stop: i32, step: i32) -> u32 {
  let a = bitcast<u32>(start);
  let b = bitcast<u32>(stop);
  let s = bitcast<u32>(step);
  if (step > 0i && start < stop) { return (b - a - 1u) / s + 1u; }
  if (step < 0i && start > stop) { return (a - b - 1u) / (0u - s) + 1u; }
  return 0u;
}

fn load0(at: u32) -> i32 {
  let i = select(0u, at, at < d.len0);
  return select(0i, b0[i], at < d.len0);
}

fn store1(i: u32, v: i32) {
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
  var v2: i32 = 0i;
  let v3 = load0(gid.x);
  var k6: i32 = -5i;
  var t6: u32 = h_trips_i32(-5i, v3, 3i);
  loop {
    if (!(t6 > 0u)) { break; }
    let v6 = k6;
    let v8 = v6 == 1i;
    if (v8) {
      continue;
    }
    loop {
      let v13 = v2;
      let v15 = v13 < 100i;
      if (!(v15)) { break; }
      let v17 = v2;
      let v18 = v17 + v6;
      v2 = v18;
      let v20 = v2;
      let v22 = h_mod_i32(v20, 7i);
      let v23 = v22 == 0i;
      if (v23) {
        break;
      }
      let v27 = v2;
      let v29 = v27 == 13i;
      if (v29) {
        return;
      }
      let v33 = v2;
      let v35 = v33 == 14i;
      if (v35) {
        continue;
      }
      let v39 = v2;
      let v40 = v39 + 1i;
      v2 = v40;
    }
    var k45: i32 = 10i;
    var t45: u32 = h_trips_i32(10i, v6, -1i);
    loop {
      if (!(t45 > 0u)) { break; }
      let v45 = k45;
      let v46 = v2;
      let v47 = v46 - 1i;
      v2 = v47;
      continuing { k45 = k45 + -1i; t45 = t45 - 1u; }
    }
    let v50 = v2;
    let v52 = v50 > 1000i;
    if (v52) {
      break;
    }
    continuing { k6 = k6 + 3i; t6 = t6 - 1u; }
  }
  let v57 = v2;
  store1(gid.x, v57);
}
