"""The root's `compile` and its kin, on a backend given by object, by name or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import fields
from typing import Never, cast

from ..errors import InputError
from ..ir.program import Program
from ..pipeline.explain import Explanation
from ..wgsl.options import CompileOptions
from .protocol import Backend, CompiledPipeline
from .registry import get_backend

__all__ = ["compile", "explain", "precompile"]


def compile(
    program: Program,
    *extra: Never,
    backend: Backend | str | None = None,
    options: CompileOptions | None = None,
    **unknown: Never,
) -> CompiledPipeline:
    """Compiles a program.

    Args:
        program: what ``ProgramBuilder.build()`` gave.
        backend: a backend, the name of one, or None for ``VYRE_WGPU_BACKEND``, else ``wgpu``.
        options: how to compile it.
        extra: none; a second argument is refused.
        unknown: none; what belongs into the options is refused, and the error says so.

    Raises:
        InputError: an argument of a wrong type, or an unknown backend.
        NoAdapterError: the backend finds nothing to run on.
        UnsupportedFeatureError: the program needs a feature that the device lacks.
        LimitError: it exceeds a limit of the device.
        CompileError: lowering or the driver refused it.
    """
    if extra or unknown:
        _refuse("compile", extra, unknown)
    found = get_backend() if backend is None else _found(backend)
    return found.compile(program, options)


def precompile(
    programs: Iterable[Program],
    *extra: Never,
    backend: Backend | str | None = None,
    options: CompileOptions | None = None,
    threads: int | None = None,
    **unknown: Never,
) -> list[CompiledPipeline]:
    """Compiles many programs, several at a time, before they are needed.

    A backend with a disk cache keeps them there, so that later processes start warm too. All are
    tried, even if some fail.

    Args:
        programs: the programs.
        backend: as for `compile`.
        options: how to compile them.
        threads: how many at a time; None is the number of processors, at most 8.
        extra: none; a second argument is refused.
        unknown: none; what belongs into the options is refused, and the error says so.

    Returns:
        A pipeline for each program, in their order.

    Raises:
        InputError: also for programs that are no iterable, and for a number of threads that is not
            an int of at least 1.
        VyreError: what `compile` raised for the first program that failed.
    """
    from concurrent.futures import ThreadPoolExecutor  # 10 ms that `compile` does without

    if extra or unknown:
        _refuse("precompile", extra, unknown)
    if threads is None:
        threads = min(os.cpu_count() or 1, 8)
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise InputError(f"threads is {threads!r}, not an int of at least 1", fix="leave it out")
    if not isinstance(programs, Iterable):
        raise InputError(
            f"programs is {programs!r}, not a list of programs",
            fix="pass a list: vw.precompile([program])",
        )
    given, chosen = list(programs), _found(backend)
    with ThreadPoolExecutor(max(1, min(threads, len(given)))) as pool:
        futures = [pool.submit(chosen.compile, program, options) for program in given]
    return [future.result() for future in futures]


def explain(
    program: Program,
    *extra: Never,
    backend: Backend | str | None = None,
    options: CompileOptions | None = None,
    **unknown: Never,
) -> Explanation:
    """Where `compile` would find a program now; if nowhere, what differs from the nearest entry.

    Args:
        program: the program.
        backend: as for `compile`; one that keeps compiled programs.
        options: the options that it would be compiled with.
        extra: none; a second argument is refused.
        unknown: none; what belongs into the options is refused, and the error says so.

    Raises:
        InputError: an argument of a wrong type, or a backend that keeps nothing.
    """
    if extra or unknown:
        _refuse("explain", extra, unknown)
    chosen = _found(backend)
    asked = getattr(chosen, "explain", None)
    if asked is None:
        raise InputError(
            f"{chosen!r} keeps no compiled programs", fix='ask the backend "wgpu" to explain'
        )
    return cast(Explanation, asked(program, options))


def _refuse(function: str, extra: tuple[Never, ...], unknown: dict[str, Never]) -> None:
    """Raises for arguments that a function does not have, above all those of `CompileOptions`."""
    if not unknown:
        more = "a list of programs" if function == "precompile" else "one program"
        raise InputError(
            f"{function} takes {more}, and {len(extra)} more argument(s) were given without a name",
            fix="give backend= and options= by name",
        )
    name = next(iter(unknown))
    fix = "give backend= or options="
    if name in [field.name for field in fields(CompileOptions)]:
        fix = f"pass options=vw.CompileOptions({name}=...)"
    raise InputError(f"{function} has no argument {name!r}", fix=fix)


def _found(backend: Backend | str | None) -> Backend:
    if backend is None or isinstance(backend, str):
        return get_backend(backend)
    # Not isinstance: that looks up every member of the protocol, at each call.
    if not callable(getattr(backend, "compile", None)) or not hasattr(backend, "adapter_info"):
        raise InputError(
            f"backend is {backend!r}, not a backend or the name of one",
            fix='pass backend="wgpu", or what vw.get_backend() gives',
        )
    return backend
