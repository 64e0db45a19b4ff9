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
  p0: u32,
  p0_high: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<i64>;
@group(0) @binding(1) var<storage, read_write> b1: array<i64>;
@group(0) @binding(2) var<storage, read> b2: array<u64>;
@group(0) @binding(3) var<storage, read_write> b3: array<u64>;
var<private> gid: vec3<u32>;

fn h_div_u64(a: u64, b: u64) -> u64 {
  return select(a / max(b, 1lu), ~0lu, b == 0lu);
}

fn h_rem_u64(a: u64, b: u64) -> u64 {
  return select(a % max(b, 1lu), 0lu, b == 0lu);
}

fn h_trunc_div_i64(a: i64, b: i64) -> i64 {
  if (b == 0li) { return -1li; }
  if (b == -1li) { return 0li - a; }
  return a / b;
}

fn h_rem_i64(a: i64, b: i64) -> i64 {
  if (b == 0li || b == -1li) { return 0li; }
  return a - (a / b) * b;
}

fn h_floor_div_i64(a: i64, b: i64) -> i64 {
  let q = h_trunc_div_i64(a, b);
  let r = h_rem_i64(a, b);
  return select(q, q - 1li, r != 0li && (r ^ b) < bitcast<i64>(u64(d.zero)));
}

fn h_mod_i64(a: i64, b: i64) -> i64 {
  let r = h_rem_i64(a, b);
  return select(r, r + b, r != 0li && (r ^ b) < bitcast<i64>(u64(d.zero)));
}

fn h_mul_high_i64(a: i64, b: i64) -> i64 {
  let high = h_mul_high_u64(bitcast<u64>(a), bitcast<u64>(b));
  let fix = select(0lu, bitcast<u64>(b), a < bitcast<i64>(u64(d.zero))) + select(0lu, bitcast<u64>(a), b < bitcast<i64>(u64(d.zero)));
  return bitcast<i64>(high - fix);
}

