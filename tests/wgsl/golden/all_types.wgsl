struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  p0: u32,
  p1: i32,
  p2: u32,
  p3: i32,
  p4: u32,
  p5: i32,
  p6: u32,
  p7: u32,
  p7_high: u32,
  p8: u32,
  p8_high: u32,
  p9: u32,
  p10: f32,
  p11: u32,
  p11_high: u32,
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
@group(0) @binding(10) var<storage, read> b10: array<i32>;
@group(0) @binding(11) var<storage, read_write> b11: array<i32>;
@group(0) @binding(12) var<storage, read> b12: array<u32>;
@group(0) @binding(13) var<storage, read_write> b13: array<u32>;
@group(0) @binding(14) var<storage, read> b14: array<i64>;
@group(0) @binding(15) var<storage, read_write> b15: array<i64>;
@group(0) @binding(16) var<storage, read> b16: array<u64>;
@group(0) @binding(17) var<storage, read_write> b17: array<u64>;
@group(0) @binding(18) var<storage, read> b18: array<u32>;
@group(0) @binding(19) var<storage, read_write> b19: array<atomic<u32>>;
@group(0) @binding(20) var<storage, read> b20: array<f32>;
@group(0) @binding(21) var<storage, read_write> b21: array<f32>;
@group(0) @binding(22) var<storage, read> b22: array<f64>;
@group(0) @binding(23) var<storage, read_write> b23: array<f64>;
var<private> gid: vec3<u32>;

fn h_f16_bits(a: f32) -> u32 {
  let bits = bitcast<u32>(a);
  let sign = (bits >> 16u) & 0x8000u;
  let m = bits & 0x7fffffffu;
  if (m > 0x7f800000u) { return sign | 0x7e00u; }
  if (m >= 0x477ff000u) { return sign | 0x7c00u; }
  if (m >= 0x38800000u) {
    return sign | ((m + 0xfffu + ((m >> 13u) & 1u) - 0x38000000u) >> 13u);
  }
  if (m < 0x33000000u) { return sign; }
  let significand = (m & 0x7fffffu) | 0x800000u;
  let shift = 126u - (m >> 23u);
  let q = significand >> shift;
  let rest = significand & ((1u << shift) - 1u);
  let half = 1u << (shift - 1u);
  return sign | (q + select(0u, 1u, rest > half || (rest == half && (q & 1u) == 1u)));
}

fn h_from_f16(bits: u32) -> f32 {
  let sign = (bits & 0x8000u) << 16u;
  let m = bits & 0x7fffu;
  if (m >= 0x7c00u) { return bitcast<f32>(sign | 0x7f800000u | ((m & 0x3ffu) << 13u)); }
  if (m >= 0x400u) { return bitcast<f32>(sign | ((m << 13u) + 0x38000000u)); }
  // Subnormal: a multiple of 2^-24, normal in f32.
  return bitcast<f32>(sign | bitcast<u32>(f32(m) * 5.9604644775390625e-8f));
}

fn load0(at: u32) -> bool {
  let i = select(0u, at, at < 8u);
  return select(false, ((b0[i / 4u] >> ((i % 4u) * 8u)) & 255u) != 0u, at < 8u);
}

