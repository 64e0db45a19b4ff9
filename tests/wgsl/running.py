"""How tests run what a builder holds."""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre_wgpu as vw


def run(backend: Any, b: vw.ProgramBuilder, *arrays: Any, **params: Any) -> list[np.ndarray]:
    """The results of a program, compiled on a backend and dispatched once."""
    result: list[np.ndarray] = backend.compile(b.build()).dispatch(list(arrays), params)
    return result
