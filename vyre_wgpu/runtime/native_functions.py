"""The C functions of wgpu-native that dispatches call, as they are declared in its headers."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_size_t, c_uint32, c_uint64, c_void_p
from types import SimpleNamespace
from typing import Any

__all__ = ["FUNCTIONS", "CallbackInfo", "compare_declarations", "load"]


class CallbackInfo(ctypes.Structure):
    """Whom to call when a buffer is mapped."""

    # typedef struct WGPUBufferMapCallbackInfo { WGPUChainedStruct * nextInChain;
    #   WGPUCallbackMode mode; WGPUBufferMapCallback callback; void* userdata1; void* userdata2; }
    _fields_ = (
        ("next", c_void_p),
        ("mode", c_uint32),
        ("callback", c_void_p),
        ("userdata1", c_void_p),
        ("userdata2", c_void_p),
    )


FUNCTIONS: dict[str, tuple[type | None, tuple[type, ...]]] = {
    # WGPUCommandEncoder wgpuDeviceCreateCommandEncoder(
    #     WGPUDevice device, WGPUCommandEncoderDescriptor const * descriptor)
    "wgpuDeviceCreateCommandEncoder": (c_void_p, (c_void_p, c_void_p)),
    # void wgpuCommandEncoderClearBuffer(
    #     WGPUCommandEncoder commandEncoder, WGPUBuffer buffer, uint64_t offset, uint64_t size)
    "wgpuCommandEncoderClearBuffer": (None, (c_void_p, c_void_p, c_uint64, c_uint64)),
    # WGPUComputePassEncoder wgpuCommandEncoderBeginComputePass(
    #     WGPUCommandEncoder commandEncoder, WGPUComputePassDescriptor const * descriptor)
    "wgpuCommandEncoderBeginComputePass": (c_void_p, (c_void_p, c_void_p)),
    # void wgpuComputePassEncoderSetPipeline(
    #     WGPUComputePassEncoder computePassEncoder, WGPUComputePipeline pipeline)
    "wgpuComputePassEncoderSetPipeline": (None, (c_void_p, c_void_p)),
    # void wgpuComputePassEncoderSetBindGroup(
    #     WGPUComputePassEncoder computePassEncoder, uint32_t groupIndex, WGPUBindGroup group,
    #     size_t dynamicOffsetCount, uint32_t const * dynamicOffsets)
    "wgpuComputePassEncoderSetBindGroup": (
        None,
        (c_void_p, c_uint32, c_void_p, c_size_t, c_void_p),
    ),
    # void wgpuComputePassEncoderSetImmediates(
    #     WGPUComputePassEncoder computePassEncoder, uint32_t offset, void const * data,
    #     size_t size)
    "wgpuComputePassEncoderSetImmediates": (None, (c_void_p, c_uint32, c_char_p, c_size_t)),
    # void wgpuComputePassEncoderDispatchWorkgroups(
    #     WGPUComputePassEncoder computePassEncoder, uint32_t workgroupCountX,
    #     uint32_t workgroupCountY, uint32_t workgroupCountZ)
    "wgpuComputePassEncoderDispatchWorkgroups": (None, (c_void_p, c_uint32, c_uint32, c_uint32)),
    # void wgpuComputePassEncoderDispatchWorkgroupsIndirect(
    #     WGPUComputePassEncoder computePassEncoder, WGPUBuffer indirectBuffer,
    #     uint64_t indirectOffset)
    "wgpuComputePassEncoderDispatchWorkgroupsIndirect": (None, (c_void_p, c_void_p, c_uint64)),
    # void wgpuComputePassEncoderEnd(WGPUComputePassEncoder computePassEncoder)
    "wgpuComputePassEncoderEnd": (None, (c_void_p,)),
    # void wgpuComputePassEncoderRelease(WGPUComputePassEncoder computePassEncoder)
    "wgpuComputePassEncoderRelease": (None, (c_void_p,)),
    # void wgpuCommandEncoderCopyBufferToBuffer(
    #     WGPUCommandEncoder commandEncoder, WGPUBuffer source, uint64_t sourceOffset,
    #     WGPUBuffer destination, uint64_t destinationOffset, uint64_t size)
    "wgpuCommandEncoderCopyBufferToBuffer": (
        None,
        (c_void_p, c_void_p, c_uint64, c_void_p, c_uint64, c_uint64),
    ),
    # WGPUCommandBuffer wgpuCommandEncoderFinish(
    #     WGPUCommandEncoder commandEncoder, WGPUCommandBufferDescriptor const * descriptor)
    "wgpuCommandEncoderFinish": (c_void_p, (c_void_p, c_void_p)),
    # void wgpuCommandEncoderRelease(WGPUCommandEncoder commandEncoder)
    "wgpuCommandEncoderRelease": (None, (c_void_p,)),
    # void wgpuCommandBufferRelease(WGPUCommandBuffer commandBuffer)
    "wgpuCommandBufferRelease": (None, (c_void_p,)),
    # WGPUSubmissionIndex wgpuQueueSubmitForIndex(
    #     WGPUQueue queue, size_t commandCount, WGPUCommandBuffer const * commands)
    "wgpuQueueSubmitForIndex": (c_uint64, (c_void_p, c_size_t, c_void_p)),
    # void wgpuQueueWriteBuffer(
    #     WGPUQueue queue, WGPUBuffer buffer, uint64_t bufferOffset, void const * data, size_t size)
    "wgpuQueueWriteBuffer": (None, (c_void_p, c_void_p, c_uint64, c_char_p, c_size_t)),
    # WGPUFuture wgpuBufferMapAsync(
    #     WGPUBuffer buffer, WGPUMapMode mode, size_t offset, size_t size,
    #     WGPUBufferMapCallbackInfo callbackInfo)
    # (WGPUFuture is a struct of one uint64_t)
    "wgpuBufferMapAsync": (c_uint64, (c_void_p, c_uint64, c_size_t, c_size_t, CallbackInfo)),
    # WGPUBool wgpuDevicePoll(
    #     WGPUDevice device, WGPUBool wait, WGPUSubmissionIndex const * submissionIndex)
    "wgpuDevicePoll": (c_uint32, (c_void_p, c_uint32, c_void_p)),
    # void const * wgpuBufferGetConstMappedRange(WGPUBuffer buffer, size_t offset, size_t size)
    "wgpuBufferGetConstMappedRange": (c_void_p, (c_void_p, c_size_t, c_size_t)),
    # void * wgpuBufferGetMappedRange(WGPUBuffer buffer, size_t offset, size_t size)
    "wgpuBufferGetMappedRange": (c_void_p, (c_void_p, c_size_t, c_size_t)),
    # void wgpuBufferUnmap(WGPUBuffer buffer)
    "wgpuBufferUnmap": (None, (c_void_p,)),
}


def load(path: str) -> Any:
    """The functions in a shared library, by name; calls keep the interpreter lock."""
    library = ctypes.PyDLL(path)
    functions = {}
    for name, (result, arguments) in FUNCTIONS.items():
        function = library[name]  # a new object, shared with nobody
        function.restype, function.argtypes = result, arguments
        functions[name] = function
    return SimpleNamespace(**functions)


def compare_declarations() -> str | None:
    """What wgpu-py declares otherwise than this module, or None."""
    from wgpu.backends.wgpu_native import ffi, lib

    def fits(declared: Any, ours: type | None) -> bool:
        if ours is None:
            return bool(declared.kind == "void")
        if ours in (c_void_p, c_char_p):
            return bool(declared.kind == "pointer")
        return bool(declared.kind != "pointer") and bool(
            ffi.sizeof(declared) == ctypes.sizeof(ours)
        )

    for name, (result, arguments) in FUNCTIONS.items():
        declared = ffi.typeof(getattr(lib, name))
        if len(declared.args) != len(arguments) or not all(
            fits(theirs, ours)
            for theirs, ours in zip(
                (declared.result, *declared.args), (result, *arguments), strict=True
            )
        ):
            return f"{name} is declared as {declared.cname}"
    fields = dict(ffi.typeof("WGPUBufferMapCallbackInfo").fields)
    for name in ("mode", "callback", "userdata1", "userdata2"):
        if fields[name].offset != getattr(CallbackInfo, name).offset:
            return f"{name} of WGPUBufferMapCallbackInfo lies elsewhere"
    return None
