"""`PreparedCall`: a dispatch that is checked and laid out, from its submission to its results.

Every way to run a program makes one: `prepare` checks the arguments, finds or makes the plan of
their shape and gives the submission; `PreparedCall.finish` makes of its outcome what the caller
gets, or the exception that it raises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..buffer.arrays import Array
from ..buffer.device_buffer import DeviceBuffer
from ..buffer.host_memory import HostMemory
from ..buffer.pool import Span
from ..errors import InputError, LimitError
from ..ir.program import Buffer, Program
from ..ir.writes import written_by_every_lane, written_in_loops
from ..runtime.device import safe_label
from .arguments import Binder, BoundCall, Inputs, Params
from .blocks import BlockPacker, launch_grid
from .config import Destination, DispatchConfig
from .parts import SplitPlan, Splitter, is_cleared
from .results import Out, Place, check_aliases, check_destinations
from .split import SplitCall
from .submission import Frame, Outcome, Slot, Submission
from .submit import Submitter
from .traps import trap_error
from .variants import Variants

__all__ = ["PreparedCall", "Preparer"]

_MOST_IN_PLACE = 1 << 16
"""Bytes of the largest result that a kernel writes into memory of the host's, over its bus: a copy
of a small one costs more than the longer way. Also the most lanes, since each may trap there."""

_TO_BE_SHOWN = object()
"""In the place of a result whose memory is the device's to choose."""


class _Plan:
    """What dispatches of one shape with results in the same kinds of places share.

    Attributes:
        frame: the frame.
        block: params and the dispatch block with them, of the last dispatch.
        uploads: buffer index of each array that is copied in, in the frame's order.
        results: shape and dtype of each result that goes to the host, in the frame's order.
    """

    __slots__ = ("block", "frame", "results", "uploads")

    def __init__(
        self,
        frame: Frame,
        block: bytes,
        uploads: Sequence[int],
        results: Sequence[tuple[tuple[int, ...], np.dtype[Any]]],
    ) -> None:
        self.frame, self.uploads, self.results = frame, uploads, results
        self.block: tuple[tuple[int, ...], bytes] = (), block


