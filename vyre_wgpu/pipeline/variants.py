"""`Variants`: the kernels of one program on one device, each compiled where it is first needed."""

from __future__ import annotations

from ..ir.program import Program
from ..wgsl.options import CompileOptions
from ..wgsl.writable import all_writable
from .compile import Compiler, Kernel

__all__ = ["Variants"]


class Variants:
    """The kernels of a program. Safe to use from several threads.

    Args:
        program: the program.
        options: what it is compiled with.
        kernel: the usual one, compiled before.
        compiler: compiles the others.
    """

    def __init__(
        self, program: Program, options: CompileOptions, kernel: Kernel, compiler: Compiler
    ) -> None:
        self._program, self._options, self._compiler = program, options, compiler
        self.usual = kernel
        self._others: dict[tuple[bool, bool, bool], Kernel] = {}

    def get(self, *, indirect: bool = False, writable: bool = False, split: bool = False) -> Kernel:
        """A kernel; two threads that ask first may both compile it.

        Args:
            indirect: for grids that the device has.
            writable: with all buffers bound as writable, for ranges of one device buffer of which
                some are read and others written: wgpu allows one use of a buffer in a dispatch.
            split: for dispatches in parts; not with ``indirect``.

        Raises:
            CompileError, DeviceLostError: as `Compiler.compile`.
        """
        if not indirect and not writable and not split:
            return self.usual
        kernel = self._others.get((indirect, writable, split))
        if kernel is None:
            if writable:
                artifact = all_writable(self.get(indirect=indirect, split=split).artifact)
                self._compiler.device.check()
                kernel = self._compiler.build(artifact, self._program.name)
            else:
                kernel = self._compiler.compile(
                    self._program, self._options, indirect=indirect, split=split
                )
            self._others[indirect, writable, split] = kernel
        return kernel
