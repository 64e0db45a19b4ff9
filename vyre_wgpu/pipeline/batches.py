"""`Batches`: buffers for sequences of submissions that are submitted as one, again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..buffer.leases import Lease, LeaseCache, Need
from ..buffer.staging import aligned
from ..runtime.calls import Calls
from .outfit import Outfitter
from .submission import STAGING_POOL, STAGING_STEP, Submission
from .tickets import Batch

__all__ = ["Batches"]


class Batches:
    """The batches of one device that hold buffers. Its owner, the submitter, takes turns.

    Args:
        calls: how wgpu is called.
        leases: where buffers come from.
        outfitter: prepares leases for submissions.
    """

    def __init__(self, calls: Calls, leases: LeaseCache, outfitter: Outfitter) -> None:
        self._calls, self._leases, self._outfitter = calls, leases, outfitter
        self._batches: set[Batch] = set()

    def __iter__(self) -> Iterator[Batch]:
        return iter(tuple(self._batches))

    def hold(self, batch: Batch, submissions: Sequence[Submission]) -> None:
        """Takes the buffers of a sequence for a batch that is new; on an error it has none.

        Each submission has buffers of its own, and a piece of the staging buffer that all share.
        """
        pieces = [aligned(s.frame.staging_bytes, STAGING_STEP) for s in submissions]
        batch.nbytes = sum(pieces)
        try:
            for submission in submissions:
                prepared = self._outfitter.frame(submission.frame)
                batch.leases.append(self._leases.take(prepared.key[:-1]))
            need = Need(STAGING_POOL, batch.nbytes)
            batch.leases.append(self._leases.take(self._leases.key(-1, [need])))
            staging, base = batch.leases[-1].buffers[0], 0
            leases = batch.leases[:-1]
            for submission, lease, piece in zip(submissions, leases, pieces, strict=True):
                outfit = self._outfitter.make(lease, submission, staging, base)
                batch.outfits.append((outfit, base))
                base += piece
            batch.handle = self._calls.label(batch.label)
        except BaseException:
            for lease in batch.leases:
                self._leases.give_back(lease)
            raise
        self._batches.add(batch)

    def submit(self, batch: Batch, submissions: Sequence[Submission], *, is_watched: bool) -> Any:
        """Submits a batch that holds buffers and is not submitted; on an error they are discarded.

        Args:
            batch: the batch.
            submissions: they may differ from those it was held for in content only.
            is_watched: its staging buffer must wait for the kernels, even if nothing is read back.

        Returns:
            The mapping of its staging buffer.
        """
        contents: list[tuple[Any, Any]] = []
        steps = []
        for (outfit, _), submission in zip(batch.outfits, submissions, strict=True):
            contents += outfit.writes(submission)
            steps.append((outfit.step, submission.block if outfit.block is None else None))
        first = batch.outfits[0][0]
        batch.is_submitted = True
        try:
            batch.steps = steps
            encoded, batch.encoded = batch.encoded, None
            if is_watched and not any(step.copies for step, _ in steps):
                steps = [(first.watched, steps[0][1]), *steps[1:]]
                if encoded is not None:
                    self._calls.drop(encoded)
                    encoded = None
            return self._calls.submit(
                contents, steps, batch.handle, first.staging, batch.nbytes, encoded
            )
        except BaseException:
            self.end(batch, self._leases.discard)
            raise

    def encode(self, batch: Batch) -> None:
        """Encodes a batch once more, for its next submission, if it has buffers."""
        if batch in self._batches and batch.encoded is None:
            batch.encoded = self._calls.encode(batch.steps, batch.handle)

    def mend(self, busy: set[Batch | None]) -> None:
        """Takes back the buffers of batches that an interrupted call left behind.

        Args:
            busy: batches that open tickets use.
        """
        for batch in self:
            if (batch.is_submitted or batch.is_ended) and batch not in busy:
                self.end(batch, self._leases.discard)

    def end(self, batch: Batch, how: Callable[[Lease], None]) -> None:
        """Parts with a batch's buffers. Idempotent.

        Args:
            batch: the batch.
            how: what to do with each lease: `LeaseCache.give_back`, or `LeaseCache.discard` where
                the device may still use its buffers.
        """
        if batch in self._batches:
            self._batches.discard(batch)
            encoded, batch.encoded = batch.encoded, None
            if encoded is not None:
                self._calls.drop(encoded)
            for lease in batch.leases:
                how(lease)
        batch.is_ended = True
