"""How far raters differ, from the checks that several people answered before they knew of anybody's answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.db.models import Count, Q

from annotation.analysis.agreement.ratings import untouched_verdicts
from annotation.models import Check
from annotation.models.document import cluster_of
from annotation.sampling.queries.sampled_items import READ_AT_ONCE, as_number
from evaluation.statistics import RaterSpread, Rating, rater_spread

if TYPE_CHECKING:
    from annotation.models import Project


def spread_of_raters(project: Project, side: Check.Side = Check.Side.REFERENCE) -> RaterSpread:
    """How raters of a side differ; the votes of raters that a file brought are theirs. One query."""
    return rater_spread(_ratings(project, side))


def _ratings(project: Project, side: Check.Side) -> Iterator[Rating]:
    given = untouched_verdicts(project).filter(check_row__side=side)
    answered_twice = given.order_by().values("check_row").annotate(count=Count("pk")).filter(count__gt=1)
    several = given.filter(~Q(votes=[]) | Q(check_row__in=answered_twice.values("check_row")))
    rows = several.order_by("pk").values_list(
        "check_row_id",
        "check_row__peer__document_set__external_id",
        "check_row__peer__document_set__group",
        "person_id",
        "origin_name",
        "label",
        "votes",
    )
    for check, document_set, group, person, origin, label, votes in rows.iterator(chunk_size=READ_AT_ONCE):
        document = cluster_of(document_set, group)
        said = (
            [(person or origin, label)]
            if person or not votes
            else [(f"{origin} {name}", vote) for name, vote in votes]
        )
        for rater, each in said:
            yield Rating(document, check, rater, as_number(each))
