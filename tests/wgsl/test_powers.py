"""Integer powers by multiplication."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw

X = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, 1.1, 1e10, 1e-10, np.inf, -np.inf], np.float32)


@pytest.mark.gpu
@pytest.mark.parametrize("form", ["literal", "runtime"])
def test_powi_against_numpy(form: str, any_backend: Any) -> None:
    """Within a few ULP of the exact power; x ** 0 is 1, negative exponents divide."""
    exponents = [0, 1, 2, 3, 4, 5, 7, 8, 10, 31, -1, -2, -3, -10, 2**31 - 1, -(2**31)]
    b = vw.ProgramBuilder("powers")
    x = b.read("x", vw.f32)
    n = b.read("n", vw.i32)
    out = b.output("out", vw.f32, count=x.length * len(exponents))
    b.extent(x.length)
    i = b.global_id()
    for k, exponent in enumerate(exponents):
        power = x[i] ** (exponent if form == "literal" else n[k])
        out[i * len(exponents) + k] = power
    (got,) = any_backend.compile(b.build()).dispatch([X, np.array(exponents, np.int32)])
    with np.errstate(all="ignore"):
        exact = X.astype(np.float64)[:, None] ** np.array(exponents, np.float64)[None, :]
        expected = exact.astype(np.float32)
    got = got.reshape(expected.shape)
    small = (np.abs(exact) < 2e-38) & (exact != 0)  # may be flushed
    moderate = np.abs(exponents) <= 31  # rounding errors add up with the number of factors
    exact_bases = np.isin(np.abs(X), [0, 1, np.inf])[:, None]
    compared = np.broadcast_to(moderate[None, :], expected.shape) | exact_bases
    assert compared.sum() > 150
    np.testing.assert_allclose(
        np.where(small, 0, got)[compared],
        np.where(small, 0, expected)[compared],
        rtol=4e-6,
        atol=2e-38,
    )


@pytest.mark.parametrize("dtype", [vw.f16, vw.f32, vw.f64], ids=str)
@pytest.mark.parametrize("exponent", [-1, 3, -(2**31)])
def test_a_literal_to_a_literal(dtype: vw.DType, exponent: int, any_backend: Any) -> None:
    """Folding leaves it alone: the exponent's bits need not fit the type of the base."""
    b = vw.ProgramBuilder("literals")
    out = b.output("out", dtype, count=1)
    b.extent(1)
    out[0] = vw.powi(b.let("two", dtype(2)), vw.i32(exponent))
    try:
        (got,) = any_backend.compile(b.build()).dispatch([])
    except vw.UnsupportedFeatureError as error:
        assert dtype is vw.f64
        pytest.skip(str(error))
    assert got.tolist() == [2.0**exponent if exponent > -1000 else 0.0]
