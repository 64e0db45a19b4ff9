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
  p0: u32,
  p1: u32,
  p2: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read> b1: array<u32>;
@group(0) @binding(2) var<storage, read> b2: array<u32>;
@group(0) @binding(3) var<storage, read> b3: array<u32>;
@group(0) @binding(4) var<storage, read_write> b4: array<atomic<u32>>;
var<workgroup> b5: array<atomic<u32>, 1024>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;

fn h_div_u32(a: u32, b: u32) -> u32 {
  return select(a / max(b, 1u), ~0u, b == 0u);
}

fn h_rem_u32(a: u32, b: u32) -> u32 {
  return select(a % max(b, 1u), 0u, b == 0u);
}

fn h_trips_u32(start: u32, stop: u32, step: u32) -> u32 {
  if (step == 0u || start >= stop) { return 0u; }
  return (stop - start - 1u) / step + 1u;
}

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, (b0[i / 4u] >> ((i % 4u) * 8u)) & 255u, at < d.len0);
}

fn load1(at: u32) -> u32 {
  let i = select(0u, at, at < d.len1);
  return select(0u, (b1[i / 2u] >> ((i % 2u) * 16u)) & 65535u, at < d.len1);
}

fn load2(at: u32) -> u32 {
  let i = select(0u, at, at < d.len2);
  return select(0u, b2[i], at < d.len2);
}

fn load3(at: u32) -> u32 {
  let i = select(0u, at, at < d.len3);
  return select(0u, b3[i], at < d.len3);
}

fn atomicadd4(i: u32, v: u32) -> u32 {
  if (i >= d.len4) { return 0u; }
  return atomicAdd(&b4[i], v);
}

fn load5(at: u32) -> u32 {
  let i = select(0u, at, at < 1024u);
  return select(0u, atomicLoad(&b5[i]), at < 1024u);
}

fn atomicadd5(i: u32, v: u32) -> u32 {
  if (i >= 1024u) { return 0u; }
  return atomicAdd(&b5[i], v);
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  for (var k = local_index; k < 1024u; k += 256u) { atomicStore(&b5[k], 0u); }
  workgroupBarrier();
  gid = at;
  lid = local;
  let v2 = h_div_u32(d.len1, 256u);
  let v4 = v2 - d.len2;
  var v6: u32 = 0u;
  let v10 = max(d.len0, d.p2);
  let v11 = v10 - d.p2;
  let v14 = d.p0 * 2u;
  let v16 = max(v14, 64u);
  let v17 = h_rem_u32(v11, v16);
  let v18 = v17 != 0u;
  let v19 = h_div_u32(v11, v16);
  let v20 = select(0u, 1u, v18);
  let v21 = v19 + v20;
  let v22 = v21 > gid.x;
  if (v22) {
    let v24 = gid.x * v16;
    let v25 = v24 + d.p2;
    let v26 = min(v25, d.p0);
    let v27 = v25 - v26;
    var k29: u32 = v27;
    loop {
      if (!(k29 < v25)) { break; }
      let v29 = k29;
      let v30 = v6;
      let v31 = v30 * 256u;
      let v32 = load0(v29);
      let v33 = v32;
      let v34 = v31 + v33;
      let v35 = load1(v34);
      let v36 = v35;
      v6 = v36;
      continuing { k29 = k29 + 1u; }
    }
    let v39 = d.len0 - v25;
    let v40 = min(v39, v16);
    let v41 = v25 + v40;
    var k42: u32 = v25;
    loop {
      if (!(k42 < v41)) { break; }
      let v42 = k42;
      let v43 = v6;
      let v44 = v43 * 256u;
      let v45 = load0(v42);
      let v46 = v45;
      let v47 = v44 + v46;
      let v48 = load1(v47);
      let v49 = v48;
      v6 = v49;
      let v51 = v6;
      let v52 = v51 >= v4;
      if (v52) {
        let v54 = v6;
        let v55 = v54 - v4;
        let v56 = v55 + 1u;
        var v57: u32 = v56;
        loop {
          let v59 = v57;
          let v60 = v59 != 0u;
          if (!(v60)) { break; }
          let v62 = v57;
          let v63 = v62 - 1u;
          let v64 = load2(v63);
          let v66 = v64 < 1024u;
          if (v66) {
            let v68 = atomicadd5(v64, 1u);
          } else {
            let v70 = atomicadd4(v64, 1u);
          }
          let v72 = v57;
          let v73 = v72 - 1u;
          let v74 = load3(v73);
          v57 = v74;
        }
      }
      continuing { k42 = k42 + 1u; }
    }
  }
  storageBarrier();
  workgroupBarrier();
  var k82: u32 = 0u;
  var t82: u32 = h_trips_u32(0u, 1024u, 256u);
  loop {
    if (!(t82 > 0u)) { break; }
    let v82 = k82;
    let v84 = v82 + lid.x;
    let v85 = load5(v84);
    let v86 = v85 != 0u;
    if (v86) {
      let v88 = atomicadd4(v84, v85);
    }
    continuing { k82 = k82 + 256u; t82 = t82 - 1u; }
  }
}
