"""The random samples of a project. Estimates come from the newest one that is completely answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Q
from django.utils.formats import date_format

from annotation.models import Check, Draw
from annotation.sampling.queries.set_samples import SampleCounts, counts_of

if TYPE_CHECKING:
    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class SampleProgress:
    """`answered` of the `drawn` items of a sample made on a `day`; `withdrawn` were taken away unanswered."""

    draw_id: str
    item: str
    method: str
    drawn: int
    answered: int
    withdrawn: int
    day: str

    @property
    def is_complete(self) -> bool:
        return 0 < self.answered == self.drawn and not self.withdrawn


@dataclass(frozen=True, slots=True)
class Sample:
    """A random sample and its progress."""

    draw: Draw
    progress: SampleProgress


def samples(project: Project, side: Check.Side = Check.Side.REFERENCE) -> list[Sample]:
    """The random samples that tell of a side and were not cancelled, the newest first. Two queries."""
    rows = Draw.objects.filter(project=project, cancelled_at=None)
    # Assessors' percents tell of coverage alone.
    if side != Check.Side.REFERENCE:
        rows = rows.filter(item=Draw.Item.CHECK)
    of_side = Q(drawn_checks__check_row__side=side)
    draws = list(
        rows.annotate(
            asked=Count("drawn_checks", filter=of_side),
            answered=Count("drawn_checks", filter=of_side & Q(drawn_checks__verdict__isnull=False)),
        )
        .order_by("-pk")
        .defer("frame", "chances")
    )
    of_assignments = counts_of([draw.pk for draw in draws])
    found = []
    for draw in draws:
        drawn, answered, withdrawn = draw.asked, draw.answered, 0
        if draw.item != Draw.Item.CHECK:
            drawn, answered, withdrawn = of_assignments.get(draw.pk, SampleCounts())
        if drawn or withdrawn:
            progress = SampleProgress(
                draw_id=draw.public_id,
                item=draw.item,
                method=draw.method,
                drawn=drawn,
                answered=answered,
                withdrawn=withdrawn,
                day=date_format(draw.created_at, "j M Y"),
            )
            found.append(Sample(draw, progress))
    return found


def finished_sample(found: Sequence[Sample]) -> Sample | None:
    """The newest sample that is completely answered, or None."""
    return next((sample for sample in found if sample.progress.is_complete), None)
