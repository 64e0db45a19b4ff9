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
  p0: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read> b1: array<u32>;
@group(0) @binding(2) var<storage, read_write> b2: array<u32>;
var<workgroup> b3: array<atomic<u32>, 2048>;
var<workgroup> b4: array<u32, 256>;
var<private> lid: vec3<u32>;
var<private> wid: vec3<u32>;

fn h_div_u32(a: u32, b: u32) -> u32 {
  return select(a / max(b, 1u), ~0u, b == 0u);
}

fn h_rem_u32(a: u32, b: u32) -> u32 {
  return select(a % max(b, 1u), 0u, b == 0u);
}

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, b0[i], at < d.len0);
}

fn load1(at: u32) -> u32 {
  let i = select(0u, at, at < d.len1);
  return select(0u, b1[i], at < d.len1);
}

fn store2(i: u32, v: u32) {
  if (i >= d.len2) { return; }
  b2[i] = v;
}

fn load3(at: u32) -> u32 {
  let i = select(0u, at, at < 2048u);
  return select(0u, atomicLoad(&b3[i]), at < 2048u);
}

fn store3(i: u32, v: u32) {
  if (i >= 2048u) { return; }
  atomicStore(&b3[i], v);
}

fn atomicor3(i: u32, v: u32) -> u32 {
  if (i >= 2048u) { return 0u; }
  return atomicOr(&b3[i], v);
}

fn load4(at: u32) -> u32 {
  let i = select(0u, at, at < 256u);
  return select(0u, b4[i], at < 256u);
}

fn store4(i: u32, v: u32) {
  if (i >= 256u) { return; }
  b4[i] = v;
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  for (var k = local_index; k < 2048u; k += 256u) { atomicStore(&b3[k], 0u); }
  for (var k = local_index; k < 256u; k += 256u) { b4[k] = 0u; }
  workgroupBarrier();
  lid = local;
  wid = wg;
  let wid = wg;
  let v3 = wid.x * 4096u;
  let v5 = d.len0 - v3;
  let v7 = lid.x >> 5u;
  let v9 = lid.x & 31u;
  let v11 = 1u << (v9 & 31u);
  let v13 = h_rem_u32(d.len0, 4096u);
  let v14 = v13 != 0u;
  let v15 = h_div_u32(d.len0, 4096u);
  let v16 = select(0u, 1u, v14);
  let v17 = v15 + v16;
  let v18 = lid.x * v17;
  let v19 = v18 + wid.x;
  let v20 = load1(v19);
  store4(lid.x, v20);
  let v23 = h_rem_u32(v5, 256u);
  let v24 = v23 != 0u;
  let v25 = h_div_u32(v5, 256u);
  let v26 = select(0u, 1u, v24);
  let v27 = v25 + v26;
  let v29 = min(v27, 16u);
  var k30: u32 = 0u;
  loop {
    if (!(k30 < v29)) { break; }
    let v30 = k30;
    let v31 = v30 * 256u;
    let v32 = v31 + lid.x;
    var v33: u32 = 0u;
    let v34 = v32 < v5;
    if (v34) {
      let v36 = v3 + v32;
      let v37 = load0(v36);
      v33 = v37;
    }
    let v40 = v33;
    let v42 = v40 >> (d.p0 & 31u);
    let v44 = v42 & 255u;
    if (v34) {
      let v46 = v7 * 256u;
      let v47 = v46 + v44;
      let v48 = atomicor3(v47, v11);
    }
    storageBarrier();
    workgroupBarrier();
    if (v34) {
      let v52 = v7 * 256u;
      let v53 = v52 + v44;
      let v54 = load3(v53);
      let v55 = v11 - 1u;
      let v56 = v54 & v55;
      let v57 = countOneBits(v56);
      let v58 = load4(v44);
      let v59 = v58 + v57;
      var v60: u32 = v59;
      var k61: u32 = 0u;
      loop {
        if (!(k61 < v7)) { break; }
        let v61 = k61;
        let v62 = v61 * 256u;
        let v63 = v62 + v44;
        let v64 = load3(v63);
        let v65 = countOneBits(v64);
        let v66 = v60;
        let v67 = v66 + v65;
        v60 = v67;
        continuing { k61 = k61 + 1u; }
      }
      let v70 = v60;
      let v71 = v33;
      store2(v70, v71);
    }
    storageBarrier();
    workgroupBarrier();
    let v75 = load4(lid.x);
    var v76: u32 = v75;
    let v77 = load3(lid.x);
    let v78 = countOneBits(v77);
    let v79 = v76;
    let v80 = v79 + v78;
    v76 = v80;
    store3(lid.x, 0u);
    let v83 = lid.x + 256u;
    let v84 = load3(v83);
    let v85 = countOneBits(v84);
    let v86 = v76;
    let v87 = v86 + v85;
    v76 = v87;
    store3(v83, 0u);
    let v91 = lid.x + 512u;
    let v92 = load3(v91);
    let v93 = countOneBits(v92);
    let v94 = v76;
    let v95 = v94 + v93;
    v76 = v95;
    store3(v91, 0u);
    let v99 = lid.x + 768u;
    let v100 = load3(v99);
    let v101 = countOneBits(v100);
    let v102 = v76;
    let v103 = v102 + v101;
    v76 = v103;
    store3(v99, 0u);
    let v107 = lid.x + 1024u;
    let v108 = load3(v107);
    let v109 = countOneBits(v108);
    let v110 = v76;
    let v111 = v110 + v109;
    v76 = v111;
    store3(v107, 0u);
    let v115 = lid.x + 1280u;
    let v116 = load3(v115);
    let v117 = countOneBits(v116);
    let v118 = v76;
    let v119 = v118 + v117;
    v76 = v119;
    store3(v115, 0u);
    let v123 = lid.x + 1536u;
    let v124 = load3(v123);
    let v125 = countOneBits(v124);
    let v126 = v76;
    let v127 = v126 + v125;
    v76 = v127;
    store3(v123, 0u);
    let v131 = lid.x + 1792u;
    let v132 = load3(v131);
    let v133 = countOneBits(v132);
    let v134 = v76;
    let v135 = v134 + v133;
    v76 = v135;
    store3(v131, 0u);
    let v138 = v76;
    store4(lid.x, v138);
    storageBarrier();
    workgroupBarrier();
    continuing { k30 = k30 + 1u; }
  }
}
