"""The Mandelbrot set: a two-dimensional extent, and loops that differ from lane to lane."""

from __future__ import annotations

import vyre_wgpu as vw

__all__ = ["mandelbrot"]


def mandelbrot() -> vw.Program:
    """Escape times of ``z = z * z + c`` over a grid of points ``c``.

    Params ``width`` and ``height``: u32, points on each axis; ``x0`` and ``y0``: f32, the first
    point; ``dx`` and ``dy``: f32, the distance to the next one; ``max_iterations``: u32. No inputs.
    Output ``iterations``: u32, ``width * height`` elements in rows, so
    ``iterations.reshape(height, width)[j, i]`` belongs to ``c = (x0 + i dx) + (y0 + j dy) i``: the
    smallest n with ``|z_n| > 2``, where ``z_0 = 0``, or ``max_iterations`` if none below it is.

    The escape-time algorithm (H.-O. Peitgen and P. H. Richter, "The Beauty of Fractals", 1986) in
    f32. A driver may round ``x * x + y`` once or twice, which changes the count of points close to
    the boundary of the set. Does not trap; but a software driver that ends long loops makes a lane
    trap with the tag ``loop-limit`` if ``max_iterations`` is above about 65,000.

    A dispatch raises `InputError` if ``width * height`` is above 2^32 - 1.
    """
    b = vw.ProgramBuilder("mandelbrot", workgroup_size=(16, 16))
    width, height = b.param("width", vw.u32), b.param("height", vw.u32)
    x0, y0 = b.param("x0", vw.f32), b.param("y0", vw.f32)
    dx, dy = b.param("dx", vw.f32), b.param("dy", vw.f32)
    most = b.param("max_iterations", vw.u32)
    out = b.output("iterations", vw.u32, count=width * height)
    b.extent(width, height)

    i, j = b.global_id(0), b.global_id(1)
    c_re = b.let("c_re", x0 + i.cast(vw.f32) * dx)
    c_im = b.let("c_im", y0 + j.cast(vw.f32) * dy)
    re, im = b.var("re", vw.f32, 0.0), b.var("im", vw.f32, 0.0)
    count = b.var("count", vw.u32, most)
    with b.for_range(0, most, name="n") as n:
        re2 = b.let("re2", re * re)
        im2 = b.let("im2", im * im)
        with b.if_(re2 + im2 > 4.0):
            count.set(n)
            b.break_()
        im.set(2.0 * re * im + c_im)
        re.set(re2 - im2 + c_re)
    out[j * width + i] = count
    return b.build()