class PreparedCall:
    """One dispatch, ready to be submitted.

    Attributes:
        submission: what to submit; None if the extent is empty, so that nothing is to run.
    """

    __slots__ = (
        "_call",
        "_is_shown",
        "_made",
        "_owner",
        "_places",
        "_plan",
        "_results",
        "submission",
    )

    def __init__(
        self,
        owner: Preparer,
        call: BoundCall,
        submission: Submission | None,
        plan: _Plan | None,
        places: Sequence[Place] = (),
        results: list[Any] | None = None,
        made: Sequence[DeviceBuffer] = (),
        is_shown: bool = False,
    ) -> None:
        self._owner, self._call, self.submission, self._plan = owner, call, submission, plan
        self._places, self._results, self._made = places, results, made
        self._is_shown = is_shown

    def again(self) -> PreparedCall:
        """The same dispatch once more, with new arrays for results that the caller did not place.

        Its submission runs on the buffers of this one.

        Raises:
            DeviceLostError: a device buffer that it uses is closed, or the device is.
            InputError: an array has another size now.
        """
        submission, results = self.submission, self._results
        used = [*self._call.residents.values(), *(results or ())]
        if self._call.indirect is not None:
            used.append(self._call.indirect.buffer)
        for buffer in used:
            if isinstance(buffer, DeviceBuffer):
                buffer.pooled()
        if results is None:
            assert submission is not None
            submission = submission._replace(results=[])
        else:
            memory = self._owner.submitter.results
            renew = np.copy if submission is None else memory.empty_like
            results = [
                renew(result)
                if isinstance(result, np.ndarray) and not _is_filled(place)
                else result
                for place, result in zip(self._places, results, strict=True)
            ]
            if submission is not None:
                arrays = [result for result in results if isinstance(result, np.ndarray)]
                submission = submission._replace(results=arrays)
        if submission is not None and self._call.given:
            assert self._plan is not None
            inputs = self._owner.read_again(self._call)
            submission = submission._replace(uploads=[inputs[i] for i in self._plan.uploads])
        return PreparedCall(
            self._owner, self._call, submission, self._plan, self._places, results, self._made
        )

    def allocate(self) -> None:
        """Makes the arrays that results go to, unless the caller named places for them."""
        if self._results is None:
            assert self.submission is not None
            assert self._plan is not None
            arrays = self.submission.results
            assert isinstance(arrays, list)
            if self._is_shown:
                arrays[:] = [None] * len(self._plan.results)
                self._results = [_TO_BE_SHOWN] * len(self._plan.results)
                return
            empty = self._owner.submitter.results.empty
            # In one step, which may be repeated if a signal came.
            arrays[:] = [empty(shape, dtype) for shape, dtype in self._plan.results]
            self._results = arrays

    def destination(self, number: int) -> object:
        """What returned buffer goes where: a device buffer, an array, or None."""
        return None if self._results is None else self._results[number]

    def abort(self) -> None:
        """Gives back what was made for the caller, who gets nothing."""
        for buffer in self._made:
            buffer.close()

    def finish(self, outcome: Outcome | None, *, is_kept: bool = False) -> list[Any]:
        """The results, in the places that the caller named.

        Args:
            outcome: what the submission left; None if there was none.
            is_kept: device buffers that were made stay, even after an error.

        Raises:
            TrapError: a lane trapped.
            LimitError: the device computed a grid that it does not launch.
        """
        if outcome is not None and (outcome.trap.flag or self._call.indirect is not None):
            try:
                self._owner.check_outcome(self._call, outcome)
            except BaseException:
                if not is_kept:
                    self.abort()
                raise
        results = self._results
        assert results is not None
        if self._is_shown:
            self._show(results)
        for index, place in enumerate(self._places):
            if isinstance(place, np.ndarray):
                if not _is_filled(place):
                    place[...] = results[index].reshape(place.shape)
                results[index] = place
        return results

    def _show(self, results: list[Any]) -> None:
        """Puts the views of what the device left in their places."""
        if self.submission is not None:
            assert self._plan is not None
            left = iter(zip(self.submission.results, self._plan.results, strict=True))
            for number, result in enumerate(results):
                if result is _TO_BE_SHOWN or isinstance(result, np.ndarray):
                    content, (shape, dtype) = next(left)
                    if result is _TO_BE_SHOWN:
                        results[number] = content.view(dtype).reshape(shape)
        for number, result in enumerate(results):
            is_placed = bool(self._places) and self._places[number] is not None
            if isinstance(result, np.ndarray) and not is_placed:
                result.flags.writeable = False


def _is_filled(place: Place) -> bool:
    """Whether results are copied right into a place: an array whose memory is in order."""
    return isinstance(place, np.ndarray) and bool(place.flags.c_contiguous)


