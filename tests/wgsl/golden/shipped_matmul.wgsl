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
  p1: u32,
  p2: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<f32>;
@group(0) @binding(1) var<storage, read> b1: array<f32>;
@group(0) @binding(2) var<storage, read_write> b2: array<f32>;
var<workgroup> b3: array<f32, 256>;
var<workgroup> b4: array<f32, 256>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;

fn h_div_u32(a: u32, b: u32) -> u32 {
  return select(a / max(b, 1u), ~0u, b == 0u);
}

fn h_rem_u32(a: u32, b: u32) -> u32 {
  return select(a % max(b, 1u), 0u, b == 0u);
}

fn load0(at: u32) -> f32 {
  let i = select(0u, at, at < d.len0);
  return select(bitcast<f32>(d.zero), b0[i], at < d.len0);
}

fn load1(at: u32) -> f32 {
  let i = select(0u, at, at < d.len1);
  return select(bitcast<f32>(d.zero), b1[i], at < d.len1);
}

fn store2(i: u32, v: f32) {
  if (i >= d.len2) { return; }
  b2[i] = v;
}

fn load3(at: u32) -> f32 {
  let i = select(0u, at, at < 256u);
  return select(bitcast<f32>(d.zero), b3[i], at < 256u);
}

fn store3(i: u32, v: f32) {
  if (i >= 256u) { return; }
  b3[i] = v;
}

fn load4(at: u32) -> f32 {
  let i = select(0u, at, at < 256u);
  return select(bitcast<f32>(d.zero), b4[i], at < 256u);
}

fn store4(i: u32, v: f32) {
  if (i >= 256u) { return; }
  b4[i] = v;
}

