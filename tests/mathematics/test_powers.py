"""Integer powers with literal exponents: short ones are written out, the others call a helper."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.mathematics.functions import FUNCTIONS
from tests.mathematics.measure import DTYPES, worst
from tests.mathematics.oracles_f64 import HAS_LONG_DOUBLE
from tests.mathematics.points import FORMATS, class_points

EXPONENTS = (-1074, -31, -9, -3, -2, -1, *range(11), 31, 100, 1001)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_powers_with_literal_exponents(dtype: str, wgpu_backend: Any) -> None:
    """Within the bound of powi, also where a product on the way would leave the range."""
    if dtype == "f64" and not HAS_LONG_DOUBLE:
        pytest.skip("no 80-bit long double to compare with")
    fmt, function = FORMATS[dtype], FUNCTIONS["powi"]
    rng = np.random.default_rng(6)
    for exponent in EXPONENTS:
        b = vw.ProgramBuilder(f"power_{exponent}")
        base = b.read("x", DTYPES[dtype])
        out = b.output("out", DTYPES[dtype], like=base)
        i = b.global_id()
        out[i] = base[i] ** exponent
        # All classes, and results in the whole range.
        sizes = np.exp2(rng.uniform(fmt.least, fmt.most, 2_000) / max(abs(exponent), 1))
        signed = sizes * rng.choice([-1, 1], sizes.shape)
        x = np.concatenate([class_points(fmt, 100, rng).ravel(), signed.astype(fmt.dtype)])
        (got,) = wgpu_backend.compile(b.build()).dispatch([x])
        found = worst(function, dtype, [x, np.full(x.shape, exponent, np.int32)], got)
        assert found.ulp <= function.bound(dtype), str(found)
