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
@group(0) @binding(1) var<storage, read_write> b1: array<u32>;
var<private> gid: vec3<u32>;
var<private> subgroup_lane: u32;
var<private> subgroup_lanes: u32;

fn h_ballot_word(ballot: vec4<u32>, word: u32) -> u32 {
  var words = ballot;
  if (word > 3u) { return 0u; }
  return words[word];
}

fn h_lane_is_active(lane: u32, running: vec4<u32>) -> bool {
  return ((h_ballot_word(running, lane >> 5u) >> (lane & 31u)) & 1u) != 0u;
}

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, b0[i], at < d.len0);
}

fn store1(i: u32, v: u32) {
  if (i >= d.len1) { return; }
  b1[i] = v;
}

@compute @workgroup_size(32, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32, @builtin(subgroup_size) subgroup_size: u32, @builtin(subgroup_invocation_id) subgroup_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(32u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 32u) { return; }
  if (at.x >= d.extent_x) { return; }
  gid = at;
  subgroup_lanes = subgroup_size;
  subgroup_lane = subgroup_index;
  let v1 = load0(gid.x);
  let v4 = subgroup_lanes + subgroup_lane;
  let v5 = subgroupAdd(v1);
  let v6 = v4 + v5;
  let v7 = subgroupMul(v1);
  let v8 = v6 + v7;
  let v9 = subgroupMin(v1);
  let v10 = v8 + v9;
  let v11 = subgroupMax(v1);
  let v12 = v10 + v11;
  let v13 = subgroupAnd(v1);
  let v14 = v12 + v13;
  let v15 = subgroupOr(v1);
  let v16 = v14 + v15;
  let v17 = subgroupXor(v1);
  let v18 = v16 + v17;
  let v20 = v1 > 3u;
  let v22 = h_ballot_word(subgroupBallot(v20), 0u);
  let v23 = v18 + v22;
  let v24 = select(0u, subgroupShuffle(v1, 0u & 127u), h_lane_is_active(0u, subgroupBallot(true)));
  let v25 = v23 + v24;
  let v27 = subgroup_lane ^ 1u;
  let v28 = select(0u, subgroupShuffle(v1, v27 & 127u), h_lane_is_active(v27, subgroupBallot(true)));
  let v29 = v25 + v28;
  store1(gid.x, v29);
}