@compute @workgroup_size(16, 16, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let groups = vec3<u32>((d.extent_x - 1u) / 16u + 1u, (d.extent_y - 1u) / 16u + 1u, (d.extent_z - 1u) / 1u + 1u);
  var wg = launched;
  if (d.row != 0u) {
    let linear = launched.x + launched.y * d.row;
    wg = vec3<u32>(linear % groups.x, (linear / groups.x) % groups.y, linear / (groups.x * groups.y));
  }
  let at = wg * vec3<u32>(16u, 16u, 1u) + local;
  if (wg.z >= groups.z) { return; }
  for (var k = local_index; k < 256u; k += 256u) { b3[k] = bitcast<f32>(d.zero); }
  for (var k = local_index; k < 256u; k += 256u) { b4[k] = bitcast<f32>(d.zero); }
  workgroupBarrier();
  gid = at;
  lid = local;
  let v5 = lid.y * 16u;
  let v6 = v5 + lid.x;
  var v8: f32 = bitcast<f32>(d.zero);
  let v11 = h_rem_u32(d.p1, 16u);
  let v12 = v11 != 0u;
  let v13 = h_div_u32(d.p1, 16u);
  let v14 = select(0u, 1u, v12);
  let v15 = v13 + v14;
  var k17: u32 = 0u;
  loop {
    if (!(k17 < v15)) { break; }
    let v17 = k17;
    let v18 = v17 * 16u;
    let v19 = v18 + lid.x;
    let v20 = v18 + lid.y;
    var v21: f32 = bitcast<f32>(d.zero);
    let v23 = d.p0 > gid.y;
    let v24 = d.p1 > v19;
    let v25 = v23 & v24;
    if (v25) {
      let v27 = gid.y * d.p1;
      let v28 = v27 + v19;
      let v29 = load0(v28);
      v21 = v29;
    }
    var v32: f32 = bitcast<f32>(d.zero);
    let v33 = d.p1 > v20;
    let v35 = d.p2 > gid.x;
    let v36 = v33 & v35;
    if (v36) {
      let v38 = v20 * d.p2;
      let v39 = v38 + gid.x;
      let v40 = load1(v39);
      v32 = v40;
    }
    let v43 = v21;
    store3(v6, v43);
    let v45 = v32;
    store4(v6, v45);
    storageBarrier();
    workgroupBarrier();
    let v48 = load3(v5);
    let v49 = load4(lid.x);
    let v50 = v48 * v49;
    let v51 = v8;
    let v52 = v51 + v50;
    v8 = v52;
    let v54 = v5 + 1u;
    let v55 = load3(v54);
    let v56 = lid.x + 16u;
    let v57 = load4(v56);
    let v58 = v55 * v57;
    let v59 = v8;
    let v60 = v59 + v58;
    v8 = v60;
    let v63 = v5 + 2u;
    let v64 = load3(v63);
    let v66 = lid.x + 32u;
    let v67 = load4(v66);
    let v68 = v64 * v67;
    let v69 = v8;
    let v70 = v69 + v68;
    v8 = v70;
    let v73 = v5 + 3u;
    let v74 = load3(v73);
    let v76 = lid.x + 48u;
    let v77 = load4(v76);
    let v78 = v74 * v77;
    let v79 = v8;
    let v80 = v79 + v78;
    v8 = v80;
    let v83 = v5 + 4u;
    let v84 = load3(v83);
    let v86 = lid.x + 64u;
    let v87 = load4(v86);
    let v88 = v84 * v87;
    let v89 = v8;
    let v90 = v89 + v88;
    v8 = v90;
    let v93 = v5 + 5u;
    let v94 = load3(v93);
    let v96 = lid.x + 80u;
    let v97 = load4(v96);
    let v98 = v94 * v97;
    let v99 = v8;
    let v100 = v99 + v98;
    v8 = v100;
    let v103 = v5 + 6u;
    let v104 = load3(v103);
    let v106 = lid.x + 96u;
    let v107 = load4(v106);
    let v108 = v104 * v107;
    let v109 = v8;
    let v110 = v109 + v108;
    v8 = v110;
    let v113 = v5 + 7u;
    let v114 = load3(v113);
    let v116 = lid.x + 112u;
    let v117 = load4(v116);
    let v118 = v114 * v117;
    let v119 = v8;
    let v120 = v119 + v118;
    v8 = v120;
    let v123 = v5 + 8u;
    let v124 = load3(v123);
    let v126 = lid.x + 128u;
    let v127 = load4(v126);
    let v128 = v124 * v127;
    let v129 = v8;
    let v130 = v129 + v128;
    v8 = v130;
    let v133 = v5 + 9u;
    let v134 = load3(v133);
    let v136 = lid.x + 144u;
    let v137 = load4(v136);
    let v138 = v134 * v137;
    let v139 = v8;
    let v140 = v139 + v138;
    v8 = v140;
    let v143 = v5 + 10u;
    let v144 = load3(v143);
    let v146 = lid.x + 160u;
    let v147 = load4(v146);
    let v148 = v144 * v147;
    let v149 = v8;
    let v150 = v149 + v148;
    v8 = v150;
    let v153 = v5 + 11u;
    let v154 = load3(v153);
    let v156 = lid.x + 176u;
    let v157 = load4(v156);
    let v158 = v154 * v157;
    let v159 = v8;
    let v160 = v159 + v158;
    v8 = v160;
    let v163 = v5 + 12u;
    let v164 = load3(v163);
    let v166 = lid.x + 192u;
    let v167 = load4(v166);
    let v168 = v164 * v167;
    let v169 = v8;
    let v170 = v169 + v168;
    v8 = v170;
    let v173 = v5 + 13u;
    let v174 = load3(v173);
    let v176 = lid.x + 208u;
    let v177 = load4(v176);
    let v178 = v174 * v177;
    let v179 = v8;
    let v180 = v179 + v178;
    v8 = v180;
    let v183 = v5 + 14u;
    let v184 = load3(v183);
    let v186 = lid.x + 224u;
    let v187 = load4(v186);
    let v188 = v184 * v187;
    let v189 = v8;
    let v190 = v189 + v188;
    v8 = v190;
    let v193 = v5 + 15u;
    let v194 = load3(v193);
    let v196 = lid.x + 240u;
    let v197 = load4(v196);
    let v198 = v194 * v197;
    let v199 = v8;
    let v200 = v199 + v198;
    v8 = v200;
    storageBarrier();
    workgroupBarrier();
    continuing { k17 = k17 + 1u; }
  }
  let v205 = d.p0 > gid.y;
  let v207 = d.p2 > gid.x;
  let v208 = v205 & v207;
  if (v208) {
    let v210 = gid.y * d.p2;
    let v211 = v210 + gid.x;
    let v212 = v8;
    store2(v211, v212);
  }
}
