"""The helpers of the f64 functions, all together."""

from __future__ import annotations

from . import (
    error_function_f64,
    exponential_f64,
    gamma_f64,
    inverse_trigonometric_f64,
    logarithm_f64,
    pairs_f64,
    power_f64,
    trigonometric_f64,
)
from .polynomial import Entries

__all__ = ["ENTRIES"]

ENTRIES: Entries = {
    **pairs_f64.ENTRIES,
    **exponential_f64.ENTRIES,
    **logarithm_f64.ENTRIES,
    **power_f64.ENTRIES,
    **trigonometric_f64.ENTRIES,
    **inverse_trigonometric_f64.ENTRIES,
    **error_function_f64.ENTRIES,
    **gamma_f64.ENTRIES,
}
