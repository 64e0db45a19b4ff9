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
  len4: u32,
  len5: u32,
  len6: u32,
  len7: u32,
  len8: u32,
  len9: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> b1: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> b2: array<u32>;
@group(0) @binding(3) var<storage, read_write> b3: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read> b4: array<u32>;
@group(0) @binding(5) var<storage, read_write> b5: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read> b6: array<u32>;
@group(0) @binding(7) var<storage, read_write> b7: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read> b8: array<u32>;
@group(0) @binding(9) var<storage, read_write> b9: array<atomic<u32>>;
var<private> gid: vec3<u32>;

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, (b0[i / 4u] >> ((i % 4u) * 8u)) & 255u, at < d.len0);
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

fn load2(at: u32) -> i32 {
  let i = select(0u, at, at < d.len2);
  return select(0i, bitcast<i32>((b2[i / 4u] >> ((i % 4u) * 8u)) << 24u) >> 24u, at < d.len2);
}

fn store3(i: u32, v: i32) {
  if (i >= d.len3) { return; }
  let w = i / 4u;
  let s = (i % 4u) * 8u;
  let bits = (bitcast<u32>(v) & 255u) << s;
  let keep = ~(255u << s);
  var old = atomicLoad(&b3[w]);
  loop {
    let seen = old;
    let r = atomicCompareExchangeWeak(&b3[w], seen, (seen & keep) | bits);
    old = r.old_value;
    if (r.exchanged) { break; }
  }
}

fn load4(at: u32) -> u32 {
  let i = select(0u, at, at < d.len4);
  return select(0u, (b4[i / 2u] >> ((i % 2u) * 16u)) & 65535u, at < d.len4);
}

fn store5(i: u32, v: u32) {
  if (i >= d.len5) { return; }
  let w = i / 2u;
  let s = (i % 2u) * 16u;
  let bits = (v) << s;
  let keep = ~(65535u << s);
  var old = atomicLoad(&b5[w]);
  loop {
    let seen = old;
    let r = atomicCompareExchangeWeak(&b5[w], seen, (seen & keep) | bits);
    old = r.old_value;
    if (r.exchanged) { break; }
  }
}

fn load6(at: u32) -> i32 {
  let i = select(0u, at, at < d.len6);
  return select(0i, bitcast<i32>((b6[i / 2u] >> ((i % 2u) * 16u)) << 16u) >> 16u, at < d.len6);
}

fn store7(i: u32, v: i32) {
  if (i >= d.len7) { return; }
  let w = i / 2u;
  let s = (i % 2u) * 16u;
  let bits = (bitcast<u32>(v) & 65535u) << s;
  let keep = ~(65535u << s);
  var old = atomicLoad(&b7[w]);
  loop {
    let seen = old;
    let r = atomicCompareExchangeWeak(&b7[w], seen, (seen & keep) | bits);
    old = r.old_value;
    if (r.exchanged) { break; }
  }
}

fn load8(at: u32) -> bool {
  let i = select(0u, at, at < d.len8);
  return select(false, ((b8[i / 4u] >> ((i % 4u) * 8u)) & 255u) != 0u, at < d.len8);
}

fn store9(i: u32, v: bool) {
  if (i >= d.len9) { return; }
  let w = i / 4u;
  let s = (i % 4u) * 8u;
  let bits = (select(0u, 1u, v)) << s;
  let keep = ~(255u << s);
  var old = atomicLoad(&b9[w]);
  loop {
    let seen = old;
    let r = atomicCompareExchangeWeak(&b9[w], seen, (seen & keep) | bits);
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
  store1(gid.x, v1);
  let v3 = load2(gid.x);
  store3(gid.x, v3);
  let v5 = load4(gid.x);
  store5(gid.x, v5);
  let v7 = load6(gid.x);
  store7(gid.x, v7);
  let v9 = load8(gid.x);
  store9(gid.x, v9);
}
