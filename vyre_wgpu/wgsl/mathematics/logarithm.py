"""log, log2, log10 and log1p for f32.

x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and log(x) = e ln 2 + f + tail(f), where the
first part of ln 2 is short (Cody and Waite), so that its product with e is exact. The tail
-f^2/2 + f^3 P(f) is a minimax fit, as in Cephes; near 1, where e is 0, f itself is exact.
"""

from __future__ import annotations

from .polynomial import Entries, with_polynomials

__all__ = ["ENTRIES"]

# (log1p(f) - f + f^2 / 2) / f^3; error 2^-30 of log1p(f).
_TAIL = (
    0.33333313, -0.2500001, 0.20002072, -0.1666799, 0.14220363, -0.12406208, 0.11883471,
    -0.11670183, 0.06749539,
)  # fmt: skip

ENTRIES: Entries = {
    # (f, e) of a positive finite x. A subnormal is taken as an integer, times 2^-149.
    "h_log_reduce_f32": (
        """
fn h_log_reduce_f32(x: f32) -> vec2<f32> {
  let raw = bitcast<u32>(x);
  let subnormal = raw < 0x800000u;
  let bits = select(raw, bitcast<u32>(f32(raw)), subnormal);
  let e = bitcast<i32>(bits - 0x3f3504f3u) >> 23u;
  let m = bitcast<f32>(bits - (bitcast<u32>(e) << 23u));
  return vec2<f32>(h_opaque_f32(m - 1.0f), f32(e - select(0i, 149i, subnormal)));
}""",
        ("h_opaque_f32",),
    ),
    # log1p(f) - f.
    "h_log_tail_f32": (
        with_polynomials(
            """
fn h_log_tail_f32(f: f32) -> f32 {
  let z = f * f;
  return (f * z) * $P - 0.5f * z;
}""",
            P=("f", _TAIL),
        ),
        (),
    ),
    # What a logarithm is at zeros, infinity, negative numbers and NaN, else y.
    "h_log_edges_f32": (
        """
fn h_log_edges_f32(x: f32, y: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let outside = bitcast<f32>(select(0x7fc00000u, 0x7f800000u, bits == 0x7f800000u));
  let zero = (bits & 0x7fffffffu) == 0u;
  return select(select(y, outside, bits >= 0x7f800000u), bitcast<f32>(0xff800000u | d.zero), zero);
}""",
        (),
    ),
    "h_log_f32": (
        """
fn h_log_f32(x: f32) -> f32 {
  let p = h_log_reduce_f32(x);
  let low = h_log_tail_f32(p.x) - p.y * 0.00021219444f;
  return h_log_edges_f32(x, p.y * 0.693359375f + (p.x + low));
}""",
        ("h_log_reduce_f32", "h_log_tail_f32", "h_log_edges_f32"),
    ),
    # log2(e) = 1.4375 + 0.0051950409, and e counts by itself.
    "h_log2_f32": (
        """
fn h_log2_f32(x: f32) -> f32 {
  let p = h_log_reduce_f32(x);
  let tail = h_log_tail_f32(p.x);
  let low = p.x * 0.005195041f + tail * 1.442695f;
  return h_log_edges_f32(x, p.y + (p.x * 1.4375f + low));
}""",
        ("h_log_reduce_f32", "h_log_tail_f32", "h_log_edges_f32"),
    ),
    # log10(2) = 0.30102539 + 4.605039e-6, the first part short; log10(e) = 111/256 + 0.00070073194.
    "h_log10_f32": (
        """
fn h_log10_f32(x: f32) -> f32 {
  let p = h_log_reduce_f32(x);
  let tail = h_log_tail_f32(p.x);
  let low = p.y * 4.605039e-6f + (p.x * 0.00070073194f + tail * 0.43429448f);
  return h_log_edges_f32(x, p.y * 0.301025390625f + (p.x * 0.43359375f + low));
}""",
        ("h_log_reduce_f32", "h_log_tail_f32", "h_log_edges_f32"),
    ),
    # log1p(x) + shift ln 2, x > -1. The exponent comes from 1 + x, the reduced argument from x
    # itself: f = 2^-e x + (2^-e - 1), where only the addition rounds.
    "h_log1p_sum_f32": (
        """
fn h_log1p_sum_f32(x: f32, shift: f32) -> f32 {
  let u = 1.0f + x;
  let p = h_log_reduce_f32(u);
  let e = i32(min(p.y, 30.0f));
  let s = bitcast<f32>((127i - e) << 23u);
  let f = select(x * s + h_opaque_f32(s - 1.0f), p.x, e > 25i);
  let n = p.y + shift;
  return n * 0.693359375f + (f + (h_log_tail_f32(f) - n * 0.00021219444f));
}""",
        ("h_log_reduce_f32", "h_log_tail_f32", "h_opaque_f32"),
    ),
    "h_log1p_f32": (
        """
fn h_log1p_f32(x: f32) -> f32 {
  let y = h_log_edges_f32(1.0f + x, h_log1p_sum_f32(x, 0.0f));
  return select(y, x, abs(x) < 1e-8f);
}""",
        ("h_log1p_sum_f32", "h_log_edges_f32"),
    ),
}
