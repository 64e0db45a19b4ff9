"""The process that runs programs on the device, and may die of one.

Frames on standard input and output: four bytes of length, then a pickle. A request is program
bytes, inputs, params, checks and passes; the reply says what came of it.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from typing import Any, BinaryIO

from tests.fuzz.case import MAX_ITERATIONS
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.errors import TrapError
from vyre_wgpu.ir import Program
from vyre_wgpu.wgsl.options import CompileOptions

Reply = tuple[Any, ...]
"""``("done", arrays)``, ``("trap", tag, address, lane)`` or ``("error", text)``."""


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame; None at the end, or if the other side died in the middle of one."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    size = struct.unpack("<I", head)[0]
    data = stream.read(size)
    return data if len(data) == size else None


def write_frame(stream: BinaryIO, data: bytes) -> None:
    stream.write(struct.pack("<I", len(data)))
    stream.write(data)
    stream.flush()


def run(backend: WgpuBackend, request: tuple[Any, ...]) -> Reply:
    data, inputs, params, checks, passes = request
    try:
        options = CompileOptions(checks=checks, max_iterations=MAX_ITERATIONS, passes=passes)
        pipe = backend.compile(Program.from_bytes(data), options)
        return "done", pipe.dispatch(inputs, params)
    except TrapError as trap:
        return "trap", trap.tag, trap.address, trap.lane
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"


def main() -> None:
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a driver prints must not get among the replies
    with WgpuBackend() as backend:
        while (frame := read_frame(requests)) is not None:
            write_frame(replies, pickle.dumps(run(backend, pickle.loads(frame))))


if __name__ == "__main__":
    main()
