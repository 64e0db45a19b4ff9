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
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read> b1: array<u32>;
@group(0) @binding(2) var<storage, read_write> b2: array<u32>;
var<workgroup> b3: array<u32, 1792>;
var<workgroup> b4: array<u32, 256>;
var<private> lid: vec3<u32>;
var<private> wid: vec3<u32>;

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
  let i = select(0u, at, at < 1792u);
  return select(0u, b3[i], at < 1792u);
}

fn store3(i: u32, v: u32) {
  if (i >= 1792u) { return; }
  b3[i] = v;
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
  for (var k = local_index; k < 1792u; k += 256u) { b3[k] = 0u; }
  for (var k = local_index; k < 256u; k += 256u) { b4[k] = 0u; }
  workgroupBarrier();
  lid = local;
  wid = wg;
  let wid = wg;
  let v3 = wid.x * 1792u;
  let v5 = d.len0 - v3;
  let v7 = lid.x * 7u;
  var v9: u32 = 0u;
  let v10 = lid.x < v5;
  if (v10) {
    let v12 = v3 + lid.x;
    let v13 = load0(v12);
    v9 = v13;
  }
  let v16 = v9;
  store3(lid.x, v16);
  let v19 = lid.x + 256u;
  var v20: u32 = 0u;
  let v21 = v19 < v5;
  if (v21) {
    let v23 = v3 + v19;
    let v24 = load0(v23);
    v20 = v24;
  }
  let v27 = v20;
  store3(v19, v27);
  let v30 = lid.x + 512u;
  var v31: u32 = 0u;
  let v32 = v30 < v5;
  if (v32) {
    let v34 = v3 + v30;
    let v35 = load0(v34);
    v31 = v35;
  }
  let v38 = v31;
  store3(v30, v38);
  let v41 = lid.x + 768u;
  var v42: u32 = 0u;
  let v43 = v41 < v5;
  if (v43) {
    let v45 = v3 + v41;
    let v46 = load0(v45);
    v42 = v46;
  }
  let v49 = v42;
  store3(v41, v49);
  let v52 = lid.x + 1024u;
  var v53: u32 = 0u;
  let v54 = v52 < v5;
  if (v54) {
    let v56 = v3 + v52;
    let v57 = load0(v56);
    v53 = v57;
  }
  let v60 = v53;
  store3(v52, v60);
  let v63 = lid.x + 1280u;
  var v64: u32 = 0u;
  let v65 = v63 < v5;
  if (v65) {
    let v67 = v3 + v63;
    let v68 = load0(v67);
    v64 = v68;
  }
  let v71 = v64;
  store3(v63, v71);
  let v74 = lid.x + 1536u;
  var v75: u32 = 0u;
  let v76 = v74 < v5;
  if (v76) {
    let v78 = v3 + v74;
    let v79 = load0(v78);
    v75 = v79;
  }
  let v82 = v75;
  store3(v74, v82);
  storageBarrier();
  workgroupBarrier();
  let v85 = load3(v7);
  var v86: u32 = v85;
  let v88 = v7 + 1u;
  let v89 = load3(v88);
  let v90 = v86;
  let v91 = v90 + v89;
  v86 = v91;
  let v94 = v7 + 2u;
  let v95 = load3(v94);
  let v96 = v86;
  let v97 = v96 + v95;
  v86 = v97;
  let v100 = v7 + 3u;
  let v101 = load3(v100);
  let v102 = v86;
  let v103 = v102 + v101;
  v86 = v103;
  let v106 = v7 + 4u;
  let v107 = load3(v106);
  let v108 = v86;
  let v109 = v108 + v107;
  v86 = v109;
  let v112 = v7 + 5u;
  let v113 = load3(v112);
  let v114 = v86;
  let v115 = v114 + v113;
  v86 = v115;
  let v118 = v7 + 6u;
  let v119 = load3(v118);
  let v120 = v86;
  let v121 = v120 + v119;
  v86 = v121;
  let v123 = v86;
  store4(lid.x, v123);
  var k126: u32 = 0u;
  loop {
    if (!(k126 < 8u)) { break; }
    let v126 = k126;
    let v127 = 1u << (v126 & 31u);
    storageBarrier();
    workgroupBarrier();
    let v129 = lid.x >= v127;
    if (v129) {
      let v131 = lid.x - v127;
      let v132 = load4(v131);
      let v133 = v86;
      let v134 = v133 + v132;
      v86 = v134;
    }
    storageBarrier();
    workgroupBarrier();
    let v138 = v86;
    store4(lid.x, v138);
    continuing { k126 = k126 + 1u; }
  }
  storageBarrier();
  workgroupBarrier();
  let v142 = load1(wid.x);
  var v143: u32 = v142;
  let v144 = lid.x > 0u;
  if (v144) {
    let v146 = lid.x - 1u;
    let v147 = load4(v146);
    let v148 = v143;
    let v149 = v148 + v147;
    v143 = v149;
  }
  let v152 = load3(v7);
  let v153 = v143;
  let v154 = v153 + v152;
  v143 = v154;
  let v156 = v143;
  store3(v7, v156);
  let v158 = load3(v88);
  let v159 = v143;
  let v160 = v159 + v158;
  v143 = v160;
  let v162 = v143;
  store3(v88, v162);
  let v164 = load3(v94);
  let v165 = v143;
  let v166 = v165 + v164;
  v143 = v166;
  let v168 = v143;
  store3(v94, v168);
  let v170 = load3(v100);
  let v171 = v143;
  let v172 = v171 + v170;
  v143 = v172;
  let v174 = v143;
  store3(v100, v174);
  let v176 = load3(v106);
  let v177 = v143;
  let v178 = v177 + v176;
  v143 = v178;
  let v180 = v143;
  store3(v106, v180);
  let v182 = load3(v112);
  let v183 = v143;
  let v184 = v183 + v182;
  v143 = v184;
  let v186 = v143;
  store3(v112, v186);
  let v188 = load3(v118);
  let v189 = v143;
  let v190 = v189 + v188;
  v143 = v190;
  let v192 = v143;
  store3(v118, v192);
  storageBarrier();
  workgroupBarrier();
  if (v10) {
    let v196 = load3(lid.x);
    let v197 = v3 + lid.x;
    store2(v197, v196);
  }
  if (v21) {
    let v201 = load3(v19);
    let v202 = v3 + v19;
    store2(v202, v201);
  }
  if (v32) {
    let v206 = load3(v30);
    let v207 = v3 + v30;
    store2(v207, v206);
  }
  if (v43) {
    let v211 = load3(v41);
    let v212 = v3 + v41;
    store2(v212, v211);
  }
  if (v54) {
    let v216 = load3(v52);
    let v217 = v3 + v52;
    store2(v217, v216);
  }
  if (v65) {
    let v221 = load3(v63);
    let v222 = v3 + v63;
    store2(v222, v221);
  }
  if (v76) {
    let v226 = load3(v74);
    let v227 = v3 + v74;
    store2(v227, v226);
  }
}
