"""Elementary functions keep their bounds whatever a compiler does to floats that WGSL lets it do.

Their texts are translated to C++ and compiled to contract, reorder, flush and divide inexactly:
what drivers do now and then shows here on every machine that has g++.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from scripts.mathematics.hostile import MISTREATMENTS, MistreatedFunctions
from tests.mathematics.functions import FUNCTIONS
from tests.mathematics.measure import worst
from vyre_wgpu.wgsl.prelude import HELPERS

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None or "avx2" not in Path("/proc/cpuinfo").read_text(),
    reason="no g++, or no processor with fused multiply-add",
)

EACH = 300
"""Random points of each class of binades and each sign."""

DIVISION = ("div",)  # the device's own


@pytest.mark.parametrize("how", MISTREATMENTS)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_bounds_hold_however_it_is_compiled(dtype: str, how: str, tmp_path: Path) -> None:
    """On special values, critical arguments and random points."""
    functions = [
        function
        for name, function in FUNCTIONS.items()
        if f"h_{name}_{dtype}" in HELPERS and name not in DIVISION
    ]
    assert len(functions) > 25
    compiled = MistreatedFunctions(functions, dtype, how, tmp_path)
    faults = []
    for function in functions:
        points = function.points(dtype, EACH)
        found = worst(function, dtype, points, compiled.run(function, points))
        if found.ulp > function.bound(dtype):
            faults.append(f"{function.name}: {found}")
    assert not faults, "\n".join(faults)


def test_what_is_not_hidden_from_a_compiler_is_reordered(tmp_path: Path) -> None:
    """The trial is one: without `h_opaque` the same texts lose their digits."""
    function = FUNCTIONS["pow"]
    points = function.points("f64", 100)
    exposed = MistreatedFunctions([function], "f64", "reordered", tmp_path, hides=False)
    found = worst(function, "f64", points, exposed.run(function, points))
    assert found.ulp > 100 * function.bound("f64")
    assert np.isfinite(found.ulp)
