"""The all-writable variant: the same shader, but for how its buffers are declared."""

from __future__ import annotations

import pytest

from tests.wgsl.test_golden import LOWERED, lowered
from vyre_wgpu.wgsl.writable import all_writable


@pytest.mark.parametrize("name", LOWERED)
def test_only_declarations_differ(name: str) -> None:
    """A read-only binding is declared as writable, in text and contract; the rest is equal."""
    artifact = lowered(name)
    variant = all_writable(artifact)
    changed = [
        (before, after)
        for before, after in zip(artifact.wgsl.splitlines(), variant.wgsl.splitlines(), strict=True)
        if before != after
    ]
    read_only = [n for n, b in enumerate(artifact.descriptor.bindings) if not b.writable]
    assert len(changed) == len(read_only)
    for (before, after), number in zip(changed, read_only, strict=True):
        assert f"@binding({number}) var<storage, read> " in before
        assert after == before.replace("read>", "read_write>")
    assert all(binding.writable for binding in variant.descriptor.bindings)
    assert [b.buffer for b in variant.descriptor.bindings] == [
        b.buffer for b in artifact.descriptor.bindings
    ]


def test_some_program_reads_only() -> None:
    assert any(not b.writable for name in LOWERED for b in lowered(name).descriptor.bindings)