fn store1(i: u32, v: bool) {
  if (i >= 8u) { return; }
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

fn load2(at: u32) -> i32 {
  let i = select(0u, at, at < 8u);
  return select(0i, bitcast<i32>((b2[i / 4u] >> ((i % 4u) * 8u)) << 24u) >> 24u, at < 8u);
}

fn store3(i: u32, v: i32) {
  if (i >= 8u) { return; }
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
  let i = select(0u, at, at < 8u);
  return select(0u, (b4[i / 4u] >> ((i % 4u) * 8u)) & 255u, at < 8u);
}

fn store5(i: u32, v: u32) {
  if (i >= 8u) { return; }
  let w = i / 4u;
  let s = (i % 4u) * 8u;
  let bits = (v) << s;
  let keep = ~(255u << s);
  var old = atomicLoad(&b5[w]);
  loop {
    let seen = old;
    let r = atomicCompareExchangeWeak(&b5[w], seen, (seen & keep) | bits);
    old = r.old_value;
    if (r.exchanged) { break; }
  }
}

fn load6(at: u32) -> i32 {
  let i = select(0u, at, at < 8u);
  return select(0i, bitcast<i32>((b6[i / 2u] >> ((i % 2u) * 16u)) << 16u) >> 16u, at < 8u);
}

fn store7(i: u32, v: i32) {
  if (i >= 8u) { return; }
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

fn load8(at: u32) -> u32 {
  let i = select(0u, at, at < 8u);
  return select(0u, (b8[i / 2u] >> ((i % 2u) * 16u)) & 65535u, at < 8u);
}

fn store9(i: u32, v: u32) {
  if (i >= 8u) { return; }
  let w = i / 2u;
  let s = (i % 2u) * 16u;
  let bits = (v) << s;
  let keep = ~(65535u << s);
  var old = atomicLoad(&b9[w]);
  loop {
    let seen = old;
    let r = atomicCompareExchangeWeak(&b9[w], seen, (seen & keep) | bits);
    old = r.old_value;
    if (r.exchanged) { break; }
  }
}

fn load10(at: u32) -> i32 {
  let i = select(0u, at, at < 8u);
  return select(0i, b10[i], at < 8u);
}

fn store11(i: u32, v: i32) {
  if (i >= 8u) { return; }
  b11[i] = v;
}

fn load12(at: u32) -> u32 {
  let i = select(0u, at, at < 8u);
  return select(0u, b12[i], at < 8u);
}

fn store13(i: u32, v: u32) {
  if (i >= 8u) { return; }
  b13[i] = v;
}

fn load14(at: u32) -> i64 {
  let i = select(0u, at, at < 8u);
  return select(0li, b14[i], at < 8u);
}

fn store15(i: u32, v: i64) {
  if (i >= 8u) { return; }
  b15[i] = v;
}

fn load16(at: u32) -> u64 {
  let i = select(0u, at, at < 8u);
  return select(0lu, b16[i], at < 8u);
}

fn store17(i: u32, v: u64) {
  if (i >= 8u) { return; }
  b17[i] = v;
}

fn load18(at: u32) -> f32 {
  let i = select(0u, at, at < 8u);
  return select(bitcast<f32>(d.zero), h_from_f16((b18[i / 2u] >> ((i % 2u) * 16u)) & 65535u), at < 8u);
}

fn store19(i: u32, v: f32) {
  if (i >= 8u) { return; }
  let w = i / 2u;
  let s = (i % 2u) * 16u;
  let bits = (h_f16_bits(v)) << s;
  let keep = ~(65535u << s);
  var old = atomicLoad(&b19[w]);
  loop {
    let seen = old;
    let r = atomicCompareExchangeWeak(&b19[w], seen, (seen & keep) | bits);
    old = r.old_value;
    if (r.exchanged) { break; }
  }
}

fn load20(at: u32) -> f32 {
  let i = select(0u, at, at < 8u);
  return select(bitcast<f32>(d.zero), b20[i], at < 8u);
}

fn store21(i: u32, v: f32) {
  if (i >= 8u) { return; }
  b21[i] = v;
}

fn load22(at: u32) -> f64 {
  let i = select(0u, at, at < 8u);
  return select(bitcast<f64>(u64(d.zero)), b22[i], at < 8u);
}

fn store23(i: u32, v: f64) {
  if (i >= 8u) { return; }
  b23[i] = v;
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  let v1 = load0(gid.x);
  let v3 = (d.p0 != 0u) == v1;
  let v4 = select(v1, (d.p0 != 0u), v3);
  store1(gid.x, v4);
  let v6 = load2(gid.x);
  let v8 = d.p1 == v6;
  let v9 = select(v6, d.p1, v8);
  store3(gid.x, v9);
  let v11 = load4(gid.x);
  let v13 = d.p2 == v11;
  let v14 = select(v11, d.p2, v13);
  store5(gid.x, v14);
  let v16 = load6(gid.x);
  let v18 = d.p3 == v16;
  let v19 = select(v16, d.p3, v18);
  store7(gid.x, v19);
  let v21 = load8(gid.x);
  let v23 = d.p4 == v21;
  let v24 = select(v21, d.p4, v23);
  store9(gid.x, v24);
  let v26 = load10(gid.x);
  let v28 = d.p5 == v26;
  let v29 = select(v26, d.p5, v28);
  store11(gid.x, v29);
  let v31 = load12(gid.x);
  let v33 = d.p6 == v31;
  let v34 = select(v31, d.p6, v33);
  store13(gid.x, v34);
  let v36 = load14(gid.x);
  let v38 = bitcast<i64>(u64(d.p7) | (u64(d.p7_high) << 32u)) == v36;
  let v39 = select(v36, bitcast<i64>(u64(d.p7) | (u64(d.p7_high) << 32u)), v38);
  store15(gid.x, v39);
  let v41 = load16(gid.x);
  let v43 = (u64(d.p8) | (u64(d.p8_high) << 32u)) == v41;
  let v44 = select(v41, (u64(d.p8) | (u64(d.p8_high) << 32u)), v43);
  store17(gid.x, v44);
  let v46 = load18(gid.x);
  let v48 = h_from_f16(d.p9) == v46;
  let v49 = select(v46, h_from_f16(d.p9), v48);
  store19(gid.x, v49);
  let v51 = load20(gid.x);
  let v53 = d.p10 == v51;
  let v54 = select(v51, d.p10, v53);
  store21(gid.x, v54);
  let v56 = load22(gid.x);
  let v58 = bitcast<f64>(u64(d.p11) | (u64(d.p11_high) << 32u)) == v56;
  let v59 = select(v56, bitcast<f64>(u64(d.p11) | (u64(d.p11_high) << 32u)), v58);
  store23(gid.x, v59);
}
