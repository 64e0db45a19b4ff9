"""The ways to bring 64 MB to the device and back that `dispatch.py` compares.

The loop by hand does what this library does for arrays of this size, with every object made once
and without a check: it copies into staging memory that stays mapped, by as many threads, unmaps
that, and has the device copy it, run the shader and copy the result into staging memory, which is
mapped and copied out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import _ways as ways
import numpy as np
import wgpu
from wgpu.backends.wgpu_native import ffi, lib

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.runtime.copying import copy_bytes

__all__ = ["N", "large_ways"]

N = 1 << 24


def large_ways(backend: WgpuBackend, x: ways.Array) -> dict[str, ways.Way]:
    """Name to way; the first is the floor of those that fill a warm array."""
    pipe = ways.axpb(backend)
    warm = np.zeros(N, np.float32)
    config = vw.DispatchConfig(zero_copy=True)
    lent = pipe.input_view("x", N)
    lent[:] = x
    chosen: dict[str, ways.Way] = {
        "by hand, into a warm array": _by_hand(backend, x, lambda: warm),
        "vyre_wgpu, out= a warm array": lambda: pipe.dispatch([x], ways.PARAMS, out={"y": warm})[0],
        "by hand, into a new array": _by_hand(backend, x, lambda: np.empty(N, np.float32)),
        "vyre_wgpu": lambda: pipe.dispatch([x], ways.PARAMS)[0],
        "vyre_wgpu, input_view and zero_copy": lambda: pipe.dispatch(
            [lent], ways.PARAMS, config=config
        )[0],
        "vyre_wgpu, zero_copy": lambda: pipe.dispatch([x], ways.PARAMS, config=config)[0],
        "by hand, queue.write_buffer": _by_hand(backend, x, lambda: warm, plain=True),
    }
    cupy = ways.with_cupy(x)
    if cupy is not None:
        chosen["CuPy ElementwiseKernel"] = cupy
    return chosen


def _bytes_at(address: Any, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(ffi.buffer(ffi.cast("char *", address), nbytes), np.uint8)


def _by_hand(
    backend: WgpuBackend, x: ways.Array, make: Callable[[], ways.Array], *, plain: bool = False
) -> ways.Way:
    """The loop by hand.

    Args:
        backend: whose device and shader it is.
        x: the input.
        make: gives the array that the result is copied into.
        plain: write with the queue's own way, and copy by one thread.
    """
    h = ways.ByHand(backend, x)
    device, nbytes = h.device, h.nbytes
    usage = wgpu.BufferUsage
    up = device.create_buffer(
        size=nbytes, usage=usage.MAP_WRITE | usage.COPY_SRC, mapped_at_creation=True
    )
    source = x.view(np.uint8)

    def run() -> ways.Array:
        encoder = device.create_command_encoder()
        if plain:
            device.queue.write_buffer(h.x, 0, x)
        else:
            if up.map_state == "unmapped":
                up.map_sync("WRITE")
            address = lib.wgpuBufferGetMappedRange(up._internal, 0, nbytes)
            copy_bytes(_bytes_at(address, nbytes), source)
            up.unmap()
            encoder.copy_buffer_to_buffer(up, 0, h.x, 0, nbytes)
        encoder.clear_buffer(h.trap, 0, 16)
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(h.pipeline)
        compute.set_bind_group(0, h.group)
        compute.set_immediates(0, h.block, 0, len(h.block))
        compute.dispatch_workgroups(*h.grid)
        compute.end()
        encoder.copy_buffer_to_buffer(h.trap, 0, h.staging, 0, 16)
        encoder.copy_buffer_to_buffer(h.y, 0, h.staging, 16, nbytes)
        device.queue.submit([encoder.finish()])
        h.staging.map_sync("READ")
        address = lib.wgpuBufferGetConstMappedRange(h.staging._internal, 0, 16 + nbytes)
        memory = _bytes_at(address, 16 + nbytes)
        assert not memory[0]
        result = make()
        if plain:
            result.view(np.uint8)[:] = memory[16:]
        else:
            copy_bytes(result.view(np.uint8), memory[16:])
        del memory
        h.staging.unmap()
        return result

    return run
