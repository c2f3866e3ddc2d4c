from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from annotation.models import SIDE_SCORES, Verdict

if TYPE_CHECKING:
    from annotation.models import Project

TIMED_AT_MOST = 1000
"""The maximum number of answers for the median time; the newest answers are used."""


def seconds_per_check(project: Project) -> float | None:
    """Return the median seconds for answering a claim; None if no answer was timed."""
    times = Verdict.objects.filter(
        check_row__project=project,
        check_row__side__in=SIDE_SCORES,
        role=Verdict.Role.REVIEWER,
        active_ms__gt=0,
    )
    newest = list(times.order_by("-pk").values_list("active_ms", flat=True)[:TIMED_AT_MOST])
    return statistics.median(newest) / 1000 if newest else None
