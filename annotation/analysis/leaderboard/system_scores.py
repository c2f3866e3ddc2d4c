"""The scores of a system's summaries, lowest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import IntegerField
from django.db.models.functions import Coalesce

from annotation.core.paging import page_after
from annotation.models import Score

if TYPE_CHECKING:
    from annotation.models import Project, System

PAGE_SIZE = 20
LAST_TARGET, LAST_VALUE = 2**31 - 1, 1e300
"""The largest integer of the column, and more than every score, so that rows without them are last."""


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

    At each target length, the lowest value of the score `by` comes first, and summaries without a value are last.
    Summaries without a target come after all target lengths. Raises Invalid if no summary of the system has this id and
    a score.
    """
    scores = Score.objects.filter(project=project, summary__system=system)
    placed = scores.select_related("summary__document_set").annotate(
        target=Coalesce("summary__target_words", LAST_TARGET, output_field=IntegerField()),
        value=Coalesce(by, LAST_VALUE),
    )
    order = ("target", "value", "summary__document_set__external_id", "pk")
    rows, following = page_after(
        placed, order=order, after=after, size=PAGE_SIZE, id_path="summary__public_id"
    )
    return ScorePage(tuple(rows), following, scores.count())
