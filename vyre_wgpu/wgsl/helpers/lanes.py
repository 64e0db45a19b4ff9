"""What lanes do together, and their traps, as WGSL."""

from __future__ import annotations

from . import Entries

__all__ = ["FIXED", "SUBGROUP"]

SUBGROUP: Entries = {
    # NaN propagates, as in minimum and maximum.
    "h_subgroup$M": (
        """
fn h_subgroup$M(v: f32) -> f32 {
  let with_nan = subgroupOr(select(0u, 1u, h_is_nan_f32(v))) != 0u;
  return select(subgroup$M(v), bitcast<f32>(0x7fc00000u | d.zero), with_nan);
}""",
        ("h_is_nan_f32",),
    ),
}

FIXED: Entries = {
    "h_ballot_word": (
        """
fn h_ballot_word(ballot: vec4<u32>, word: u32) -> u32 {
  var words = ballot;
  if (word > 3u) { return 0u; }
  return words[word];
}""",
        (),
    ),
    "h_lane_is_active": (
        """
fn h_lane_is_active(lane: u32, running: vec4<u32>) -> bool {
  return ((h_ballot_word(running, lane >> 5u) >> (lane & 31u)) & 1u) != 0u;
}""",
        ("h_ballot_word",),
    ),
    # The lane whose compare-exchange takes the flag writes the other trap words.
    "h_trap": (
        """
fn h_trap(site: u32, address: u32, lane: u32) {
  loop {
    let r = atomicCompareExchangeWeak(&trap_words[0], 0u, 1u);
    if (r.exchanged) {
      atomicStore(&trap_words[1], address);
      atomicStore(&trap_words[2], site);
      atomicStore(&trap_words[3], lane);
      break;
    }
    if (r.old_value != 0u) { break; }
  }
}""",
        (),
    ),
}
