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

@group(0) @binding(0) var<storage, read_write> b0: array<u32>;
var<private> gid: vec3<u32>;
var<private> nwg: vec3<u32>;

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, b0[i], at < d.len0);
}

fn store0(i: u32, v: u32) {
  if (i >= d.len0) { return; }
  b0[i] = v;
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32, @builtin(num_workgroups) groups: vec3<u32>) {
  let wg = launched;
  let at = wg * vec3<u32>(64u, 1u, 1u) + local;
  if (launched.y != 0u || launched.z != 0u) { return; }
  gid = at;
  nwg = groups;
  let nwg = groups;
  let v1 = load0(gid.x);
  let v3 = v1 + nwg.x;
  store0(gid.x, v3);
}
