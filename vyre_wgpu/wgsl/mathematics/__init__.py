"""The project's own elementary functions, as helpers of the shader.

Builtin functions differ from driver to driver and are often wrong, so each function is a WGSL
function of ours, named ``h_<operation>_<type>``, from a published method that its comment names.
An operation is lowered for a type when its helper exists here. f16 is computed in f32.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import (
    all_f64,
    error_function,
    exponential,
    gamma,
    hyperbolic,
    inverse_trigonometric,
    logarithm,
    power,
    quotients,
    roots,
    trigonometric,
)

__all__ = ["ENTRIES"]

ENTRIES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **exponential.ENTRIES,
    **logarithm.ENTRIES,
    **power.ENTRIES,
    **quotients.ENTRIES,
    **roots.ENTRIES,
    **trigonometric.ENTRIES,
    **inverse_trigonometric.ENTRIES,
    **hyperbolic.ENTRIES,
    **error_function.ENTRIES,
    **gamma.ENTRIES,
    **all_f64.ENTRIES,
}
"""Name of a helper to its text and the helpers it calls, as in `helpers`."""
