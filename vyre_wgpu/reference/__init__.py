"""The reference interpreter: what a program means, in NumPy, without any GPU.

It shares no code with the lowering, so that one can be checked against the other. All lanes run at
once under masks; `backends.reference` is its public face.
"""

from __future__ import annotations

from .outcome import Outcome, Trap
from .plan import Plan, plan_program
from .races import Access, Race, UnwrittenRead
from .schedule import Arguments, Rules, execute

__all__ = [
    "Access",
    "Arguments",
    "Outcome",
    "Plan",
    "Race",
    "Rules",
    "Trap",
    "UnwrittenRead",
    "execute",
    "plan_program",
]
