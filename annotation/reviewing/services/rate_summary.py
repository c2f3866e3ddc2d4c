"""Save a reviewer's ratings of a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core.criteria import asked_of_reviewers
from annotation.core.events import log
from annotation.core.guidelines import current_id
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.models import Look, Rating
from annotation.sampling.services.sample_ratings import fill_rating_samples
from annotation.scoring.records import hold_scored
from annotation.scoring.rescore import rescore_now

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.contrib.auth.models import User

    from annotation.models import Criterion, Summary


@transaction.atomic
def rate_summary(*, summary: Summary, by: User, values: Mapping[str, int], active_ms: int = 0) -> int:
    """Save answers by the public ids of criteria, and return the number of new rows.

    An answer that equals the person's newest one changes nothing; another one is the next version. `had_seen` is
    recorded if the person has seen others' ratings of the summary before. Raises Invalid for a criterion that reviewers
    are not asked, and for a value off its scale.
    """
    project = summary.document_set.project
    require(by, project, Verb.REVIEW)
    hold_scored(summary)
    asked = {row.public_id: row for row in asked_of_reviewers(project)}
    for key, value in values.items():
        if key not in asked:
            raise Invalid("This question has changed or is no longer asked. Answer the questions below.")
        if value not in asked[key].fact.values:
            raise Invalid(f"{value} is no answer to “{asked[key].question}”.", field=key)
    had_seen = Look.objects.filter(summary=summary, person=by, revealed_at__isnull=False).exists()
    own = Rating.objects.filter(summary=summary, person=by, role=Rating.Role.REVIEWER).order_by("version")
    newest: dict[int, Rating] = {row.criterion_id: row for row in own}
    rows = [
        _row(summary, by, asked[key], value, newest.get(asked[key].pk))
        for key, value in values.items()
        if (before := newest.get(asked[key].pk)) is None or before.value != value
    ]
    guideline = current_id(project)
    for row in rows:
        row.guideline_id, row.had_seen, row.active_ms = guideline, had_seen, active_ms // len(rows)
    Rating.objects.bulk_create(rows)
    if rows:
        fill_rating_samples(ratings=rows, by=by)
        given = {row.criterion.name: row.value for row in rows}
        rescore_now(project=project, summary_ids=[summary.pk])
        log(project=project, actor=by, verb="rate summary", target=summary, data={"ratings": given})
    return len(rows)


def _row(summary: Summary, by: User, criterion: Criterion, value: int, before: Rating | None) -> Rating:
    return Rating(
        summary=summary,
        person=by,
        role=Rating.Role.REVIEWER,
        criterion=criterion,
        value=value,
        version=1 if before is None else before.version + 1,
    )
