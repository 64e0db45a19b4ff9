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
@group(0) @binding(1) var<storage, read_write> b1: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> b2: array<u32>;
@group(0) @binding(3) var<storage, read_write> b3: array<atomic<u32>>;
var<private> gid: vec3<u32>;

fn h_div_u32(a: u32, b: u32) -> u32 {
  return select(a / max(b, 1u), ~0u, b == 0u);
}

fn h_rem_u32(a: u32, b: u32) -> u32 {
  return select(a % max(b, 1u), 0u, b == 0u);
}

fn h_trunc_div_i32(a: i32, b: i32) -> i32 {
  if (b == 0i) { return -1i; }
  if (b == -1i) { return 0i - a; }
  return a / b;
}

fn h_rem_i32(a: i32, b: i32) -> i32 {
  if (b == 0i || b == -1i) { return 0i; }
  return a - (a / b) * b;
}

fn h_floor_div_i32(a: i32, b: i32) -> i32 {
  let q = h_trunc_div_i32(a, b);
  let r = h_rem_i32(a, b);
  return select(q, q - 1i, r != 0i && (r ^ b) < 0i);
}

fn h_mod_i32(a: i32, b: i32) -> i32 {
  let r = h_rem_i32(a, b);
  return select(r, r + b, r != 0i && (r ^ b) < 0i);
}

fn h_rotl_u32(a: u32, s: u32, width: u32) -> u32 {
  let n = s & (width - 1u);
  let mask = 0xffffffffu >> (32u - width);
  return ((a << n) | ((a & mask) >> ((width - n) & (width - 1u)))) & mask;
}

fn load0(at: u32) -> i32 {
  let i = select(0u, at, at < d.len0);
  return select(0i, bitcast<i32>((b0[i / 4u] >> ((i % 4u) * 8u)) << 24u) >> 24u, at < d.len0);
}

fn store1(i: u32, v: i32) {
  if (i >= d.len1) { return; }
  let w = i / 4u;
  let s = (i % 4u) * 8u;
  let bits = (bitcast<u32>(v) & 255u) << s;
  let keep = ~(255u << s);
  var old = atomicLoad(&b1[w]);
  loop {
    let seen = old;
    let r = atomicCompareExchangeWeak(&b1[w], seen, (seen & keep) | bits);
    old = r.old_value;
    if (r.exchanged) { break; }
  }
}

fn load2(at: u32) -> u32 {
  let i = select(0u, at, at < d.len2);
  return select(0u, (b2[i / 2u] >> ((i % 2u) * 16u)) & 65535u, at < d.len2);
}

fn store3(i: u32, v: u32) {
  if (i >= d.len3) { return; }
  let w = i / 2u;
  let s = (i % 2u) * 16u;
  let bits = (v) << s;
  let keep = ~(65535u << s);
  var old = atomicLoad(&b3[w]);
  loop {
    let seen = old;
    let r = atomicCompareExchangeWeak(&b3[w], seen, (seen & keep) | bits);
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
  let v3 = gid.x + 1u;
  let v4 = load0(v3);
  let v5 = (((v1 + v4) << 24u) >> 24u);
  let v6 = (((v1 - v4) << 24u) >> 24u);
  let v7 = (((v5 * v6) << 24u) >> 24u);
  store1(gid.x, v7);
  let v9 = (((h_floor_div_i32(v1, v4)) << 24u) >> 24u);
  let v10 = (((h_mod_i32(v1, v4)) << 24u) >> 24u);
  let v11 = (((v9 + v10) << 24u) >> 24u);
  let v12 = (((h_trunc_div_i32(v1, v4)) << 24u) >> 24u);
  let v13 = (((v11 - v12) << 24u) >> 24u);
  let v14 = h_rem_i32(v1, v4);
  let v15 = (((v13 - v14) << 24u) >> 24u);
  store1(gid.x, v15);
  let v18 = (((v1 << 3u) << 24u) >> 24u);
  let v19 = v4 >> 1u;
  let v20 = v18 ^ v19;
  let v21 = (((bitcast<i32>(h_rotl_u32(bitcast<u32>(v1), (bitcast<u32>(v4) & 7u), 8u))) << 24u) >> 24u);
  let v22 = v20 | v21;
  store1(gid.x, v22);
  let v24 = countLeadingZeros(v1 & bitcast<i32>(255u)) - 24i;
  let v25 = min(countTrailingZeros(v1), 8i);
  let v26 = (((v24 + v25) << 24u) >> 24u);
  let v27 = countOneBits(v4 & bitcast<i32>(255u));
  let v28 = (((v26 + v27) << 24u) >> 24u);
  let v29 = reverseBits(v4) >> 24u;
  let v30 = (((v28 + v29) << 24u) >> 24u);
  let v31 = (v1 * v4) >> 8u;
  let v32 = (((v30 + v31) << 24u) >> 24u);
  store1(gid.x, v32);
  let v34 = (((0i - v1) << 24u) >> 24u);
  let v35 = (((abs(v4)) << 24u) >> 24u);
  let v36 = (((v34 + v35) << 24u) >> 24u);
  let v37 = clamp(v1, -1i, 1i);
  let v38 = (((v36 + v37) << 24u) >> 24u);
  let v39 = min(v1, v4);
  let v40 = (((v38 + v39) << 24u) >> 24u);
  store1(gid.x, v40);
  let v42 = load2(gid.x);
  let v43 = load2(v3);
  let v44 = ((v42 + v43) & 65535u);
  let v45 = ((v42 - v43) & 65535u);
  let v46 = ((v44 * v45) & 65535u);
  store3(gid.x, v46);
  let v48 = ((h_div_u32(v42, v43)) & 65535u);
  let v49 = ((h_rem_u32(v42, v43)) & 65535u);
  let v50 = ((v48 + v49) & 65535u);
  let v51 = ((h_div_u32(v42, v43)) & 65535u);
  let v52 = ((v50 - v51) & 65535u);
  let v53 = h_rem_u32(v42, v43);
  let v54 = ((v52 - v53) & 65535u);
  store3(gid.x, v54);
  let v56 = ((v42 << 3u) & 65535u);
  let v57 = v43 >> 1u;
  let v58 = v56 ^ v57;
  let v59 = ((h_rotl_u32(v42, (v43 & 15u), 16u)) & 65535u);
  let v60 = v58 | v59;
  store3(gid.x, v60);
  let v62 = countLeadingZeros(v42) - 16u;
  let v63 = min(countTrailingZeros(v42), 16u);
  let v64 = ((v62 + v63) & 65535u);
  let v65 = countOneBits(v43);
  let v66 = ((v64 + v65) & 65535u);
  let v67 = reverseBits(v43) >> 16u;
  let v68 = ((v66 + v67) & 65535u);
  let v69 = (v42 * v43) >> 16u;
  let v70 = ((v68 + v69) & 65535u);
  store3(gid.x, v70);
  let v72 = ((0u - v42) & 65535u);
  let v73 = ((v72 + v43) & 65535u);
  let v74 = min(v42, 1u);
  let v75 = ((v73 + v74) & 65535u);
  let v76 = min(v42, v43);
  let v77 = ((v75 + v76) & 65535u);
  store3(gid.x, v77);
}
