"""Log the last answer to a random sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Count, Q

from annotation.core.events import log
from annotation.models import Sample, SampledCheck

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Verdict

NEARLY = 16
"""From so few missing answers on those who give them wait for each other, or two who are last would each miss the
other's."""


def finish_check_samples(*, verdict: Verdict, by: User | None) -> None:
    """Log every sample of checks that this answer, which is in some, has completed. Inside its transaction."""
    samples = Sample.objects.filter(cancelled_at__isnull=True)
    waiting = _waiting(samples.filter(pk__in=SampledCheck.objects.filter(verdict=verdict).values("sample")))
    nearly = sorted(key for key, count in waiting.items() if count < NEARLY)
    if not nearly:
        return
    # Locked, so that of two who give the last answers at once the later one sees both.
    held = Sample.objects.filter(pk__in=nearly).select_for_update(of=("self",), no_key=True)
    rows = list(held.select_related("project").order_by("pk"))
    waiting = _waiting(Sample.objects.filter(pk__in=nearly))
    for sample in rows:
        if not waiting[sample.pk]:
            log(project=sample.project, actor=by, verb="finish sample", target=sample)


def _waiting(samples: QuerySet[Sample]) -> dict[int, int]:
    """How many answers each sample waits for."""
    counted = Count("sampled_checks", filter=Q(sampled_checks__verdict__isnull=True))
    return dict(samples.order_by().annotate(waiting=counted).values_list("pk", "waiting"))
