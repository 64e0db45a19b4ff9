"""`Recording`: dispatches that are submitted as one, once or many times.

What is recorded is checked, laid out and given its buffers once. A replay uploads host arrays as
they are then, submits everything in one command buffer and waits once. Data flows from item to item
on the device: in device buffers, given or recorded with ``out={"name": vw.DEVICE}``.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any

from ..buffer.device_buffer import DeviceBuffer
from ..errors import InputError, VyreError
from .arguments import Inputs, Params
from .config import DispatchConfig
from .config_checks import check_deadline
from .pipeline import WgpuPipeline, deadline_of
from .prepared import PreparedCall
from .results import Out
from .submission import Submission, check_result_bytes
from .submit import Submitter
from .tickets import Batch

__all__ = ["Handle", "Recording"]


class Handle:
    """One recorded dispatch.

    Args:
        call: the dispatch.
        names: of what it returns, in order.
    """

    def __init__(self, call: PreparedCall, names: list[str]) -> None:
        self._call = call
        self._names = names
        self._results: list[Any] | None = None
        self._error: BaseException | None = None

    def __getitem__(self, name: str) -> DeviceBuffer:
        """The device buffer that a result goes to, as an input of what is recorded next.

        Raises:
            InputError: there is no such result, or it goes to the host.
        """
        if name in self._names:
            place = self._call.destination(self._names.index(name))
            if isinstance(place, DeviceBuffer):
                return place
            raise InputError(
                f"the result {name!r} does not stay on the device",
                fix=f'record it with out={{"{name}": vw.DEVICE}}',
            )
        raise InputError(
            f"the recorded program does not return {name!r}",
            fix=f"name one of {', '.join(map(repr, self._names)) or 'nothing'}",
        )

    def result(self) -> list[Any]:
        """What the last replay gave, as ``dispatch`` gives it.

        Results stay after the recording is closed.

        Raises:
            TrapError, LimitError: this dispatch failed in the last replay, or one before it.
            DispatchTimeoutError, DeviceLostError: the last replay did not end.
            VyreError: there was no replay, or the last one was interrupted.
        """
        if self._error is not None:
            raise self._error
        if self._results is None:
            raise VyreError("the recording was not replayed yet", fix="call replay()")
        return self._results


class Recording:
    """Dispatches on one backend, in order, to be submitted as one.

    Made by ``backend.record()``. Add dispatches in its ``with`` block, or before the first replay;
    close it when it is not needed any more, which gives its buffers back. Closing the backend does
    so too.

    Args:
        submitter: where it runs.
    """

    def __init__(self, submitter: Submitter) -> None:
        self._submitter = submitter
        self._lock = threading.Lock()
        self._handles: list[Handle] = []
        self._calls: list[PreparedCall] = []  # those with something to run
        self._batch: Batch | None = None
        self._is_sealed = self._is_closed = False

    def add(
        self,
        pipe: WgpuPipeline,
        inputs: Inputs,
        params: Params | None = None,
        *,
        out: Out | None = None,
        config: DispatchConfig | None = None,
    ) -> Handle:
        """Records a dispatch; it runs after what was recorded before.

        Args:
            pipe: a pipeline of the same backend.
            inputs: as for ``dispatch``. Host arrays are kept, and read at each replay.
            params: as for ``dispatch``; they are fixed now.
            out: as for ``dispatch``. With ``vw.DEVICE`` the buffer is made now: ``handle["y"]``.
            config: as for ``dispatch``; a deadline belongs to the replay.

        Raises:
            InputError, LimitError, OutputBudgetError, DeviceLostError: as ``dispatch``.
            VyreError: it was replayed before, its ``with`` block has ended, or it is closed.
        """
        with self._lock:
            if self._is_sealed or self._is_closed:
                raise VyreError(
                    "nothing is added to a recording that is complete",
                    fix="add before the with block ends and before the first replay",
                )
            self._submitter.check()
            if not isinstance(pipe, WgpuPipeline) or not pipe.runs_on(self._submitter):
                raise InputError(
                    f"{pipe!r} is not a pipeline of the backend that records",
                    fix="compile the program with backend.compile(program)",
                )
            if config is not None and getattr(config, "zero_copy", False) is True:
                raise InputError(
                    "a recording uses its staging memory again at each replay, so that its "
                    "results are copied out",
                    fix="record without zero_copy, or dispatch with it",
                )
            if config is not None and getattr(config, "deadline", None) is not None:
                raise InputError(
                    "a recorded dispatch has no deadline of its own",
                    fix="pass replay(deadline=...)",
                )
            call = pipe.prepare(inputs, params, out, config)
            handle = Handle(call, [buffer.name for buffer in pipe.program.outputs])
            self._handles.append(handle)
            if call.submission is not None:
                self._calls.append(call)
            return handle

    def replay(self, *, deadline: float | None = None) -> None:
        """Runs everything once and waits; results are in the handles afterwards.

        Args:
            deadline: seconds after which it gives up.

        Raises:
            InputError: the deadline is no time above 0.
            TrapError, LimitError: of the first dispatch that failed. The handles before it have
                results; those after it raise the same.
            DispatchTimeoutError: the deadline passed. The recording is closed then.
            DeviceLostError: the backend is closed, or its device was lost.
            VyreError: the recording is closed.
        """
        check_deadline(deadline)
        until = deadline_of(DispatchConfig(deadline=deadline))
        with self._lock:
            if self._is_closed:
                raise VyreError("the recording is closed", fix="record the work again")
            self._is_sealed = True
            submitter = self._submitter
            submitter.check()
            calls = [handle._call.again() for handle in self._handles]
            runs = [call for call in calls if call.submission is not None]
            submissions: list[Submission] = [
                call.submission for call in runs if call.submission is not None
            ]
            outcomes = []
            if submissions:
                batch = self._prepared(submissions)
                try:
                    ticket = submitter.start_batch(batch, submissions, is_watched=until is not None)
                    try:
                        for call in runs:
                            call.allocate()
                        submitter.encode_batch(batch)
                        outcomes = submitter.collect_in_time(ticket, until)
                    except BaseException:
                        submitter.abandon(ticket)
                        raise
                except BaseException as error:
                    if isinstance(error, VyreError):
                        self._is_closed = batch.is_ended or batch.is_submitted
                    else:  # interrupted: the device may be at work on these buffers
                        self._batch = None
                        submitter.let_go(batch)
                    self._spoil(error)
                    raise
            self._hand_out(calls, iter(outcomes))

    def close(self) -> None:
        """Gives the buffers back, but for those that handles name. Idempotent."""
        with self._lock:
            self._is_closed = self._is_sealed = True
            if self._batch is not None:
                self._submitter.let_go(self._batch)
            self._batch = None

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends recording. With an error, it is closed, and so are the buffers that it made."""
        self._is_sealed = True
        if kind is not None:
            self.close()
            for handle in self._handles:
                handle._call.abort()

    def __len__(self) -> int:
        return len(self._handles)

    def __repr__(self) -> str:
        state = ", closed" if self._is_closed else ""
        return f"<Recording of {len(self._handles)} dispatches{state}>"

    def _prepared(self, submissions: list[Submission]) -> Batch:
        """The buffers, taken at the first replay."""
        if self._batch is None:
            sizes = [submission.frame.staging_bytes for submission in submissions]
            check_result_bytes(sizes, self._submitter.max_result_bytes)
            names = sorted({submission.frame.label for submission in submissions})
            self._batch = self._submitter.hold(submissions, ", ".join(names)[:80])
        return self._batch

    def _spoil(self, error: BaseException) -> None:
        """Has all handles raise why the last replay gave nothing."""
        if not isinstance(error, VyreError):
            error = VyreError(
                f"the last replay was ended by {type(error).__name__}", fix="replay() again"
            )
        for handle in self._handles:
            handle._results, handle._error = None, error

    def _hand_out(self, calls: list[PreparedCall], outcomes: Any) -> None:
        failed: BaseException | None = None
        for handle, call in zip(self._handles, calls, strict=True):
            handle._results, handle._error = None, failed
            if failed is None:
                outcome = None if call.submission is None else next(outcomes)
                try:
                    handle._results = call.finish(outcome, is_kept=True)
                except Exception as error:
                    handle._error = failed = error
        if failed is not None:
            raise failed
