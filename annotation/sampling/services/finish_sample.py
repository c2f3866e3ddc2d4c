"""Log the last answer to a random sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Count, Q

from annotation.core.events import log
from annotation.models import Draw, DrawnCheck

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Verdict

NEARLY = 16
"""From so few missing answers on those who give them wait for each other, or two who are last would each miss the
other's."""


def finish_check_samples(*, verdict: Verdict, by: User | None) -> None:
    """Log every sample of checks that this answer, which is in some, has completed. Inside its transaction."""
    draws = Draw.objects.filter(cancelled_at__isnull=True)
    waiting = _waiting(draws.filter(pk__in=DrawnCheck.objects.filter(verdict=verdict).values("draw")))
    nearly = sorted(key for key, count in waiting.items() if count < NEARLY)
    if not nearly:
        return
    rows = _held(Draw.objects.filter(pk__in=nearly))
    waiting = _waiting(Draw.objects.filter(pk__in=nearly))
    for draw in rows:
        if not waiting[draw.pk]:
            log(project=draw.project, actor=by, verb="finish sample", target=draw, data={"item": draw.item})


def _held(draws: QuerySet[Draw]) -> list[Draw]:
    """Locked, so that of two who give the last answers at once the later one sees both."""
    held = draws.select_for_update(of=("self",), no_key=True).select_related("project")
    return list(held.order_by("pk"))


def _waiting(draws: QuerySet[Draw]) -> dict[int, int]:
    """How many answers each sample waits for."""
    counted = Count("drawn_checks", filter=Q(drawn_checks__verdict__isnull=True))
    return dict(draws.order_by().annotate(waiting=counted).values_list("pk", "waiting"))
