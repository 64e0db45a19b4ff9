struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  len0: u32,
  len1: u32,
  len2: u32,
  len3: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read> b1: array<u32>;
@group(0) @binding(2) var<storage, read_write> b2: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> b3: array<atomic<u32>>;
var<private> gid: vec3<u32>;
var<private> wid: vec3<u32>;

fn load0(at: u32) -> u32 {
  let i = select(0u, at - d.base, at < d.len0);
  return select(0u, (b0[i / 2u] >> ((i % 2u) * 16u)) & 65535u, at < d.len0);
}

fn load1(at: u32) -> u32 {
  let i = select(0u, at, at < d.len1);
  return select(0u, b1[i], at < d.len1);
}

fn store2(at: u32, v: u32) {
  if (at >= d.len2) { return; }
  let i = at - d.base;
  let w = i / 4u;
  let s = (i % 4u) * 8u;
  let bits = (v) << s;
  let keep = ~(255u << s);
  var old = atomicLoad(&b2[w]);
  loop {
    let seen = old;
    let r = atomicCompareExchangeWeak(&b2[w], seen, (seen & keep) | bits);
    old = r.old_value;
    if (r.exchanged) { break; }
  }
}

fn store3(at: u32, v: u32) {
  if (at >= d.len3) { return; }
  let i = at - d.base;
  atomicStore(&b3[i], v);
}

fn atomicadd3(at: u32, v: u32) -> u32 {
  if (at >= d.len3) { return 0u; }
  let i = at - d.base;
  return atomicAdd(&b3[i], v);
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row + d.base / 64u, 0u, 0u);
  let at = wg * vec3<u32>(64u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 64u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  wid = wg;
  let wid = wg;
  let v1 = load0(gid.x);
  let v2 = v1;
  let v3 = load1(v1);
  let v4 = v2 + v3;
  let v5 = ((v4) & 255u);
  store2(gid.x, v5);
  let v8 = atomicadd3(gid.x, wid.x);
  store3(gid.x, v8);
}
