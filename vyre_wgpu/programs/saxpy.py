"""Scaled addition of vectors, the smallest program that is of use."""

from __future__ import annotations

import vyre_wgpu as vw

__all__ = ["saxpy"]


def saxpy() -> vw.Program:
    """``a * x + y`` for each element.

    Param ``a``: f32. Inputs ``x``: f32, any shape; ``y``: f32, as many elements. Output ``out``:
    f32, the shape of ``x``.

    A driver may round once (a fused multiply-add) or twice, so a result may differ from NumPy's by
    one rounding of ``a * x``.

    A dispatch raises `InputError` where the lengths of ``x`` and ``y`` differ.
    """
    b = vw.ProgramBuilder("saxpy")
    a = b.param("a", vw.f32)
    x = b.read("x", vw.f32)
    # Without its count a shorter y would read as zeros behind its end.
    y = b.read("y", vw.f32, count=x.length)
    out = b.output("out", vw.f32, like=x)
    i = b.global_id(0)
    out[i] = a * x[i] + y[i]
    return b.build()
