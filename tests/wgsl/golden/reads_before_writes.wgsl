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

@group(0) @binding(0) var<storage, read_write> b0: array<i32>;
var<private> gid: vec3<u32>;

fn load0(at: u32) -> i32 {
  let i = select(0u, at, at < d.len0);
  return select(0i, b0[i], at < d.len0);
}

fn store0(i: u32, v: i32) {
  if (i >= d.len0) { return; }
  b0[i] = v;
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  var v2: i32 = 1i;
  let v3 = load0(gid.x);
  let v5 = gid.x + 1u;
  let v6 = load0(v5);
  store0(gid.x, v6);
  store0(v5, v3);
  let v9 = v2;
  let v11 = v9 * 2i;
  let v12 = v2;
  let v13 = v12 + 1i;
  v2 = v13;
  let v15 = v2;
  let v16 = v11 + v15;
  store0(gid.x, v16);
}