fn h_is_nan_f32(a: f32) -> bool {
  return (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u;
}

fn h_f32_to_u64(a: f32) -> u64 {
  if (h_is_nan_f32(a) || a < 1.0f) { return 0lu; }
  if (a >= 18446744073709551616.0f) { return ~0lu; }
  return u64(a);
}

fn h_f32_to_i64(a: f32) -> i64 {
  if (h_is_nan_f32(a)) { return 0li; }
  if (a >= 9223372036854775808.0f) { return 9223372036854775807li; }
  if (a < -9223372036854775808.0f) { return -9223372036854775807li - 1li; }
  return i64(a);
}

fn h_rotl_u64(a: u64, s: u32, width: u32) -> u64 {
  // llvmpipe drops the masks of counts that it can fold, and shifts wrongly then.
  let n = (s & 63u) | d.zero;
  return (a << n) | (a >> (((64u - n) & 63u) | d.zero));
}

fn h_mul_high_u64(a: u64, b: u64) -> u64 {
  let al = a & 0xfffffffflu;
  let ah = a >> 32u;
  let bl = b & 0xfffffffflu;
  let bh = b >> 32u;
  let low = al * bl;
  let mid1 = ah * bl + (low >> 32u);
  let mid2 = al * bh + (mid1 & 0xfffffffflu);
  return ah * bh + (mid1 >> 32u) + (mid2 >> 32u);
}

fn h_clz_u64(a: u64) -> u64 {
  let high = u32(a >> 32u);
  let low = u32(a & 0xfffffffflu);
  return u64(select(countLeadingZeros(high), 32u + countLeadingZeros(low), high == 0u));
}

fn h_ctz_u64(a: u64) -> u64 {
  let high = u32(a >> 32u);
  let low = u32(a & 0xfffffffflu);
  return u64(select(countTrailingZeros(low), 32u + countTrailingZeros(high), low == 0u));
}

fn h_popcount_u64(a: u64) -> u64 {
  return u64(countOneBits(u32(a >> 32u)) + countOneBits(u32(a & 0xfffffffflu)));
}

fn h_reverse_u64(a: u64) -> u64 {
  let high = reverseBits(u32(a & 0xfffffffflu));
  return (u64(high) << 32u) | u64(reverseBits(u32(a >> 32u)));
}

fn load0(at: u32) -> i64 {
  let i = select(0u, at, at < d.len0);
  return select(0li, b0[i], at < d.len0);
}

fn store1(i: u32, v: i64) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

fn load2(at: u32) -> u64 {
  let i = select(0u, at, at < d.len2);
  return select(0lu, b2[i], at < d.len2);
}

fn store3(i: u32, v: u64) {
  if (i >= d.len3) { return; }
  b3[i] = v;
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
  let v5 = h_floor_div_i64(v1, v4);
  let v6 = h_mod_i64(v1, v4);
  let v7 = v5 + v6;
  let v8 = h_trunc_div_i64(v1, v4);
  let v9 = v7 - v8;
  let v10 = h_rem_i64(v1, v4);
  let v11 = v9 - v10;
  store1(gid.x, v11);
  let v14 = v1 << 3u;
  let v16 = v4 >> 1u;
  let v17 = v14 ^ v16;
  let v18 = bitcast<i64>(h_rotl_u64(bitcast<u64>(v1), (u32(bitcast<u64>(v4) & 63lu) | d.zero), 64u));
  let v19 = v17 | v18;
  store1(gid.x, v19);
  let v21 = bitcast<i64>(h_clz_u64(bitcast<u64>(v1)));
  let v22 = bitcast<i64>(h_ctz_u64(bitcast<u64>(v1)));
  let v23 = v21 + v22;
  let v24 = bitcast<i64>(h_popcount_u64(bitcast<u64>(v4)));
  let v25 = v23 + v24;
  let v26 = bitcast<i64>(h_reverse_u64(bitcast<u64>(v4)));
  let v27 = v25 + v26;
  let v28 = h_mul_high_i64(v1, v4);
  let v29 = v27 + v28;
  store1(gid.x, v29);
  let v31 = max(v1, v4);
  let v32 = (((i32(v1)) << 24u) >> 24u);
  let v33 = i64(v32);
  let v34 = v31 + v33;
  let v36 = v34 + bitcast<i64>(u64(d.p0) | (u64(d.p0_high) << 32u));
  store1(gid.x, v36);
  let v38 = f32(v1);
  let v39 = h_f32_to_i64(v38);
  store1(gid.x, v39);
  let v41 = load2(gid.x);
  let v42 = load2(v3);
  let v43 = h_div_u64(v41, v42);
  let v44 = h_rem_u64(v41, v42);
  let v45 = v43 + v44;
  let v46 = h_div_u64(v41, v42);
  let v47 = v45 - v46;
  let v48 = h_rem_u64(v41, v42);
  let v49 = v47 - v48;
  store3(gid.x, v49);
  let v51 = v41 << 3u;
  let v52 = v42 >> 1u;
  let v53 = v51 ^ v52;
  let v54 = h_rotl_u64(v41, (u32(v42 & 63lu) | d.zero), 64u);
  let v55 = v53 | v54;
  store3(gid.x, v55);
  let v57 = h_clz_u64(v41);
  let v58 = h_ctz_u64(v41);
  let v59 = v57 + v58;
  let v60 = h_popcount_u64(v42);
  let v61 = v59 + v60;
  let v62 = h_reverse_u64(v42);
  let v63 = v61 + v62;
  let v64 = h_mul_high_u64(v41, v42);
  let v65 = v63 + v64;
  store3(gid.x, v65);
  let v67 = max(v41, v42);
  let v68 = (((bitcast<i32>(u32(v41))) << 24u) >> 24u);
  let v69 = bitcast<u64>(i64(v68));
  let v70 = v67 + v69;
  let v71 = bitcast<u64>(bitcast<i64>(u64(d.p0) | (u64(d.p0_high) << 32u)));
  let v72 = v70 + v71;
  store3(gid.x, v72);
  let v74 = f32(v41);
  let v75 = h_f32_to_u64(v74);
  store3(gid.x, v75);
}
