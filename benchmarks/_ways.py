"""The ways to do one small round trip that `dispatch.py` compares: each a function of no arguments.

All multiply and add 1,024 floats and bring them back. The ways by hand run the shader that this
library made, so that it takes the same time, and do around it what this library does:
an upload, a clear of four trap words (the output is known to be written), one pass, a copy of both
into one staging buffer, one submission, one map.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import wgpu
from wgpu.backends.wgpu_native import ffi, lib
from wgpu.utils.compute import compute_with_buffers

import vyre_wgpu as vw
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.pipeline.future import DispatchFuture
from vyre_wgpu.pipeline.pipeline import WgpuPipeline

Array = np.ndarray[Any, np.dtype[np.float32]]
Way = Callable[[], Array]

N = 1024
PLAIN = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&x)) { y[id.x] = x[id.x] * 2.0 + 1.0; }
}
"""
PARAMS = {"a": 2.0, "b": 1.0}


def axpb(backend: WgpuBackend) -> WgpuPipeline:
    """The program of this library; like the ways by hand it can trap."""
    b = vw.ProgramBuilder("axpb")
    source = b.read("x", vw.f32)
    target = b.output("y", vw.f32, like=source)
    i = b.global_id()
    with b.if_(source[i] > 1e30):
        b.trap("large", address=i)
    target[i] = source[i] * b.param("a", vw.f32) + b.param("b", vw.f32)
    return backend.compile(b.build())


def with_vyre(backend: WgpuBackend, x: Array) -> Way:
    """This library."""
    pipe = axpb(backend)
    return lambda: pipe.dispatch([x], PARAMS)[0]


def with_futures(backend: WgpuBackend, x: Array) -> Halves:
    """This library, submitting first and waiting later."""
    pipe = axpb(backend)
    futures: list[DispatchFuture] = []

    def enqueue() -> None:
        futures.append(pipe.submit([x], PARAMS))

    return Halves(enqueue, lambda: futures.pop().result()[0])


def recording_a_dispatch(backend: WgpuBackend, x: Array) -> Callable[[], Any]:
    """This library, adding a dispatch to a recording."""
    pipe, recording = axpb(backend), backend.record()
    return lambda: recording.add(pipe, [x], PARAMS)


def with_a_recording(backend: WgpuBackend, x: Array) -> Way:
    """This library, replaying a dispatch that was recorded."""
    recording = backend.record()
    handle = recording.add(axpb(backend), [x], PARAMS)

    def run() -> Array:
        recording.replay()
        result: Array = handle.result()[0]
        return result

    return run


class ByHand:
    """The objects of the ways that make everything once.

    Attributes:
        grid: workgroups on each axis, as this library launches them.
    """

    def __init__(self, backend: WgpuBackend, x: Array) -> None:
        pipe = axpb(backend)
        submission = pipe.prepare([x], PARAMS).submission
        assert submission is not None
        self.block, grid = submission.block, submission.frame.grid
        assert grid is not None
        self.grid: tuple[int, int, int] = grid
        device, nbytes = backend.device.wgpu, x.nbytes
        usage = wgpu.BufferUsage
        storage = usage.STORAGE | usage.COPY_DST | usage.COPY_SRC
        self.device, self.nbytes = device, nbytes
        self.x, self.y, self.trap = (
            device.create_buffer(size=size, usage=storage) for size in (nbytes, nbytes, 16)
        )
        self.staging = device.create_buffer(size=16 + nbytes, usage=usage.MAP_READ | usage.COPY_DST)
        kinds = ("read-only-storage", "storage", "storage")
        layout = device.create_bind_group_layout(
            entries=[
                {"binding": k, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}}
                for k, kind in enumerate(kinds)
            ]
        )
        self.pipeline = device.create_compute_pipeline(
            layout=device.create_pipeline_layout(
                bind_group_layouts=[layout], immediate_size=len(self.block)
            ),
            compute={
                "module": device.create_shader_module(code=pipe.wgsl),
                "entry_point": "main",
            },
        )
        buffers = (self.x, self.y, self.trap)
        self.group = device.create_bind_group(
            layout=layout,
            entries=[
                {"binding": k, "resource": {"buffer": b, "offset": 0, "size": b.size}}
                for k, b in enumerate(buffers)
            ],
        )


def with_public_interface(backend: WgpuBackend, x: Array) -> Way:
    """wgpu-py's public interface with everything made once."""
    h = ByHand(backend, x)
    device = h.device

    def run() -> Array:
        device.queue.write_buffer(h.x, 0, x)
        encoder = device.create_command_encoder()
        encoder.clear_buffer(h.trap, 0, 16)
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(h.pipeline)
        compute.set_bind_group(0, h.group)
        compute.set_immediates(0, h.block, 0, len(h.block))
        compute.dispatch_workgroups(*h.grid)
        compute.end()
        encoder.copy_buffer_to_buffer(h.trap, 0, h.staging, 0, 16)
        encoder.copy_buffer_to_buffer(h.y, 0, h.staging, 16, h.nbytes)
        device.queue.submit([encoder.finish()])
        h.staging.map_sync("READ")
        memory = np.frombuffer(h.staging.read_mapped(copy=False), np.uint8)
        trapped = memory[0]
        result = memory[16:].view(np.float32).copy()
        del memory
        h.staging.unmap()
        assert not trapped
        return result

    return run


