"""What a submitter keeps of work that is on the device, or held ready for it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from ..buffer.leases import Lease
from .outfit import Outfit
from .submission import Outcome, Submission

__all__ = ["Ahead", "Batch", "Ticket"]


class Ticket:
    """What was submitted and not yet collected.

    Attributes:
        parts: each submission, and where in the staging buffer its results begin.
        label: for messages.
        mapping: the staging buffer on the way to being readable.
        lease: the buffers it uses; None if they are a batch's, or went back.
        busy: held by the thread that waits for it. ``with`` takes and frees a lock whatever happens
            in between, so that this is true even after Ctrl-C.
        batch: whose buffers it uses, or None.
        is_kept: somebody will collect or abandon it.
        outcomes: what it left, once its results are delivered.
    """

    __slots__ = ("batch", "busy", "is_kept", "label", "lease", "mapping", "outcomes", "parts")

    def __init__(
        self,
        parts: Sequence[tuple[Submission, int]],
        label: str,
        mapping: Any,
        lease: Lease | None,
        busy: threading.Lock,
        batch: Batch | None = None,
    ) -> None:
        self.parts, self.label, self.mapping = parts, label, mapping
        self.lease, self.busy, self.batch = lease, busy, batch
        self.is_kept = False
        self.outcomes: list[Outcome] | None = None

    @property
    def is_orphan(self) -> bool:
        """Whether nobody waits for it or will."""
        return not self.is_kept and not self.busy.locked()


class Batch:
    """Buffers for a sequence of submissions, held until `Submitter.let_go`.

    Attributes:
        label: for messages.
        leases: the buffers of each submission, then the staging buffer of all.
        outfits: each submission's, with the offset in the staging buffer at which it begins.
        nbytes: bytes of the staging buffer.
        steps: what was submitted last.
        handle: of the label.
        encoded: the same steps, encoded for the next submission.
        is_submitted: whether a ticket of it is open, or about to be: the next one must wait.
        is_ended: whether its buffers were given back.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self.leases: list[Lease] = []
        self.outfits: list[tuple[Outfit, int]] = []
        self.nbytes = 0
        self.steps: Sequence[tuple[Any, bytes | None]] = ()
        self.handle: Any = None
        self.encoded: Any = None
        self.is_submitted = self.is_ended = False


class Ahead:
    """A dispatch that is encoded and waits to be asked for.

    Attributes:
        outfit: what it runs on.
        block: with which dispatch block.
        encoded: what `Calls.encode` gave.
        misses: how many other dispatches ran on the lease since.
    """

    __slots__ = ("block", "encoded", "misses", "outfit")

    def __init__(self, outfit: Outfit, block: bytes, encoded: Any) -> None:
        self.outfit, self.block, self.encoded = outfit, block, encoded
        self.misses = 0
