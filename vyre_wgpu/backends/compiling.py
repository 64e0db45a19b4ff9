"""The root function `compile`: a program, on a backend given by object, by name or not at all."""

from __future__ import annotations

from ..errors import InputError
from ..ir.program import Program
from ..wgsl.options import CompileOptions
from .protocol import Backend, CompiledPipeline
from .registry import get_backend

__all__ = ["compile"]


def compile(
    program: Program,
    *,
    backend: Backend | str | None = None,
    options: CompileOptions | None = None,
) -> CompiledPipeline:
    """Compiles a program.

    Args:
        program: what ``ProgramBuilder.build()`` gave.
        backend: a backend, the name of one, or None for ``VYRE_WGPU_BACKEND``, else ``wgpu``.
        options: how to compile it.

    Raises:
        InputError: an argument of a wrong type, or an unknown backend.
        NoAdapterError: the backend finds nothing to run on.
        UnsupportedFeatureError: the program needs a feature that the device lacks.
        LimitError: it exceeds a limit of the device.
        CompileError: lowering or the driver refused it.
    """
    if backend is None or isinstance(backend, str):
        backend = get_backend(backend)
    elif not isinstance(backend, Backend):
        raise InputError(
            f"backend is {backend!r}, not a backend or the name of one",
            fix='pass backend="wgpu", or what vw.get_backend() gives',
        )
    return backend.compile(program, options)
