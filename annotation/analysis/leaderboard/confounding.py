"""Whether differences between assessors may be taken for differences between systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Count, F

from annotation.models import Assignment

if TYPE_CHECKING:
    from annotation.models import Project


def confounded_sets(project: Project) -> int:
    """How many document sets have assessors whose closed work holds different comparisons. One query.

    Assessors who all judged the same comparisons of a set leave every system their strictness alike. Hidden
    repeats and what is not closed count for nothing.
    """
    closed = Assignment.objects.filter(
        sitting__document_set__project=project,
        state=Assignment.State.SUBMITTED,
        repeat_of__isnull=True,
    )
    return (
        closed.order_by()
        .values("sitting__document_set")
        .annotate(
            judged=Count("pk"),
            sittings=Count("sitting", distinct=True),
            comparisons=Count("comparison", distinct=True),
        )
        # Everybody judged everything exactly where there are as many judgments as pairs of the two.
        .exclude(judged=F("sittings") * F("comparisons"))
        .count()
    )
