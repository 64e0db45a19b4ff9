"""Elementary functions as a shader compiler could maltreat them: their texts, translated to C++.

WGSL lets a compiler contract ``a * b + c``, be off by 2.5 ULP in divisions and flush subnormals;
some reorder sums and products as if numbers were real (decisions 0013 and 0020). A C++ compiler
can be told to do each of these, here on the CPU, with the very texts that go to the device.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.mathematics.functions import Function
from vyre_wgpu.wgsl.prelude import HELPERS, with_dependencies

__all__ = ["MISTREATMENTS", "MistreatedFunctions"]

Array = npt.NDArray[Any]

_REORDERED = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")

MISTREATMENTS: dict[str, tuple[str, ...]] = {
    "as-written": ("-ffp-contract=off",),
    "contracted": ("-ffp-contract=fast",),
    "flushed": ("-ffp-contract=off", "-DFLUSHED"),
    "inexact": ("-ffp-contract=off", "-DINEXACT"),
    "reordered": ("-ffp-contract=off", *_REORDERED),
    "everything": ("-ffp-contract=fast", "-DFLUSHED", *_REORDERED),
}
"""Flags of g++ for each way to compile."""

_PREAMBLE = r"""
#include <cmath>
#include <cstdint>
#include <cstring>
#include <immintrin.h>
typedef uint32_t u32; typedef int32_t i32; typedef uint64_t u64; typedef int64_t i64;
#ifdef INEXACT
// A type of its own, so that the operator's quotients are inexact too.
template<class T> struct number {
  T v;
  number() = default;
  template<class S> explicit constexpr number(S a) : v(T(a)) {}
  explicit operator u32() const { return u32(v); }
  explicit operator i32() const { return i32(v); }
  explicit operator T() const { return v; }
  number operator-() const { return number(-v); }
  friend number operator+(number a, number b) { return number(a.v + b.v); }
  friend number operator-(number a, number b) { return number(a.v - b.v); }
  friend number operator*(number a, number b) { return number(a.v * b.v); }
  friend bool operator<(number a, number b) { return a.v < b.v; }
  friend bool operator>(number a, number b) { return a.v > b.v; }
  friend bool operator<=(number a, number b) { return a.v <= b.v; }
  friend bool operator>=(number a, number b) { return a.v >= b.v; }
  friend bool operator==(number a, number b) { return a.v == b.v; }
  friend bool operator!=(number a, number b) { return a.v != b.v; }
};
typedef number<float> f32; typedef number<double> f64;
#else
typedef float f32; typedef double f64;
#endif
static inline float plain(f32 a) { return float(a); }
static inline double plain(f64 a) { return double(a); }
struct Block { u32 zero; };
extern "C" { Block d = {0u}; }
template<class T> struct vec2 { T x, y; vec2(T a, T b) : x(a), y(b) {} };
template<class T> static inline vec2<T> operator*(vec2<T> a, T b) { return {a.x * b, a.y * b}; }
template<class T> static inline vec2<T> operator+(vec2<T> a, vec2<T> b) {
  return {a.x + b.x, a.y + b.y}; }
template<class T> static inline vec2<T> operator-(vec2<T> a) { return {-a.x, -a.y}; }
struct words { u32 x, y, z, w; words(u32 a = 0, u32 b = 0, u32 c = 0, u32 e = 0)
  : x(a), y(b), z(c), w(e) {} };
template<class T, class S> static inline T bitcast(S s) {
  static_assert(sizeof(T) == sizeof(S)); T t; memcpy(&t, &s, sizeof t); return t; }