class Halves(NamedTuple):
    """A round trip in two halves; called, it does both."""

    enqueue: Callable[[], Any]
    finish: Callable[[], Array]
    alive: object = None

    def __call__(self) -> Array:
        self.enqueue()
        return self.finish()


def with_library_calls(backend: WgpuBackend, x: Array, *, spin: bool = True) -> Halves:
    """Direct calls of wgpu-native through wgpu-py's ``lib``, everything made once: the floor.

    Args:
        backend: whose device and shader it is.
        x: the input.
        spin: poll without blocking until the results are there; else block at once.
    """
    h = ByHand(backend, x)
    dev, queue = h.device._internal, h.device.queue._internal
    bx, by, bt, bs = (b._internal for b in (h.x, h.y, h.trap, h.staging))
    pipeline, group, null = h.pipeline._internal, h.group._internal, ffi.NULL
    nbytes = h.nbytes
    source = ffi.from_buffer(x)
    block = ffi.from_buffer(h.block)
    encoder_label = ffi.new("WGPUCommandEncoderDescriptor *")
    pass_label = ffi.new("WGPUComputePassDescriptor *")
    commands = ffi.new("WGPUCommandBuffer[1]")
    index = ffi.new("uint64_t *")
    status = [0]

    @ffi.callback("void(WGPUMapAsyncStatus, WGPUStringView, void *, void *)")
    def mapped(code: int, *_: Any) -> None:
        status[0] = code

    info = ffi.new("WGPUBufferMapCallbackInfo *")
    info.mode, info.callback = lib.WGPUCallbackMode_AllowProcessEvents, mapped

    def enqueue() -> None:
        lib.wgpuQueueWriteBuffer(queue, bx, 0, source, nbytes)
        encoder = lib.wgpuDeviceCreateCommandEncoder(dev, encoder_label)
        lib.wgpuCommandEncoderClearBuffer(encoder, bt, 0, 16)
        compute = lib.wgpuCommandEncoderBeginComputePass(encoder, pass_label)
        lib.wgpuComputePassEncoderSetPipeline(compute, pipeline)
        lib.wgpuComputePassEncoderSetBindGroup(compute, 0, group, 0, null)
        lib.wgpuComputePassEncoderSetImmediates(compute, 0, block, len(h.block))
        lib.wgpuComputePassEncoderDispatchWorkgroups(compute, *h.grid)
        lib.wgpuComputePassEncoderEnd(compute)
        lib.wgpuComputePassEncoderRelease(compute)
        lib.wgpuCommandEncoderCopyBufferToBuffer(encoder, bt, 0, bs, 0, 16)
        lib.wgpuCommandEncoderCopyBufferToBuffer(encoder, by, 0, bs, 16, nbytes)
        commands[0] = lib.wgpuCommandEncoderFinish(encoder, null)
        lib.wgpuCommandEncoderRelease(encoder)
        index[0] = lib.wgpuQueueSubmitForIndex(queue, 1, commands)
        lib.wgpuCommandBufferRelease(commands[0])
        status[0] = 0
        lib.wgpuBufferMapAsync(bs, 1, 0, 16 + nbytes, info[0])

    def finish() -> Array:
        while not status[0]:
            lib.wgpuDevicePoll(dev, not spin, null if spin else index)
        memory = lib.wgpuBufferGetConstMappedRange(bs, 0, 16 + nbytes)
        trapped = ffi.cast("uint32_t *", memory)[0]
        result = np.empty(N, np.float32)
        ffi.memmove(result, ffi.cast("char *", memory) + 16, nbytes)
        lib.wgpuBufferUnmap(bs)
        assert not trapped
        return result

    return Halves(enqueue, finish, (h, mapped))


def with_compute_with_buffers(x: Array) -> Way:
    """wgpu-py's helper, which makes everything anew each time."""

    def run() -> Array:
        out = compute_with_buffers({0: x}, {1: (N, "f")}, PLAIN, n=(N // 256, 1, 1))
        return np.frombuffer(out[1], np.float32)

    return run


def with_cupy(x: Array) -> Way | None:
    """CuPy's ElementwiseKernel with NumPy arrays in and out; None where it is not installed."""
    try:
        import cupy
    except ImportError:
        return None
    kernel = cupy.ElementwiseKernel(
        "float32 x, float32 a, float32 b", "float32 y", "y = x * a + b", "axpb"
    )
    a, b = np.float32(2), np.float32(1)
    return lambda: cupy.asnumpy(kernel(cupy.asarray(x), a, b))
