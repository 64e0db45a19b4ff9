"""Validation: every rule that a program breaks, all at once.

The rules stand in `validation`, a module for each group. They run in an order in which each may
rely on the ones before: structure first, for nothing else can follow numbers that lead nowhere.
A program may come from hostile bytes, so nothing here raises or recurses, whatever columns hold.
"""

from __future__ import annotations

from ..errors import Problem
from .program import Program
from .validation.buffers import check_access, check_declarations
from .validation.columns import columns_of
from .validation.flow import check_flow, check_limits, exceeds_rows
from .validation.report import Report
from .validation.rules import RULES
from .validation.scopes import check_scopes
from .validation.sizes import check_extent, infer_extent
from .validation.structure import check_structure
from .validation.typing import check_types

__all__ = ["RULES", "infer_extent", "validate"]


def validate(program: Program) -> list[Problem]:
    """The problems of a program, by row, at most 100 and a count of the others.

    Never raises for a program whose columns have equal lengths.
    """
    report = Report(program)
    if exceeds_rows(report):
        return report.problems()
    columns = columns_of(program.table)
    check_declarations(report)
    check_extent(report)
    blocks = check_structure(report, columns)
    check_limits(report, columns, blocks)
    if blocks is not None:
        check_types(report, columns)
        check_scopes(report, columns, blocks)
        check_access(report, columns)
        check_flow(report, columns, blocks)
    return report.problems()
