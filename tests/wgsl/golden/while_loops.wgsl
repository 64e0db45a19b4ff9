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

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> b1: array<u32>;
var<private> gid: vec3<u32>;

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

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  let v1 = load0(gid.x);
  var v2: u32 = v1;
  var v4: u32 = 0u;
  loop {
    let v6 = v2;
    let v8 = v6 > 1u;
    if (!(v8)) { break; }
    let v10 = v2;
    let v12 = h_rem_u32(v10, 2u);
    let v13 = v12 == 0u;
    let v14 = v2;
    let v15 = h_div_u32(v14, 2u);
    let v16 = v2;
    let v18 = 3u * v16;
    let v19 = v18 + 1u;
    let v20 = select(v19, v15, v13);
    v2 = v20;
    let v22 = v4;
    let v23 = v22 + 1u;
    v4 = v23;
  }
  loop {
    let v27 = v2;
    let v29 = h_rem_u32(v27, 3u);
    let v30 = v29 != 0u;
    let v31 = v29 * v29;
    let v33 = v31 < 100u;
    let v34 = v30 & v33;
    if (!(v34)) { break; }
    let v36 = v2;
    let v38 = v36 - 1u;
    v2 = v38;
  }
  let v41 = v4;
  store1(gid.x, v41);
}
