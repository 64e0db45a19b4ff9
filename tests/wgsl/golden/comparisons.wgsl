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

fn load0(at: u32) -> i32 {
  let i = select(0u, at, at < d.len0);
  return select(0i, bitcast<i32>((b0[i / 2u] >> ((i % 2u) * 16u)) << 16u) >> 16u, at < d.len0);
}

fn store1(i: u32, v: bool) {
  if (i >= d.len1) { return; }
  let w = i / 4u;
  let s = (i % 4u) * 8u;
  let bits = (select(0u, 1u, v)) << s;
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
  let v3 = v1 < 1i;
  let v5 = v1 <= 2i;
  let v6 = v3 & v5;
  let v8 = v1 > 3i;
  let v10 = v1 >= 4i;
  let v11 = v8 != v10;
  let v12 = v6 | v11;
  store1(gid.x, v12);
  let v15 = v1 == 5i;
  let v17 = v1 != 6i;
  let v18 = v15 == v17;
  let v19 = !v18;
  store1(gid.x, v19);
}
