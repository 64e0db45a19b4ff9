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
@group(0) @binding(1) var<storage, read_write> b1: array<atomic<u32>>;
var<private> gid: vec3<u32>;

fn load0(at: u32) -> bool {
  let i = select(0u, at, at < d.len0);
  return select(false, ((b0[i / 4u] >> ((i % 4u) * 8u)) & 255u) != 0u, at < d.len0);
}

fn store1(i: u32, v: u32) {
  if (i >= d.len1) { return; }
  let w = i / 4u;
  let s = (i % 4u) * 8u;
  let bits = (v) << s;
  let keep = ~(255u << s);
  var old = atomicLoad(&b1[w]);
  loop {
    let seen = old;
    let r = atomicCompareExchangeWeak(&b1[w], seen, (seen & keep) | bits);
    old = r.old_value;
    if (r.exchanged) { break; }
  }
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  let v1 = load0(gid.x);
  let v4 = select(0u, 255u, v1);
  store1(gid.x, v4);
}
