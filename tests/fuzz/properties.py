"""What must hold for program bytes from anywhere, and for every program that they give."""

from __future__ import annotations

import pickle
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from vyre_wgpu.errors import InputError, ValidationError, VyreError
from vyre_wgpu.ir import Program, ProgramDecodeError
from vyre_wgpu.ir.blocks import find_blocks
from vyre_wgpu.ir.observes import observes_workgroup
from vyre_wgpu.ir.uniformity import analyze
from vyre_wgpu.ir.validate import validate

__all__ = ["MAX_MIB", "MAX_SECONDS", "bounded", "check_bytes", "check_lowering"]

MAX_SECONDS = 1.0
"""Processor time that one input may take, with coverage being traced."""
MAX_MIB = 256
"""Memory that one input may add to the most that the process ever had."""

_MIB = 1 << 20 if sys.platform == "darwin" else 1 << 10  # in the unit of ru_maxrss


def check_bytes(data: bytes) -> Program | None:
    """Reads bytes that may be anything, and checks what comes of them.

    Returns:
        The program; None if the bytes were refused with one of the two errors that are allowed.
    """
    try:
        program = Program.from_bytes(data)
    except (ProgramDecodeError, ValidationError) as error:
        _check_error(error)
        return None
    assert program.to_bytes() == data
    erased = Program.from_bytes(program.erased_bytes)
    assert erased == program
    assert hash(erased) == hash(program)
    assert erased.fingerprint == program.fingerprint
    assert erased.to_bytes() == program.erased_bytes
    assert pickle.loads(pickle.dumps(program)).debug == program.debug
    assert validate(program) == []
    _check_views(program)
    return program


def _check_error(error: VyreError) -> None:
    assert "Fix:" in str(error)
    assert pickle.loads(pickle.dumps(error)).args == error.args


def _check_views(program: Program) -> None:
    """Every other thing that a program can be asked works too."""
    assert str(program).isprintable() or "\n" in str(program)
    assert repr(program).isprintable()
    str(program).encode()
    _, faults = find_blocks(program.table.op)
    assert not faults
    found = analyze(program)
    assert len(found.value) == len(found.flow) == len(found.body) == len(program.table)
    assert observes_workgroup(program) in (True, False)
    assert len(list(program.table.rows())) == len(program.table)
    for row in range(len(program.table)):
        program.literal_value(row)
        program.debug.source(row)
    sizes = [*program.extent, *(b.count for b in program.buffers if b.count is not None)]
    for size in sizes:
        assert program.format_size(size)
        for number in (0, 1, 2**32 - 1):
            try:
                value = size.evaluate(
                    [number] * len(program.buffers), [number] * len(program.params)
                )
                assert 0 <= value < 1 << 32
            except InputError:
                pass


def check_lowering(program: Program) -> int:
    """Lowers a program and plans it for the reference backend; nothing is run.

    Returns:
        How many of the texts asked for came out; only a `VyreError` may stop one.
    """
    from vyre_wgpu.backends.reference import ReferenceBackend
    from vyre_wgpu.wgsl.lower import lower
    from vyre_wgpu.wgsl.options import CompileOptions
    from vyre_wgpu.wgsl.target import Target

    plain = Target()
    generous = Target(0, 1000, 1 << 20, (1024,) * 3, 1024, 1 << 16, 1 << 16)
    limited = Target(max_storage_buffers=1000, loop_iterations=65_535)
    done = 0
    for options, target, indirect in (
        (CompileOptions(), plain, False),
        (CompileOptions(checks="trap"), generous, False),
        (CompileOptions(checks="trusted", max_iterations=1000), generous, True),
        (CompileOptions(), limited, False),
    ):
        try:
            text = lower(program, options, target, indirect=indirect).wgsl
        except VyreError as error:
            _check_error(error)
        else:
            assert text.isascii()
            assert "\0" not in text
            assert text.count("{") == text.count("}")
            done += 1
    with suppress(VyreError):
        ReferenceBackend().compile(program)
    return done


@contextmanager
def bounded() -> Iterator[None]:
    """Fails if what is inside takes more processor time or memory than an input may."""
    memory, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    yield
    seconds = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / _MIB
    assert seconds <= MAX_SECONDS, f"{seconds:.1f} s of processor time"
    assert grown <= MAX_MIB, f"{grown:.0f} MiB more than ever before"
