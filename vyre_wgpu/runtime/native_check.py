"""Whether the direct calls may be used: versions that are known, and a test for all others."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .native import NativeCalls
from .native_functions import compare_declarations

__all__ = ["KNOWN_GOOD", "is_known_good", "self_test"]

KNOWN_GOOD = frozenset({("0.32.0", (29, 0, 1, 1))})
"""Versions of wgpu-py and wgpu-native with which the whole suite has run on this path."""


def is_known_good() -> bool:
    """Whether the versions of wgpu-py and wgpu-native in this process were tested."""
    import wgpu
    from wgpu.backends.wgpu_native import lib_version_info

    return (wgpu.__version__, tuple(lib_version_info)) in KNOWN_GOOD


def self_test(wgpu_device: Any) -> str | None:
    """What is wrong with the direct calls on a device, or None.

    The declarations that wgpu-py was built for must be those written here, word for word as far as
    a call can tell; then four words go to the device and back, and an error must arrive.
    """
    import wgpu

    try:
        fault = compare_declarations()
        if fault is not None:
            return fault
        calls = NativeCalls(wgpu_device)
        usage = wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
        source = wgpu_device.create_buffer(size=16, usage=usage)
        target = wgpu_device.create_buffer(
            size=16, usage=wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
        )
        handles = calls.buffer(source), calls.buffer(target)
        calls.write(handles[0], np.array([1, 2, 3, 0xFFFFFFFF], np.uint32))
        mapping = calls.copy(*handles, 16)
        if not calls.wait(mapping, time.monotonic() + 10):
            return "a copy of 16 bytes did not end within 10 seconds"
        found = calls.words(mapping, 0, 4)
        calls.unmap(mapping)
        if found != (1, 2, 3, 0xFFFFFFFF):
            return f"a copy of 16 bytes gave {found}"
        try:
            calls.copy(handles[0], handles[0], 16)
        except wgpu.GPUError:
            return None
    except Exception as error:
        # What private parts of another version raise is anyone's guess.
        return f"{type(error).__name__}: {error}"
    return "a copy of a buffer onto itself was not reported"
