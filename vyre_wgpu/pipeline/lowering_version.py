"""Which lowering this is: a digest of the source files that decide what a program becomes.

A number would have to be raised by hand, and whoever forgets it serves old shaders to everyone. See
decision 0015.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import xxhash

from .. import ir, wgsl
from ..wgsl.descriptor import LOWERING_VERSION

__all__ = ["digest_of", "is_current", "lowering_version"]


@functools.cache
def lowering_version() -> str:
    """The version of lowering; another text whenever its code is another.

    Where the sources are not files (a frozen application), the version of the package and
    `LOWERING_VERSION` stand for them.
    """
    folders = [Path(package.__path__[0]) for package in (ir, wgsl)]
    digest = digest_of(folders)
    if digest is None:
        return (
            f"release {import_module(__package__.partition('.')[0]).__version__}.{LOWERING_VERSION}"
        )
    return f"sources {digest}"


@functools.cache
def is_current() -> bool:
    """Whether the sources still are what `lowering_version` read; asked once, after lowering ran.

    Lowering is loaded at its first use. Sources that were edited between the two are another
    version than its text would be stored under.
    """
    return lowering_version.__wrapped__() == lowering_version()


def digest_of(folders: list[Path]) -> str | None:
    """XXH3-128 of the names and contents of all Python sources; None where there are none."""
    hashed, count = xxhash.xxh3_128(), 0
    try:
        for number, folder in enumerate(folders):
            for path in _sources(folder):
                name = f"{number}/{path.relative_to(folder).as_posix()}".encode(errors="replace")
                content = path.read_bytes()
                hashed.update(b"%d %s %d " % (len(name), name, len(content)))
                hashed.update(content)
                count += 1
    except OSError:
        return None
    return hashed.hexdigest() if count else None


def _sources(folder: Path) -> Iterator[Path]:
    return iter(sorted(path for path in folder.rglob("*.py") if path.is_file()))
