"""vyre_wgpu: portable GPU compute from Python.

Write a kernel with `ProgramBuilder`, `compile()` it once and dispatch it many times. The names here
are the public interface; they are imported on first use, so that ``vyre_wgpu.ir`` and tools that
only build programs load no GPU library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backends.compiling import (
        compile as compile,
        explain as explain,
        precompile as precompile,
    )
    from .backends.protocol import Backend as Backend, CompiledPipeline as CompiledPipeline
    from .backends.registry import get_backend as get_backend
    from .buffer.device_buffer import DeviceBuffer as DeviceBuffer
    from .errors import *  # noqa: F403
    from .ir import *  # noqa: F403
    from .ir import (
        abs_ as abs,  # noqa: F401
        power as pow,  # noqa: F401
        round_ as round,  # noqa: F401
    )
    from .pipeline.config import (
        DEVICE as DEVICE,
        SKIP as SKIP,
        DispatchConfig as DispatchConfig,
        Indirect as Indirect,
    )
    from .wgsl.options import CompileOptions as CompileOptions

__version__ = "0.1.0"

_HOMES = {
    "CompileOptions": (".wgsl.options", "CompileOptions"),
    "DEVICE": (".pipeline.config", "DEVICE"),
    "DeviceBuffer": (".buffer.device_buffer", "DeviceBuffer"),
    "DispatchConfig": (".pipeline.config", "DispatchConfig"),
    "Indirect": (".pipeline.config", "Indirect"),
    "SKIP": (".pipeline.config", "SKIP"),
    "Backend": (".backends.protocol", "Backend"),
    "CompiledPipeline": (".backends.protocol", "CompiledPipeline"),
    "abs": (".ir", "abs_"),
    "compile": (".backends.compiling", "compile"),
    "explain": (".backends.compiling", "explain"),
    "get_backend": (".backends.registry", "get_backend"),
    "pow": (".ir", "power"),
    "precompile": (".backends.compiling", "precompile"),
    "round": (".ir", "round_"),
}
_SUBMODULES = ("backends", "errors", "ir", "pipeline", "programs")


def __getattr__(name: str) -> Any:
    """Imports a public name on first use."""
    if name in _SUBMODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOMES:
        module, attribute = _HOMES[name]
        value = getattr(importlib.import_module(module, __name__), attribute)
    elif not name.startswith("_"):
        value = _from_star_modules(name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _from_star_modules(name: str) -> Any:
    for module in (".errors", ".ir"):
        home = importlib.import_module(module, __name__)
        if name in home.__all__:
            return getattr(home, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    names = {*_HOMES, *_SUBMODULES, "__version__"}
    for module in (".errors", ".ir"):
        names.update(importlib.import_module(module, __name__).__all__)
    return sorted(names)
