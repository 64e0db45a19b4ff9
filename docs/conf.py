"""Sphinx configuration. The build is strict (-W) and needs no network."""

from __future__ import annotations

from importlib.metadata import version as installed_version

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
