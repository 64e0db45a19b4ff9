struct Dispatch {
  extent_x: u32,
  extent_y: u32,
  extent_z: u32,
  row: u32,
  base: u32,
  zero: u32,
  len0: u32,
}
var<immediate> d: Dispatch;

@group(0) @binding(0) var<storage, read> b0: array<u32>;
@group(0) @binding(1) var<storage, read_write> b1: array<atomic<u32>>;
var<workgroup> b2: array<u32, 1024>;
var<workgroup> b3: array<u32, 256>;
var<workgroup> b4: array<u32, 32>;
var<private> gid: vec3<u32>;
var<private> lid: vec3<u32>;
var<private> wid: vec3<u32>;

fn load0(at: u32) -> u32 {
  let i = select(0u, at, at < d.len0);
  return select(0u, (b0[i / 4u] >> ((i % 4u) * 8u)) & 255u, at < d.len0);
}

fn atomicxor1(i: u32, v: u32) -> u32 {
  if (i >= 1u) { return 0u; }
  return atomicXor(&b1[i], v);
}

fn load2(at: u32) -> u32 {
  let i = select(0u, at, at < 1024u);
  return select(0u, b2[i], at < 1024u);
}

fn store2(i: u32, v: u32) {
  if (i >= 1024u) { return; }
  b2[i] = v;
}

fn load3(at: u32) -> u32 {
  let i = select(0u, at, at < 256u);
  return select(0u, b3[i], at < 256u);
}

fn store3(i: u32, v: u32) {
  if (i >= 256u) { return; }
  b3[i] = v;
}

fn load4(at: u32) -> u32 {
  let i = select(0u, at, at < 32u);
  return select(0u, b4[i], at < 32u);
}

fn store4(i: u32, v: u32) {
  if (i >= 32u) { return; }
  b4[i] = v;
}

