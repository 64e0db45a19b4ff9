struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read_write> b0: array<f32>;
@group(0) @binding(1) var<storage, read_write> b1: array<i64>;

fn store0(i: u32, v: f32) {
  if (i >= 8u) { return; }
  b0[i] = v;
}

fn store1(i: u32, v: i64) {
  if (i >= 8u) { return; }
  b1[i] = v;
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  if (at.x >= d.extent_x) { return; }
  store0(0u, bitcast<f32>(d.zero));
  store0(1u, bitcast<f32>(0x80000000u | d.zero));
  store0(2u, bitcast<f32>(0x60ad78ecu | d.zero));
  store0(3u, bitcast<f32>(0x3dcccccdu | d.zero));
  store0(4u, bitcast<f32>(0x7f800000u | d.zero));
  store0(5u, bitcast<f32>(0xff800000u | d.zero));
  store0(6u, bitcast<f32>(0x7fc00000u | d.zero));
  let v23 = bitcast<f32>(0x3f800000u | d.zero) + bitcast<f32>(d.zero);
  let v24 = v23 == 1.0f;
  let v25 = -v23;
  let v26 = select(v25, v23, v24);
  store0(7u, v26);
  store1(0u, 0li);
  store1(1u, -1li);
  store1(2u, (-9223372036854775807li - 1li));
  store1(3u, 9223372036854775807li);
}
