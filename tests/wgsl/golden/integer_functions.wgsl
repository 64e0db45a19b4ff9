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
var<private> lid: vec3<u32>;

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

fn h_mul_high_i32(a: i32, b: i32) -> i32 {
  let high = h_mul_high_u32(bitcast<u32>(a), bitcast<u32>(b));
  let fix = select(0u, bitcast<u32>(b), a < 0i) + select(0u, bitcast<u32>(a), b < 0i);
  return bitcast<i32>(high - fix);
}

fn h_rotl_u32(a: u32, s: u32, width: u32) -> u32 {
  let n = s & (width - 1u);
  let mask = 0xffffffffu >> (32u - width);
  return ((a << n) | ((a & mask) >> ((width - n) & (width - 1u)))) & mask;
}

fn h_mul_high_u32(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let low = al * bl;
  let mid1 = ah * bl + (low >> 16u);
  let mid2 = al * bh + (mid1 & 0xffffu);
  return ah * bh + (mid1 >> 16u) + (mid2 >> 16u);
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
  lid = local;
  let v1 = load0(gid.x);
  let v2 = abs(v1);
  store1(gid.x, v2);
  let v4 = clamp(v1, -1i, 1i);
  store1(gid.x, v4);
  let v6 = countLeadingZeros(v1 & bitcast<i32>(4294967295u)) - 0i;
  store1(gid.x, v6);
  let v8 = min(countTrailingZeros(v1), 32i);
  store1(gid.x, v8);
  let v10 = countOneBits(v1 & bitcast<i32>(4294967295u));
  store1(gid.x, v10);
  let v12 = reverseBits(v1) >> 0u;
  store1(gid.x, v12);
  let v15 = v1 + 3i;
  let v16 = h_trunc_div_i32(v1, v15);
  store1(gid.x, v16);
  let v18 = h_rem_i32(v1, v15);
  store1(gid.x, v18);
  let v20 = bitcast<i32>(h_rotl_u32(bitcast<u32>(v1), (bitcast<u32>(v15) & 31u), 32u));
  store1(gid.x, v20);
  let v22 = bitcast<i32>(h_rotl_u32(bitcast<u32>(v1), 32u - (bitcast<u32>(v15) & 31u), 32u));
  store1(gid.x, v22);
  let v24 = h_mul_high_i32(v1, v15);
  store1(gid.x, v24);
  let v26 = min(v1, v15);
  store1(gid.x, v26);
  let v28 = max(v1, v15);
  store1(gid.x, v28);
  let v30 = ~v1;
  let v32 = v30 & 7i;
  let v34 = v1 ^ 1i;
  let v35 = v32 | v34;
  let v37 = v1 << 2u;
  let v38 = v35 + v37;
  let v40 = v1 >> 3u;
  let v41 = v38 - v40;
  store1(gid.x, v41);
  let v43 = h_floor_div_i32(v1, 3i);
  let v45 = h_mod_i32(v1, 5i);
  let v46 = v43 * v45;
  let v47 = 7i - v1;
  let v48 = v46 - v47;
  store1(gid.x, v48);
  let v51 = v1 << (lid.x & 31u);
  let v53 = v51 >> 1u;
  store1(gid.x, v53);
}
