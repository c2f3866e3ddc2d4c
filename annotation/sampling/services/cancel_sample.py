"""Cancel an incomplete random sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict
from annotation.models import Sample, SampledCheck, SampledRating

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


@transaction.atomic
def cancel_sample(*, sample: Sample, by: User | None) -> Sample:
    """Cancel an incomplete sample. A second call changes nothing.

    Raises Conflict (code `sample_complete`) if no answer is missing, and the errors of `require`.
    """
    require(by, sample.project, Verb.ASSIGN)
    held = (
        Sample.objects.select_for_update(of=("self",), no_key=True)
        .select_related("project")
        .get(pk=sample.pk)
    )
    if held.cancelled_at is not None:
        return held
    if held.criterion_id is None:
        sampled: QuerySet[Any] = SampledCheck.objects.filter(sample=held)
        answered = sampled.filter(verdict__isnull=False).count()
    else:
        sampled = SampledRating.objects.filter(sample=held)
        answered = sampled.filter(rating__isnull=False).count()
    total = sampled.count()
    if answered == total:
        raise Conflict(
            "This random sample is complete and used by estimates, so it cannot be cancelled.",
            code="sample_complete",
        )
    held.cancelled_at = timezone.now()
    held.save(update_fields=["cancelled_at"])
    log(
        project=held.project,
        actor=by,
        verb="cancel sample",
        target=held,
        data={"sampled": total, "answered": answered},
    )
    return held
