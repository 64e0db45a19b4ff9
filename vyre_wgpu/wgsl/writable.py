"""The all-writable variant of a lowered program: the same code, every buffer bound read-write."""

from __future__ import annotations

from dataclasses import replace

from .descriptor import ShaderArtifact

__all__ = ["all_writable"]

_READ, _READ_WRITE = "var<storage, read> ", "var<storage, read_write> "


def all_writable(artifact: ShaderArtifact) -> ShaderArtifact:
    """A lowered program whose read-only bindings are declared as writable; none is written more.

    The text differs in nothing but the access modes of declarations: what is read from a binding,
    and how, does not depend on its mode.
    """
    descriptor = artifact.descriptor
    bindings = tuple(replace(binding, writable=True) for binding in descriptor.bindings)
    return ShaderArtifact(
        artifact.wgsl.replace(_READ, _READ_WRITE), replace(descriptor, bindings=bindings)
    )