template<class T> static inline T w_choose(T f, T t, bool c) { return c ? t : f; }
template<class T> static inline T w_least(T a, T b) { return a < b ? a : b; }
template<class T> static inline T w_most(T a, T b) { return a > b ? a : b; }
template<class T> static inline T w_within(T a, T b, T c) { return a < b ? b : a > c ? c : a; }
static inline u32 w_leading_zeros(u32 a) { return a ? __builtin_clz(a) : 32; }
template<class F> static inline i32 to_i32(F given) {
  double a = plain(given);
  return a != a ? 0 : a >= 2147483647.0 ? 2147483647 : a < -2147483648.0 ? -2147483647 - 1 : i32(a);
}
static inline i32 to_i32(u32 a) { return i32(a); }
static inline i32 to_i32(i32 a) { return a; }
template<class F, class U> static inline F positive(F a, U exponents) {
  U bits = bitcast<U>(a) & ~(U(1) << (sizeof(U) * 8 - 1));
#ifdef FLUSHED
  if (bits < (exponents & -exponents)) return F(0);
#endif
  return bitcast<F>(bits);
}
static inline f32 w_size_of(f32 a) { return positive(a, u32(0x7f800000u)); }
static inline f64 w_size_of(f64 a) { return positive(a, u64(0x7ff0000000000000ull)); }
static inline f32 w_whole(f32 a) { return f32(__builtin_floorf(plain(a))); }
static inline f64 w_whole(f64 a) { return f64(__builtin_floor(plain(a))); }
static inline f32 w_nearest(f32 a) { return f32(__builtin_nearbyintf(plain(a))); }
static inline f64 w_nearest(f64 a) { return f64(__builtin_nearbyint(plain(a))); }
// Up to two units off, by a hash of the result: as much as WGSL lets quotients and roots be.
template<class F, class U> static inline F off(F r, U exponents) {
#ifdef INEXACT
  U bits = bitcast<U>(r); U size = bits & ~(U(1) << (sizeof(U) * 8 - 1));
  if (size < (exponents & -exponents) + 16 || size >= exponents - 16) return r;
  u64 hash = u64(bits) * 0x9e3779b97f4a7c15ull; hash ^= hash >> 29; hash *= 0xbf58476d1ce4e5b9ull;
  return bitcast<F>(U(bits + U(int((hash >> 33) % 5) - 2)));
#else
  return r;
#endif
}
static inline f32 off(f32 r) { return off(r, u32(0x7f800000u)); }
static inline f64 off(f64 r) { return off(r, u64(0x7ff0000000000000ull)); }
static inline f32 w_root(f32 a) { return off(f32(__builtin_sqrtf(plain(a)))); }
static inline f64 w_root(f64 a) { return off(f64(__builtin_sqrt(plain(a)))); }
template<class F> static inline F divided(F a, F b) {
  return b == F(1) ? a : off(F(plain(a) / plain(b))); }
#ifdef INEXACT
static inline f32 operator/(f32 a, f32 b) { return divided(a, b); }
static inline f64 operator/(f64 a, f64 b) { return divided(a, b); }
#endif
struct Mode { unsigned before; Mode() { before = _mm_getcsr();
#ifdef FLUSHED
  _mm_setcsr(before | 0x8040);
#endif
  } ~Mode() { _mm_setcsr(before); } };
