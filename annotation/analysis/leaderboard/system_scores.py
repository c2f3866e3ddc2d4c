"""The scores of a system's summaries, lowest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import F

from annotation.core.paging import beyond, place_of
from annotation.models import Score

if TYPE_CHECKING:
    from annotation.models import Project, System

PAGE_SIZE = 20


@dataclass(frozen=True, slots=True)
class ScorePage:
    """A page of the `count` scores of a system. `after` is the summary after which the next page starts; "" at the
    end.
    """

    rows: tuple[Score, ...]
    after: str
    count: int


def scores_of_system(project: Project, system: System, *, by: str = "coverage", after: str = "") -> ScorePage:
    """Load a page of the scores of a system's summaries, after the summary with the public id `after`.

    At each target length, the lowest value of the score `by` comes first; rows without a target or value are last.
    Makes two or three queries. Raises Invalid if no summary of the system has this id and a score.
    """
    scores = Score.objects.filter(project=project, summary__system=system)
    following, columns = scores, ("summary__target_words", by, "summary__document_set__external_id", "pk")
    if after:
        place = place_of(scores, after, columns, id_path="summary__public_id")
        following = scores.filter(beyond(columns, place, nulls_last=True))
    order = [F(column).asc(nulls_last=True) for column in columns]
    found = list(following.select_related("summary__document_set").order_by(*order)[: PAGE_SIZE + 1])
    shown = tuple(found[:PAGE_SIZE])
    return ScorePage(
        rows=shown,
        after=shown[-1].summary.public_id if len(found) > PAGE_SIZE else "",
        count=scores.count(),
    )
