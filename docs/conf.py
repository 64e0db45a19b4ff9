"""Sphinx configuration. The build is strict (-W) and needs no network."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))  # for tables.py

project = "vyre-wgpu"
author = "The vyre-wgpu authors"
copyright = "2026, The vyre-wgpu authors"
version = release = installed_version("vyre-wgpu")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"vyre-wgpu {release}"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = True
napoleon_numpy_docstring = False


# Unions that signatures show by the names that the code gives them.
UNIONS = {
    "Value | TypedLiteral | bool | int | float | generic": "Operand",
    "Sequence[object] | Mapping[str, object]": "Inputs",
    "Mapping[str, object]": "Params",
    "ndarray[tuple[Any, ...], dtype[Any]]": "Array",
    "int | Value | None": "Count",
    "_Buffer | _SupportsArray[dtype[Any]] | _NestedSequence[_SupportsArray[dtype[Any]]] | complex "
    "| bytes | str | _NestedSequence[complex | bytes | str]": "ArrayLike",
}


def shorten(text: str | None) -> str | None:
    """A part of a signature with the names of `UNIONS`."""
    if text is None:
        return None
    short = re.sub(r"~?(?:\w+\.)+(?=\w)", "", text)  # ~vyre_wgpu.ir.values.Value to Value
    for union, name in UNIONS.items():
        short = short.replace(union, name)
    return short


def setup(app: Sphinx) -> None:
    """Adds the directive for the tables that are made from the code; shortens signatures."""
    from tables import Generated

    app.add_directive("generated", Generated)
    app.connect(
        "autodoc-process-signature",
        lambda app, what, name, obj, options, signature, result: (
            (shorten(signature), shorten(result)) if what != "class" else None
        ),
    )