"""

_NAMES = {
    "select": "w_choose",
    "min": "w_least",
    "max": "w_most",
    "clamp": "w_within",
    "abs": "w_size_of",
    "floor": "w_whole",
    "round": "w_nearest",
    "sqrt": "w_root",
    "countLeadingZeros": "w_leading_zeros",
}
_TYPES = {"vec4<u32>": "words"}
_RULES: tuple[tuple[str, str], ...] = (
    (r"//.*", ""),
    (r"vec4<u32>", "words"),
    (r"\bi32\(", "to_i32("),
    (r"\b(0x[0-9a-f]+|\d+)lu\b", r"u64(\1ull)"),
    (r"\b(\d+)li\b", r"i64(\1)"),
    (r"\b(0x[0-9a-f]+|\d+)u\b", r"u32(\1u)"),
    (r"\b(0x[0-9a-f]+|\d+)i\b", r"int32_t(\1)"),
    (r"(\d[\d.]*(?:e[-+]?\d+)?)lf\b", r"f64(\1)"),
    (r"\b(\d[\d.]*(?:e[-+]?\d+)?)f\b", r"f32(\1f)"),
    (r"const (\w+) = array<u32, (\d+)>\((.*?)\);", r"static const u32 \1[\2] = {\3};"),
    (r"\bvar (\w+) = (h_two_over_pi\w+);", r"const u32 *\1 = \2;"),
    (r"\blet (\w+) =", r"const auto \1 ="),
    (r"\bvar (\w+)(?:: \w+)? =", r"auto \1 ="),
    (r"\bloop \{", "for (;;) {"),
    (r"\bswitch (\w+) \{", r"switch (\1) {"),
    (r"\b(near|signed|union|register|short|long|double)\b", r"\1_"),
    # Swizzles of four words.
    (r"words\((\w+)\.zw, (\w+)\.xy\)", r"words(\1.z, \1.w, \2.x, \2.y)"),
    (r"words\((\w+)\.yzw, (\w+)\.x\)", r"words(\1.y, \1.z, \1.w, \2.x)"),
    (r"\b(\w+)\.yzww\b", r"words(\1.y, \1.z, \1.w, \1.w)"),
)
_DIVISION = {
    "h_div_f32": "f32 h_div_f32(f32 a, f32 b) { return divided(a, b); }",
    "h_div_f64": "f64 h_div_f64(f64 a, f64 b) { return divided(a, b); }",
}


def _arguments(text: str) -> str:
    pairs = [a.split(":") for a in text.split(", ") if a.strip()]
    return ", ".join(f"{_TYPES.get(t.strip(), t.strip())} {name.strip()}" for name, t in pairs)


def _translated(text: str) -> tuple[str, str, str]:
    """Structures and constants, prototypes and functions of a helper, in C++."""
    for pattern, by in _RULES:
        text = re.sub(pattern, by, text, flags=re.M)
    for name, by in _NAMES.items():
        text = re.sub(rf"\b{name}\(", f"{by}(", text)
    first: list[str] = []

    def structure(match: re.Match[str]) -> str:
        members = [m.split(":") for m in match[2].strip().strip(",").split(", ")]
        fields = " ".join(f"{_TYPES.get(t.strip(), t.strip())} {n.strip()};" for n, t in members)
        values = ", ".join(n.strip() for n, _ in members)
        arguments = _arguments(", ".join(f"{n.strip()}0: {t}" for n, t in members))
        set_all = ", ".join(f"{n.strip()}({n.strip()}0)" for n, _ in members)
        assert values
        first.append(f"struct {match[1]} {{ {fields} {match[1]}({arguments}) : {set_all} {{}} }};")
        return ""

    text = re.sub(r"struct (\w+) \{(.*?)\}", structure, text, flags=re.S)
    text = re.sub(
        r"fn (\w+)\((.*?)\) -> ([\w<>]+) \{",
        lambda m: f"static inline {_TYPES.get(m[3], m[3])} {m[1]}({_arguments(m[2])}) {{",
        text,
        flags=re.S,
    )
    constants = re.findall(r"^static const u32 .*?;", text, flags=re.M | re.S)
    for constant in constants:
        text = text.replace(constant, "")
    heads = [m + ";" for m in re.findall(r"^static inline [^{;]*\)(?= \{)", text, flags=re.M)]
    return "\n".join([*first, *constants]), "\n".join(heads), text


def source(functions: Iterable[Function], dtype: str, *, hides: bool = True) -> str:
    """A C++ file that exports ``run_<name>(x[, y], out, count)`` for each function.

    Args:
        functions: which.
        dtype: ``f32`` or ``f64``.
        hides: whether `h_opaque` hides its operand; otherwise it is the identity.
    """
    functions = list(functions)
    names = with_dependencies([f"h_{f.name}_{dtype}" for f in functions])
    own = dict(_DIVISION)
    if not hides:
        own |= {f"h_opaque_{t}": f"{t} h_opaque_{t}({t} a) {{ return a; }}" for t in ("f32", "f64")}
    parts = [_translated(HELPERS[name].text) for name in names if name not in own]
    parts += [
        ("", f"static inline {text[: text.index('{')]};", f"static inline {text}")
        for text in own.values()
    ]
    text = _PREAMBLE + "\n".join("\n".join(column) for column in zip(*parts, strict=True))
    for f in functions:
        types = [dtype, "i32" if f.integer_second else dtype][: f.arity]
        arguments = ", ".join(f"const {t} *x{k}" for k, t in enumerate(types))
        values = ", ".join(f"x{k}[i]" for k in range(f.arity))
        text += (
            f'\nextern "C" void run_{f.name}({arguments}, {dtype} *out, long count) {{ Mode mode;\n'
            f"  for (long i = 0; i < count; i++) out[i] = h_{f.name}_{dtype}({values}); }}"
        )
    return text + "\n"


class MistreatedFunctions:
    """Functions compiled in one of the ways of `MISTREATMENTS`.

    Args:
        functions: rows of the tests' table that have a helper of the type.
        dtype: ``f32`` or ``f64``.
        how: key of `MISTREATMENTS`.
        folder: where to put the library.
        hides: as for `source`.

    Raises:
        OSError: there is no g++, or the machine has no fused multiply-add.
        subprocess.CalledProcessError: g++ refuses the text.
    """

    def __init__(
        self,
        functions: Sequence[Function],
        dtype: str,
        how: str,
        folder: Path,
        *,
        hides: bool = True,
    ) -> None:
        path = folder / f"{dtype}_{how}.cpp"
        path.write_text(source(functions, dtype, hides=hides))
        library = path.with_suffix(".so")
        flags = ["-std=c++17", "-O2", "-w", "-mfma", "-mavx2", "-shared", "-fPIC"]
        subprocess.run(
            ["g++", *flags, *MISTREATMENTS[how], str(path), "-o", str(library)], check=True
        )
        self._library = ctypes.CDLL(str(library))
        self._dtype = np.dtype(dtype.replace("f", "float"))

    def run(self, function: Function, points: Sequence[Array]) -> Array:
        """The function's result at each point."""
        out = np.empty(len(points[0]), self._dtype)
        pointers = [ctypes.c_void_p(np.ascontiguousarray(x).ctypes.data) for x in (*points, out)]
        getattr(self._library, f"run_{function.name}")(*pointers, ctypes.c_long(len(out)))
        return out
