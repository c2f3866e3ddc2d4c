"""The scores of one system's summaries, where to look first on top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import F

from annotation.core.paging import beyond, place_of
from annotation.models import Score

if TYPE_CHECKING:
    from annotation.models import Project, System

PAGE_SIZE = 200
ORDER = ("summary__target_words", "coverage", "summary__document_set__external_id", "pk")
"""At each target length the lowest coverage first; what has no target or no coverage comes last."""


@dataclass(frozen=True, slots=True)
class ScorePage:
    """One page of a system's scores, of `count` in all; `after` names the next one, empty at the end."""

    rows: tuple[Score, ...]
    after: str
    count: int


def scores_of_system(project: Project, system: System, *, after: str = "") -> ScorePage:
    """A page of the scores of a system's summaries, the one after the summary of that public id. Two queries, or three.

    Raises Invalid where that summary is not the system's, or has no score.
    """
    scores = Score.objects.filter(project=project, summary__system=system)
    following = scores
    if after:
        place = place_of(scores, after, ORDER, id_path="summary__public_id")
        following = scores.filter(beyond(ORDER, place, nulls_last=True))
    order = [F(column).asc(nulls_last=True) for column in ORDER]
    found = list(following.select_related("summary__document_set").order_by(*order)[: PAGE_SIZE + 1])
    shown = tuple(found[:PAGE_SIZE])
    return ScorePage(
        rows=shown,
        after=shown[-1].summary.public_id if len(found) > PAGE_SIZE else "",
        count=scores.count(),
    )
