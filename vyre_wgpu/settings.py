"""The environment, read once into one frozen `Settings`.

An argument beats the environment, which beats the default. `VARIABLES` is the one table of what is
read: the reader, the error messages and the documentation all come from it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .errors import InputError

__all__ = [
    "VARIABLES",
    "Settings",
    "Variable",
    "byte_count",
    "current",
    "markdown_table",
    "no_cache_folder",
    "replace_current",
]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment asks for; see `VARIABLES`.

    Attributes:
        backend: name of the backend that `get_backend()` gives.
        adapter: index of an adapter or part of its name; None chooses the best.
        pipelines: compiled programs kept in memory, at least 1.
        dump_wgsl: folder that the shader of every compiled program is written to, or None; the
            environment's is absolute, as `cache_dir` is.
        cache: ``rw``, ``ro`` or ``off``: whether the cache folder is read and written.
        cache_dir: the cache folder, or None for the user's own.
        cache_max_bytes: bytes of compiled programs kept in the cache folder, at least 1.
        native: whether dispatches may call wgpu-native directly.
        pool_bytes: bytes of storage buffers that a device holds, in use or idle, at least 1.
        staging_bytes: the same of buffers that results are read back through.
        pending_bytes: bytes on the way to a device, at least 1.
        result_bytes: bytes of large results' memory that waits to be used again, at least 1.
        upload_bytes: bytes of staging buffers that large arrays are uploaded through, at least 1.
    """

    backend: str = "wgpu"
    adapter: str | None = None
    pipelines: int = 256
    dump_wgsl: Path | None = None
    cache: str = "rw"
    cache_dir: Path | None = None
    cache_max_bytes: int = 256 << 20
    native: bool = True
    pool_bytes: int = 1 << 30
    staging_bytes: int = 512 << 20
    pending_bytes: int = 500 << 20
    result_bytes: int = 256 << 20
    upload_bytes: int = 256 << 20

    @property
    def cache_folder(self) -> Path | None:
        """The cache folder: `cache_dir`, else the one that the system has for the user.

        None where the system knows no home for the user, as in a container that runs under a
        number of its own: then nothing is kept but in memory.
        """
        if self.cache_dir is not None:
            return self.cache_dir
        import platformdirs

        try:
            found = Path(platformdirs.user_cache_dir("vyre_wgpu", appauthor=False))
        except (RuntimeError, OSError):
            return None
        return found if found.is_absolute() else None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Reads the variables of the table; one that is unset or empty keeps its default.

        Raises:
            InputError: a value is not what the variable takes.
        """
        values: dict[str, object] = {}
        for variable in VARIABLES:
            text = environment.get(variable.name, "").strip()
            if text:
                try:
                    values[variable.field] = variable.parse(text)
                except ValueError:
                    raise InputError(
                        f"environment variable {variable.name} is {text!r}, not {variable.takes}",
                        fix=f"unset it or set it to {variable.takes}",
                    ) from None
        return cls(**values)  # type: ignore[arg-type]  # the table's parsers give the field types


class Variable(NamedTuple):
    """One environment variable.

    Attributes:
        name: the variable.
        field: the field of `Settings` that it sets.
        takes: what a value may be.
        default: what holds without it.
        meaning: what it does.
        parse: text to value; raises ValueError.
    """

    name: str
    field: str
    takes: str
    default: str
    meaning: str
    parse: Callable[[str], object]


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def _folder(text: str) -> Path:
    """An absolute path: what is read once must not move when the process changes its folder."""
    try:
        return Path(text).expanduser().absolute()
    except (RuntimeError, OSError):  # ~ without a home; a folder that was removed under us
        raise ValueError(text) from None


_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def byte_count(text: str) -> int:
    """A number of bytes such as ``4096``, ``64M`` or ``64m``.

    Raises:
        ValueError: it is anything else, or below 1.
    """
    unit = _UNITS.get(text[-1:].upper())
    return _positive(text) if unit is None else _positive(text[:-1]) * unit


def _cache_mode(text: str) -> str:
    if text not in ("off", "ro", "rw"):
        raise ValueError(text)
    return text


def _switch(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError(text)
    return text == "1"


_BYTES = "an integer of at least 1, also with K, M or G"

VARIABLES: tuple[Variable, ...] = (
    Variable(
        "VYRE_WGPU_BACKEND",
        "backend",
        "the name of a registered backend",
        "`wgpu`",
        "the backend of `compile()` and `get_backend()` where none is named",
        str,
    ),
    Variable(
        "VYRE_WGPU_ADAPTER",
        "adapter",
        "an adapter's index or a part of its name",
        "the best GPU",
        "the adapter that the wgpu backend opens",
        str,
    ),
    Variable(
        "VYRE_WGPU_PIPELINES",
        "pipelines",
        "an integer of at least 1",
        "256",
        "compiled programs kept in memory by each backend",
        _positive,
    ),
    Variable(
        "VYRE_WGPU_DUMP_WGSL",
        "dump_wgsl",
        "a folder",
        "off",
        "the shader of every compiled program is written there as a `.wgsl` file",
        _folder,
    ),
    Variable(
        "VYRE_WGPU_CACHE",
        "cache",
        "`off`, `ro` or `rw`",
        "`rw`",
        "whether the cache folder is read and written: compiled programs and device profiles",
        _cache_mode,
    ),
    Variable(
        "VYRE_WGPU_CACHE_DIR",
        "cache_dir",
        "a folder",
        "the user's cache folder",
        "where the cache folder is",
        _folder,
    ),
    Variable(
        "VYRE_WGPU_CACHE_MAX_BYTES",
        "cache_max_bytes",
        "an integer of at least 1, also with K, M or G",
        "256M",
        "bytes of compiled programs in the cache folder; the least recently used leave first",
        byte_count,
    ),
    Variable(
        "VYRE_WGPU_NATIVE",
        "native",
        "`0` or `1`",
        "`1`",
        "whether dispatches call wgpu-native directly; `0` takes wgpu-py's public interface, "
        "which is slower",
        _switch,
    ),
    Variable(
        "VYRE_WGPU_POOL_BYTES",
        "pool_bytes",
        _BYTES,
        "1G",
        "bytes of storage buffers that a device holds; above it, buffers that are not in use are "
        "freed, those unused for longest first",
        byte_count,
    ),
    Variable(
        "VYRE_WGPU_STAGING_BYTES",
        "staging_bytes",
        _BYTES,
        "512M",
        "the same for buffers that results are read back through",
        byte_count,
    ),
    Variable(
        "VYRE_WGPU_PENDING_BYTES",
        "pending_bytes",
        _BYTES,
        "500M",
        "bytes on the way to a device; above it, uploads and `submit` wait for the device",
        byte_count,
    ),
    Variable(
        "VYRE_WGPU_RESULT_BYTES",
        "result_bytes",
        _BYTES,
        "256M",
        "bytes of memory of large results, dropped by the caller, that wait for the next ones",
        byte_count,
    ),
    Variable(
        "VYRE_WGPU_UPLOAD_BYTES",
        "upload_bytes",
        _BYTES,
        "256M",
        "bytes of a device's memory that large arrays are uploaded through and `input_view` gives "
        "out; beyond it both take ordinary memory, which is slower",
        byte_count,
    ),
)

chosen: Settings | None = None
"""What `current` gives; None before its first call."""


def current() -> Settings:
    """The settings of this process: the environment at the first call, or `replace_current`'s.

    Raises:
        InputError: a variable holds what it does not take.
    """
    global chosen
    if chosen is None:
        chosen = Settings.from_environment(os.environ)
    return chosen


def replace_current(settings: Settings | None) -> Settings | None:
    """Sets the settings of this process and returns the earlier ones.

    What already exists (open backends) keeps what it was made with.

    Args:
        settings: the new ones; None reads the environment again at the next use.
    """
    global chosen
    before, chosen = chosen, settings
    return before


def no_cache_folder() -> InputError:
    """The error of who needs the cache folder where `Settings.cache_folder` is None."""
    return InputError(
        "there is no cache folder: the system knows no home folder of this user",
        fix="set VYRE_WGPU_CACHE_DIR to a folder of this user's own, or HOME",
    )


def markdown_table() -> str:
    """The table of variables as Markdown, for the documentation."""
    lines = ["| variable | takes | default | meaning |", "|---|---|---|---|"]
    lines += [f"| `{v.name}` | {v.takes} | {v.default} | {v.meaning} |" for v in VARIABLES]
    return "\n".join(lines) + "\n"
