"""Compares results of a one-argument f32 function with float64: in NumPy, or on the GPU by CuPy.

Both count errors as `tests.mathematics.measure` does. The points are given by their bits: point k
of a range is ``base + k * stride``.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tests.mathematics.functions import FUNCTIONS
from tests.mathematics.measure import errors
from vyre_wgpu.wgsl.mathematics.bounds import BOUNDS

Array = npt.NDArray[Any]

__all__ = ["CupyOracle", "NumpyOracle", "Oracle"]


class Oracle(Protocol):
    """Finds the worst of a range of results; each worker thread has one of its own."""

    def host_array(self, count: int) -> Array:
        """An f32 array of the host that `compare` takes quickly."""
        ...

    def compare(self, name: str, base: int, stride: int, got: Array) -> tuple[float, int]:
        """The greatest error in ULP, and the bits of its argument."""
        ...


class NumpyOracle:
    """For rehearsals."""

    def host_array(self, count: int) -> Array:
        return np.empty(count, np.float32)

    def compare(self, name: str, base: int, stride: int, got: Array) -> tuple[float, int]:
        bits = (base + stride * np.arange(got.size, dtype=np.uint64)).astype(np.uint32)
        error = errors(FUNCTIONS[name], "f32", [bits.view(np.float32)], got)
        worst = int(np.argmax(error))
        return float(error[worst]), int(bits[worst])


# The function of double x in CUDA's own double precision mathematics.
CUDA = {
    "rsqrt": "1.0 / sqrt(x)",
    "gamma": "x == 0 ? copysign(INF, x) : x < 0 && x == floor(x) ? NOT : tgamma(x)",
    "lgamma": "isinf(x) || (x <= 0 && x == floor(x)) ? INF : lgamma(x)",
    "sigmoid": "(x < 0 ? exp(-fabs(x)) : 1.0) / (1.0 + exp(-fabs(x)))",
}

PREAMBLE = """
#define INF __longlong_as_double(0x7ff0000000000000LL)
#define NOT __longlong_as_double(0x7ff8000000000000LL)
#define TOP 340282366920938463463374607431768211456.0
#define LEAST 1.1754943508222875e-38
#define LAST 1.401298464324817e-45
__device__ double exact_of(double x) { return $EXACT; }
__device__ bool negative(double a) { return __double_as_longlong(a) < 0; }
__device__ double clipped(double a) { return fmin(fmax(a, -TOP), TOP); }
// An error in units in the last place, flushed results and an absolute bound left of 0 allowed for.
__device__ double error_at(double got, double x) {
  double exact = exact_of(x);
  if (isnan(exact) || isnan(got)) return isnan(exact) && isnan(got) ? 0.0 : INF;
  bool signs_differ = negative(got) != negative(exact);
  if (got == 0 && fabs(exact) < LEAST) return signs_differ ? INF : 0.0;
  if (signs_differ && (got == 0 || isinf(exact))) return INF;
  if (x < 0 && fabs(got - exact) <= $ABSOLUTE) return 0.0;
  double e = clipped(exact);
  int unit = e == 0 ? -149 : max(-126, min(127, ilogb(e))) - 23;
  return fabs(clipped(got) - e) / ldexp(1.0, unit);
}
// A float of these bits; the hardware's own conversion may flush a subnormal.
__device__ double wide(unsigned int bits) {
  unsigned int size = bits & 0x7fffffffu;
  double a = size < 0x800000u ? size * LAST : (double)__uint_as_float(size);
  return bits >> 31 ? -a : a;
}
__device__ float error_of(unsigned int got_bits, unsigned int bits) {
  double got = wide(got_bits);
  double x = wide(bits);
  double error = error_at(got, x);
  if (x != 0 && fabs(x) < LEAST && error > 0.5) {
    error = fmin(error, error_at(got, negative(x) ? -0.0 : 0.0));
  }
  return (float)error;
}
"""


def cuda_source(name: str) -> str:
    """The CUDA functions that find the error of one result."""
    expression = CUDA.get(name, f"{name}(x)")
    absolute = f"{BOUNDS[name, 'f32'].absolute_left_of_zero:.17g}"
    # Where no absolute bound is stated none is allowed for: no error is at most -1.
    absolute = absolute if float(absolute) else "-1.0"
    return PREAMBLE.replace("$EXACT", expression).replace("$ABSOLUTE", absolute)


class CupyOracle:
    """On the GPU that CuPy finds.

    Raises:
        ImportError: CuPy is missing.
    """

    def __init__(self) -> None:
        import cupy
        import cupyx

        self._cupy = cupy
        self._pinned = cupyx.empty_pinned
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self._kernels: dict[str, Any] = {}
        self._buffers: dict[int, tuple[Any, Any]] = {}

    def host_array(self, count: int) -> Array:
        pinned: Array = self._pinned(count, np.float32)
        return pinned

    def compare(self, name: str, base: int, stride: int, got: Array) -> tuple[float, int]:
        cupy = self._cupy
        if name not in self._kernels:
            self._kernels[name] = cupy.ElementwiseKernel(
                "uint32 got, uint32 base, uint32 stride",
                "float32 error",
                "error = error_of(got, base + (unsigned int)i * stride)",
                f"error_of_{name}",
                preamble=cuda_source(name),
            )
        if got.size not in self._buffers:
            self._buffers[got.size] = (
                cupy.empty(got.size, np.uint32),
                cupy.empty(got.size, np.float32),
            )
        results, error = self._buffers[got.size]
        with self._stream:
            results.set(got.view(np.uint32), stream=self._stream)
            self._kernels[name](results, np.uint32(base), np.uint32(stride), error)
            place = cupy.argmax(error)
            worst = int(place)
            size = float(error[worst])
        return size, (base + worst * stride) & 0xFFFFFFFF
