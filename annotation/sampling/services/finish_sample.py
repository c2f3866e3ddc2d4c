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
"""With fewer missing answers than this, writers lock the sample, so that the later of two last answers
sees both.
"""


def finish_check_samples(*, verdict: Verdict, by: User | None) -> None:
    """Log every sample that this answer completes. Call it in the transaction that saves the answer."""
    samples = Sample.objects.filter(cancelled_at__isnull=True)
    waiting = _waiting(samples.filter(pk__in=SampledCheck.objects.filter(verdict=verdict).values("sample")))
    nearly = sorted(key for key, count in waiting.items() if count < NEARLY)
    if not nearly:
        return
    # Lock the samples: if the two last answers are given at once, the later transaction must see both.
    held = Sample.objects.filter(pk__in=nearly).select_for_update(of=("self",), no_key=True)
    rows = list(held.select_related("project").order_by("pk"))
    waiting = _waiting(Sample.objects.filter(pk__in=nearly))
    for sample in rows:
        if not waiting[sample.pk]:
            log(project=sample.project, actor=by, verb="finish sample", target=sample)


def _waiting(samples: QuerySet[Sample]) -> dict[int, int]:
    counted = Count("sampled_checks", filter=Q(sampled_checks__verdict__isnull=True))
    return dict(samples.order_by().annotate(waiting=counted).values_list("pk", "waiting"))