class Preparer:
    """Prepares the dispatches of one compiled program. Safe to use from several threads.

    Args:
        program: the program; trap messages take names and lines from it.
        variants: the compiled program.
        submitter: where it runs.

    Attributes:
        device: the device that it prepares for.
    """

    def __init__(
        self,
        program: Program,
        variants: Variants,
        submitter: Submitter,
    ) -> None:
        self._program = program
        self._variants = variants
        self._kernel = kernel = variants.usual
        self._submitter = submitter
        self.device = submitter.device
        self._binder = Binder(program)
        self._packer = BlockPacker(kernel.descriptor, [param.dtype for param in program.params])
        self._returned = [i for i, b in enumerate(program.buffers) if b.kind.is_returned]
        self._new_arrays: list[Place] = [None] * len(self._returned)
        self._written = written_by_every_lane(program)
        self._in_place: frozenset[int] = frozenset()
        if self.device.writes_in_place:
            self._in_place = self._written - written_in_loops(program)
        self._splitter = Splitter(program, variants, submitter, self._packer, self._written)

    @property
    def submitter(self) -> Submitter:
        """Where the program runs."""
        return self._submitter

    def chunk(self, data: object) -> list[object]:
        """The inputs of ``push_chunk``; see `Binder.chunk`."""
        return self._binder.chunk(data)

    def read_again(self, call: BoundCall) -> dict[int, Array]:
        """The inputs of a call as they are now; see `Binder.read_again`."""
        return self._binder.read_again(call)

    def prepare(
        self,
        inputs: Inputs,
        params: Params | None,
        out: Out | None,
        config: DispatchConfig | None,
    ) -> PreparedCall | SplitCall:
        """Checks the arguments of a dispatch and lays it out; see ``WgpuPipeline.dispatch``."""
        self.device.check()
        call = self._binder.bind(inputs, params, config, self._splitter.check)
        shape = call.shape
        if out is None and not call.residents and call.indirect is None and not shape.is_empty:
            plan = shape.plans.get(None)
            if plan is None and not self._splitter.is_needed(shape.lengths):
                plan = shape.plans[None] = self._plan(call, {}, self._new_arrays)
            if plan is not None:
                submission = self._submission(plan, call)
                if config is not None and config.zero_copy:
                    submission = submission._replace(shows=True)
                    return PreparedCall(self, call, submission, plan, is_shown=True)
                return PreparedCall(self, call, submission, plan)
        places = self._new_arrays
        if out is not None:
            places = check_destinations(self._program, out, call)
        is_mixed = self._check_residents(call, places)
        made: list[DeviceBuffer] = []
        is_shown = config is not None and config.zero_copy
        try:
            if shape.is_empty:
                results = self._nothing(call, places, made)
                return PreparedCall(self, call, None, None, places, results, made, is_shown)
            return self._lay_out(call, places, made, is_mixed, is_shown)
        except BaseException:
            for buffer in made:
                buffer.close()
            raise

    def check_outcome(self, call: BoundCall, outcome: Outcome) -> None:
        """Raises what an outcome stands for.

        Raises:
            TrapError: a lane trapped.
            LimitError: the device computed a grid that it does not launch.
        """
        extent, descriptor = call.extent, self._kernel.descriptor
        if call.indirect is not None:
            # The driver runs nothing, and says nothing, where a count is above its limit.
            device = self._submitter.device
            descriptor = self._variants.get(indirect=True).descriptor
            if max(outcome.grid) > device.limits.max_workgroups:
                raise LimitError(
                    f"the indirect grid of program {self._program.name!r} is {outcome.grid}, and "
                    f"the adapter {device.info.name} launches at most "
                    f"{device.limits.max_workgroups} workgroups on an axis",
                    fix="compute a smaller grid, or loop in the kernel",
                )
            sizes = descriptor.workgroup_size
            extent = tuple(n * w for n, w in zip(outcome.grid, sizes, strict=True))
        if outcome.trap.flag:
            raise trap_error(self._program, descriptor, outcome.trap, extent, call.lengths)

    # Checks

    def _check_residents(self, call: BoundCall, places: Sequence[Place]) -> bool:
        """Raises for device buffers of another backend, and for one that stands for two buffers.

        Returns:
            Whether all buffers must be bound as writable; see `check_aliases`.
        """
        buffers = self._program.buffers
        bound = [
            (buffers[i].name, resident, buffers[i].kind.is_writable)
            for i, resident in call.residents.items()
        ]
        for index, place in zip(self._returned, places, strict=True):
            if isinstance(place, DeviceBuffer) and index not in call.residents:
                bound.append((buffers[index].name, place, True))
        grid = None if call.indirect is None else call.indirect.buffer
        used = [(name, buffer) for name, buffer, _ in bound]
        if grid is not None:
            used.append(("grid", grid))
        for name, buffer in used:
            buffer.pooled()  # one of a device that was lost says so
            if not buffer.belongs_to(self._submitter.memory):
                raise InputError(
                    f"{name!r} is a device buffer of another backend",
                    fix="upload the array to the backend that compiled the program",
                )
        return check_aliases(bound, grid)

    # Laying out

    def _submission(self, plan: _Plan, call: BoundCall) -> Submission:
        """The submission of a call whose buffers are all lent for it."""
        params, block = plan.block
        if params is not call.params:
            block = self._packer.patch(block, call.params)
            plan.block = call.params, block
        inputs = call.inputs
        return Submission(plan.frame, block, [inputs[index] for index in plan.uploads], [])

    def _lay_out(
        self,
        call: BoundCall,
        places: Sequence[Place],
        made: list[DeviceBuffer],
        is_mixed: bool,
        is_shown: bool,
    ) -> PreparedCall | SplitCall:
        """The submission of any other call; device buffers that are new are put in ``made``."""
        residents = self._residents(call, places, made)
        skipped = [place is Destination.SKIP for place in places]
        kinds = (
            call.indirect is not None,
            tuple(call.inputs),
            tuple(sorted(residents)),
            tuple(skipped),
            is_mixed,
        )
        plan = call.shape.plans.get(kinds)
        if plan is None:
            if self._splitter.is_needed(call.lengths):
                plan = self._splitter.plan(call, residents, skipped, is_mixed=is_mixed)
            else:
                plan = self._plan(call, residents, places, is_mixed)
            call.shape.plans[kinds] = plan
        is_split = isinstance(plan, SplitPlan)
        results = self._results(call, places, residents, is_shown=is_shown and not is_split)
        if isinstance(plan, SplitPlan):
            return SplitCall(
                self._program,
                self._submitter,
                self._packer,
                call,
                plan,
                places,
                results,
                residents,
                made,
                self.check_outcome,
            )
        bound: list[Span | None] = []
        for binding in self._kernel.descriptor.bindings:
            resident = residents.get(binding.buffer)
            bound.append(None if resident is None else resident.span())
        indirect = None
        if call.indirect is not None:
            words = call.indirect.buffer.span()
            indirect = Span(words.buffer, words.offset + call.indirect.offset, 12)
        submission = self._submission(plan, call)._replace(
            results=[
                None if result is _TO_BE_SHOWN else result
                for result in results
                if result is _TO_BE_SHOWN or isinstance(result, np.ndarray)
            ],
            residents=bound if residents else (),
            indirect=indirect,
            shows=is_shown,
        )
        return PreparedCall(self, call, submission, plan, places, results, made, is_shown)

    def _residents(
        self, call: BoundCall, places: Sequence[Place], made: list[DeviceBuffer]
    ) -> dict[int, DeviceBuffer]:
        """Every device buffer of a call by buffer index, inputs and destinations."""
        residents = dict(call.residents)
        for index, shape, place in zip(self._returned, call.shapes, places, strict=True):
            if index in residents or place is Destination.SKIP:
                continue
            if place is Destination.DEVICE:
                residents[index] = buffer = self._new_buffer(self._program.buffers[index], shape)
                made.append(buffer)
            elif isinstance(place, DeviceBuffer):
                residents[index] = place
        return residents

    def _results(
        self,
        call: BoundCall,
        places: Sequence[Place],
        residents: Mapping[int, DeviceBuffer],
        *,
        is_shown: bool = False,
    ) -> list[Any]:
        """What the caller gets for each returned buffer."""
        results: list[Any] = []
        for index, shape, place in zip(self._returned, call.shapes, places, strict=True):
            if place is Destination.SKIP:
                results.append(None)
            elif index in residents:
                results.append(residents[index])
            elif is_shown and place is None:
                results.append(_TO_BE_SHOWN)
            else:
                dtype = self._program.buffers[index].dtype.numpy
                results.append(_host_result(place, self._submitter.results, shape, dtype))
        return results

    def _plan(
        self,
        call: BoundCall,
        residents: Mapping[int, DeviceBuffer],
        places: Sequence[Place],
        is_mixed: bool = False,
    ) -> _Plan:
        kernel = self._variants.get(indirect=call.indirect is not None, writable=is_mixed)
        grid: tuple[int, int, int] | None = None
        row = 0
        if call.indirect is None:
            descriptor = kernel.descriptor
            grid, row = launch_grid(
                call.extent,
                descriptor.workgroup_size,
                self._submitter.device.limits.max_workgroups,
                descriptor.elements_per_lane,
            )
        buffers = self._program.buffers
        skipped = {
            index
            for index, place in zip(self._returned, places, strict=True)
            if place is Destination.SKIP
        }
        shapes = dict(zip(self._returned, call.shapes, strict=True))
        slots, uploads, results = [], [], []
        is_small = math.prod(call.extent) <= _MOST_IN_PLACE
        # Bindings are in the order of the program's buffers, and so of what it returns.
        for binding in kernel.descriptor.bindings:
            index = binding.buffer
            buffer = buffers[index]
            is_result = buffer.kind.is_returned and index not in skipped and index not in residents
            # The grid of an indirect launch is not known here.
            covered = call.indirect is None and call.extent[0] >= call.lengths[index]
            nbytes = call.lengths[index] * buffer.dtype.itemsize
            in_place = is_small and is_result and covered and index in self._in_place
            in_place &= index not in call.inputs and 0 < nbytes <= _MOST_IN_PLACE
            in_place &= buffer.dtype.itemsize >= 4  # smaller ones share words
            slots.append(
                Slot(
                    nbytes,
                    upload=index in call.inputs,
                    clear=is_cleared(buffer, is_written=covered and index in self._written),
                    result=is_result,
                    resident=index in residents,
                    in_place=in_place,
                )
            )
            if index in call.inputs and nbytes:
                uploads.append(index)
            if is_result:
                results.append((shapes[index], buffer.dtype.numpy))
        frame = Frame(kernel, slots, grid, safe_label(call.shape.label or self._program.name))
        zeros = [0] * len(self._program.params)
        block = self._packer.pack(call.extent, row, call.lengths, zeros)
        return _Plan(frame, block, uploads, results)

    def _nothing(
        self, call: BoundCall, places: Sequence[Place], made: list[DeviceBuffer]
    ) -> list[Any]:
        """The results of a call that runs nothing: outputs are zeros, the rest is what came in."""
        inputs: Mapping[int, Array] = call.inputs
        if any(isinstance(place, np.ndarray) for place in places):
            # A destination may be another result's input.
            inputs = {i: inputs[i].copy() for i in self._returned if i in inputs}
        residents = self._residents(call, places, made)
        results = self._results(call, places, residents)
        for index, result in zip(self._returned, results, strict=True):
            content = inputs.get(index)
            if isinstance(result, np.ndarray):
                result[...] = 0 if content is None else content.reshape(result.shape)
            elif result is not None and index not in call.residents:
                self._fill(result, content)
        return results

    def _new_buffer(self, buffer: Buffer, shape: tuple[int, ...]) -> DeviceBuffer:
        dtype = buffer.dtype.numpy
        nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        memory, most = self._submitter.memory, self._submitter.device.limits.max_buffer_size
        if nbytes > most:
            raise LimitError(
                f"the result {buffer.name!r} has {nbytes} bytes, more than the {most} bytes of a "
                f"buffer of the adapter {self._submitter.device.info.name}",
                fix="take it as an array, or split the work over several dispatches",
            )
        pooled = memory.allocate(nbytes)
        try:
            return DeviceBuffer(memory, pooled, dtype, shape)
        except BaseException:  # Ctrl-C
            memory.free(pooled)
            raise

    def _fill(self, buffer: DeviceBuffer, content: Array | None) -> None:
        """What a dispatch that runs nothing leaves in a device buffer."""
        if content is None:
            self._submitter.memory.clear(buffer.span(), buffer.nbytes)
        else:
            self._submitter.memory.write(buffer.span(), content)


def _host_result(
    place: Place, memory: HostMemory, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    """The array to copy a result into: the caller's own where its memory is in order."""
    if isinstance(place, np.ndarray) and _is_filled(place):
        return place.view(np.ndarray).reshape(shape)
    return memory.empty(shape, dtype)