@compute @workgroup_size(256, 1, 1)
fn main(@builtin(workgroup_id) launched: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) local_index: u32) {
  let wg = vec3<u32>(launched.x + launched.y * d.row, 0u, 0u);
  let at = wg * vec3<u32>(256u, 1u, 1u) + local;
  if (wg.x > (d.extent_x - 1u) / 256u) { return; }
  for (var k = local_index; k < 1024u; k += 256u) { b2[k] = 0u; }
  for (var k = local_index; k < 256u; k += 256u) { b3[k] = 0u; }
  for (var k = local_index; k < 32u; k += 256u) { b4[k] = 0u; }
  workgroupBarrier();
  gid = at;
  lid = local;
  wid = wg;
  let wid = wg;
  let v3 = wid.x * 65536u;
  let v5 = d.len0 - v3;
  let v8 = lid.x & 1u;
  let v9 = 0u - v8;
  let v10 = lid.x >> 1u;
  let v11 = v10 & 1u;
  let v12 = 0u - v11;
  let v14 = lid.x >> 2u;
  let v15 = v14 & 1u;
  let v16 = 0u - v15;
  let v18 = lid.x >> 3u;
  let v19 = v18 & 1u;
  let v20 = 0u - v19;
  let v22 = lid.x >> 4u;
  let v23 = v22 & 1u;
  let v24 = 0u - v23;
  let v26 = lid.x >> 5u;
  let v27 = v26 & 1u;
  let v28 = 0u - v27;
  let v30 = lid.x >> 6u;
  let v31 = v30 & 1u;
  let v32 = 0u - v31;
  let v34 = lid.x >> 7u;
  let v35 = v34 & 1u;
  let v36 = 0u - v35;
  let v38 = v9 & 4170314095u;
  let v40 = v12 & 710075551u;
  let v41 = v38 ^ v40;
  let v43 = v16 & 1420151102u;
  let v44 = v41 ^ v43;
  let v46 = v20 & 2840302204u;
  let v47 = v44 ^ v46;
  let v49 = v24 & 2313560761u;
  let v50 = v47 ^ v49;
  let v52 = v28 & 3367846707u;
  let v53 = v50 ^ v52;
  let v55 = v32 & 1242267687u;
  let v56 = v53 ^ v55;
  let v58 = v36 & 2484535374u;
  let v59 = v56 ^ v58;
  store2(lid.x, v59);
  let v62 = v9 & 4083091165u;
  let v64 = v12 & 1036979195u;
  let v65 = v62 ^ v64;
  let v67 = v16 & 2073958390u;
  let v68 = v65 ^ v67;
  let v70 = v20 & 4147916780u;
  let v71 = v68 ^ v70;
  let v73 = v24 & 889805209u;
  let v74 = v71 ^ v73;
  let v76 = v28 & 1779610418u;
  let v77 = v74 ^ v76;
  let v79 = v32 & 3559220836u;
  let v80 = v77 ^ v79;
  let v82 = v36 & 1933298313u;
  let v83 = v80 ^ v82;
  let v85 = lid.x + 256u;
  store2(v85, v83);
  let v88 = v9 & 3866596626u;
  let v90 = v12 & 396242021u;
  let v91 = v88 ^ v90;
  let v93 = v16 & 792484042u;
  let v94 = v91 ^ v93;
  let v96 = v20 & 1584968084u;
  let v97 = v94 ^ v96;
  let v99 = v24 & 3169936168u;
  let v100 = v97 ^ v99;
  let v102 = v28 & 2727591953u;
  let v103 = v100 ^ v102;
  let v105 = v32 & 2656470627u;
  let v106 = v103 ^ v105;
  let v108 = v36 & 3889957511u;
  let v109 = v106 ^ v108;
  let v111 = lid.x + 512u;
  store2(v111, v109);
  let v114 = v9 & 348721999u;
  let v116 = v12 & 697443998u;
  let v117 = v114 ^ v116;
  let v119 = v16 & 1394887996u;
  let v120 = v117 ^ v119;
  let v122 = v20 & 2789775992u;
  let v123 = v120 ^ v122;
  let v125 = v24 & 2548052657u;
  let v126 = v123 ^ v125;
  let v128 = v28 & 4105265955u;
  let v129 = v126 ^ v128;
  let v131 = v32 & 840155143u;
  let v132 = v129 ^ v131;
  let v134 = v36 & 1680310286u;
  let v135 = v132 ^ v134;
  let v137 = lid.x + 768u;
  store2(v137, v135);
  let v140 = v5 - 65532u;
  let v141 = v5 < 65532u;
  let v142 = select(0u, 1u, v141);
  let v143 = v140 - v142;
  let v145 = lid.x < 32u;
  if (v145) {
    let v147 = lid.x == 0u;
    let v150 = select(134217728u, 8388608u, v147);
    let v151 = lid.x == 1u;
    let v153 = select(v150, 32768u, v151);
    let v154 = lid.x == 2u;
    let v156 = select(v153, 3988292384u, v154);
    let v157 = lid.x == 3u;
    let v159 = select(v156, 2984685714u, v157);
    let v160 = lid.x == 4u;
    let v162 = select(v159, 2691310871u, v160);
    let v163 = lid.x == 5u;
    let v165 = select(v162, 3982654894u, v163);
    let v166 = lid.x == 6u;
    let v168 = select(v165, 2295415911u, v166);
    let v169 = lid.x == 7u;
    let v171 = select(v168, 3619421802u, v169);
    let v173 = lid.x == 8u;
    let v175 = select(v171, 3963911953u, v173);
    let v177 = lid.x == 9u;
    let v179 = select(v175, 2390663536u, v177);
    let v181 = lid.x == 10u;
    let v182 = select(v179, 1680310286u, v181);
    let v184 = lid.x == 11u;
    let v186 = select(v182, 1296546528u, v184);
    let v188 = lid.x == 12u;
    let v190 = select(v186, 167662735u, v188);
    let v192 = lid.x == 13u;
    let v194 = select(v190, 2206543119u, v192);
    let v196 = lid.x == 14u;
    let v198 = select(v194, 808857370u, v196);
    let v200 = lid.x == 15u;
    let v202 = select(v198, 2069535939u, v200);
    let v204 = lid.x == 16u;
    let v206 = select(v202, 838779241u, v204);
    let v208 = lid.x == 17u;
    let v210 = select(v206, 2683044394u, v208);
    let v212 = lid.x == 18u;
    let v214 = select(v210, 1821240772u, v212);
    let v216 = lid.x == 19u;
    let v218 = select(v214, 366380877u, v216);
    let v220 = lid.x == 20u;
    let v222 = select(v218, 1608415822u, v220);
    let v224 = lid.x == 21u;
    let v226 = select(v222, 3134787127u, v224);
    let v228 = lid.x == 22u;
    let v230 = select(v226, 776888047u, v228);
    let v232 = lid.x == 23u;
    let v234 = select(v230, 1319870996u, v232);
    let v236 = lid.x == 24u;
    let v238 = select(v234, 2829349568u, v236);
    let v240 = lid.x == 25u;
    let v242 = select(v238, 1117427358u, v240);
    let v244 = lid.x == 26u;
    let v246 = select(v242, 344797226u, v244);
    let v248 = lid.x == 27u;
    let v250 = select(v246, 3289097936u, v248);
    let v252 = lid.x == 28u;
    let v254 = select(v250, 3303156796u, v252);
    let v256 = lid.x == 29u;
    let v258 = select(v254, 1073741824u, v256);
    let v260 = lid.x == 30u;
    let v262 = select(v258, 536870912u, v260);
    let v263 = v143 >> (lid.x & 31u);
    let v264 = v263 & 1u;
    let v265 = v264 != 0u;
    let v267 = select(2147483648u, v262, v265);
    store4(lid.x, v267);
  }
  storageBarrier();
  workgroupBarrier();
  let v272 = gid.x == 0u;
  let v274 = select(0u, 2784157195u, v272);
  var v275: u32 = v274;
  var k277: u32 = 0u;
  loop {
    if (!(k277 < 64u)) { break; }
    let v277 = k277;
    let v278 = v277 * 256u;
    let v279 = v278 + lid.x;
    let v280 = v279 * 4u;
    let v281 = v3 + v280;
    let v282 = load0(v281);
    let v283 = v282;
    let v284 = v281 + 1u;
    let v285 = load0(v284);
    let v286 = v285;
    let v288 = v286 << 8u;
    let v289 = v283 | v288;
    let v290 = v281 + 2u;
    let v291 = load0(v290);
    let v292 = v291;
    let v294 = v292 << 16u;
    let v295 = v289 | v294;
    let v296 = v281 + 3u;
    let v297 = load0(v296);
    let v298 = v297;
    let v300 = v298 << 24u;
    let v301 = v295 | v300;
    let v302 = v275;
    let v304 = v302 & 255u;
    let v305 = load2(v304);
    let v306 = v275;
    let v307 = v306 >> 8u;
    let v308 = v307 & 255u;
    let v309 = v308 + 256u;
    let v310 = load2(v309);
    let v311 = v305 ^ v310;
    let v312 = v275;
    let v313 = v312 >> 16u;
    let v314 = v313 & 255u;
    let v315 = v314 + 512u;
    let v316 = load2(v315);
    let v317 = v311 ^ v316;
    let v318 = v275;
    let v319 = v318 >> 24u;
    let v320 = v319 & 255u;
    let v321 = v320 + 768u;
    let v322 = load2(v321);
    let v323 = v317 ^ v322;
    let v324 = v323 ^ v301;
    v275 = v324;
    continuing { k277 = k277 + 1u; }
  }
  let v327 = v275;
  store3(lid.x, v327);
  var k330: u32 = 0u;
  loop {
    if (!(k330 < 8u)) { break; }
    let v330 = k330;
    let v332 = 128u >> (v330 & 31u);
    storageBarrier();
    workgroupBarrier();
    let v334 = lid.x < v332;
    if (v334) {
      let v336 = load3(lid.x);
      let v337 = v330 == 0u;
      let v340 = select(3988292384u, 2390663536u, v337);
      let v341 = v330 == 1u;
      let v343 = select(v340, 3963911953u, v341);
      let v344 = v330 == 2u;
      let v346 = select(v343, 3619421802u, v344);
      let v347 = v330 == 3u;
      let v349 = select(v346, 2295415911u, v347);
      let v350 = v330 == 4u;
      let v352 = select(v349, 3982654894u, v350);
      let v353 = v330 == 5u;
      let v355 = select(v352, 2691310871u, v353);
      let v356 = v330 == 6u;
      let v358 = select(v355, 2984685714u, v356);
      var v359: u32 = v336;
      var v360: u32 = v358;
      var v361: u32 = 0u;
      var k362: u32 = 0u;
      loop {
        if (!(k362 < 32u)) { break; }
        let v362 = k362;
        let v363 = v359;
        let v365 = v363 >> 31u;
        let v366 = 0u - v365;
        let v367 = v360;
        let v368 = v367 & v366;
        let v369 = v361;
        let v370 = v369 ^ v368;
        v361 = v370;
        let v372 = v359;
        let v373 = v372 << 1u;
        v359 = v373;
        let v375 = v360;
        let v376 = v375 >> 1u;
        let v377 = v360;
        let v378 = v377 & 1u;
        let v379 = 0u - v378;
        let v380 = v379 & 3988292384u;
        let v381 = v376 ^ v380;
        v360 = v381;
        continuing { k362 = k362 + 1u; }
      }
      let v384 = v361;
      let v385 = lid.x + v332;
      let v386 = load3(v385);
      let v387 = v384 ^ v386;
      store3(lid.x, v387);
      let v390 = v332 <= 16u;
      if (v390) {
        let v392 = load4(lid.x);
        let v393 = load4(v385);
        var v394: u32 = v392;
        var v395: u32 = v393;
        var v396: u32 = 0u;
        var k397: u32 = 0u;
        loop {
          if (!(k397 < 32u)) { break; }
          let v397 = k397;
          let v398 = v394;
          let v400 = v398 >> 31u;
          let v401 = 0u - v400;
          let v402 = v395;
          let v403 = v402 & v401;
          let v404 = v396;
          let v405 = v404 ^ v403;
          v396 = v405;
          let v407 = v394;
          let v408 = v407 << 1u;
          v394 = v408;
          let v410 = v395;
          let v411 = v410 >> 1u;
          let v412 = v395;
          let v413 = v412 & 1u;
          let v414 = 0u - v413;
          let v415 = v414 & 3988292384u;
          let v416 = v411 ^ v415;
          v395 = v416;
          continuing { k397 = k397 + 1u; }
        }
        let v419 = v396;
        store4(lid.x, v419);
      }
    }
    continuing { k330 = k330 + 1u; }
  }
  let v424 = lid.x == 0u;
  if (v424) {
    let v426 = wid.x == 0u;
    let v428 = select(0u, 4294967295u, v426);
    let v429 = load3(0u);
    let v430 = load4(0u);
    var v431: u32 = v429;
    var v432: u32 = v430;
    var v433: u32 = 0u;
    var k434: u32 = 0u;
    loop {
      if (!(k434 < 32u)) { break; }
      let v434 = k434;
      let v435 = v431;
      let v437 = v435 >> 31u;
      let v438 = 0u - v437;
      let v439 = v432;
      let v440 = v439 & v438;
      let v441 = v433;
      let v442 = v441 ^ v440;
      v433 = v442;
      let v444 = v431;
      let v445 = v444 << 1u;
      v431 = v445;
      let v447 = v432;
      let v448 = v447 >> 1u;
      let v449 = v432;
      let v450 = v449 & 1u;
      let v451 = 0u - v450;
      let v453 = v451 & 3988292384u;
      let v454 = v448 ^ v453;
      v432 = v454;
      continuing { k434 = k434 + 1u; }
    }
    let v457 = v433;
    let v458 = v457 ^ v428;
    let v459 = atomicxor1(0u, v458);
  }
}
