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

@group(0) @binding(0) var<storage, read> b0: array<f32>;
@group(0) @binding(1) var<storage, read_write> b1: array<f32>;
var<private> gid: vec3<u32>;
var<private> alive: bool = true;

fn h_is_nan_f32(a: f32) -> bool {
  return (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u;
}

fn h_subgroupMax(v: f32) -> f32 {
  let with_nan = subgroupOr(select(0u, 1u, h_is_nan_f32(v))) != 0u;
  return select(subgroupMax(v), bitcast<f32>(0x7fc00000u | d.zero), with_nan);
}

fn h_ballot_word(ballot: vec4<u32>, word: u32) -> u32 {
  var words = ballot;
  if (word > 3u) { return 0u; }
  return words[word];
}

fn h_lane_is_active(lane: u32, running: vec4<u32>) -> bool {
  return ((h_ballot_word(running, lane >> 5u) >> (lane & 31u)) & 1u) != 0u;
}

fn load0(at: u32) -> f32 {
  let i = select(0u, at, at < d.len0);
  return select(bitcast<f32>(d.zero), b0[i], at < d.len0);
}

fn store1(i: u32, v: f32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(64u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 64u) { return; }
  gid = at;
  let v1 = load0(gid.x);
  let v3 = v1 < 0.0f;
  if (v3) {
    alive = false;
  }
  storageBarrier();
  workgroupBarrier();
  let v8 = subgroupAdd(select(bitcast<f32>(0x80000000u | d.zero), v1, alive));
  let v9 = h_subgroupMax(select(bitcast<f32>(0xff800000u | d.zero), v1, alive));
  let v10 = v8 + v9;
  let v12 = select(bitcast<f32>(d.zero), subgroupShuffle(v1, 3u & 127u), h_lane_is_active(3u, subgroupBallot(alive)));
  let v13 = v10 + v12;
  if (alive) { store1(gid.x, v13); }
}
