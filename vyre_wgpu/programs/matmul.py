"""Matrix products by tiles in workgroup memory."""

from __future__ import annotations

from typing import Any

import vyre_wgpu as vw

from .chain import Chain, element_type

__all__ = ["matmul", "matmul_tiled"]

_TILE = 16


def matmul_tiled() -> vw.Program:
    """The product of two matrices of f32.

    Params, u32: ``rows``, ``inner``, ``columns``, any sizes, 0 included. Inputs ``a``: f32,
    ``rows * inner`` elements; ``b``: f32, ``inner * columns`` elements; both in C order. Output
    ``c``: f32, ``rows * columns`` elements in C order. `matmul` takes and gives matrices.

    A workgroup computes 16 x 16 elements. Tiles of as many elements of both matrices go through its
    memory one after the other (CUDA C Programming Guide, "Shared Memory"), so that each element is
    loaded once for 16 uses. Beyond the edges zeros stand in, and only for each other: they multiply
    no element that counts, so infinities and NaNs give what they give in NumPy.

    Sums are in order of ``inner``, with one or two roundings for each product: the error is at most
    about ``(inner + 1) * 2^-24`` times the product of the magnitudes. A software driver that ends
    long loops traps with the tag ``loop-limit`` for an ``inner`` of more than about a million.

    A dispatch raises `InputError` where a length is not what the params say.
    """
    p = vw.ProgramBuilder("matmul_tiled", workgroup_size=(_TILE, _TILE))
    rows, inner = p.param("rows", vw.u32), p.param("inner", vw.u32)
    columns = p.param("columns", vw.u32)
    a = p.read("a", vw.f32, count=rows * inner)
    b = p.read("b", vw.f32, count=inner * columns)
    c = p.output("c", vw.f32, count=rows * columns)
    a_tile = p.workgroup("a_tile", vw.f32, _TILE * _TILE)
    b_tile = p.workgroup("b_tile", vw.f32, _TILE * _TILE)
    p.extent(columns, rows)

    x, y = p.local_id(0), p.local_id(1)
    column, row = p.global_id(0), p.global_id(1)
    mine = p.let("mine", y * _TILE + x)
    total = p.var("total", vw.f32, 0.0)
    with p.for_range(0, vw.ceil_div(inner, _TILE), name="step") as step:
        a_column, b_row = step * _TILE + x, step * _TILE + y
        a_element = p.var("a_element", vw.f32, 0.0)
        with p.if_((row < rows) & (a_column < inner)):
            a_element.set(a[row * inner + a_column])
        b_element = p.var("b_element", vw.f32, 0.0)
        with p.if_((b_row < inner) & (column < columns)):
            b_element.set(b[b_row * columns + column])
        a_tile[mine], b_tile[mine] = a_element, b_element
        p.barrier()
        for k in range(_TILE):
            total += a_tile[y * _TILE + k] * b_tile[x + k * _TILE]
        p.barrier()
    with p.if_((row < rows) & (column < columns)):
        c[row * columns + column] = total
    return p.build()


def matmul(a: Any, b: Any, *, backend: Any = None) -> Any:
    """The product of two matrices, ``a @ b``.

    Args:
        a: f32, of shape (rows, inner): an array, or a device buffer in C order.
        b: f32, of shape (inner, columns), likewise.
        backend: where to run, as for `vw.compile`.

    Returns:
        An array of f32 and of shape (rows, columns). `matmul_tiled` with ``out={"c": vw.DEVICE}``
        keeps it on the device.

    Raises:
        InputError: a matrix is none of f32, or the shapes do not fit.
        VyreError: what `vw.compile` and a dispatch raise.
    """
    shapes = []
    for name, matrix in (("a", a), ("b", b)):
        element_type(name, matrix, vw.f32)
        shape = tuple(getattr(matrix, "shape", ()))
        if len(shape) != 2:
            raise vw.InputError(f"{name} has shape {shape}", fix="pass a matrix, of two dimensions")
        shapes.append(shape)
    (rows, inner), (b_rows, columns) = shapes
    if inner != b_rows:
        raise vw.InputError(
            f"a has shape {shapes[0]} and b {shapes[1]}",
            fix="a needs as many columns as b has rows",
        )
    sizes = {"rows": rows, "inner": inner, "columns": columns}
    with Chain(backend) as chain:
        (product,) = chain.run(matmul_tiled(), {"a": a, "b": b}, sizes, to_host=True)
    return product.reshape(rows, columns)
