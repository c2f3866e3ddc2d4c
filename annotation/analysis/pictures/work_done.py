"""The stored count of what reviewers answered by day: to count a million checks takes longer than a page may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.analysis.make_analysis import WORK_BY_DAY, StoredStatistics, current_statistics
from annotation.analysis.pictures.work_by_day import DayCounts
from annotation.analysis.stored import read
from annotation.models import Analysis

if TYPE_CHECKING:
    from annotation.models import Project


def answered_so_far(project: Project, *, wait: bool = False) -> tuple[DayCounts | None, StoredStatistics]:
    """What reviewers answered on each day, and how fresh the count is; None only while a worker makes the first one.

    Who waits gets NotReady instead.
    """
    found = current_statistics(project=project, kind=Analysis.Kind.PLAN, key=WORK_BY_DAY, wait=wait)
    return (None if found.payload is None else read(DayCounts, found.payload)), found
